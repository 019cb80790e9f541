/** What the core knows of the agent definition: plain values, durations in milliseconds. */
import type { Millis } from '../../shared/base/units.ts';
import type { ContextMessage, OfferedTool } from './actions.ts';
import type { DtmfSettings } from './turn/dtmf.ts';
import type { FlowSettings } from './flow/flow.ts';
import type { RequestedCall, ToolRule, Verdict } from './tools/tools-state.ts';
import type { TeamSettings } from './answer/agent-claim.ts';
import type { TransferSettings } from './answer/transfer-claim.ts';

/** What is known of the tools of a call. Pure functions; `node` is the flow's present node. */
export interface ToolBook {
  declarations(node?: string): readonly OfferedTool[];
  ruleOf(name: string): ToolRule | undefined;
  /** Who performs a tool: the core itself, or a runner of the shell. */
  performerOf(name: string): 'core' | 'runner' | undefined;
  validate(name: string, argumentsText: string, node?: string): Verdict;
  /** What the caller answered to a question that wants a yes or a no; `asked` are the calls that wait for the yes. */
  answerOf(text: string, asked: readonly RequestedCall[]): 'yes' | 'no' | 'unclear';
}

export interface CallSettings {
  readonly prompt: string;
  /** Codes of the languages that callers may speak, the most likely first (`shared/languages`). */
  readonly languages: readonly string[];
  /** Spoken before everything else, whoever speaks first; absent: nothing. */
  readonly consent?: string;
  /** Empty: the caller speaks first. */
  readonly greeting: string;
  readonly farewell: string;
  readonly apology: string;
  readonly misheard: string;
  /** Said when an operator who had taken the call over is gone; empty: the LLM goes on. */
  readonly operatorLost: string;
  /** What the recording says that is played when TTS cannot be heard and no line is ready; empty: it is a signal without words. */
  readonly announcement: string;
  /** Spoken one after another while the caller waits for an answer. */
  readonly fillers: readonly string[];
  /** The same for an agent without fillers, once a stage is late. */
  readonly lateLines: readonly string[];
  /** Whole words that are pronounced differently from how they are written; applied on the way to TTS only. */
  readonly pronounce: Readonly<Record<string, string>>;
  readonly dtmf: DtmfSettings;
  readonly tools: ToolBook;
  /** Rounds of tool calls in one answer (`max_tool_rounds` in docs/reference/agent-file.md, `[llm]`). */
  readonly maxToolRounds: number;
  /** Asked before a tool that needs the caller's word is run. */
  readonly confirmQuestion: string;
  /** Absent: the agent's prompt and tools stay for the whole call. */
  readonly flow?: FlowSettings;
  /** Absent: the call cannot be given to anybody else. */
  readonly transfer?: TransferSettings;
  /** Absent: there is no other agent for the caller. */
  readonly team?: TeamSettings;
  readonly maxCallMs: Millis;
  /** Messages that the conversation begins with; absent: none. */
  readonly context?: readonly ContextMessage[];
  /** Budget of the context sent to the LLM (`context_window_tokens` in docs/reference/agent-file.md, `[llm]`). */
  readonly contextWindowTokens: number;
  /** The LLM's words come with its own voice, and are passed on as they come; absent: TTS gets them in pieces that can be spoken. */
  readonly modelSpeaks?: boolean;
  readonly turn: TurnSettings;
  readonly interrupt: {
    readonly enabled: boolean;
    /** Words that confirm an interruption. 0: voice that is loud enough for one does too. */
    readonly minWords: number;
    /** With words asked for: voice this long of which STT says nothing interrupts all the same. 0: it never does. */
    readonly wordlessMs: Millis;
    /** STT tells words when a stretch of voice is over, and never before. */
    readonly tellsLate?: boolean;
    /** Words of listening, in lower case. Alone they never interrupt. */
    readonly backchannels: readonly string[];
    /** A candidate that ended resumes the agent this long after its last voice. At least `turn.stopMs`. */
    readonly resumeAfterMs: Millis;
    /** A key press interrupts the agent. */
    readonly dtmf: boolean;
    /** The greeting may be interrupted. */
    readonly greeting: boolean;
  };
  readonly idle: {
    readonly askAfterMs: Millis;
    readonly ask: string;
    /** Questions without an answer before the call is ended. */
    readonly endAfter: number;
  };
  readonly outage: OutageSettings;
  readonly limits: CallLimits;
}

/** What callers get while a stage is down. */
export interface OutageSettings {
  /** A call is kept for this long from the first of its stage's failures in a row. */
  readonly keepMs: Millis;
  /** Said when an answer was tried again and failed again. */
  readonly hold: string;
  /** Said in front of the answer that was tried again. */
  readonly back: string;
  /** What the LLM is told of an answer of which the caller heard nothing. */
  readonly unheardNote: string;
}

export interface TurnSettings {
  /** Voice that counts as speech; also how long a resumed voice may take to prove itself. */
  readonly minSpeechMs: Millis;
  /** Silence after which the media side reports `speech.stopped`. */
  readonly stopMs: Millis;
  /** Silence after which STT is asked for its final text, although the turn may go on. Infinity: only when it is over. */
  readonly askEarlyMs: Millis;
  /** Silence that ends the turn when neither the turn model nor the words say anything. At least `stopMs`. */
  readonly silenceEndMs: Millis;
  /** The turn ends after this much silence, whatever flickers in it. At least `silenceEndMs`. */
  readonly maxSilenceMs: Millis;
  /** Ask the turn model at each pause. */
  readonly model: boolean;
  /** Probability at which the turn model takes the turn as complete. */
  readonly completeAt: number;
  /** The LLM may start at a pause, before the turn is certainly over. */
  readonly speculate: boolean;
  /** Said in turn, softly, while a caller goes on and on; absent: the agent listens in silence. */
  readonly murmurs?: readonly string[];
}

/**
 * Time limits of the core itself. From the end-of-turn decision, or from the moment at which the caller began to wait,
 * `fillerAfterMs` < `audibleWithinMs` < `deadAirMs` bound the silence: by the first, text is with TTS; by the second there is
 * sound, or TTS is given up; and what is left until the third is for the line that is spoken instead.
 */
export interface CallLimits {
  /**
   * From asking STT for the final text to going on with what is there, at once with a line that is ready. Not less than the stages'
   * own time limits (`finalize_timeout_ms` in docs/reference/agent-file.md), and so early that the line is heard within `deadAirMs`.
   */
  readonly sttGiveUpMs: Millis;
  /** The same as long as TTS has yet to make such lines. */
  readonly sttGiveUpUnreadyMs: Millis;
  /** Speech for this long of which an STT that guesses otherwise says nothing: the session is replaced. */
  readonly sttDeafMs: Millis;
  /** The caller waits, and nothing has been given to TTS: a filler is. */
  readonly fillerAfterMs: Millis;
  /** The same behind a filler that was heard: one after another sounds like a machine. With the line's first sound below `deadAirMs`. */
  readonly fillerAgainMs: Millis;
  /** The same as the first for an agent without fillers: now a stage is late. Below `audibleWithinMs`. */
  readonly lateAfterMs: Millis;
  /** Either, while TTS has yet to make what would be said: where it makes no sound, time is left for what stands in for it. */
  readonly unreadyAfterMs: Millis;
  /** The caller waits, TTS has text, and there is no sound: TTS is given up. The pause before the decision counts as well, */
  readonly audibleWithinMs: Millis;
  /** but TTS has this long for the first sound of its first text, as far as the caller then waits no longer than the next from the last word on; */
  readonly ttsLeastMs: Millis;
  readonly lateAudibleMs: Millis;
  /** and this long in any case. Longer it has not where another stage has failed before it. */
  readonly ttsHurriedMs: Millis;
  /** What follows a response without sound has at least this long, however long the caller has been waiting: a line that is ready needs less. */
  readonly firstSoundMs: Millis;
  /** The longest silence while the agent owes speech. */
  readonly deadAirMs: Millis;
  /** Silence of the LLM, filled with fillers, after which it is given up; sooner, where one more filler would be due right before. */
  readonly llmSilentMs: Millis;
  /** How long the last mark may stay away after the last frame, for a client that echoes marks. */
  readonly markGraceMs: Millis;
  /** Failures of one stage in a row that end the call, once it has been failing for longer than callers are kept. */
  readonly stageFailures: number;
  /** Audio of the running turn that the media side can give to another STT session. */
  readonly replayMs: Millis;
}

export const defaultCallLimits: CallLimits = {
  sttGiveUpMs: 2_050,
  sttGiveUpUnreadyMs: 1_600,
  sttDeafMs: 6_000,
  fillerAfterMs: 1_500,
  fillerAgainMs: 2_400,
  lateAfterMs: 2_000,
  unreadyAfterMs: 1_100,
  audibleWithinMs: 2_300,
  ttsLeastMs: 900,
  lateAudibleMs: 2_400,
  ttsHurriedMs: 500,
  firstSoundMs: 60,
  deadAirMs: 3_000,
  llmSilentMs: 10_000,
  markGraceMs: 3_000,
  stageFailures: 3,
  replayMs: 15_000,
};
