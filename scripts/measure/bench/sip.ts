/** Calls over SIP: how soon they are answered when many come at once, what they hear, and what is left of them when a worker dies or the service is restarted. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { SipLoad, type SipHeard } from './client/sip-load.ts';
import { loadVoices } from './client/speech.ts';
import { withParties, type Parties } from './parties.ts';
import { machineUse, serviceProcesses, timeUse } from './processes.ts';
import { ms, table, times } from './report/report.ts';
import type { FloorRow } from './report/statistics.ts';
import type { Summary } from './report/statistics.ts';
import type { RunOptions } from './run.ts';
import { restartService } from './restart.ts';
import { complaintText } from './started.ts';

export interface SipResult {
  readonly calls: number;
  readonly seconds: number;
  readonly voices: string;
  readonly answers: Readonly<Record<number, number>>;
  readonly setup: Summary;
  readonly heard: SipHeard;
  /** Over the death of a worker, where that was asked for. */
  readonly takenOver: SipHeard | undefined;
  /** Over a restart of the service, where that was asked for. */
  readonly restarted: SipHeard | undefined;
  readonly hungUp: number;
  /** Of the whole machine, and of that the service's processes: the rest are callers, providers and whatever else runs. */
  readonly busyCores: number;
  readonly serviceCores: number;
  readonly complaints: readonly string[];
}

const callsPerSecond = 30;
const settleMs = 3_000;
const takeoverMs = 5_000;
const setupLimitMs = 200;
/** A telephone's own buffer bridges as much. */
const gapLimitMs = 100;
const expectedPerSecond = 50;

type SipOptions = RunOptions & { readonly killWorker: boolean; readonly restart: boolean };

export async function sipCalls(options: SipOptions): Promise<SipResult> {
  const { root, workers, calls, variables } = options;
  const port = await freePort();
  const env = {
    SVC_MAX_SESSIONS: String(Math.max(512, calls)),
    SVC_SIP_ADDR: `127.0.0.1:${port}`,
    SVC_SIP_RTP_PORTS: '20000-29999',
    // Calls stay with the supervisor that is replaced.
    SVC_DRAIN_TIMEOUT: '600s',
    ...variables,
  };
  return await withParties({ root, workers, env }, (parties) => measure(options, parties, port));
}

async function measure(
  { calls, seconds, assets, killWorker, restart }: SipOptions,
  { service }: Parties,
  port: number,
): Promise<SipResult> {
  const voices = await loadVoices({ sampleRate: 8_000, encoding: 'mulaw' }, assets);
  const load = await SipLoad.open(port, voices);
  try {
    await load.call(calls, callsPerSecond);
    await sleep(settleMs);
    const pids = serviceProcesses(service.pid);
    const cpuMs = (): number => [...pids.values()].reduce((sum, pid) => sum + timeUse(pid).cpuMs, 0);
    const [before, cpuBefore, startedAt] = [machineUse(), cpuMs(), performance.now()];
    load.begin();
    await sleep(seconds * 1000);
    const heard = load.end();
    const windowMs = performance.now() - startedAt;
    const busyCores = (machineUse().busyMs - before.busyMs) / windowMs;
    const serviceCores = (cpuMs() - cpuBefore) / windowMs;
    const takenOver = killWorker ? await overDeath(load, service.pid) : undefined;
    const restarted = restart ? await overRestart(load, service) : undefined;
    const hungUp = await load.hangUp();
    return {
      calls,
      seconds,
      voices: voices.source,
      answers: load.answers,
      setup: load.setups.summary(),
      heard,
      takenOver,
      restarted,
      hungUp,
      busyCores,
      serviceCores,
      complaints: service.complaints,
    };
  } finally {
    load.close();
  }
}

async function overDeath(load: SipLoad, supervisor: number): Promise<SipHeard> {
  const [, pid] = [...serviceProcesses(supervisor)].find(([name]) => name.startsWith('worker')) ?? [];
  if (pid === undefined) throw new Error('no worker was found');
  load.begin();
  await sleep(1_000);
  process.kill(pid, 'SIGKILL');
  await sleep(takeoverMs);
  return load.end();
}

async function overRestart(load: SipLoad, service: Parties['service']): Promise<SipHeard> {
  load.begin();
  await restartService(service);
  await sleep(takeoverMs);
  return load.end();
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

export function judgeSip({
  calls,
  seconds,
  answers,
  setup,
  heard,
  takenOver,
  restarted,
  hungUp,
}: SipResult): FloorRow[] {
  const expected = calls * seconds * expectedPerSecond;
  const share = heard.packets / expected;
  const rows = [
    { rule: 'every call is answered by 200', found: JSON.stringify(answers), passed: answers[200] === calls },
    {
      rule: `from INVITE to 200 at ${callsPerSecond} calls a second, p99, at most ${setupLimitMs} ms`,
      found: `${ms(setup.p99Ms)} ms`,
      passed: setup.p99Ms <= setupLimitMs,
    },
    {
      rule: 'a packet every 20 ms in every call, none lost',
      found: `${(share * 100).toFixed(1)} %, ${heard.lost} lost`,
      passed: share > 0.99 && share < 1.01 && heard.lost === 0,
    },
    {
      rule: `longest time without a packet, of 99 of 100 calls, at most ${gapLimitMs} ms`,
      found: `${ms(heard.gaps.p99Ms)} ms`,
      passed: heard.gaps.p99Ms <= gapLimitMs,
    },
    { rule: 'every BYE is answered', found: `${hungUp} of ${calls}`, passed: hungUp === calls },
  ];
  if (takenOver !== undefined)
    rows.push({
      rule: 'a worker is killed: at least 95 % of the calls go on, silent for less than a second',
      found: `${takenOver.unbroken} of ${calls}, longest silence ${ms(takenOver.gaps.maxMs)} ms`,
      passed: takenOver.unbroken >= 0.95 * calls,
    });
  if (restarted !== undefined)
    rows.push({
      rule: 'the service is restarted (SIGUSR2): every call goes on, silent for less than a second',
      found: `${restarted.unbroken} of ${calls}, longest silence ${ms(restarted.gaps.maxMs)} ms`,
      passed: restarted.unbroken === calls,
    });
  return rows;
}

export function describeSip(result: SipResult): string {
  const { calls, seconds, heard, takenOver, restarted, busyCores, serviceCores } = result;
  const rows = judgeSip(result);
  return [
    `${calls} calls over SIP (UDP, PCMU) for ${seconds} s; ${busyCores.toFixed(2)} cores busy, ${serviceCores.toFixed(2)} of them the service; ${result.voices}`,
    '',
    ...table([
      ['ms', 'p50', 'p99', 'max', 'count'],
      times('from INVITE to 200', result.setup),
      times('longest time without a packet', heard.gaps),
      ...(takenOver === undefined ? [] : [times('the same while a worker dies', takenOver.gaps)]),
      ...(restarted === undefined ? [] : [times('the same over a restart', restarted.gaps)]),
    ]),
    ...complaintText(result.complaints),
    '',
    ...table([
      ['calls over SIP', 'found', ''],
      ...rows.map((row) => [row.rule, row.found, row.passed ? 'PASS' : 'FAIL']),
    ]),
    rows.every(({ passed }) => passed) ? '  PASS' : '  FAIL',
  ].join('\n');
}
