/** Says what the bench of interruptions found, and whether it keeps what is asked of it. */
import { availableParallelism, cpus } from 'node:os';
import {
  aWordOfListening,
  callerOverEcho,
  callerSpeaks,
  echoAlone,
  nobodySpeaks,
  type InterruptionResult,
  type InterruptionRow,
} from '../interruptions.ts';
import { table } from './report.ts';
import type { FloorRow } from './statistics.ts';
import type { Distribution } from './statistics.ts';

/** What a caller notices is when the sound stops: at the median, and for all but one in twenty. */
const mostToStop = { p50Ms: 220, p95Ms: 320 };
/** Some noises are voices, and VAD is right about them. */
const leastWholeBursts = 0.95;
/** Of words of listening, and how long the agent may stand still for one. */
const leastWholeWords = 0.95;
const mostGapMs = 600;
const leastCaught = 0.97;

const ms = (value: number): string => (Number.isFinite(value) ? value.toFixed(0) : '-');

const times = (found: Distribution): string[] => {
  const { p50Ms, maxMs, count } = found.summary();
  return count === 0 ? ['-', '-', '-'] : [ms(p50Ms), ms(found.quantile(0.95)), ms(maxMs)];
};

/** The rules, for the rows in which they can be seen. */
export function judgeInterruptions(rows: readonly InterruptionRow[]): FloorRow[] {
  const all = (name: string): InterruptionRow[] => rows.filter((one) => one.name === name);
  const callers = all(callerSpeaks);
  const sum = (of: readonly InterruptionRow[], count: (row: InterruptionRow) => number): number =>
    of.reduce((found, row) => found + count(row), 0);
  const stops = callers.map(({ toStop }): [number, number] => [toStop.quantile(0.5), toStop.quantile(0.95)]);
  /** At least this share of the calls went as they should. */
  const counted = (
    rule: string,
    of: readonly InterruptionRow[],
    { right, least = 1 }: { right: (row: InterruptionRow) => number; least?: number },
  ): FloorRow[] => {
    const [found, calls] = [sum(of, right), sum(of, (row) => row.calls)];
    return of.length === 0 ? [] : [{ rule, found: `${found} of ${calls}`, passed: found >= calls * least }];
  };
  const whole = (row: InterruptionRow): number => row.whole ?? 0;
  const heard = (row: InterruptionRow): number => row.calls - row.wrong.length;
  /** Voices that somebody brought, and nobody has chosen. */
  const isBrought = all(aWordOfListening).length > 0;
  return [
    ...stops.map(([p50Ms, p95Ms]) => ({
      rule: `from the first loud sample until the bot is silent, p50 and p95, at most ${mostToStop.p50Ms} and ${mostToStop.p95Ms} ms`,
      found: `${ms(p50Ms)} and ${ms(p95Ms)} ms`,
      passed: p50Ms <= mostToStop.p50Ms && p95Ms <= mostToStop.p95Ms,
    })),
    ...counted('who says nothing hears the greeting to its end', all(nobodySpeaks), { right: whole }),
    ...counted('every caller who speaks interrupts', isBrought ? [] : callers, { right: heard }),
    ...counted(
      `at least ${leastCaught * 100} % of the callers who speak interrupt`,
      isBrought ? callers : [],
      {
        right: heard,
        least: leastCaught,
      },
    ),
    ...counted(
      `a word of listening costs no sample, at least in ${leastWholeWords * 100} %`,
      all(aWordOfListening),
      {
        right: whole,
        least: leastWholeWords,
      },
    ),
    ...all(aWordOfListening).map(({ gap }) => ({
      rule: `and makes the bot stand still for at most ${mostGapMs} ms, p50`,
      found: `${ms(gap.quantile(0.5))} ms (p95 ${ms(gap.quantile(0.95))})`,
      passed: gap.quantile(0.5) <= mostGapMs,
    })),
    ...counted('a hum ends no turn and costs no sample', all('a hum'), { right: whole }),
    ...counted(
      `nor does a burst of noise, at least in ${leastWholeBursts * 100} %`,
      all('a burst of noise'),
      {
        right: whole,
        least: leastWholeBursts,
      },
    ),
    ...counted("the bot's own echo cuts nothing and costs no sample", all(echoAlone), { right: whole }),
    ...counted('and hides no caller', all(callerOverEcho), { right: heard }),
  ];
}

export function describeInterruptions({ rows, loadAverage }: InterruptionResult): string {
  const found = judgeInterruptions(rows);
  const busy = Math.max(loadAverage.before, loadAverage.after) > availableParallelism();
  return [
    `${cpus()[0]?.model ?? 'unknown CPU'}, ${availableParallelism()} cores, Node ${process.version}; load average ` +
      `${loadAverage.before.toFixed(2)} before and ${loadAverage.after.toFixed(2)} after`,
    '',
    ...table([
      [
        'into the greeting, ms',
        'calls',
        'cleared',
        'whole',
        'loud to silence p50',
        'p95',
        'max',
        'to clear p50',
        'p95',
        'max',
        'proof to clear p50',
        'p95',
        'max',
      ],
      ...rows.map((row) => [
        row.name,
        String(row.calls),
        String(row.cleared),
        row.whole === undefined ? '-' : String(row.whole),
        ...times(row.toStop),
        ...times(row.toClear),
        ...times(row.fromProof),
      ]),
    ]),
    '',
    ...rows.flatMap(({ name, wrong }) => wrong.map((what) => `  ${name}, not as it should: ${what}`)),
    ...rows.flatMap(({ name, slowest }) =>
      slowest.length === 0
        ? []
        : [`  ${name}, slowest: ${slowest.map((one) => `${one.name} ${ms(one.ms)}`).join(', ')}`],
    ),
    ...rows.flatMap(({ name, failures }) =>
      failures.length === 0 ? [] : [`  ${name}: ${failures.length} calls broke off: ${failures[0] ?? ''}`],
    ),
    ...table([
      ['asked', 'found', ''],
      ...found.map(({ rule, found: what, passed }) => [rule, what, passed ? 'PASS' : 'FAIL']),
    ]),
    ...(busy && found.some(({ passed }) => !passed)
      ? ['  The machine was busy with other things meanwhile; repeat on a quiet one.']
      : []),
  ].join('\n');
}
