/** What the core knows of the agent definition: plain values, durations in milliseconds. */
import type { Millis } from '../../shared/base/units.ts';

export interface CallSettings {
  readonly prompt: string;
  /** Empty: the caller speaks first. */
  readonly greeting: string;
  readonly farewell: string;
  readonly apology: string;
  /** Whole words that are pronounced differently from how they are written; applied on the way to TTS only. */
  readonly pronounce: Readonly<Record<string, string>>;
  /** Offer the built-in tool `end_call` to the LLM. */
  readonly endCallTool: boolean;
  readonly maxCallMs: Millis;
  /** Budget of the context sent to the LLM (spec 03, llm.context_window_tokens). */
  readonly contextWindowTokens: number;
  readonly turn: {
    /** Voice that counts as speech; also how long a resumed voice may take to prove itself. */
    readonly minSpeechMs: Millis;
    /** Silence after which the media side reports `speech.stopped`. */
    readonly stopMs: Millis;
    /** Silence that ends the turn when no turn model decides. At least `stopMs`. */
    readonly silenceEndMs: Millis;
    /** The turn ends after this much silence, whatever flickers in it. At least `silenceEndMs`. */
    readonly maxSilenceMs: Millis;
  };
  readonly interrupt: {
    readonly enabled: boolean;
    /** A candidate that ended resumes the bot this long after its last voice. At least `turn.stopMs`. */
    readonly resumeAfterMs: Millis;
    /** A key press interrupts the bot. */
    readonly dtmf: boolean;
  };
  readonly idle: {
    readonly askAfterMs: Millis;
    readonly ask: string;
    /** Questions without an answer before the call is ended. */
    readonly endAfter: number;
  };
  readonly limits: CallLimits;
}

/** Time limits of the core itself, longer than those of the adapters: they catch an adapter that broke its contract. */
export interface CallLimits {
  /** From asking STT for the final text to going on with what is there. */
  readonly sttGiveUpMs: Millis;
  /** From the start of a response to its first audio. */
  readonly responseStallMs: Millis;
  /** How long the last mark may stay away after the last frame, for a client that echoes marks. */
  readonly markGraceMs: Millis;
  /** Failures of one stage in a row that end the call. */
  readonly stageFailures: number;
}

export const defaultCallLimits: CallLimits = {
  sttGiveUpMs: 5_000,
  responseStallMs: 12_000,
  markGraceMs: 3_000,
  stageFailures: 3,
};
