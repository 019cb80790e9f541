/**
 * The noise model's knowledge of a frame, as evidence beside VAD: the sound that it leaves, the share of the power that it keeps, and its own opinion on
 * voices. Each is tried on callers in a noise and beside a second talker. Frames of the same call without either say which of them are the caller's.
 */
import { noiseModelPath, sileroPath } from '../../../inference/models.ts';
import { NoiseModel, NoiseSuppressor } from '../../../inference/noise/suppressor.ts';
import { inputSamples, memoryFloats, Silero } from '../../../inference/silero/silero.ts';
import { vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';
import { print } from './print.ts';
import type { Recording } from './recordings.ts';
import { laid, mix, msOf, quieterBy, rms } from './scenarios.ts';
import { levelled, talk, type Person } from './speakers.ts';
import { half } from './spoken.ts';

const levelsDb = [20, 10, 5, 0] as const;
const callerDb = -27;
/** Before the caller and behind. */
const asideMs = 2_000;
const contextSamples = inputSamples - vadFrameSamples;

/** The evidence about one frame. */
interface Known {
  /** VAD, with the noise and without it. */
  readonly raw: number;
  readonly cleaned: number;
  /** Share of the power that the noise model keeps. */
  readonly kept: number;
  /** The noise model's own probability of a voice. */
  readonly opinion: number;
}

const deciders: Readonly<Record<string, (known: Known) => boolean>> = {
  'as it is': ({ raw }) => raw >= 0.5,
  'without its noise': ({ cleaned }) => cleaned >= 0.5,
  both: ({ raw, cleaned }) => Math.min(raw, cleaned) >= 0.5,
  'kept, a hundredth': ({ raw, kept }) => raw >= 0.5 && kept >= 0.01,
  'kept, a tenth': ({ raw, kept }) => raw >= 0.5 && kept >= 0.1,
  'its opinion, 0.2': ({ raw, opinion }) => raw >= 0.5 && opinion >= 0.2,
};

/** What VAD says of one frame of a call after the other. */
function newEar(vad: Silero): (frame: ArrayLike<number>) => number {
  const input = new Float32Array(inputSamples);
  const memory = new Float32Array(memoryFloats);
  return (frame) => {
    input.copyWithin(0, vadFrameSamples);
    input.set(
      Float32Array.from(frame, (sample) => sample / 32_768),
      contextSamples,
    );
    return vad.judge(input, memory);
  };
}

/** Hears a whole call, frame by frame, as it is and without its noise. */
function hear(pcm: Int16Array, vad: Silero, model: NoiseModel): Known[] {
  let opinion = 0;
  const suppressor = new NoiseSuppressor({
    begin: () => model.begin(),
    end: (state) => model.end(state),
    get block() {
      return model.block;
    },
    run: (state) => (opinion = model.run(state)),
  });
  const cleaned = new Float32Array(vadFrameSamples);
  const [asItIs, withoutNoise] = [newEar(vad), newEar(vad)];
  let before = 1;
  const known: Known[] = [];
  for (let at = 0; at + vadFrameSamples <= pcm.length; at += vadFrameSamples) {
    const frame = pcm.subarray(at, at + vadFrameSamples);
    suppressor.take(frame, cleaned);
    // The model's output is 19 ms behind its input.
    const power = rms(frame);
    const kept = (rms(Int16Array.from(cleaned)) / Math.max(1, (before + power) / 2)) ** 2;
    before = power;
    known.push({ raw: asItIs(frame), cleaned: withoutNoise(cleaned), kept, opinion });
  }
  suppressor.close();
  return known;
}

interface Share {
  bad: number;
  of: number;
}

/** Frames of the caller that were missed, and frames of nobody that were taken for a voice, by sound and decider. */
type Evidence = Map<string, Map<string, { readonly missed: Share; readonly false: Share }>>;

function count(
  into: Evidence,
  group: string,
  heard: { alone: readonly Known[]; known: readonly Known[] },
): void {
  const found = into.get(group) ?? new Map<string, { missed: Share; false: Share }>();
  into.set(group, found);
  for (const [name, isVoice] of Object.entries(deciders)) {
    const row = found.get(name) ?? { missed: { bad: 0, of: 0 }, false: { bad: 0, of: 0 } };
    found.set(name, row);
    for (const [at, known] of heard.known.entries()) {
      const clean = heard.alone[at]?.raw ?? 0;
      const isCaller = clean >= 0.5;
      if (!isCaller && clean >= 0.1) continue;
      const share = isCaller ? row.missed : row.false;
      share.of += 1;
      if (isVoice(known) !== isCaller) share.bad += 1;
    }
  }
}

/** Callers and what is heard behind them are of one half. */
export function evidence(persons: readonly Person[], noises: readonly Recording[]): Evidence {
  const vad = Silero.open(sileroPath(undefined));
  const model = NoiseModel.open(noiseModelPath());
  const found: Evidence = new Map();
  for (const [index, caller] of persons.entries()) {
    const [clip] = caller.clips;
    if (clip === undefined) continue;
    const voice = levelled(clip.pcm, callerDb);
    const wholeMs = msOf(voice.length) + 2 * asideMs;
    const parts = [{ atMs: asideMs, pcm: voice }];
    const alone = hear(laid(wholeMs, parts), vad, model);
    const others = persons.filter(({ name, isAside }) => isAside === caller.isAside && name !== caller.name);
    const talker = others[index % Math.max(1, others.length)];
    const add = (kind: string, db: number, lay: (pcm: Int16Array) => void): void => {
      const pcm = laid(wholeMs, parts);
      lay(pcm);
      const known = hear(pcm, vad, model);
      count(found, `${kind} -${db} dB, ${half(caller.isAside)}`, { alone, known });
    };
    for (const db of levelsDb) {
      for (const { pcm: noise } of noises.filter((_, at) => at % 2 === (caller.isAside ? 1 : 0)))
        add('noise', db, (pcm) => {
          const gain = quieterBy(voice, noise, db);
          for (let at = 0; at < pcm.length; at += noise.length) mix(pcm, noise, { at, gain });
        });
      if (talker === undefined) continue;
      add('second talker', db, (pcm) => {
        const said = talk([talker], { fromMs: 0, toMs: wholeMs, db: callerDb - db });
        for (const part of said.parts) mix(pcm, part.pcm, { at: part.atMs * 16, gain: 1 });
      });
    }
  }
  return found;
}

const percent = ({ bad, of }: Share): string => (of === 0 ? '-' : `${((100 * bad) / of).toFixed(1)} %`);

export const evidenceTable = (found: Evidence): string =>
  print(
    ['frames', 'decided by', 'missed', 'false'],
    [...found]
      .toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
      .flatMap(([group, rowsOf]) =>
        [...rowsOf].map(([name, row]) => [group, name, percent(row.missed), percent(row.false)]),
      ),
  );
