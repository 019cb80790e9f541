/** Says what the bench of interruptions found, and whether it keeps what is asked of it. */
import { availableParallelism, cpus } from 'node:os';
import { callerOverEcho, echoAlone, type InterruptionResult, type InterruptionRow } from './interruptions.ts';
import { table, type FloorRow } from './report.ts';
import { frameMs, type Distribution } from './statistics.ts';

const mostToClearMs = 250;
/** Some noises are voices, and VAD is right about them. */
const leastWholeBursts = 0.95;
const callerSpeaks = 'the caller speaks';

const ms = (value: number): string => (Number.isFinite(value) ? value.toFixed(0) : '-');

const times = (found: Distribution): string[] => {
  const { p50Ms, maxMs, count } = found.summary();
  return count === 0 ? ['-', '-', '-'] : [ms(p50Ms), ms(found.quantile(0.95)), ms(maxMs)];
};

/** The rules, for the rows in which they can be seen. */
export function judgeInterruptions(rows: readonly InterruptionRow[]): FloorRow[] {
  const row = (name: string): InterruptionRow | undefined => rows.find((one) => one.name === name);
  const caller = row(callerSpeaks);
  const key = row('a key is pressed');
  const proofs = [caller, key].flatMap((one) => (one === undefined ? [] : [one.fromProof.quantile(0.95)]));
  const slowest = Math.max(...proofs);
  const toClear = caller?.toClear.quantile(0.95) ?? Number.NaN;
  const hums = row('a hum');
  const bursts = row('a burst of noise');
  const echo = rows.find(({ name }) => name === echoAlone);
  const overEcho = rows.find(({ name }) => name === callerOverEcho);
  return [
    {
      rule: `from what proves an interruption to clear, p95, at most ${frameMs} ms`,
      found: `${ms(slowest)} ms`,
      passed: slowest <= frameMs,
    },
    {
      rule: `from the first loud sample to clear, p95, at most ${mostToClearMs} ms`,
      found: `${ms(toClear)} ms`,
      passed: toClear <= mostToClearMs,
    },
    {
      rule: 'every caller who speaks interrupts',
      found: `${caller?.cleared ?? 0} of ${caller?.calls ?? 0}`,
      passed: caller !== undefined && caller.cleared === caller.calls,
    },
    {
      rule: 'a hum ends no turn and costs no sample',
      found: `${hums?.whole ?? 0} of ${hums?.calls ?? 0}`,
      passed: hums !== undefined && hums.whole === hums.calls,
    },
    {
      rule: `nor does a burst of noise, at least in ${leastWholeBursts * 100} %`,
      found: bursts === undefined ? 'no recordings of noise' : `${bursts.whole ?? 0} of ${bursts.calls}`,
      passed: bursts === undefined || (bursts.whole ?? 0) >= bursts.calls * leastWholeBursts,
    },
    {
      rule: "the bot's own echo cuts nothing and costs no sample",
      found: `${echo?.whole ?? 0} of ${echo?.calls ?? 0}`,
      passed: echo !== undefined && echo.whole === echo.calls && echo.cleared === 0,
    },
    {
      rule: 'and hides no caller',
      found: `${overEcho?.cleared ?? 0} of ${overEcho?.calls ?? 0}`,
      passed: overEcho !== undefined && overEcho.cleared === overEcho.calls,
    },
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
        'loud to clear p50',
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
        ...times(row.toClear),
        ...times(row.fromProof),
      ]),
    ]),
    '',
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
