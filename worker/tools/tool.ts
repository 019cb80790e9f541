/**
 * How tools are offered and run (docs/tools.md). A runner reports each run exactly once through its sink,
 * never from inside `run`, and not at all after `cancel`. Results are data of bounded size for the LLM; nobody here acts
 * on what they say. A runner never tries again on its own and decides nothing: the machine in core/tools.ts does.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { CallMetadata } from '../../shared/config/agent/call-variables.ts';
import type { AbandonReason, RequestedCall, ToolRule, Verdict } from '../core/tools/tools-state.ts';
import type { StageContext, ToolDeclaration } from '../stages/stage.ts';

/** Bytes of an answer that are read (docs/tools.md, Tools over HTTP). */
export const mostResultBytes = 65_536;

// ---- What runs a tool ---------------------------------------------------------------------------------------------

export interface ToolRunRequest {
  /** The id that the LLM gave the call. */
  readonly id: string;
  readonly name: string;
  readonly kind: ToolRule['kind'];
  /** Valid by the tool's schema. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What came with the call, for tools whose definition names some of it. */
  readonly metadata: CallMetadata;
  /** The turn that the call belongs to. */
  readonly epoch: number;
  /** 16 hex digits, the same for every attempt of one call. */
  readonly idempotencyKey: string;
  readonly timeoutMs: Millis;
  /** The run's span, as W3C Trace Context writes it; absent where calls have no trace. */
  readonly traceparent?: string | undefined;
}

/**
 * `transport`: the tool itself gave no answer. A tool that only reads may be tried again; of one with effects the outcome
 * is unknown, unless `unsent` says that nothing of the call was taken; `known` is what there is to say of it all the
 * same.
 */
export type ToolReport =
  | { readonly kind: 'result'; readonly text: string }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly transport: boolean;
      readonly unsent?: true;
      readonly known?: string;
    };

/** Of an answer that is there and is not read: a tool with effects has done its work before it. */
export function unreadAnswer(message: string, kind: ToolRunRequest['kind']): ToolReport {
  const report = { kind: 'failed', message, transport: false } as const;
  return kind === 'read_only'
    ? report
    : { ...report, transport: true, known: `it has happened, but ${message}` };
}

/** Reports without running anything. */
export function refuseRun(
  context: StageContext,
  report: ToolReport,
  sink: (report: ToolReport) => void,
): ToolRun {
  const deliver = context.bind(sink);
  const timer = context.clock.after(0, () => deliver(report));
  return { cancel: () => timer.cancel() };
}

/** A runner gives up this long after the machine should have, which decides what no answer means. */
export const backstopMs = 1_000;

export interface ToolRun {
  /** Stops waiting. A tool with effects that was begun is not cut in the middle: see {@link mayFinish}. */
  cancel(reason: AbandonReason): void;
}

/** Whether a run that nobody waits for any more goes on to its end, within its own time: the caller spoke, or hung up, and half an order helps nobody. */
export const mayFinish = (kind: ToolRunRequest['kind'], reason: AbandonReason): boolean =>
  kind === 'side_effect' && reason !== 'timeout';

/** Serves all calls of a worker; `context` and `sink` are those of the call that asks. */
export interface ToolRunner {
  run(context: StageContext, request: ToolRunRequest, sink: (report: ToolReport) => void): ToolRun;
}

// ---- What a call has ----------------------------------------------------------------------------------------------

/**
 * Who performs a tool. `core`: the built-in tools and the transitions of a flow, which move the conversation itself;
 * they are declared and validated here, and {@link CallTools.run} refuses them.
 */
export type Performer = 'core' | 'runner';

/** What the call's transport can do beside speech (docs/tools.md, Built-in tools). */
export interface CallControl {
  /** Absent: calls cannot be transferred. `warm`: the transport can, too. */
  readonly transfer?: { readonly warm: boolean };
  readonly sendDtmf: boolean;
}

/** Of a generic WebSocket call: `end_call` is its only built-in tool. */
export const noCallControl: CallControl = { sendDtmf: false };

/** A tool of the agent link (docs/reference/agent-link.md, Tool declaration), already read from its message. */
export interface RemoteTool extends ToolDeclaration {
  readonly rule: ToolRule;
}

/** The tools that an agent process brought along, and what runs them. */
export interface RemoteTools {
  readonly tools: readonly RemoteTool[];
  readonly runner: ToolRunner;
}

/** An order of the core: the fields of its `tool.run` that matter here. */
export interface OrderedRun {
  readonly call: RequestedCall;
  readonly epoch: number;
  readonly idempotencyKey: string;
  readonly timeoutMs: Millis;
  readonly traceparent?: string | undefined;
}

/**
 * The tools of one call, the same from its start to its end. Everything but `run` is pure and cheap enough for every
 * round. `node` is the flow's present node; in an agent without a flow it is left out.
 */
export interface CallTools {
  /** What the LLM is offered: the agent's tools or those of the node with its transitions. The same array every time. */
  declarations(node?: string): readonly ToolDeclaration[];
  /** Of every tool of the agent, offered in the present node or not; undefined for a name that nothing provides. */
  ruleOf(name: string): ToolRule | undefined;
  performerOf(name: string): Performer | undefined;
  /** The arguments in one canonical form, or what is wrong with them in words for the LLM. */
  validate(name: string, argumentsText: string, node?: string): Verdict;
  /**
   * Runs a call whose arguments are valid. The report comes inside the call's scope; none comes of a call with effects
   * whose outcome was lost on the way, which its deadline decides.
   */
  run(order: OrderedRun, sink: (report: ToolReport) => void): ToolRun;
}

/** What an agent file calls a tool, by the name that the LLM knows. */
export const ownNameOf = (tools: Pick<CallTools, 'declarations'>, name: string): string =>
  tools.declarations().find((tool) => tool.name === name)?.ownName ?? name;
