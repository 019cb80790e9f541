/** Failures of stages in a row, and when they are too many for the call to go on. */
import { flag, number, record, time } from '../../shared/base/codec.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { CallSettings } from './settings.ts';
import type { FaultStage } from './told.ts';

export interface Faults {
  readonly inARow: Record<FaultStage, number>;
  /** When the newest of the failures in a row was; means nothing while there are none. */
  readonly last: Record<`${FaultStage}At`, Millis>;
  /** For how long the stage has been failing in a row. */
  readonly failingMs: Record<FaultStage, Millis>;
  /** TTS failed too often: the next line that is spoken is the farewell. */
  lastWords: boolean;
}

export const newFaults = (): Faults => ({
  inARow: { stt: 0, llm: 0, tts: 0, call: 0 },
  last: { sttAt: 0, llmAt: 0, ttsAt: 0, callAt: 0 },
  failingMs: { stt: 0, llm: 0, tts: 0, call: 0 },
  lastWords: false,
});

/** Of a longer time between two failures no more than this counts: the stage may not have been used in it, and nobody knows how it was. */
const countedGapMs = 15_000;

/**
 * Counts a fault. True when the stage has failed too often, and for longer than the operator wants callers to be kept: a stage fails
 * many times within a moment, and a provider that is restarted is back within one.
 */
export function countFault(
  { inARow, last, failingMs }: Faults,
  stage: FaultStage,
  { settings, now }: { settings: Pick<CallSettings, 'limits' | 'outage'>; now: Millis },
): boolean {
  const gapMs = Math.min(now - last[`${stage}At`], countedGapMs);
  failingMs[stage] = inARow[stage] === 0 ? 0 : failingMs[stage] + gapMs;
  last[`${stage}At`] = now;
  inARow[stage] += 1;
  return inARow[stage] >= settings.limits.stageFailures && failingMs[stage] >= settings.outage.keepMs;
}

/** The stage has done what it owed. */
export function forgetFaults({ inARow }: Faults, stage: FaultStage): void {
  inARow[stage] = 0;
}

const stages = { stt: number, llm: number, tts: number, call: number };

export const faultsCodec = record<Faults>({
  inARow: record<Faults['inARow']>(stages),
  last: record<Faults['last']>({ sttAt: time, llmAt: time, ttsAt: time, callAt: time }),
  failingMs: record<Faults['failingMs']>(stages),
  lastWords: flag,
});
