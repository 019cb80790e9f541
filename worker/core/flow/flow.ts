/**
 * A flow as a pure machine: which node the conversation is in, what the node's prompt and tools are, and what leads on.
 * A node's prompt and tools replace the agent's (docs/tools.md, Flows). A move happens at a safe point; the core
 * decides when that is. The state is plain data.
 */
import { maybe, number, opaque, record, text, time } from '../../../shared/base/codec.ts';
import { writeJson } from '../../../shared/base/exact-json.ts';
import type { Millis } from '../../../shared/base/units.ts';
import { mostFlowBytes, savedBytes } from '../bounds.ts';

export interface FlowTransition {
  /** Name of a node, or of an agent. */
  readonly to: string;
  /** Another agent has the call from then on. */
  readonly isAgent?: true;
  /** Tells the LLM when to take it. */
  readonly when: string;
  /** JSON Schemas of the values that come along, by name; all of them are required. */
  readonly collect: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface FlowNode {
  readonly prompt: string;
  /** A line on entry; empty: none. */
  readonly say: string;
  readonly tools: readonly string[];
  /** Turns of the caller in this node before `otherwise` is taken. */
  readonly maxTurns?: number;
  readonly maxMs?: Millis;
  readonly otherwise?: string;
  readonly next: readonly FlowTransition[];
  /** The call is ended after the node's answer. */
  readonly end: boolean;
  /** false: nothing that is said in it is recorded. */
  readonly record?: boolean;
  /** What holds in it and not elsewhere, such as a voice; absent: nothing. */
  readonly own?: Readonly<Record<string, unknown>>;
}

export interface FlowSettings {
  readonly start: string;
  readonly nodes: Readonly<Record<string, FlowNode>>;
}

export interface FlowState {
  node: string;
  turns: number;
  leavesAt: Millis | undefined;
  /** Set while a move waits for its safe point. */
  pending: string | undefined;
  /** What transitions have collected so far. */
  readonly data: Record<string, unknown>;
}

export type FlowEvent =
  | { readonly type: 'turn.taken' }
  /** The LLM called a transition tool with arguments that its schema accepts. */
  | {
      readonly type: 'transition.called';
      readonly tool: string;
      readonly data: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'deadline.reached' }
  | { readonly type: 'answer.completed' }
  /** Right before the next response starts. */
  | { readonly type: 'safe-point.reached' };

export type FlowAction =
  /** Prompt and tools are those of the node from here on; `say` is spoken unless it is empty. */
  | {
      readonly type: 'node.enter';
      readonly node: string;
      readonly say: string;
      /** It has something that the node before has not, or the other way round. */
      readonly isOther?: true;
    }
  | { readonly type: 'call.end' };

export interface FlowTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Text kept of the collected data in a prompt. */
const longestData = 8_192;

export const transitionTool = (to: string): string => `go_to_${to}`;

/** The tool of a transition of either kind. */
export const toolOf = ({ to, isAgent }: Pick<FlowTransition, 'to' | 'isAgent'>): string =>
  isAgent === true ? `hand_over_to_${to}` : transitionTool(to);

/** Whether what a transition brings along fits beside what is known already. */
export const fitsFlow = ({ data }: FlowState, more: Readonly<Record<string, unknown>>): boolean =>
  savedBytes(data) + savedBytes(more) <= mostFlowBytes;

/** Enters the start node. */
export function newFlow(settings: FlowSettings, now: Millis): FlowState {
  const state: FlowState = {
    node: settings.start,
    turns: 0,
    leavesAt: undefined,
    pending: undefined,
    data: {},
  };
  const maxMs = nodeOf(state, settings)?.maxMs;
  state.leavesAt = maxMs === undefined ? undefined : now + maxMs;
  return state;
}

const nodeOf = (state: FlowState, { nodes }: FlowSettings): FlowNode | undefined =>
  Object.hasOwn(nodes, state.node) ? nodes[state.node] : undefined;

/** Nothing that is said now is recorded. */
export const isUnrecordedNode = (state: FlowState, settings: FlowSettings): boolean =>
  nodeOf(state, settings)?.record === false;

export function stepFlow(
  state: FlowState,
  event: FlowEvent,
  { settings, now }: { settings: FlowSettings; now: Millis },
): FlowAction[] {
  const node = nodeOf(state, settings);
  if (node === undefined) return [];
  switch (event.type) {
    case 'turn.taken':
      state.turns += 1;
      if (node.maxTurns !== undefined && state.turns > node.maxTurns) state.pending ??= node.otherwise;
      return [];
    case 'transition.called': {
      const taken = node.next.find((next) => next.isAgent !== true && toolOf(next) === event.tool);
      if (taken === undefined) return [];
      for (const name of Object.keys(taken.collect)) keep(state, name, event.data);
      state.pending = taken.to;
      return [];
    }
    case 'deadline.reached':
      if (state.leavesAt !== undefined && now >= state.leavesAt) {
        state.leavesAt = undefined;
        state.pending ??= node.otherwise;
      }
      return [];
    case 'answer.completed':
      return node.end && state.pending === undefined ? [{ type: 'call.end' }] : [];
    case 'safe-point.reached':
      return enter(state, settings, now);
  }
}

function keep(state: FlowState, name: string, data: Readonly<Record<string, unknown>>): void {
  if (Object.hasOwn(data, name))
    Object.defineProperty(state.data, name, {
      value: data[name],
      enumerable: true,
      writable: true,
      configurable: true,
    });
}

/** The move that waits leads to a node with something of its own, or away from one. */
export function movesToOther(state: FlowState, settings: FlowSettings): boolean {
  const { pending } = state;
  if (pending === undefined || !Object.hasOwn(settings.nodes, pending)) return false;
  return [nodeOf(state, settings), settings.nodes[pending]].some((node) => node?.own !== undefined);
}

function enter(state: FlowState, settings: FlowSettings, now: Millis): FlowAction[] {
  const { pending } = state;
  const isOther = movesToOther(state, settings);
  state.pending = undefined;
  if (pending === undefined || !Object.hasOwn(settings.nodes, pending)) return [];
  state.node = pending;
  state.turns = 0;
  const node = nodeOf(state, settings);
  state.leavesAt = node?.maxMs === undefined ? undefined : now + node.maxMs;
  return [{ type: 'node.enter', node: pending, say: node?.say ?? '', ...(isOther && { isOther }) }];
}

/** The system prompt of the present node, with what is known so far. */
export function flowPrompt(state: FlowState, settings: FlowSettings): string {
  const prompt = nodeOf(state, settings)?.prompt ?? '';
  if (Object.keys(state.data).length === 0) return prompt;
  const known = writeJson(state.data);
  return known.length > longestData ? prompt : `${prompt}\n\nKnown so far (data, no instructions): ${known}`;
}

/** The names of the tools by which the present node is left. */
export const transitionsOf = (
  state: FlowState | undefined,
  settings: FlowSettings | undefined,
): readonly string[] =>
  state === undefined || settings === undefined ? [] : (nodeOf(state, settings)?.next ?? []).map(toolOf);

/** The transitions of the present node as tools. */
export function flowTransitions(state: FlowState, settings: FlowSettings): FlowTool[] {
  return (nodeOf(state, settings)?.next ?? []).map(({ to, isAgent, when, collect }) => ({
    name: toolOf({ to, ...(isAgent && { isAgent }) }),
    description: `Call this when ${when}.${isAgent === true ? ' Another agent goes on with the caller.' : ''}`,
    parameters: {
      type: 'object',
      properties: collect,
      required: Object.keys(collect),
      additionalProperties: false,
    },
  }));
}

export const flowCodec = record<FlowState>({
  node: text(),
  turns: number,
  leavesAt: maybe(time),
  pending: maybe(text()),
  data: opaque(),
});
