/** What one fault did to the calls, as data and as text. */
import type { HistogramSummary, Summary } from '../bench/report/statistics.ts';
import { seamMs } from './account.ts';
import { longestQuietMs } from './owed-silence.ts';
import type { Totals } from './crowd.ts';
import type { FaultName } from './faults.ts';

export interface FaultResult {
  readonly name: FaultName;
  readonly what: string;
  readonly affected: number;
  readonly endedAffected: number;
  readonly endedOthers: number;
  /** Calls that answered again within the limit, as a share of the affected ones. */
  readonly recoveredInTime: number;
  readonly recovery: Summary;
  /** When the service's log said that calls were taken up by another worker. */
  readonly takenUp: Summary;
  readonly gaps: Summary;
  /**
   * The longest time in which each affected caller was owed an answer and heard nothing; the longest from the end of its turn to the first
   * sound; how many of the former were too long.
   */
  readonly silences: Summary;
  readonly firstSounds: Summary;
  readonly silencesTooLong: number;
  /** Frames of calls that the fault should not touch. */
  readonly othersLateness: Summary;
  readonly did: Totals;
  /** How long real speech detection was away; undefined where it was not touched. */
  readonly inferenceAwayMs: number | undefined;
  /** By the service's metrics, for each call: from the last sign of life of inference to the first frame judged by energy. */
  readonly fallback: HistogramSummary | undefined;
  readonly ends: readonly string[];
}

export const ms = (value: number): string => (Number.isNaN(value) ? '-' : value.toFixed(0));
export const spread = ({ p50Ms, p99Ms, maxMs }: Summary): string =>
  `${ms(p50Ms)} / ${ms(p99Ms)} / ${ms(maxMs)}`;

export function faultText(fault: FaultResult): string {
  const { did } = fault;
  const away = fault.inferenceAwayMs === undefined ? '' : `; back after ${ms(fault.inferenceAwayMs)} ms`;
  const lines = [
    `${fault.name} (${fault.what}${away})`,
    `  calls      ${fault.affected} affected, ${fault.endedAffected} of them ended, ${fault.endedOthers} others ended${fault.ends.length > 0 ? `: ${fault.ends.join(', ')}` : ''}`,
  ];
  const { fallback } = fault;
  if (fallback !== undefined)
    lines.push(
      `  fallback   ${fallback.count} calls judged by energy, p50 within ${ms(fallback.p50Ms)} ms, p99 within ${ms(fallback.p99Ms)} ms`,
    );
  if (fault.takenUp.count > 0)
    lines.push(`  taken up   ${fault.takenUp.count} calls after p50/p99/max ${spread(fault.takenUp)} ms`);
  if (fault.affected > 0)
    lines.push(
      `  answered   again after p50/p99/max ${spread(fault.recovery)} ms; ${(fault.recoveredInTime * 100).toFixed(1)} % in time`,
      `  gaps       longest of each call p50/p99/max ${spread(fault.gaps)} ms`,
      `  first      sound after the turn, longest of each call p50/p99/max ${spread(fault.firstSounds)} ms`,
      `  silence    longest of each call that is owed an answer p50/p99/max ${spread(fault.silences)} ms; ${fault.silencesTooLong} longer than ${longestQuietMs / 1000} s`,
    );
  lines.push(
    `  others     frames late p50/p99/max ${spread(fault.othersLateness)} ms`,
    `  words      ${did.wordsDoubled} doubled, ${did.wordsLost} lost (${ms(did.doubledMs)} and ${ms(did.lostMs)} ms in all; a seam is up to ${seamMs} ms)`,
    `  turns      ${did.turns} taken, ${did.answered} answered, ${did.unanswered} given up, ${did.short} answers broken off`,
  );
  return lines.join('\n');
}
