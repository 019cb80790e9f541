/**
 * What the callers say: short stretches of recorded or synthesised speech, as frames of the call's encoding. A stretch begins
 * and ends with sound and holds no long pause, so that one stretch is one turn.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeMulaw } from '../../../../shared/audio/g711.ts';
import { newResampler } from '../../../../shared/audio/resampler.ts';
import { parseWav } from '../../../../shared/audio/wav.ts';
import { loadFlite } from '../../../../examples/demo/flite.ts';

export interface CallFormat {
  readonly sampleRate: number;
  readonly encoding: 'pcm16' | 'mulaw';
}

/** Mono PCM16. */
interface Recording {
  readonly pcm: Int16Array;
  readonly sampleRate: number;
}

const windowMs = 10;
/** A window this far below the loudest one still counts as sound. */
const soundBelowPeakDb = 30;
const shortestMs = 1_200;
const longestMs = 3_200;
/** Longer silences inside may end a turn. */
const longestPauseMs = 250;
/** All stretches have the level of one caller: who is 15 dB softer from one sentence to the next is taken for somebody else in the room. */
const voiceDb = 20 * Math.log10(32_768) - 23;
const noiseAmplitude = 12;
const noiseFrames = 50;

const spokenTexts = [
  'could you book a table for two people tonight',
  'what is the weather like in the city tomorrow',
  'please tell me where my order is right now',
  'I would like to change my booking to seven',
];

/** Frames of 20 ms each. */
export interface Voices {
  readonly clips: readonly (readonly Buffer[])[];
  readonly silence: readonly Buffer[];
  readonly source: string;
}

/** @param assets the folder of recordings, or undefined to let the demo's voice speak. */
export async function loadVoices(format: CallFormat, assets: string | undefined): Promise<Voices> {
  const recorded = assets === undefined ? [] : recordingsIn(join(assets, 'audio/speech'));
  const recordings = recorded.length > 0 ? recorded : await synthesise();
  const clips = recordings.flatMap((recording) => stretchesOf(recording));
  if (clips.length === 0) throw new Error('no stretch of speech was found to call with');
  return {
    clips: clips.map((clip) => framesOf(clip, format)),
    silence: framesOf(noise(format.sampleRate), format),
    source:
      recorded.length > 0 ? `${clips.length} recorded stretches` : `${clips.length} synthesised stretches`,
  };
}

function recordingsIn(folder: string): Recording[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.wav'));
  return names.flatMap((name) => {
    const { pcm, sampleRate } = parseWav(readFileSync(join(folder, name)));
    return [{ pcm, sampleRate }];
  });
}

async function synthesise(): Promise<Recording[]> {
  const speak = await loadFlite();
  return spokenTexts.map((text) => ({ pcm: speak(text, { voice: 'slt', speed: 1.1 }), sampleRate: 16_000 }));
}

/** The part of a recording between its first and last sound, when it is one turn of the right length. */
function stretchesOf({ pcm, sampleRate }: Recording): Recording[] {
  const size = (sampleRate * windowMs) / 1000;
  const levels = Array.from({ length: Math.floor(pcm.length / size) }, (_, index) =>
    levelDb(pcm.subarray(index * size, (index + 1) * size)),
  );
  const least = Math.max(...levels) - soundBelowPeakDb;
  const loud = levels.flatMap((level, index) => (level > least ? [index] : []));
  const first = loud[0];
  const last = loud.at(-1);
  if (first === undefined || last === undefined) return [];
  const pauses = loud.map((index, at) => (index - (loud[at - 1] ?? index)) * windowMs);
  const lengthMs = (last - first + 1) * windowMs;
  if (lengthMs < shortestMs || lengthMs > longestMs || Math.max(...pauses) > longestPauseMs) return [];
  return [{ pcm: levelled(pcm.subarray(first * size, (last + 1) * size)), sampleRate }];
}

function levelled(pcm: Int16Array): Int16Array {
  const gain = 10 ** ((voiceDb - levelDb(pcm)) / 20);
  return pcm.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
}

function levelDb(pcm: Int16Array): number {
  const power = pcm.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, pcm.length);
  return 10 * Math.log10(Math.max(power, 1));
}

/** A microphone in a quiet room. */
function noise(sampleRate: number): Recording {
  let seed = 1;
  const pcm = Int16Array.from({ length: (sampleRate * noiseFrames) / 50 }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.round((seed / 0xffff_ffff - 0.5) * 2 * noiseAmplitude);
  });
  return { pcm, sampleRate };
}

function framesOf({ pcm, sampleRate }: Recording, format: CallFormat): Buffer[] {
  const resampler = newResampler({ from: sampleRate, to: format.sampleRate });
  const converted = Int16Array.from([...resampler.process(pcm), ...resampler.flush()]);
  const size = format.sampleRate / 50;
  return Array.from({ length: Math.ceil(converted.length / size) }, (_, index) => {
    const frame = new Int16Array(size);
    frame.set(converted.subarray(index * size, (index + 1) * size));
    if (format.encoding === 'pcm16') return Buffer.from(frame.buffer);
    const bytes = Buffer.alloc(size);
    encodeMulaw(frame, bytes);
    return bytes;
  });
}
