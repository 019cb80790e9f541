/**
 * What the core tells of the conversation, to its readers: the transport, logs, metrics, rehearsals, the agent link and recordings. One closed
 * union, in the order in which things happened. Nobody who reads it can change the call.
 *
 * A reader can rely on this order. `turn.user_started` opens a turn of the caller and `turn.user_ended` closes it, with at most one
 * `user.text` behind that, or later where words are written down beside an answer: then in the order of turns. Each `bot.llm_started` is followed by one `bot.llm_stopped`; `bot.text` of a request stands between them.
 * `turn.bot_started` of an epoch comes before its `turn.bot_ended`, which is missing when the response was cut. Each response of which anything
 * was written has one `bot.heard` with its end: before `turn.bot_ended`, before `turn.interrupted` when the caller cuts it, and as the call
 * ends in it. `turn.interrupted` carries the new epoch, and what is told afterwards of an older epoch belongs to what was cut.
 * Each `tool.started` is followed by one `tool.ended` of the same id, if need be when the call ends, or in another worker.
 * `command.answered`, `timer.fired`, `user.transcript`, `operator.text` and what is told of single tools may stand anywhere.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { RequestedCall, ToolEnd, ToolPair } from './tools/tools-state.ts';

/**
 * The events of the conversation (docs/reference/agent-link.md, Service to agent), as far as the core knows them. Names that stand only here say
 * what happened inside.
 */
export type ConversationEvent =
  /** The caller began to speak: a turn of its own. */
  | { readonly type: 'turn.user_started'; readonly epoch: number }
  /** The turn is over and its text is known; the agent answers now. */
  | { readonly type: 'turn.user_ended'; readonly epoch: number }
  /** A segment of STT, whether or not its turn counts in the end. */
  | { readonly type: 'user.transcript'; readonly text: string; readonly final: boolean }
  /** The whole text of the turn that is answered. */
  | { readonly type: 'user.text'; readonly epoch: number; readonly text: string }
  /** A round of the LLM whose text counts. */
  | { readonly type: 'bot.llm_started'; readonly epoch: number }
  /** Text as the LLM writes it; a line of the agent comes whole. */
  | { readonly type: 'bot.text'; readonly epoch: number; readonly text: string }
  | { readonly type: 'bot.llm_stopped'; readonly epoch: number }
  /** A piece as TTS is given it, fillers and repeated pieces included. */
  | { readonly type: 'bot.tts_text'; readonly epoch: number; readonly text: string }
  /** TTS has given the last audio of a response. */
  | { readonly type: 'bot.tts_stopped'; readonly epoch: number }
  /** More of a response was heard, behind what was told before: together it is what the conversation keeps of it. The last one has its end. */
  | { readonly type: 'bot.heard'; readonly epoch: number; readonly text: string; readonly end?: HeardEnd }
  /** The first audio of a response went out. */
  | { readonly type: 'turn.bot_started'; readonly epoch: number }
  /** A response was played to its end. */
  | { readonly type: 'turn.bot_ended'; readonly epoch: number }
  /** The running response was cut, and the call moved to this epoch. */
  | { readonly type: 'turn.interrupted'; readonly epoch: number }
  | { readonly type: 'turn.measured'; readonly epoch: number; readonly times: TurnTimes }
  /** A stage did not do what it owed; with the cause, where the adapter has named it. */
  | {
      readonly type: 'fault.noticed';
      readonly stage: FaultStage;
      readonly what: FaultKind;
      readonly cause?: string;
    }
  /** A tool is run now; a tool that is refused, or waits for the caller's word, is not. Further tries are not told. */
  | { readonly type: 'tool.started'; readonly call: RequestedCall }
  | { readonly type: 'tool.ended'; readonly call: RequestedCall; readonly end: ToolEnd }
  /** A round of tool calls is complete, or was cut: what the LLM is told of each. */
  | { readonly type: 'tools.answered'; readonly pairs: readonly ToolPair[] }
  /** The flow has moved. */
  | { readonly type: 'node.entered'; readonly node: string }
  /** Another agent has the call from here on. */
  | { readonly type: 'agent.changed'; readonly agent: string }
  /** An operator speaks to the caller from here on, and the agent is silent. */
  | { readonly type: 'operator.took_over'; readonly epoch: number }
  /** What the operator has said to the caller. */
  | { readonly type: 'operator.text'; readonly text: string }
  /** The caller is the agent's again. */
  | { readonly type: 'operator.handed_back'; readonly epoch: number; readonly how: HandedBack }
  /** The state breaks a rule of `rules.ts`: a bug of the core. */
  | { readonly type: 'rule.broken'; readonly rule: string }
  /** It was time for this: why the core woke. */
  | { readonly type: 'timer.fired'; readonly timer: TimerName }
  /** What came of a command that was given from outside, by the name that it was given; commands.ts says when. */
  | {
      readonly type: 'command.answered';
      readonly id: string | undefined;
      readonly command: 'say' | 'edit' | 'end' | 'text' | 'transfer' | 'operator';
      readonly outcome: CommandOutcome;
    };

/** Why an operator no longer speaks: by own will, because the connection was lost, or because the call ends. */
export type HandedBack = 'handed_back' | 'lost' | 'ending';

/** How a response ended for whoever heard it. */
export interface HeardEnd {
  /** It was heard to its end, or cut by the caller; it could not be spoken, or not all of it; the call ended in it. */
  readonly how: 'finished' | 'interrupted' | 'failed' | 'call_ended';
  /** All that was written was heard. */
  readonly complete: boolean;
  /** What was heard of it in all. */
  readonly heard: string;
}

/** What waits for time in a call; timers.ts says until when. */
export type TimerName =
  | 'candidate'
  | 'decision'
  | 'murmur'
  | 'early text'
  | 'words'
  | 'final text'
  | 'stt'
  | 'keys'
  | 'transfer'
  | 'agent'
  | 'tools'
  | 'flow'
  | 'silence'
  | 'retry'
  | 'last mark'
  | 'idle'
  | 'time limit'
  | 'shutdown'
  | 'operator'
  | 'end';

export type CommandOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly code: RefusalCode }
  /** It was taken, and something else came first. */
  | { readonly kind: 'dropped' };

/** Why a command is left undone. */
export type RefusalCode =
  /** It has no words. */
  | 'empty'
  /** It has more text than may wait. */
  | 'too_long'
  /** As many as may wait do so. */
  | 'queue_full'
  /** The call is on its way to its end: its time is over, a stage has failed too often, or `end` was given. */
  | 'call_ending'
  /** The call has not begun, or has ended. */
  | 'call_over'
  /** The call cannot do that. */
  | 'unsupported'
  /** It was done before, or is under way, and is done once. */
  | 'already_done'
  /** The carrier has refused it. */
  | 'transfer_failed'
  /** It may have happened. */
  | 'outcome_unknown';

export type FaultStage = 'stt' | 'llm' | 'tts' | 'call';
export type FaultKind = 'failed' | 'stalled' | 'empty' | 'given_up';

/**
 * Where the time of one answered turn went, in milliseconds, by the names of `turn.metrics` (docs/call-protocol.md, Following the
 * conversation). The first five follow one another and add up to `responseMs`, the time from the caller's last voice to the first frame on the
 * wire.
 */
export interface TurnTimes {
  /** Last voice to the decision that the turn is over. */
  readonly endOfTurnMs: Millis;
  /** Decision to the final text. */
  readonly sttFinalMs: Millis;
  /** Final text to the first text of the LLM, or to the filler that stood in for it. 0 when it had begun before. */
  readonly llmTtftMs: Millis;
  /** First text to the first audio of TTS. */
  readonly ttsTtfbMs: Millis;
  /** First audio of TTS to the first frame on the wire. */
  readonly wireMs: Millis;
  readonly responseMs: Millis;
  /** The first sound was a filler. */
  readonly filled: boolean;
}

/** An event in its place between the actions of a step. */
export interface Told {
  readonly type: 'told';
  readonly event: ConversationEvent;
}

/** Adds an event to the actions of a step. */
export function tell(
  { actions }: { readonly actions: { push(told: Told): unknown } },
  event: ConversationEvent,
): void {
  actions.push({ type: 'told', event });
}
