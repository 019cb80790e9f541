/**
 * Interruptions as a caller sees them: the service with the demo's providers and the demo's agent, recordings that are spoken into
 * its greeting, and the time from the first loud sample to `clear`; then sounds that must not interrupt, after which everything
 * that was sent is compared with a call without them.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { newPrng } from '../../../shared/base/prng.ts';
import { rmsDbfs } from '../../../shared/audio/pcm.ts';
import { loadAgentFile } from '../../../shared/config/load.ts';
import { loadFlite } from '../../../examples/demo/flite.ts';
import { speechSettings } from '../../../worker/host/definition.ts';
import { recordingsIn } from '../eval-turns/recordings.ts';
import { speechOf } from '../eval-turns/scenarios.ts';
import { openProver, type Prover } from './proof.ts';
import { stopWithOthers } from './parties.ts';
import { machineUse } from './processes.ts';
import type { RunOptions } from './run.ts';
import { ServiceProcess } from './started.ts';
import { Distribution, frameMs } from './report/statistics.ts';
import { frameSamples, sampleRate, talk, type Talk, type TalkPlan } from './client/talker.ts';

/** The first window of a recording's speech that is at least this loud is where the caller can be heard. */
export const loudDbfs = -40;
const windowSamples = sampleRate / 100;
/** Frames of the greeting that have come when the caller begins. */
export const afterFrames = 40;
const longestSoundMs = 2_500;
export const callsAtOnce = 4;
const burstRms = 3_300;
const echo = { db: -12, delayMs: 150 } as const;
const keyCalls = 20;

/** Names of rows that are judged. */
export const echoAlone = `echo ${echo.db} dB, ${echo.delayMs} ms`;
export const callerSpeaks = 'the caller speaks';
export const nobodySpeaks = 'nobody speaks';
export const aWordOfListening = 'a word of listening';
export const callerOverEcho = 'the caller speaks, with that echo';

export interface InterruptionRow {
  readonly name: string;
  readonly calls: number;
  /** Calls with a `clear`. */
  readonly cleared: number;
  readonly toClear: Distribution;
  /** From the first loud sample until the caller hears the agent give way: 12 dB softer, or the end of the last frame before `clear`. */
  readonly toStop: Distribution;
  /** From the frame that proves it, or the key, to `clear`. */
  readonly fromProof: Distribution;
  /** Calls in which every sample came that comes without the sound; undefined where that is not asked. */
  readonly whole: number | undefined;
  /** Of those that come whole, for how long the agent stood still. */
  readonly gap: Distribution;
  /** What was heard in calls that did not go as they should, and how soon they were cut after it was loud. */
  readonly wrong: readonly string[];
  /** The sounds to which the agent gave way last. */
  readonly slowest: readonly { readonly name: string; readonly ms: number }[];
  /** Why calls broke off. */
  readonly failures: readonly string[];
}

export interface Sound {
  readonly name: string;
  readonly pcm: Int16Array;
  /** First loud sample. */
  readonly loudAt: number;
}

/** Begins with the first window of speech that is loud. */
function loudSound(name: string, pcm: Int16Array): Sound | undefined {
  for (let at = 0; at + windowSamples <= pcm.length; at += windowSamples) {
    if (rmsDbfs(pcm.subarray(at, at + windowSamples)) >= loudDbfs)
      return { name, pcm: pcm.subarray(0, (longestSoundMs * sampleRate) / 1000), loudAt: at };
  }
  return undefined;
}

interface Material {
  readonly callers: readonly Sound[];
  readonly bursts: readonly Sound[];
  readonly hums: readonly Sound[];
  /** What a folder holds of listening; it takes the place of all others but the callers. */
  readonly listening: readonly Sound[];
}

/** Of a folder that somebody brings: `listening-*.wav` and `telling-*.wav`. */
function brought(folder: string): Material {
  const sounds = (kind: string): Sound[] =>
    recordingsIn(folder).flatMap(({ name, pcm }) =>
      name.startsWith(kind) ? (loudSound(name, speechOf(pcm)) ?? []) : [],
    );
  return { callers: sounds('telling-'), listening: sounds('listening-'), bursts: [], hums: [] };
}

export async function material(assets: string | undefined): Promise<Material> {
  const speak = await loadFlite();
  const spoken = (name: string): Sound => ({ name, pcm: speak(name, { voice: 'slt', speed: 1 }), loudAt: 0 });
  const hums = ['mm-hmm', 'mm', 'mm-hmm', 'mm', 'mm-hmm', 'mm', 'mm-hmm', 'mm'].map(spoken);
  if (assets === undefined) {
    const texts = [
      'stop',
      'what is the time',
      'no thank you',
      'I would like a table',
      'wait a moment please',
    ];
    const callers = texts.flatMap((text) => loudSound(text, speak(text, { voice: 'rms', speed: 1 })) ?? []);
    return { callers, bursts: [], hums, listening: [] };
  }
  const recorded = recordingsIn(join(assets, 'audio/speech'));
  const noises = join(assets, 'audio/noise');
  return {
    callers: recorded.flatMap(({ name, pcm }) => loudSound(name, speechOf(pcm)) ?? []),
    bursts: existsSync(noises)
      ? recordingsIn(noises).flatMap(({ name, pcm }) =>
          pcm.length > 2 * sampleRate ? burstsOf(name, pcm) : [],
        )
      : [],
    hums,
    listening: [],
  };
}

/** Short stretches of a noise, as loud as a voice and as long as a cough. */
function burstsOf(name: string, noise: Int16Array): Sound[] {
  const prng = newPrng(noise.length);
  return [150, 200, 250, 300, 200, 250].map((ms) => {
    const length = (ms * sampleRate) / 1000;
    const from = prng.below(noise.length - length);
    const cut = noise.subarray(from, from + length);
    const power = cut.reduce((sum, sample) => sum + sample * sample, 0) / length;
    const gain = burstRms / Math.max(1, Math.sqrt(power));
    return {
      name: `${name} ${from}+${length}`,
      pcm: cut.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain)))),
      loudAt: 0,
    };
  });
}

interface Demo {
  readonly child: ChildProcess;
  readonly agentFile: string;
}

/** The demo's providers; they end with the end of their input. */
async function startDemo(root: URL, realtime: boolean): Promise<Demo> {
  const file = new URL('dist/examples/demo/main.js', root).pathname;
  const child = spawn(process.execPath, [file, '--free-ports', ...(realtime ? ['--realtime'] : [])], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { agentFile } = JSON.parse(line) as { agentFile: string };
    return { child, agentFile };
  }
  throw new Error("the demo's providers ended before they were ready");
}

type Base = Pick<TalkPlan, 'address' | 'afterFrames'>;

/** Holds calls, a few at a time, in the order of the plans. */
async function talkAll(plans: readonly TalkPlan[]): Promise<Talk[]> {
  const talks: Talk[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    for (let plan = plans[next]; plan !== undefined; plan = plans[next]) {
      const at = next;
      next += 1;
      talks[at] = await talk(plan);
    }
  };
  await Promise.all(Array.from({ length: callsAtOnce }, one));
  return talks;
}

/** When a sample was spoken: its frame went out when its last sample had been. */
const spokenAt = ({ sentAt }: Talk, sample: number): number => {
  const frame = Math.floor(sample / frameSamples);
  return (sentAt[frame] ?? Number.NaN) - frameMs + ((sample % frameSamples) * frameMs) / frameSamples;
};

/** The longest time in which no frame came that was due, since the sound began. */
function longestGap({ receivedAt, sentAt, soundAt }: Talk): number {
  const fromMs = sentAt[Math.floor(soundAt / frameSamples)] ?? 0;
  return receivedAt.reduce(
    (most, at, i) => Math.max(most, at < fromMs ? 0 : at - (receivedAt[i - 1] ?? at) - frameMs),
    0,
  );
}

/** So much softer callers hear that the agent gives way. */
const givenWayShare = 10 ** (-12 / 20);
/** A frame of the agent that is softer than this says nothing of it. */
const leastDbfs = -45;

const samplesOf = (pcm: Buffer, frame: number): Int16Array =>
  Int16Array.from({ length: frameSamples }, (_, i) => {
    const at = 2 * (frame * frameSamples + i);
    return at + 1 < pcm.length ? pcm.readInt16LE(at) : 0;
  });

/** When the agent was heard to give way; undefined: not before it was cut. */
function givenWayAt({ received, receivedAt }: Talk, spoken: Buffer, loudAt: number): number | undefined {
  return receivedAt.find((at, frame) => {
    const levelDbfs = rmsDbfs(samplesOf(spoken, frame));
    if (at < loudAt || levelDbfs < leastDbfs) return false;
    return rmsDbfs(samplesOf(received, frame)) <= levelDbfs + 20 * Math.log10(givenWayShare);
  });
}

/** Every sample came, as it was or softer: an agent that gave way has left nothing out. */
function isWholeOf(received: Buffer, spoken: Buffer): boolean {
  if (received.length !== spoken.length) return false;
  for (let at = 0; at + 1 < spoken.length; at += 2)
    if (Math.abs(received.readInt16LE(at)) > Math.abs(spoken.readInt16LE(at)) + 1) return false;
  return true;
}

interface Judged {
  readonly prove: Prover;
  /** What a call without any sound gets. */
  readonly spoken: Buffer;
  /** All of it must come. */
  readonly isWhole: boolean;
}

function rowOf(
  name: string,
  calls: readonly { readonly talk: Talk; readonly sound: Sound | undefined }[],
  { prove, spoken, isWhole }: Judged,
): InterruptionRow {
  const toClear = new Distribution();
  const toStop = new Distribution();
  const fromProof = new Distribution();
  const gap = new Distribution();
  const heard: { name: string; ms: number }[] = [];
  for (const { talk: held } of calls)
    if (isWhole && isWholeOf(held.received, spoken)) gap.add(longestGap(held));
  for (const { talk: held, sound } of calls) {
    const clearAt = held.clearsAt[0];
    if (clearAt === undefined) continue;
    if (held.keyAt >= 0) fromProof.add(clearAt - held.keyAt);
    if (sound === undefined || held.soundAt < 0) continue;
    const loudAt = spokenAt(held, held.soundAt + sound.loudAt);
    toClear.add(clearAt - loudAt);
    const lastAt = held.receivedAt.findLast((at) => at <= clearAt);
    const softAt = givenWayAt(held, spoken, loudAt) ?? (lastAt === undefined ? undefined : lastAt + frameMs);
    if (softAt !== undefined) {
      toStop.add(softAt - loudAt);
      heard.push({ name: sound.name, ms: softAt - loudAt });
    }
    const provedBy = prove(held.sent, held.soundAt);
    if (provedBy !== undefined)
      fromProof.add(clearAt - (held.sentAt[Math.ceil(provedBy / frameSamples) - 1] ?? Number.NaN));
  }
  return {
    name,
    calls: calls.length,
    cleared: calls.filter(({ talk: { clearsAt } }) => clearsAt.length > 0).length,
    toClear,
    toStop,
    fromProof,
    gap,
    whole: isWhole ? calls.filter(({ talk: { received } }) => isWholeOf(received, spoken)).length : undefined,
    wrong: calls.flatMap(({ talk: held, sound }) => {
      if (sound === undefined) return [];
      const afterMs = (held.clearsAt[0] ?? Infinity) - spokenAt(held, held.soundAt + sound.loudAt);
      // A voice before anybody has spoken is not the caller's.
      const isRight = isWhole ? afterMs === Infinity : afterMs > 0 && afterMs < Infinity;
      return isRight ? [] : `${sound.name} (${held.soundAt}): ${afterMs.toFixed(0)} ms`;
    }),
    slowest: heard.toSorted((one, other) => other.ms - one.ms).slice(0, 5),
    failures: calls.flatMap(({ talk: { failed } }) => failed ?? []),
  };
}

interface Part {
  readonly name: string;
  readonly sounds: readonly (Sound | undefined)[];
  readonly plan: Partial<TalkPlan>;
  /** Every sample must come. */
  readonly isWhole: boolean;
}

function partsOf({ callers, bursts, hums, listening }: Material): Part[] {
  const keys = Array.from({ length: keyCalls }, () => undefined);
  const parts: Part[] = [
    { name: 'a key is pressed', sounds: keys, plan: { key: '5', until: 'clear' }, isWhole: false },
    { name: callerSpeaks, sounds: callers, plan: { until: 'clear' }, isWhole: false },
    { name: 'a hum', sounds: hums, plan: {}, isWhole: true },
    { name: aWordOfListening, sounds: listening, plan: {}, isWhole: true },
    { name: 'a burst of noise', sounds: bursts, plan: {}, isWhole: true },
    { name: echoAlone, sounds: keys.slice(0, 8), plan: { echo }, isWhole: true },
    { name: callerOverEcho, sounds: callers, plan: { echo, until: 'clear' }, isWhole: false },
  ];
  return parts.filter(({ sounds }) => sounds.length > 0);
}

interface Extent {
  readonly rounds: number;
  /** Parts of names; none for everything. */
  readonly only: readonly string[];
}

async function measure(
  base: Base,
  { parts, prove, rounds, only }: Extent & { readonly parts: readonly Part[]; readonly prove: Prover },
): Promise<InterruptionRow[]> {
  const prng = newPrng(4);
  const run = async ({ name, sounds, plan, isWhole }: Part, spoken: Buffer) => {
    const plans = sounds.map((sound): TalkPlan => ({
      ...base,
      sound: sound?.pcm,
      offset: prng.below(2 * windowSamples),
      until: 'end',
      ...plan,
    }));
    const talks = await talkAll(plans);
    const calls = talks.map((held, at) => ({ talk: held, sound: sounds[at] }));
    // Which sound is an echo, the same detector does not know without the agent's side of the call.
    const asked = plan.echo === undefined ? prove : () => undefined;
    return { talks, row: rowOf(name, calls, { prove: asked, spoken, isWhole }) };
  };
  const silent = await run(
    { name: nobodySpeaks, sounds: [undefined, undefined, undefined, undefined], plan: {}, isWhole: false },
    Buffer.alloc(0),
  );
  const spoken = silent.talks[0]?.received ?? Buffer.alloc(0);
  // Where nobody is greeted there is nothing to compare with.
  const same =
    spoken.length === 0 ? 0 : silent.talks.filter(({ received }) => received.equals(spoken)).length;
  const rows: InterruptionRow[] = [{ ...silent.row, whole: same }];
  for (let round = 0; round < rounds; round += 1) {
    for (const part of parts) {
      if (only.length > 0 && !only.some((text) => part.name.includes(text))) continue;
      rows.push((await run(part, spoken)).row);
    }
  }
  return rows;
}

export interface InterruptionResult {
  readonly rows: readonly InterruptionRow[];
  readonly loadAverage: { readonly before: number; readonly after: number };
}

/** Holds a service with the demo's providers and agent for as long as `use` takes. */
export async function withDemo<T>(
  { root, workers, variables, realtime }: Pick<RunOptions, 'root' | 'workers' | 'variables' | 'realtime'>,
  use: (service: ServiceProcess, agentFile: string) => Promise<T>,
): Promise<T> {
  const demo = await startDemo(root, realtime);
  const service = new ServiceProcess({
    command: [
      '--import',
      new URL('scripts/process/stop-with-parent.mjs', root).href,
      new URL('dist/supervisor/cli.js', root).pathname,
      '--workers',
      workers,
    ],
    env: {
      SVC_AGENT_FILE: demo.agentFile,
      SVC_WS_ADDR: '127.0.0.1:0',
      SVC_HEALTH_ADDR: '127.0.0.1:0',
      SVC_DRAIN_TIMEOUT: '1s',
      SVC_MODEL_INDEX: 'off',
      // Whether this machine has one must not change the figures.
      SVC_SMART_TURN_MODEL: 'off',
      ...variables,
    },
  });
  const stop = (): void => {
    service.kill();
    demo.child.stdin?.end();
  };
  const forget = stopWithOthers(stop);
  try {
    await service.ready();
    const used = await use(service, demo.agentFile);
    await service.stop();
    return used;
  } finally {
    stop();
    forget();
  }
}

export async function interruptions(
  options: Pick<RunOptions, 'root' | 'workers' | 'variables' | 'assets' | 'realtime'> &
    Extent & { readonly voices: string | undefined },
): Promise<InterruptionResult> {
  const { assets, rounds, only, voices } = options;
  return withDemo(options, async (service, agentFile) => {
    const { definition } = loadAgentFile(readFileSync(agentFile, 'utf8'), {
      env: {},
      requireSecrets: false,
      readFile: () => undefined,
      readBytes: () => undefined,
    });
    if (definition === undefined) throw new Error("the demo's agent file is not valid");
    const prove = openProver(speechSettings(definition, { turnModel: false }));
    const before = machineUse().loadAverage;
    const parts = partsOf(voices === undefined ? await material(assets) : brought(voices));
    const base = { address: service.address, afterFrames };
    const rows = await measure(base, { parts, prove, rounds, only });
    return { rows, loadAverage: { before, after: machineUse().loadAverage } };
  });
}
