/** What a scenario file says, as values: callers, stand-ins for tools, and what is expected. Durations in milliseconds. */
import type { LinearPattern } from '../../../shared/base/linear-pattern.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { LlmDefinition } from '../../../shared/config/stages/definition.ts';

export interface ExpectedCall {
  readonly name: string;
  /** A subset of the arguments, nested tables as well. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Exactly as often; absent: at least once. */
  readonly times?: number;
}

/** What is expected of one turn, or of all of them together. */
export interface Expectations {
  /** Parts of what the caller hears, whatever their case. */
  readonly says: readonly string[];
  readonly neverSays: readonly string[];
  readonly matches: readonly LinearPattern[];
  readonly neverMatches: readonly LinearPattern[];
  readonly calls: readonly ExpectedCall[];
  readonly neverCalls: readonly string[];
  /** Nodes of the flow that are entered, in any order. */
  readonly reaches: readonly string[];
  /** Most time from the end of a turn to the first text, for every turn. */
  readonly firstTextMs?: Millis;
}

export interface ScenarioExpectations extends Expectations {
  readonly endedBy?: 'agent' | 'caller';
  /** What a model judges from the whole conversation. */
  readonly judge: readonly string[];
}

/** What a scripted LLM answers in one round: words, a call of a tool, or both. */
export interface ScriptedAnswer {
  readonly say?: string;
  readonly call?: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
}

/** What the caller does, once the agent is quiet or after some words of what it says. */
export type CallerStep = {
  readonly afterWords?: number;
  /** What is expected of the answer to this step. */
  readonly expect?: Expectations;
  /** What the LLM answers to this step, round by round. */
  readonly model?: readonly ScriptedAnswer[];
} & (
  | { readonly does: 'say'; readonly text: string }
  | { readonly does: 'press'; readonly keys: string }
  | { readonly does: 'wait'; readonly ms: Millis }
  | { readonly does: 'hang-up' }
);

export type ScenarioCaller =
  | { readonly kind: 'script'; readonly steps: readonly CallerStep[] }
  | { readonly kind: 'llm'; readonly persona: string; readonly goal: string; readonly maxTurns: number };

/** What a tool answers instead of being run; the last of several of one name goes on. */
export interface CannedTool {
  readonly name: string;
  /** What the LLM is told of a tool that only a server declares, which is not there. */
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly outcome:
    { readonly kind: 'result'; readonly text: string } | { readonly kind: 'error'; readonly message: string };
}

export interface Scenario {
  readonly name: string;
  /** Real time for the whole scenario. */
  readonly timeoutMs: Millis;
  readonly caller: ScenarioCaller;
  readonly tools: readonly CannedTool[];
  readonly expect: ScenarioExpectations;
}

/** Whether the LLM of a scenario is scripted: a step without answers then is one that needs none. */
export const isScripted = ({ caller }: Scenario): boolean =>
  caller.kind === 'script' && caller.steps.some(({ model }) => model !== undefined);

export interface ScenarioFile {
  readonly scenarios: readonly Scenario[];
  /** Tools without a stand-in are run; otherwise calling one is a failure. */
  readonly realTools: boolean;
  /** Plays callers and judges; absent: the agent's own. */
  readonly callerLlm?: LlmDefinition;
}
