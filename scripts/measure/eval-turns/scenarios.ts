/**
 * What is replayed: recordings with pauses put into them, noise over them, and the agent's own voice as echo. The truth about
 * each is known, because it is made here: where speech begins and ends, and whether it is an interruption.
 */
import { newPrng } from '../../../shared/base/prng.ts';
import type { NoiseMode } from '../../../shared/protocol/noise-mode.ts';
import type { Recording } from './recordings.ts';
import { pausedAt, wordsOver, type SpokenWord } from './words.ts';

const sampleRate = 16_000;
/** Where the speech of a turn begins. */
export const turnStartMs = 500;
/** Long enough for the longest silence that ends a turn. */
const tailMs = 3_200;
const windowSamples = 160;
const fadeSamples = 80;
/** Windows on either side of one that tell speech from a click. */
const around = 7;
/** Speech is this many times as loud as the quietest twentieth of its recording. */
const overBackground = 4;

export const pausesMs = [0, 300, 600, 900, 1200] as const;
export const noiseDb = [undefined, 20, 10, 5] as const;
/** Echo of the agent's voice, below the level of a caller. */
const echoDb = [-30, -20, -12] as const;
/** From this level on a recogniser writes the echo down. */
const writtenEchoDb = -20;

export interface Scenario {
  readonly kind:
    'turn' | 'interruption' | 'no interruption' | 'listening' | 'telling' | 'short word' | 'call';
  /** Rows of the table group by this. */
  readonly group: string;
  readonly pcm: Int16Array;
  /** The recording that it is one of several of. */
  readonly clip?: string;
  /** Absent: English. */
  readonly language?: string;
  /** What the agent asked before the turn; absent: nothing. */
  readonly asked?: string;
  /** Where the caller's speech begins and ends, in milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  /** The pause that was put into it, where nothing else counts. */
  readonly pause?: { readonly fromMs: number; readonly toMs: number };
  /** All words that a recogniser could write down. */
  readonly words: readonly SpokenWord[];
  /** What the agent says meanwhile, and how long it takes for a character; empty where it is silent. */
  readonly botText: string;
  readonly botMsPerChar: number;
  /** What is sent of it, from the beginning on and over and over; absent where the agent is silent. */
  readonly played?: Int16Array;
  /** Of a call with several turns. */
  readonly call?: CallScene;
  /** Whether noise is taken out before VAD hears it; absent: not. */
  readonly noise?: NoiseMode;
}

/** What happens in a call: the caller speaks several times, and somebody else may talk in the room. */
export interface CallScene {
  /** Calls that are the same but for what is heard behind the caller have one name. */
  readonly name: string;
  /** Those that are the same but for levels have one name. */
  readonly family: string;
  /** Nobody else talks, and the caller is as loud as ever: others are compared with it. */
  readonly isPlain: boolean;
  readonly questions: readonly { readonly fromMs: number; readonly endMs: number; readonly text: string }[];
  readonly answer: string;
  /** Somebody else talks from here on, so much below the caller; absent: nobody. */
  readonly other?: { readonly fromMs: number; readonly belowDb: number };
}

export const samplesOf = (ms: number): number => Math.round((ms * sampleRate) / 1000);
export const msOf = (samples: number): number => (samples * 1000) / sampleRate;

export function rms(pcm: Int16Array): number {
  let sum = 0;
  for (const sample of pcm) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, pcm.length));
}

/** By windows, whether there is more than background. */
function loudness(pcm: Int16Array): boolean[] {
  const levels = Array.from({ length: Math.floor(pcm.length / windowSamples) }, (_, i) =>
    rms(pcm.subarray(i * windowSamples, (i + 1) * windowSamples)),
  );
  const background = levels.toSorted((a, b) => a - b)[Math.floor(levels.length * 0.05)] ?? 0;
  const floor = Math.max(Math.max(0, ...levels) * 10 ** (-30 / 20), 60, background * overBackground);
  return levels.map((level) => level > floor);
}

/** Takes the silence out that lies around a place, and says where it was. */
export function quietAround(pcm: Int16Array, place: number): { pcm: Int16Array; at: number } {
  const isLoud = loudness(pcm);
  const window = Math.min(isLoud.length - 1, Math.floor(place / windowSamples));
  if (isLoud[window] !== false) return { pcm, at: place };
  const from = isLoud.lastIndexOf(true, window) + 1;
  const next = isLoud.indexOf(true, window);
  const at = from * windowSamples;
  const rest = pcm.subarray((next < 0 ? isLoud.length : next) * windowSamples);
  const joined = new Int16Array(at + rest.length);
  joined.set(pcm.subarray(0, at));
  joined.set(rest, at);
  return { pcm: joined, at };
}

/** The samples from the first to the last window that is no background. */
export function speechOf(pcm: Int16Array): Int16Array {
  const isLoud = loudness(pcm);
  // A click of the telephone is loud and no speech: most of what is around a window of speech is loud as well.
  const isSpeech = isLoud.map(
    (loud, i) =>
      loud && isLoud.slice(Math.max(0, i - around), i + around + 1).filter(Boolean).length > around,
  );
  const first = isSpeech.indexOf(true);
  const last = isSpeech.lastIndexOf(true);
  return first < 0 ? new Int16Array(0) : pcm.subarray(first * windowSamples, (last + 1) * windowSamples);
}

/** The quietest place between 30 and 70 % of the speech. */
function quietPlace(pcm: Int16Array): number {
  let best = { at: pcm.length >> 1, level: Number.POSITIVE_INFINITY };
  for (let at = Math.floor(pcm.length * 0.3); at < pcm.length * 0.7; at += windowSamples) {
    const level = rms(pcm.subarray(at, at + 2 * windowSamples));
    if (level < best.level) best = { at: at + windowSamples, level };
  }
  return best.at;
}

export function faded(pcm: Int16Array): Int16Array {
  const out = pcm.slice();
  for (let i = 0; i < Math.min(fadeSamples, out.length); i += 1) {
    out[i] = Math.round(((out[i] ?? 0) * i) / fadeSamples);
    const end = out.length - 1 - i;
    out[end] = Math.round(((out[end] ?? 0) * i) / fadeSamples);
  }
  return out;
}

/** Noise of this strength, of which each length is the beginning of a longer one: it is made once. */
export function newNoise(seed: number, most: number): (length: number) => Int16Array {
  const prng = newPrng(seed);
  let made = new Int16Array(0);
  return (length) => {
    if (length > made.length) {
      const longer = new Int16Array(length);
      longer.set(made);
      for (let i = made.length; i < length; i += 1) longer[i] = prng.below(2 * most + 1) - most;
      made = longer;
    }
    return made.subarray(0, length);
  };
}

const lineSilence = newNoise(1, 2);

/** Silence as a line has it, with the parts laid into it. */
export function laid(lengthMs: number, parts: readonly { atMs: number; pcm: Int16Array }[]): Int16Array {
  const out = lineSilence(samplesOf(lengthMs)).slice();
  for (const { atMs, pcm } of parts) mix(out, pcm, { at: samplesOf(atMs), gain: 1 });
  return out;
}

export function mix(into: Int16Array, pcm: Int16Array, { at, gain }: { at: number; gain: number }): void {
  for (let i = 0; i < pcm.length && at + i < into.length; i += 1) {
    const sum = (into[at + i] ?? 0) + (pcm[i] ?? 0) * gain;
    into[at + i] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  }
}

/** Noise over everything, so much below the speech. */
export function addNoise(pcm: Int16Array, noise: Int16Array, gain: number): void {
  for (let at = 0; at < pcm.length; at += noise.length) mix(pcm, noise, { at, gain });
}

/** Factor that makes a noise so much softer than a voice. */
export const quieterBy = (speech: Int16Array, noise: Int16Array, db: number): number =>
  (rms(speech) / Math.max(1, rms(noise))) * 10 ** (-db / 20);

export function pausedTurn(
  speech: Int16Array,
  pauseMs: number,
  split = quietPlace(speech),
): { pcm: Int16Array; endMs: number; splitMs: number } {
  const speechMs = msOf(speech.length);
  const endMs = turnStartMs + speechMs + pauseMs;
  const parts =
    pauseMs === 0
      ? [{ atMs: turnStartMs, pcm: faded(speech) }]
      : [
          { atMs: turnStartMs, pcm: faded(speech.subarray(0, split)) },
          { atMs: turnStartMs + msOf(split) + pauseMs, pcm: faded(speech.subarray(split)) },
        ];
  return { pcm: laid(endMs + tailMs, parts), endMs, splitMs: turnStartMs + msOf(split) };
}

/** Every pause with every noise, for each recording. */
export function turnScenarios(speech: readonly Recording[], noises: readonly Int16Array[]): Scenario[] {
  const found: Scenario[] = [];
  for (const [index, recording] of speech.entries()) {
    const words = speechOf(recording.pcm);
    for (const pauseMs of pausesMs) {
      for (const db of noiseDb) {
        const { pcm, endMs, splitMs } = pausedTurn(words, pauseMs);
        const spoken = wordsOver(recording.text, turnStartMs, turnStartMs + msOf(words.length));
        const noise = noises[index % noises.length];
        if (db !== undefined && noise !== undefined) addNoise(pcm, noise, quieterBy(words, noise, db));
        const group = db === undefined ? 'quiet' : `noise ${db} dB`;
        found.push({
          kind: 'turn',
          group,
          pcm,
          startMs: turnStartMs,
          endMs,
          words: pausedAt(spoken, splitMs, pauseMs),
          botText: '',
          botMsPerChar: 0,
        });
      }
    }
  }
  return found;
}

const interruptAtMs = 1_500;
const burstMs = 400;

/** What lies over the line while the agent speaks. */
interface Line {
  readonly group: string;
  /** The agent's own voice, so much below a caller's. */
  readonly echoDb?: number;
  /** Noise, so much below a caller's voice. */
  readonly noiseDb?: number;
}

/** The agent speaks all the time; the caller interrupts after 1.5 s, or a noise of 400 ms comes, or nothing. */
export function interruptionScenarios(
  speech: readonly Recording[],
  noises: readonly Int16Array[],
): Scenario[] {
  const lines: Line[] = [
    { group: 'quiet' },
    ...noiseDb.flatMap((db) =>
      db === undefined || noises.length === 0 ? [] : [{ group: `noise ${db} dB`, noiseDb: db }],
    ),
    ...echoDb.map((db) => ({ group: `echo ${db} dB`, echoDb: db })),
  ];
  return speech.flatMap((recording, index) => {
    const bot = speech[(index + 1) % speech.length] ?? recording;
    const noise = noises[index % Math.max(1, noises.length)];
    return lines.flatMap((line) => interruptions(recording, { bot, noise, line }));
  });
}

function interruptions(
  caller: Recording,
  { bot, noise, line }: { bot: Recording; noise: Int16Array | undefined; line: Line },
): Scenario[] {
  const [words, botWords] = [speechOf(caller.pcm), speechOf(bot.pcm)];
  const botMs = msOf(botWords.length);
  const wordsEndMs = interruptAtMs + msOf(words.length);
  const make = (kind: Scenario['kind'], pcm: Int16Array | undefined, endMs: number): Scenario => {
    const wholeMs = Math.max(endMs, 4_000) + 500;
    const whole = laid(wholeMs, pcm === undefined ? [] : [{ atMs: interruptAtMs, pcm }]);
    if (line.echoDb !== undefined)
      for (let at = 0; at < whole.length; at += botWords.length)
        mix(whole, botWords, { at, gain: quieterBy(words, botWords, -line.echoDb) });
    if (line.noiseDb !== undefined && noise !== undefined)
      addNoise(whole, noise, quieterBy(words, noise, line.noiseDb));
    const times = Math.ceil(wholeMs / botMs) + 1;
    const said = wordsOver(caller.text, interruptAtMs, wordsEndMs);
    const own = kind === 'interruption' ? said : [];
    const echo = (line.echoDb ?? -100) >= writtenEchoDb ? echoed(bot.text, { botMs, times }) : [];
    const text = `${bot.text}. `;
    return {
      kind,
      group: line.group,
      pcm: whole,
      startMs: interruptAtMs,
      endMs,
      // Of two voices a recogniser writes down the louder one.
      words: [
        ...own,
        ...echo.filter(({ endMs: at }) => own.length === 0 || at < interruptAtMs || at > wordsEndMs),
      ],
      botText: text.repeat(times).trim(),
      botMsPerChar: botMs / text.length,
      played: botWords,
    };
  };
  const found = [
    make('interruption', faded(words), wordsEndMs),
    make('no interruption', undefined, interruptAtMs),
  ];
  return noise === undefined
    ? found
    : [...found, make('no interruption', burst(noise, words), interruptAtMs + burstMs)];
}

const echoed = (text: string, { botMs, times }: { botMs: number; times: number }): SpokenWord[] =>
  Array.from({ length: times }, (_, time) => wordsOver(text, time * botMs, (time + 1) * botMs)).flat();

/** A noise as loud as a voice. */
function burst(noise: Int16Array, words: Int16Array): Int16Array {
  const cut = faded(noise.slice(0, samplesOf(burstMs)));
  const gain = quieterBy(words, cut, 0);
  return cut.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
}

/** Whether a recording is long enough for a pause in it, and short enough to be one turn. */
export function isOneTurn({ pcm }: Recording): boolean {
  const seconds = speechOf(pcm).length / sampleRate;
  return seconds >= 1.2 && seconds <= 12;
}
