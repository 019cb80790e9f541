/** Who is silent, and for how long: the agent that owes a sound, and the caller who says nothing. */
import { flag, maybe, number, opaque, record, time } from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';

export interface Silence {
  /** Since when the caller waits for a sound that the agent owes, whichever response it was to come from. */
  since: Millis | undefined;
  fillersSpoken: number;
  /** When the answer that a broken stage kept from the caller is tried again. */
  retryAt: Millis | undefined;
  /** Lines that are heard even when TTS is down. */
  readyLines: { readonly fillers: boolean; readonly farewell: boolean };
  /** Questions to a caller who says nothing, and when the next one is due. */
  readonly idle: {
    asks: number;
    askAt: Millis | undefined;
    /** The caller has asked for time, and is given it. */
    isPatient: boolean;
  };
}

export const newSilence = (): Silence => ({
  since: undefined,
  fillersSpoken: 0,
  retryAt: undefined,
  readyLines: { fillers: false, farewell: false },
  idle: { asks: 0, askAt: undefined, isPatient: false },
});

/** The next line for a silence out of several; undefined when there is none. */
export function nextFiller(silence: Silence, lines: readonly string[]): string | undefined {
  const line = lines[silence.fillersSpoken % Math.max(1, lines.length)];
  silence.fillersSpoken += 1;
  return line === undefined || line.trim() === '' ? undefined : line;
}

/** From the end of an apology to the next attempt: time for the caller to speak instead, and no dead air. */
export const retryAfterMs = 1_500;

/** So much of the silence before an attempt does not count as waiting: the caller had time to speak, and the LLM has some to answer. */
export const uncountedMs = 500;

/** The agent spoke until now: only here does the pause before the next attempt begin. */
export function postponeRetry(silence: Silence, now: Millis): void {
  if (silence.retryAt !== undefined) silence.retryAt = now + retryAfterMs;
}

export const silenceCodec = record<Silence>({
  since: maybe(time),
  fillersSpoken: number,
  retryAt: maybe(time),
  readyLines: opaque(),
  idle: record<Silence['idle']>({ asks: number, askAt: maybe(time), isPatient: flag }),
});
