/**
 * What the tool machine of a call is told, what it decides and what it keeps (docs/tools.md, Read-only tools and side
 * effects). The state is plain data, so that a snapshot of it crosses processes; settings and verdicts come in as
 * arguments.
 */
import {
  flag,
  leftOut,
  list,
  maybe,
  number,
  opaque,
  record,
  text,
  time,
  union,
} from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';
import { mostToolBytes, savedBytes } from '../bounds.ts';

/** What a provider wants back unchanged with the round that it made; nobody here looks into it. */
export interface OpaqueReasoning {
  readonly provider: string;
  readonly data: string;
}

/** One call as the LLM wrote it; `arguments` is JSON text. */
export interface RequestedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface ToolRule {
  readonly kind: 'read_only' | 'side_effect';
  readonly timeoutMs: Millis;
  /** 0: no filler. */
  readonly fillerAfterMs: Millis;
  readonly confirm: boolean;
  readonly repeatable: boolean;
  /** What runs it is not of the worker: another one goes on waiting for the same outcome. */
  readonly outlives?: true;
}

/** What a look at the arguments found: their text in one canonical form, or the rule that they break. */
export type Verdict =
  { readonly ok: true; readonly canonical: string } | { readonly ok: false; readonly rule: string };

/** Pure functions and numbers; the same for a whole call. */
export interface ToolSettings {
  /** Rounds of tool calls in one answer (`max_tool_rounds` in docs/reference/agent-file.md, `[llm]`). */
  readonly maxRounds: number;
  /** A silence is filled after this long, unless a tool that runs wants it later. */
  readonly fillerAfterMs: Millis;
  readonly ruleOf: (name: string) => ToolRule | undefined;
  readonly validate: (name: string, argumentsText: string) => Verdict;
}

export type ToolOutcome =
  | { readonly kind: 'result'; readonly text: string }
  /** `transport`: no answer of the tool itself, so that a tool that only reads may be tried again. */
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly transport: boolean;
      /** Nothing of the call was taken. */
      readonly unsent?: true;
      /** What the model is told where nobody knows what came of the call; absent: that the answer was lost. */
      readonly known?: string;
    };

export type ToolEvent =
  /** A round of the LLM ended with calls. `offered` is what that round was offered. */
  | {
      readonly type: 'round.completed';
      readonly epoch: number;
      readonly finish: 'stop' | 'length' | 'tool_calls' | 'content_filter';
      readonly offered: readonly string[];
      readonly calls: readonly RequestedCall[];
    }
  | {
      readonly type: 'tool.settled';
      readonly key: number;
      readonly attempt: number;
      readonly outcome: ToolOutcome;
    }
  /** The caller heard the question of this call. */
  | { readonly type: 'question.heard'; readonly key: number }
  | { readonly type: 'caller.answered'; readonly verdict: 'yes' | 'no' | 'unclear'; readonly epoch: number }
  /** The conversation goes on without an answer: a later yes would be the answer to something else. */
  | { readonly type: 'question.left' }
  | { readonly type: 'epoch.moved'; readonly epoch: number }
  | { readonly type: 'deadline.reached' }
  | { readonly type: 'call.ended' };

/** A finished pair for the context. The core puts all pairs of a round behind the assistant message that asked. */
export interface ToolPair {
  readonly call: RequestedCall;
  /** Data for the LLM, never an instruction. */
  readonly text: string;
}

export type AbandonReason = 'interrupted' | 'timeout' | 'abandoned';

/** How a call that ran was over: with a result, with none, or because nobody waits for it any more. */
export type ToolEnd = 'answered' | 'failed' | 'abandoned';

export type ToolAction =
  | {
      readonly type: 'tool.run';
      readonly key: number;
      readonly attempt: number;
      readonly call: RequestedCall;
      readonly epoch: number;
      /** 16 hex digits, the same for every attempt of one call. */
      readonly idempotencyKey: string;
      readonly timeoutMs: Millis;
    }
  /** Stop waiting; advice only to a tool with effects. */
  | { readonly type: 'tool.abandon'; readonly key: number; readonly reason: AbandonReason }
  /** A call that was to run is over. */
  | { readonly type: 'tool.ended'; readonly call: RequestedCall; readonly end: ToolEnd }
  | { readonly type: 'caller.ask'; readonly key: number }
  /** What an interruption left running is over: the outcome waits for the next safe point. */
  | { readonly type: 'outcome.late' }
  /** `wasQuiet`: nothing was said for the silence until now. */
  | {
      readonly type: 'filler.speak';
      readonly epoch: number;
      readonly index: number;
      readonly wasQuiet: boolean;
    }
  /** Ask the LLM again with the pairs in the context; without tools when the rounds are used up. */
  | {
      readonly type: 'round.next';
      readonly epoch: number;
      readonly pairs: readonly ToolPair[];
      /** A tool has kept the silence until now. */
      readonly wasQuiet: boolean;
      readonly withTools: boolean;
    }
  /** The last round asked for tools although none were offered: the pairs enter the context, no round follows. */
  | {
      readonly type: 'rounds.exhausted';
      readonly epoch: number;
      readonly pairs: readonly ToolPair[];
      readonly wasQuiet: boolean;
    };

export interface CallRecord {
  readonly key: number;
  readonly call: RequestedCall;
  readonly canonical: string;
  epoch: number;
  readonly kind: ToolRule['kind'];
  phase:
    /** It was asked for in this step, and nothing is decided yet. */
    | { readonly type: 'new' }
    | { readonly type: 'held'; readonly isHeard: boolean; giveUpAt: Millis }
    | {
        readonly type: 'running';
        readonly attempt: number;
        readonly endsAt: Millis;
        /** Undefined: its rule wants none. */
        readonly fillerAt: Millis | undefined;
      }
    | {
        readonly type: 'retrying';
        readonly attempt: number;
        readonly startAt: Millis;
        readonly endsAt: Millis;
        readonly fillerAt: Millis | undefined;
      }
    | { readonly type: 'settled'; readonly text: string };
}

export interface OpenRound {
  epoch: number;
  readonly number: number;
  /** The answer that asked was cut: results enter the context at the next safe point. */
  isCut: boolean;
  fillerSpoken: boolean;
  /** Until when its tools want nothing said for the silence; undefined before one runs. */
  quietUntil: Millis | undefined;
  readonly keys: readonly number[];
}

/** What a turn remembers of its calls with effects. */
export interface LedgerEntry {
  readonly id: string;
  readonly name: string;
  readonly canonical: string;
  readonly round: number;
  state: 'running' | 'done' | 'failed' | 'unknown';
}

export interface ToolState {
  /** Names the call towards tools: part of every idempotency key. */
  readonly session: string;
  epoch: number;
  nextKey: number;
  rounds: number;
  fillers: number;
  retriesLeft: number;
  isOver: boolean;
  round: OpenRound | undefined;
  records: CallRecord[];
  ledger: LedgerEntry[];
  /** Pairs of rounds that were cut, for the next safe point. */
  cutPairs: ToolPair[];
  /** Outcomes of calls whose pair had to be given before they came. */
  lateOutcomes: ToolPair[];
  /** Bytes of calls and results that the present answer has got. */
  givenBytes: number;
  /** Calls with effects that still run although their pair was given. */
  detached: number[];
  /** What the provider wants back with the round whose tools run or wait for the caller's word. */
  reasoning: OpaqueReasoning | undefined;
}

/** Tries beyond the first, for all reading tools of a call together. */
const retryBudget = 10;

export const newToolState = (session = ''): ToolState => ({
  session,
  epoch: 0,
  nextKey: 1,
  rounds: 0,
  fillers: 0,
  retriesLeft: retryBudget,
  isOver: false,
  round: undefined,
  records: [],
  ledger: [],
  cutPairs: [],
  lateOutcomes: [],
  givenBytes: 0,
  detached: [],
  reasoning: undefined,
});

export const errorText = (code: string, message: string): string =>
  JSON.stringify({ error: { code, message } });

/** Bytes that calls and results may still take in the present answer. */
export function roomLeft({ records, cutPairs, lateOutcomes, givenBytes }: ToolState): number {
  let held = givenBytes + savedBytes([...cutPairs, ...lateOutcomes]);
  for (const { call, phase } of records)
    held += savedBytes(call) + (phase.type === 'settled' ? savedBytes(phase.text) : 0);
  return mostToolBytes - held;
}

/** Arguments in their canonical form are only compared: long ones by 64 bits of a hash, and their length. */
export function comparable(canonical: string): string {
  if (canonical.length <= 256) return canonical;
  let [one, other] = [0x811c9dc5, 0x01000193];
  for (let index = 0; index < canonical.length; index += 1) {
    const unit = canonical.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit, 0x85ebca6b) + 1;
  }
  return `${one >>> 0}:${other >>> 0}:${canonical.length}`;
}

/** 64 bits of FNV-1a over the text as 16 hex digits: not a secret, equal for equal calls of one turn. */
export function idempotencyKey(session: string, epoch: number, call: RequestedCall): string {
  let hash = 0xcbf29ce484222325n;
  for (const char of JSON.stringify([session, epoch, call.id, call.name])) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(char.codePointAt(0) ?? 0)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, '0');
}

// ---- as text ----

/** Calls and results are what the LLM and tools wrote. */
const pairsCodec = list(opaque<ToolPair>());
const heldUp = { attempt: number, endsAt: time, fillerAt: maybe(time) };

export const toolStateCodec = record<ToolState>({
  session: text(),
  epoch: number,
  nextKey: number,
  rounds: number,
  fillers: number,
  retriesLeft: number,
  isOver: flag,
  round: maybe(
    record<OpenRound>({
      epoch: number,
      number,
      isCut: flag,
      fillerSpoken: flag,
      quietUntil: maybe(time),
      keys: opaque(),
    }),
  ),
  records: list(
    record<CallRecord>({
      key: number,
      call: opaque(),
      canonical: text(),
      epoch: number,
      kind: text(),
      phase: union<CallRecord['phase'], 'type'>('type', {
        new: {},
        held: { isHeard: flag, giveUpAt: time },
        running: heldUp,
        retrying: { ...heldUp, startAt: time },
        settled: { text: text() },
      }),
    }),
  ),
  ledger: list(opaque<LedgerEntry>()),
  cutPairs: pairsCodec,
  lateOutcomes: pairsCodec,
  givenBytes: number,
  detached: list(number),
  // It may be large, and the next round does without it.
  reasoning: leftOut(() => undefined),
});
