/**
 * Calls over WebRTC: what they cost with Opus in both directions, how evenly they are spoken to, what is left of them when a worker dies,
 * and what thousands of short ones leave behind.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { loadVoices } from '../client/speech.ts';
import { WebrtcLoad, type WebrtcHeard } from '../client/webrtc-load.ts';
import { withParties, type Parties } from '../parties.ts';
import { memoryUse, serviceProcesses, timeUse } from '../processes.ts';
import { ms, table, times } from '../report/report.ts';
import type { FloorRow } from '../report/statistics.ts';
import { Distribution, type Summary } from '../report/statistics.ts';
import type { RunOptions } from '../run.ts';
import { lookAt, lookPreloads } from '../soak.ts';
import { complaintText } from '../started.ts';

export interface WebrtcMode {
  readonly killWorker: boolean;
  /** Short calls in all; undefined where calls are held. */
  readonly soak: number | undefined;
}

/** What a process of the service has. */
interface Look {
  readonly rssBytes: number;
  readonly descriptors: number;
  readonly threads: number;
}

interface SoakLook {
  readonly calls: number;
  readonly processes: Readonly<Record<string, Look>>;
}

interface HeldCalls {
  readonly heard: WebrtcHeard;
  readonly serviceCores: number;
  readonly cores: Readonly<Record<string, number>>;
  readonly bytesPerCall: number;
  /** Longest silence of each call over the death of a worker, of those that it had. */
  readonly takenOver:
    { readonly silences: Summary; readonly moved: number; readonly soon: number } | undefined;
  readonly hungUp: number;
}

export interface WebrtcResult {
  readonly calls: number;
  readonly seconds: number;
  readonly voices: string;
  readonly answers: Readonly<Record<number, number>>;
  readonly setup: Summary;
  readonly held: HeldCalls | undefined;
  readonly soak:
    { readonly total: number; readonly whole: number; readonly looks: readonly SoakLook[] } | undefined;
  readonly complaints: readonly string[];
}

const callsPerSecond = 10;
/** By then each caller has spoken, quiet frames need no model any more, and nobody guards against a loss that has not shown. */
const settleMs = 18_000;
const takeoverMs = 6_000;
const gapLimitMs = 30;
const leastPerCore = 75;
const backLimitMs = 1_500;
const shortCallMs = 400;
const legs = 5;

export async function webrtcCalls(
  options: RunOptions & WebrtcMode,
  log: (text: string) => void,
): Promise<WebrtcResult> {
  const { root, workers, calls, variables, assets, profile } = options;
  const most = String(Math.max(512, calls));
  const env = {
    SVC_MAX_SESSIONS: most,
    SVC_WEBRTC_MAX_CALLS_PER_IP: most,
    SVC_WEBRTC_MAX_HANDSHAKING: most,
    SVC_WEBRTC_ADDR: '127.0.0.1:0',
    SVC_WEBRTC_OFFERS_PER_MINUTE: 'off',
    ...(profile !== undefined && { BENCH_PROFILE_DIR: profile }),
    ...variables,
  };
  const profiler = profile === undefined ? [] : [new URL('scripts/measure/bench/profiler.mjs', root).href];
  const preloads = options.soak === undefined ? profiler : lookPreloads(root);
  return await withParties({ root, workers, env, preloads }, async (parties) => {
    const voices = await loadVoices({ sampleRate: 16_000, encoding: 'pcm16' }, assets);
    const { host, port } = parties.service.addressOf('webrtc');
    const load = await WebrtcLoad.open(`http://${host}:${port}/whip`, voices);
    try {
      const held = options.soak === undefined ? await hold(options, parties, load) : undefined;
      const soak =
        options.soak === undefined ? undefined : await leave(options.soak, { calls, parties, load, log });
      const { seconds } = options;
      return {
        calls,
        seconds,
        voices: voices.source,
        answers: load.answers,
        setup: load.setups.summary(),
        held,
        soak,
        complaints: parties.service.complaints,
      };
    } finally {
      load.close();
    }
  });
}

async function hold(
  { calls, seconds, killWorker }: RunOptions & WebrtcMode,
  { service }: Parties,
  load: WebrtcLoad,
): Promise<HeldCalls> {
  // Children settle after their start.
  await sleep(1_500);
  const pids = serviceProcesses(service.pid);
  const memory = (): number => [...pids.values()].reduce((sum, pid) => sum + memoryUse(pid).pssBytes, 0);
  const cpu = (): Record<string, number> =>
    Object.fromEntries([...pids].map(([name, pid]) => [name, timeUse(pid).cpuMs]));
  const idle = memory();
  await load.call(calls, callsPerSecond);
  await sleep(settleMs);
  const [before, startedAt] = [cpu(), performance.now()];
  load.begin();
  await sleep(seconds * 1000);
  const heard = load.end();
  const [after, windowMs] = [cpu(), performance.now() - startedAt];
  const cores = Object.fromEntries(
    Object.entries(after).map(([name, used]) => [name, (used - (before[name] ?? 0)) / windowMs]),
  );
  const bytesPerCall = (memory() - idle) / Math.max(1, heard.open);
  const takenOver = killWorker ? await overDeath(load, service.pid) : undefined;
  const serviceCores = Object.values(cores).reduce((sum, share) => sum + share, 0);
  return { heard, serviceCores, cores, bytesPerCall, takenOver, hungUp: await load.hangUp() };
}

async function overDeath(load: WebrtcLoad, supervisor: number): Promise<HeldCalls['takenOver']> {
  const [, pid] = [...serviceProcesses(supervisor)].find(([name]) => name.startsWith('worker')) ?? [];
  if (pid === undefined) throw new Error('no worker was found');
  load.begin();
  process.kill(pid, 'SIGKILL');
  const killedAt = performance.now();
  await sleep(takeoverMs);
  const silences = new Distribution();
  const moved = load.peers.filter((peer) => peer.moves > 0);
  // A call that has not come back is silent still.
  const silenceOf = (peer: (typeof moved)[number]): number =>
    peer.heardAt < killedAt ? performance.now() - killedAt : peer.longestSilenceMs;
  for (const peer of moved) silences.add(silenceOf(peer));
  const soon = moved.filter((peer) => silenceOf(peer) <= backLimitMs).length;
  return { silences: silences.summary(), moved: moved.length, soon };
}

async function leave(
  total: number,
  {
    calls,
    parties,
    load,
    log,
  }: { calls: number; parties: Parties; load: WebrtcLoad; log: (text: string) => void },
): Promise<NonNullable<WebrtcResult['soak']>> {
  const looks: SoakLook[] = [];
  const look = async (done: number): Promise<void> => {
    const processes = Object.fromEntries(await lookAt(parties.service));
    looks.push({ calls: done, processes });
    log(`${describeLook({ calls: done, processes })}\n`);
  };
  await look(0);
  let [done, whole] = [0, 0];
  for (let leg = 1; leg <= legs; leg += 1) {
    const count = Math.round((total * leg) / legs) - done;
    whole += await load.shortCalls(count, calls, shortCallMs);
    done += count;
    await look(done);
  }
  return { total, whole, looks };
}

const describeLook = ({ calls, processes }: SoakLook): string =>
  `  after ${calls} calls: ${Object.entries(processes)
    .map(
      ([name, { rssBytes, descriptors, threads }]) =>
        `${name} ${(rssBytes / 1_048_576).toFixed(1)} MB, ${descriptors} descriptors, ${threads} threads`,
    )
    .join('; ')}`;

/** Of one core, and of the calls that the run held. */
const perCore = ({ heard, serviceCores }: HeldCalls): number => heard.open / serviceCores;

function judgeHeld(calls: number, held: HeldCalls): FloorRow[] {
  const { heard, takenOver, hungUp } = held;
  const rows = [
    {
      rule: `calls for each core of the service, at least ${leastPerCore}`,
      found: perCore(held).toFixed(0),
      passed: perCore(held) >= leastPerCore,
    },
    {
      rule: `from packet to packet of speech, p99, at most ${gapLimitMs} ms`,
      found: `${ms(heard.gaps.p99Ms)} ms, ${heard.lost} lost`,
      passed: heard.gaps.p99Ms <= gapLimitMs && heard.gaps.count > 0,
    },
    {
      rule: 'every call is hung up by its session URL',
      found: `${hungUp} of ${calls}`,
      passed: hungUp === calls,
    },
  ];
  if (takenOver === undefined) return rows;
  const { moved, soon, silences } = takenOver;
  return [
    ...rows,
    {
      rule: `a worker is killed: at least 95 % of its calls are spoken to again within ${backLimitMs} ms`,
      found: `${soon} of ${moved}, longest silence ${ms(silences.maxMs)} ms`,
      passed: moved > 0 && soon >= 0.95 * moved,
    },
  ];
}

const flatDescriptors = 4;
const flatBytes = 8 * 1_048_576;

function judgeSoak({ total, whole, looks }: NonNullable<WebrtcResult['soak']>): FloorRow[] {
  const [, first] = looks;
  const last = looks.at(-1);
  if (first === undefined || last === undefined) return [];
  const grown = (of: (look: Look) => number): number =>
    Math.max(
      ...Object.entries(last.processes).map(([name, look]) => {
        const before = first.processes[name];
        return before === undefined ? 0 : of(look) - of(before);
      }),
    );
  const [bytes, descriptors] = [grown((look) => look.rssBytes), grown((look) => look.descriptors)];
  return [
    {
      rule: 'every short call is one from beginning to end',
      found: `${whole} of ${total}`,
      passed: whole === total,
    },
    {
      rule: `descriptors of a process after the first leg, at most ${flatDescriptors} more`,
      found: String(descriptors),
      passed: descriptors <= flatDescriptors,
    },
    {
      rule: 'resident memory of a process after the first leg, at most 8 MB more',
      found: `${(bytes / 1_048_576).toFixed(1)} MB`,
      passed: bytes <= flatBytes,
    },
  ];
}

export function judgeWebrtc({ calls, answers, held, soak }: WebrtcResult): FloorRow[] {
  const expected = soak?.total ?? calls;
  return [
    {
      rule: 'every offer is answered by 201',
      found: JSON.stringify(answers),
      passed: answers[201] === expected,
    },
    ...(held === undefined ? [] : judgeHeld(calls, held)),
    ...(soak === undefined ? [] : judgeSoak(soak)),
  ];
}

function describeHeld(
  { heard, serviceCores, cores, bytesPerCall, takenOver }: HeldCalls,
  setup: Summary,
): string[] {
  const parts = Object.entries(cores).map(([name, share]) => `${name} ${share.toFixed(2)}`);
  return [
    `  cores: ${serviceCores.toFixed(2)} (${parts.join(', ')}), that is ${((serviceCores * 1000) / Math.max(1, heard.open)).toFixed(1)} ms CPU per call-second; memory of a call: ${(bytesPerCall / 1024).toFixed(0)} KiB`,
    '',
    ...table([
      ['ms', 'p50', 'p99', 'max', 'count'],
      times('from offer to connection', setup),
      times('from packet to packet of speech', heard.gaps),
      times("the load's own clock, late", heard.ticker),
      ...(takenOver === undefined ? [] : [times('silence while a worker dies', takenOver.silences)]),
    ]),
  ];
}

export function describeWebrtc(result: WebrtcResult): string {
  const { calls, seconds, voices, held, soak, setup, complaints } = result;
  const rows = judgeWebrtc(result);
  return [
    soak === undefined
      ? `${calls} calls over WebRTC (Opus) for ${seconds} s; ${voices}`
      : `${soak.total} short calls over WebRTC (Opus), ${calls} at a time; ${voices}`,
    ...(held === undefined ? [] : describeHeld(held, setup)),
    ...(soak?.looks ?? []).map(describeLook),
    ...complaintText(complaints),
    '',
    ...table([
      ['calls over WebRTC', 'found', ''],
      ...rows.map((row) => [row.rule, row.found, row.passed ? 'PASS' : 'FAIL']),
    ]),
    rows.every(({ passed }) => passed) ? '  PASS' : '  FAIL',
  ].join('\n');
}
