/**
 * A restart and a stop under load: calls go on while another supervisor takes over, new calls come all the time, and then the
 * service is told to end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { briefCall, knock, stream, summarise, type BriefCall, type KnockSummary } from './client/knock.ts';
import type { LoadResult } from './load.ts';
import { openCalls, watchCalls, withParties, type Parties } from './parties.ts';
import { ms, table, times } from './report/report.ts';
import type { FloorRow } from './report/statistics.ts';
import type { RunOptions } from './run.ts';
import { complaintText } from './started.ts';
import { Distribution, type Summary } from './report/statistics.ts';

export interface RestartResult {
  readonly calls: number;
  /** Opened after the restart. */
  readonly laterCalls: number;
  readonly voices: string;
  readonly before: LoadResult;
  readonly restart: LoadResult;
  readonly drain: LoadResult;
  /** From the signal until the new supervisor was ready. */
  readonly restartMs: number;
  readonly newCalls: { readonly outcomes: Readonly<Record<string, number>>; readonly started: Summary };
  readonly refused: KnockSummary;
  /** After the last call hung up: nothing was left in time. */
  readonly ended: boolean;
  readonly complaints: readonly string[];
}

const laterShare = 0.25;
const newCallEveryMs = 50;
const knockEveryMs = 100;
const leadMs = 2_000;
const restartLimitMs = 60_000;
const endLimitMs = 15_000;
const latenessLimitMs = 20;

export function restart(options: RunOptions): Promise<RestartResult> {
  const { root, workers, calls, variables } = options;
  const env = {
    SVC_MAX_SESSIONS: String(Math.max(512, calls * 4)),
    SVC_DRAIN_TIMEOUT: '600s',
    ...variables,
  };
  return withParties({ root, workers, env }, (parties) => run(options, parties));
}

async function run(options: RunOptions, parties: Parties): Promise<RestartResult> {
  const { calls, seconds, format } = options;
  const { service, load } = parties;
  const voices = await openCalls(parties, options);
  const partMs = (seconds * 1_000) / 3;
  const before = await watchCalls(parties, () => sleep(partMs));

  let restartMs = Number.NaN;
  let asked: readonly BriefCall[] = [];
  const restarted = await watchCalls(parties, async () => {
    let isOver = false;
    const start = { sample_rate: format.sampleRate, encoding: format.encoding };
    const asking = stream(
      newCallEveryMs,
      () => briefCall(service.address, start),
      () => isOver,
    );
    await sleep(leadMs);
    restartMs = await restartService(service);
    await sleep(partMs);
    isOver = true;
    asked = await asking;
  });

  const laterCalls = Math.max(1, Math.round(calls * laterShare));
  await openCalls(parties, { ...options, calls: laterCalls });
  let refused = summarise([]);
  const drain = await watchCalls(parties, async () => {
    service.signal('SIGTERM');
    await sleep(leadMs);
    const until = performance.now() + partMs;
    const over = (): boolean => performance.now() >= until;
    refused = summarise(await stream(knockEveryMs, () => knock(service.address), over));
  });
  await load.ask('close', 'closed', restartLimitMs);
  const ended = await service.endsWithin(endLimitMs);
  return {
    calls,
    laterCalls,
    voices,
    before,
    restart: restarted,
    drain,
    restartMs,
    newCalls: summariseCalls(asked),
    refused,
    ended,
    complaints: service.complaints,
  };
}

/** Resolves with how long it took until the new supervisor was ready. */
export async function restartService(service: Parties['service']): Promise<number> {
  const old = service.pid;
  const startedAt = performance.now();
  const isNew = ({ role, pid }: Readonly<Record<string, unknown>>): boolean =>
    role === 'supervisor' && pid !== old;
  const ready = service.says('ready', restartLimitMs, isNew);
  service.signal('SIGUSR2');
  await ready;
  return performance.now() - startedAt;
}

function summariseCalls(calls: readonly BriefCall[]): RestartResult['newCalls'] {
  const outcomes: Record<string, number> = {};
  const started = new Distribution();
  for (const { outcome, startedMs } of calls) {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (!Number.isNaN(startedMs)) started.add(startedMs);
  }
  return { outcomes, started: started.summary() };
}

const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} x ${name}`)
    .join(', ');

export function judgeRestart(result: RestartResult): FloorRow[] {
  const { calls, laterCalls, before, restart: restarted, drain, newCalls, refused } = result;
  const all = calls + laterCalls;
  return [
    {
      rule: 'no new call is refused while the service restarts',
      found: countsText(newCalls.outcomes),
      passed: Object.keys(newCalls.outcomes).join() === 'ended',
    },
    {
      rule: 'no running call is dropped by the restart',
      found: `${restarted.open} of ${calls}`,
      passed: restarted.open === calls && restarted.failures.length === 0,
    },
    {
      rule: `frame lateness meanwhile, p99, at most ${latenessLimitMs} ms`,
      found: `${ms(before.lateness.p99Ms)} ms before, ${ms(restarted.lateness.p99Ms)} ms meanwhile`,
      passed: restarted.lateness.p99Ms <= latenessLimitMs,
    },
    {
      rule: 'SIGTERM drops no running call within the time for draining',
      found: `${drain.open} of ${all}`,
      passed: drain.open === all && drain.failures.length === 0,
    },
    {
      rule: 'who comes then is told 503 without Retry-After',
      found: countsText(refused.statuses),
      passed: refused.asked > 0 && refused.statuses['503'] === refused.asked && refused.withRetryAfter === 0,
    },
    {
      rule: `with its last call the service ends, both of its generations`,
      found: result.ended ? 'it did' : 'something was left',
      passed: result.ended,
    },
  ];
}

export function describeRestart(result: RestartResult): string {
  const { calls, laterCalls, before, restart: restarted, drain, newCalls } = result;
  const rows = judgeRestart(result);
  return [
    `${calls} calls over a restart, then ${laterCalls} more and SIGTERM; the restart took ${(result.restartMs / 1000).toFixed(1)} s; ${result.voices}`,
    '',
    ...table([
      ['ms', 'p50', 'p99', 'max', 'count'],
      times('frame lateness before', before.lateness),
      times('frame lateness over the restart', restarted.lateness),
      times('frame lateness while draining', drain.lateness),
      times('new calls over the restart began after', newCalls.started),
      times("the load process's own ticker, late", restarted.ticker),
    ]),
    `  under-runs: ${before.underruns} before, ${restarted.underruns} over the restart, ${drain.underruns} while draining`,
    ...complaintText(result.complaints),
    '',
    ...table([
      ['restart and stop', 'found', ''],
      ...rows.map((row) => [row.rule, row.found, row.passed ? 'PASS' : 'FAIL']),
    ]),
    rows.every(({ passed }) => passed) ? '  PASS' : '  FAIL',
  ].join('\n');
}
