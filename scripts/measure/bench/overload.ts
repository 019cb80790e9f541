/** Overload: as many calls as are allowed go on while others keep asking, in bursts and in a steady stream. */
import { setTimeout as sleep } from 'node:timers/promises';
import { knock, practise, stream, summarise, type Knock, type KnockSummary } from './client/knock.ts';
import type { LoadResult } from './load.ts';
import { openCalls, watchCalls, withParties, type Parties } from './parties.ts';
import { ms, table, times } from './report/report.ts';
import type { FloorRow } from './report/statistics.ts';
import type { RunOptions } from './run.ts';

export interface OverloadResult {
  readonly calls: number;
  readonly voices: string;
  readonly before: LoadResult;
  readonly during: LoadResult;
  readonly bursts: KnockSummary;
  readonly steady: KnockSummary;
}

const burstEveryMs = 1_000;
const steadyEveryMs = 10;
const refusedWithinMs = 50;
const latenessLimitMs = 20;

export function overload(options: RunOptions): Promise<OverloadResult> {
  const { root, workers, calls, variables } = options;
  const env = { SVC_MAX_SESSIONS: String(calls), ...variables };
  return withParties({ root, workers, env }, (parties) => run(options, parties));
}

/** A third of the time each: the calls alone, with bursts, with the stream. */
async function run(options: RunOptions, parties: Parties): Promise<OverloadResult> {
  const { calls, seconds } = options;
  const { service } = parties;
  await practise();
  const voices = await openCalls(parties, options);
  const partMs = (seconds * 1_000) / 3;
  const before = await watchCalls(parties, () => sleep(partMs));
  let bursts: readonly Knock[] = [];
  let steady: readonly Knock[] = [];
  const during = await watchCalls(parties, async () => {
    const burst = (): Promise<Knock[]> =>
      Promise.all(Array.from({ length: calls }, () => knock(service.address)));
    bursts = (await stream(burstEveryMs, burst, lasting(partMs))).flat();
    steady = await stream(steadyEveryMs, () => knock(service.address), lasting(partMs));
  });
  return { calls, voices, before, during, bursts: summarise(bursts), steady: summarise(steady) };
}

function lasting(forMs: number): () => boolean {
  const until = performance.now() + forMs;
  return () => performance.now() >= until;
}

const isRefused = ({ asked, statuses, withRetryAfter }: KnockSummary): boolean =>
  asked > 0 && statuses['503'] === asked && withRetryAfter === asked;

export function judgeOverload({ calls, before, during, bursts, steady }: OverloadResult): FloorRow[] {
  const statusText = ({ statuses }: KnockSummary): string =>
    Object.entries(statuses)
      .map(([status, count]) => `${count} x ${status === '0' ? 'no answer' : status}`)
      .join(', ');
  return [
    {
      rule: 'everybody else is refused with 503 and Retry-After',
      found: `${statusText(bursts)}; ${statusText(steady)}`,
      passed: isRefused(bursts) && isRefused(steady),
    },
    {
      rule: `refused within ${refusedWithinMs} ms at p99, in bursts and one by one`,
      found: `${ms(bursts.times.p99Ms)} and ${ms(steady.times.p99Ms)} ms`,
      passed: bursts.times.p99Ms <= refusedWithinMs && steady.times.p99Ms <= refusedWithinMs,
    },
    {
      rule: 'every admitted call is held',
      found: `${during.open} of ${calls}`,
      passed: during.open === calls && during.failures.length === 0,
    },
    {
      rule: `their frame lateness, p99, at most ${latenessLimitMs} ms, and no under-run`,
      found: `${ms(before.lateness.p99Ms)} ms before, ${ms(during.lateness.p99Ms)} ms meanwhile; ${during.underruns}`,
      passed: during.lateness.p99Ms <= latenessLimitMs && during.underruns === 0,
    },
  ];
}

export function describeOverload(result: OverloadResult): string {
  const { calls, bursts, steady, before, during } = result;
  const rows = judgeOverload(result);
  return [
    `${calls} calls, all that are allowed; ${bursts.asked} more asked in bursts of ${calls}, ${steady.asked} one by one ` +
      `every ${steadyEveryMs} ms; ${result.voices}`,
    '',
    ...table([
      ['ms', 'p50', 'p99', 'max', 'count'],
      times('refused in bursts, after', bursts.times),
      times('refused one by one, after', steady.times),
      times('frame lateness of the calls before', before.lateness),
      times('frame lateness of the calls meanwhile', during.lateness),
      times("the load process's own ticker, late", during.ticker),
    ]),
    '',
    ...table([
      ['overload', 'found', ''],
      ...rows.map((row) => [row.rule, row.found, row.passed ? 'PASS' : 'FAIL']),
    ]),
    rows.every(({ passed }) => passed) ? '  PASS' : '  FAIL',
  ].join('\n');
}
