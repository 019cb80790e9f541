/** A run as text, and which promises it found broken. */
import { faultText, ms, spread, type FaultResult } from './fault-text.ts';
import type { ChaosResult } from './run.ts';

/** Promises that hold on a machine with room. */
const latenessLimitMs = 20;
const resumedShare = 0.95;
const inferenceAwayLimitMs = 3_000;
const fallbackLimitMs = 100;

const isWorker = (name: string): boolean => name.startsWith('worker-');
const isProvider = (name: string): boolean => /^(stt|llm|tts)-/.test(name);

/** What a fault broke that it must not. `timing` are promises about time, which need a machine that has it. */
function broken(
  fault: FaultResult,
  { realtime = false }: Pick<ChaosResult['options'], 'realtime'>,
): { readonly always: string[]; readonly timing: string[] } {
  const always: string[] = [];
  const timing: string[] = [];
  const { name, did } = fault;
  if (fault.endedOthers > 0) always.push(`${name}: ${fault.endedOthers} calls ended that it did not concern`);
  if (!isWorker(name) && !isProvider(name) && fault.endedAffected > 0)
    always.push(`${name}: ${fault.endedAffected} calls ended`);
  // Nobody says when a model spoke each of its words, and where its worker dies another voice goes on: with a word that was heard.
  const mayDouble = realtime ? fault.takenUp.count : 0;
  if (!isProvider(name) && did.wordsDoubled > mayDouble)
    always.push(`${name}: ${did.wordsDoubled} words were heard twice`);
  if (isWorker(name)) {
    const left = 1 - fault.endedAffected / Math.max(1, fault.affected);
    if (left < resumedShare) always.push(`${name}: only ${(left * 100).toFixed(0)} % of its calls went on`);
    if (fault.recoveredInTime < resumedShare)
      timing.push(`${name}: only ${(fault.recoveredInTime * 100).toFixed(0)} % of its calls went on in time`);
    if (fault.othersLateness.p99Ms > latenessLimitMs)
      timing.push(`${name}: p99 lateness of the others is ${ms(fault.othersLateness.p99Ms)} ms`);
  }
  if ((fault.inferenceAwayMs ?? 0) > inferenceAwayLimitMs && name === 'inference-kill')
    timing.push(`${name}: speech detection was away for ${ms(fault.inferenceAwayMs ?? 0)} ms`);
  if (name === 'inference-kill' && fault.fallback !== undefined && fault.fallback.p99Ms > fallbackLimitMs)
    timing.push(`${name}: calls were judged by energy within ${ms(fault.fallback.p99Ms)} ms at p99`);
  return { always, timing };
}

const mostShown = 5;
const shown = (ids: readonly string[]): string => ids.slice(0, mostShown).join(', ');

export interface Verdict {
  readonly broken: readonly string[];
  readonly late: readonly string[];
}

export function verdictOf(result: ChaosResult): Verdict {
  const found = result.faults.map((fault) => broken(fault, result.options));
  const always = [...result.violations, ...found.flatMap((one) => one.always)];
  const { missing, double } = result.records;
  if (missing.length > 0) always.push(`records: ${missing.length} calls have none: ${shown(missing)}`);
  if (double.length > 0) always.push(`records: ${double.length} calls have more than one: ${shown(double)}`);
  const { count: left = 0 } = result.orphans ?? {};
  if (left > 0) always.push(`supervisor-kill: ${left} processes were left`);
  return { broken: always, late: found.flatMap((one) => one.timing) };
}

export function reportText(result: ChaosResult): string {
  const { options, totals } = result;
  const verdict = verdictOf(result);
  const { orphans: left } = result;
  const orphans =
    left === undefined ? [] : [`supervisor-kill: ${left.count} processes left after ${ms(left.afterMs)} ms`];
  return [
    `${options.calls} calls, ${options.workers} workers, seed ${options.seed}; load average ${result.loadAverage}`,
    `before any fault: frames late p50/p99/max ${spread(result.calm)} ms; the driver itself ${spread(result.ownLateness)} ms`,
    ...result.faults.map(faultText),
    ...orphans,
    `in all: ${totals.turns} turns, ${totals.answered} answered, ${totals.unanswered} given up, ${totals.short} broken off, ${totals.ended} calls ended`,
    `records of ${result.records.calls} calls: ${[...result.records.ends].map(([code, count]) => `${count} ${code}`).join(', ')}`,
    `complaints in the log: ${[...result.complaints].map(([what, count]) => `${count} × ${what}`).join('; ') || 'none'}`,
    ...verdict.broken.map((what) => `BROKEN  ${what}`),
    ...verdict.late.map((what) => `LATE    ${what}`),
    verdict.broken.length + verdict.late.length === 0 ? 'PASS' : 'FAIL',
    '',
  ].join('\n');
}
