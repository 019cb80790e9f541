/**
 * The soak: thousands of short calls, and what they leave in the processes of the service. Between its legs nothing is open, and
 * memory, descriptors, threads and timers of every process are read. Garbage is collected before each look, by a preload of the bench's.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { newPrng } from '../../../shared/base/prng.ts';
import { CallClient, audioFrame } from './client/client.ts';
import { withParties, type Parties } from './parties.ts';
import { descriptorsOf, memoryUse, serviceProcesses, threadsOf, type MemoryUse } from './processes.ts';
import {
  pickKind,
  ShortCall,
  shortCallKinds,
  type ShortCallEnd,
  type ShortCallKind,
} from './client/short-caller.ts';
import { loadVoices, type CallFormat } from './client/speech.ts';
import { parseMetrics } from './report/statistics.ts';

export interface SoakOptions {
  /** In all, those of the warm-up among them. */
  readonly total: number;
  /** At the same time. */
  readonly parallel: number;
  readonly warmUp: number;
  readonly workers: string;
  readonly format: CallFormat;
  readonly assets: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
  readonly root: URL;
}

/** What a process has while no call is open. */
export interface Look extends MemoryUse {
  readonly pid: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly timers: number;
  /** Memory that its main thread refers to, garbage since the last collection among it. */
  readonly liveBytes: number;
  /** What the C library has given out, and what it holds free: the rest of a heap in pieces. */
  readonly nativeUsedBytes: number;
  readonly nativeFreeBytes: number;
}

export interface SoakLook {
  readonly calls: number;
  readonly processes: ReadonlyMap<string, Look>;
}

export interface SoakResult {
  readonly options: SoakOptions;
  readonly voices: string;
  /** At the start, after the warm-up, at intervals, at the end. */
  readonly looks: readonly SoakLook[];
  /** How many calls ended in which way, by kind. */
  readonly ends: ReadonlyMap<ShortCallKind, ReadonlyMap<ShortCallEnd, number>>;
  /** The first few calls that did not end as they were meant to. */
  readonly oddities: readonly string[];
  readonly slots: { readonly allowed: number; readonly taken: number };
  /** By the service's metrics after the last call. */
  readonly callsLeft: number;
  readonly lasted: { readonly ms: number };
  readonly complaints: readonly string[];
}

const tickMs = 20;
const catchUpTicks = 3;
const legs = 6;
/** Callers do not speak longer than this in a soak. */
const clipFrames = 40;
const silenceEndMs = 300;
const refusedPauseMs = 200;
const emptyWithinMs = 30_000;
/** Connections that are kept for the next request are closed by then. */
const quietMs = 10_000;
const answerLimitMs = 60_000;
const betweenLooksMs = 2_000;
const mostLooks = 12;
/** Looks in a row without a fall by this share end the waiting. */
const stillLooks = 3;
const fallShare = 0.005;
const maxOddities = 8;
/** Room for calls whose end the service has not noticed yet. */
const slotsToSpare = 8;

interface Crowd {
  readonly sounds: { readonly clips: readonly (readonly Buffer[])[]; readonly silence: readonly Buffer[] };
  readonly ends: Map<ShortCallKind, Map<ShortCallEnd, number>>;
  readonly oddities: string[];
  readonly prng: ReturnType<typeof newPrng>;
}

export function soak(options: SoakOptions, log: (text: string) => void): Promise<SoakResult> {
  const { root, workers, parallel, variables } = options;
  const parties = {
    root,
    workers,
    silenceEndMs,
    env: { SVC_MAX_SESSIONS: String(parallel + slotsToSpare), ...variables },
    preloads: lookPreloads(root),
  };
  return withParties(parties, (started) => {
    started.providers.tell('keep nothing');
    return run(options, started, log);
  });
}

async function run(
  options: SoakOptions,
  { service }: Parties,
  log: (text: string) => void,
): Promise<SoakResult> {
  const voices = await loadVoices(options.format, options.assets);
  const crowd: Crowd = {
    sounds: {
      clips: voices.clips.map((clip) => clip.slice(0, clipFrames).map(audioFrame)),
      silence: voices.silence.map(audioFrame),
    },
    ends: new Map(shortCallKinds.map((kind) => [kind, new Map<ShortCallEnd, number>()])),
    oddities: [],
    prng: newPrng(20),
  };
  const startedAt = performance.now();
  const looks: SoakLook[] = [];
  const look = async (calls: number): Promise<void> => {
    looks.push({ calls, processes: await lookAt(service) });
    log(
      `${calls} calls after ${((performance.now() - startedAt) / 1000).toFixed(0)} s: ${residentText(looks)}\n`,
    );
  };
  await look(0);
  const perLeg = Math.ceil((options.total - options.warmUp) / legs);
  for (let done = 0; done < options.total;) {
    const leg = Math.min(done === 0 ? options.warmUp : perLeg, options.total - done);
    await callShortly(leg, options, { service, crowd });
    done += leg;
    await look(done);
  }
  const allowed = options.parallel + slotsToSpare;
  const taken = await fillSlots(allowed, options, service);
  await empty(service);
  const active = parseMetrics(await service.metrics()).get('svc_calls_active') ?? Number.NaN;
  return {
    options,
    voices: voices.source,
    looks,
    ends: crowd.ends,
    oddities: crowd.oddities,
    slots: { allowed, taken },
    callsLeft: active,
    lasted: { ms: performance.now() - startedAt },
    complaints: service.complaints,
  };
}

function residentText(looks: readonly SoakLook[]): string {
  const last = looks.at(-1)?.processes ?? new Map<string, Look>();
  return [...last]
    .map(([name, { rssBytes }]) => `${name} ${(rssBytes / 1_048_576).toFixed(1)} MB`)
    .join(', ');
}

/** Makes so many calls, a number of them at the same time; resolves when the last one is over. */
function callShortly(
  count: number,
  options: SoakOptions,
  { service, crowd }: { service: Parties['service']; crowd: Crowd },
): Promise<void> {
  const open = new Set<ShortCall>();
  const { sounds, prng, ends, oddities } = crowd;
  let left = count;
  let mayOpenAt = 0;
  const openOne = (now: number): void => {
    const kind = pickKind(prng);
    left -= 1;
    const call: ShortCall = new ShortCall(
      {
        kind,
        address: service.address,
        start: { sample_rate: options.format.sampleRate, encoding: options.format.encoding },
        clip: prng.pick(sounds.clips),
        silence: sounds.silence,
        prng,
        over: (end, why) => {
          open.delete(call);
          const ofKind = ends.get(kind);
          ofKind?.set(end, (ofKind.get(end) ?? 0) + 1);
          if (end === 'refused') {
            left += 1;
            mayOpenAt = performance.now() + refusedPauseMs;
          }
          if (end === 'failed' && oddities.length < maxOddities) oddities.push(`${kind}: ${why}`);
        },
      },
      now,
    );
    open.add(call);
  };
  return new Promise((resolve) => {
    const startAt = performance.now();
    let index = 0;
    const tick = (): void => {
      const now = performance.now();
      for (const call of open) call.tick(now);
      // A few in each tick, so that calls do not move in step.
      for (
        let fresh = 0;
        fresh < 2 && left > 0 && open.size < options.parallel && now >= mayOpenAt;
        fresh += 1
      )
        openOne(now);
      if (left === 0 && open.size === 0) {
        resolve();
        return;
      }
      // After a stall of its own a caller does not send everything at once: that would be a flood.
      index = Math.max(index + 1, Math.floor((performance.now() - startAt) / tickMs) - catchUpTicks);
      setTimeout(tick, Math.max(0, startAt + index * tickMs - performance.now()));
    };
    tick();
  });
}

async function empty(service: Parties['service']): Promise<void> {
  for (const until = performance.now() + emptyWithinMs; performance.now() < until;) {
    if ((await service.counts())['sessions'] === 0) return;
    await sleep(100);
  }
}

/** What the processes of a service load so that they can be looked at. */
export const lookPreloads = (root: URL): string[] =>
  ['test/support/process/collect-garbage.mjs', 'scripts/measure/bench/resources.mjs'].map(
    (file) => new URL(file, root).href,
  );

/**
 * Looks again and again until memory falls no more: what an engine gave to many calls at once it gives back step by step while
 * nothing goes on. Of each process the look with the least resident memory counts.
 */
export async function lookAt(service: Parties['service']): Promise<ReadonlyMap<string, Look>> {
  await empty(service);
  await sleep(quietMs);
  const best = new Map<string, Look>();
  let still = 0;
  for (let time = 0; time < mostLooks && still < stillLooks; time += 1) {
    let fell = false;
    for (const [name, look] of await lookOnce(service)) {
      const before = best.get(name);
      if (before === undefined || look.rssBytes < before.rssBytes * (1 - fallShare)) fell = true;
      if (before === undefined || look.rssBytes < before.rssBytes) best.set(name, look);
    }
    still = fell ? 0 : still + 1;
    await sleep(betweenLooksMs);
  }
  return best;
}

async function lookOnce(service: Parties['service']): Promise<ReadonlyMap<string, Look>> {
  const found = new Map<string, Look>();
  for (const [name, pid] of serviceProcesses(service.pid)) {
    const told = service.says('resources', answerLimitMs, (said) => said['pid'] === pid);
    process.kill(pid, 'SIGWINCH');
    const line = await told;
    found.set(name, {
      ...memoryUse(pid),
      pid,
      descriptors: descriptorsOf(pid),
      threads: threadsOf(pid),
      timers: Number(line['timers']),
      liveBytes: Number(line['liveKiB']) * 1024,
      nativeUsedBytes: Number(line['nativeUsedKiB']) * 1024,
      nativeFreeBytes: Number(line['nativeFreeKiB']) * 1024,
    });
  }
  return found;
}

/** All call slots at once; resolves with how many calls began. */
async function fillSlots(count: number, options: SoakOptions, service: Parties['service']): Promise<number> {
  let started = 0;
  const { sampleRate, encoding } = options.format;
  const clients = Array.from({ length: count }, () => {
    const client = new CallClient(service.address, {
      opened: () => client.sendMessage({ type: 'start', version: 1, sample_rate: sampleRate, encoding }),
      audio: () => undefined,
      message: ({ type }) => {
        if (type === 'started') started += 1;
      },
      closed: () => undefined,
    });
    return client;
  });
  for (const until = performance.now() + 10_000; started < count && performance.now() < until;)
    await sleep(50);
  for (const client of clients) client.sendMessage({ type: 'stop' });
  await sleep(1_000);
  for (const client of clients) client.destroy();
  return started;
}
