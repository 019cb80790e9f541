/**
 * Puts a recording together when its call is over: one sound file of both sides, one transcript, the facts in compressed form. Works in
 * small parts, because the thread that does it also writes the running calls. Doing it again after half of it gives the same.
 */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readBytes } from '../../shared/installation/named-files.ts';
import type { AudioFormat } from '../../shared/recording/agent-file.ts';
import { recordingFiles } from '../../shared/recording/layout.ts';
import { isOpusRate } from '../media/opus/opus.ts';
import { writeOpus } from './ogg-opus.ts';
import { withSound, others, type Sound } from './sound.ts';

/** What the first line of a transcript says; the usual values for one that is damaged. */
interface Begun {
  readonly rate: number;
  /** Day on which the call began, `2026-01-31`. */
  readonly day: string;
  readonly agent: string;
  /** Of its agent's own, in a service of many. */
  readonly format?: AudioFormat;
  readonly keepDays?: number;
}

interface FinishOptions {
  /** Nobody has said that the call is over. */
  readonly wasCut?: boolean;
  /** Where the recording does not say so itself; WAV where Opus does not know the rate of the call. */
  readonly format?: AudioFormat;
  /** There is no time for the codec. */
  readonly isHurried?: boolean;
}

/** Puts together what stands in a folder. */
export async function finishRecording(
  folder: string,
  { wasCut = false, format = 'wav', isHurried = false }: FinishOptions = {},
): Promise<Begun> {
  const names = readdirSync(folder);
  const lines = joined(folder, names, 'lines-');
  const begun = readBegun(lines);
  if (names.includes('heard.pcm') || names.includes('sent.pcm'))
    await bringTogether(folder, begun.rate, isHurried ? 'wav' : (begun.format ?? format));
  const facts = joined(folder, names, 'facts-');
  if (facts !== '') replace(join(folder, recordingFiles.facts), gzipSync(facts));
  const ending = wasCut ? `${JSON.stringify({ type: 'ended', end: 'lost' })}\n` : '';
  if (lines !== '') replace(join(folder, recordingFiles.transcript), lines + ending);
  for (const name of names)
    if (/^(lines|facts)-|^(heard|sent)[.]pcm$/.test(name)) rmSync(join(folder, name), { force: true });
  return begun;
}

/** The parts of several workers, in their order; a line that a dying worker left unfinished is left out. */
function joined(folder: string, names: readonly string[], prefix: string): string {
  const parts = names.filter((name) => name.startsWith(prefix)).toSorted();
  return parts
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .map((text) => text.slice(0, text.lastIndexOf('\n') + 1))
    .join('');
}

function readBegun(lines: string): Begun {
  const [, rate] = /"rate":(\d{4,6})/.exec(lines) ?? [];
  const [, day] = /"started":"(\d{4}-\d\d-\d\d)T/.exec(lines) ?? [];
  const [, agent] = /"agent":"([A-Za-z0-9_-]{1,64}(?:[/][A-Za-z0-9_-]{1,64})?)"/.exec(lines) ?? [];
  const [, format] = /"audio_format":"(wav|opus)"/.exec(lines) ?? [];
  const [, keepDays] = /"keep_days":(\d{1,5})/.exec(lines) ?? [];
  return {
    rate: Number(rate ?? 16_000),
    day: day ?? 'undated',
    agent: agent ?? 'unknown',
    ...(format !== undefined && { format: format as AudioFormat }),
    ...(keepDays !== undefined && { keepDays: Number(keepDays) }),
  };
}

/** Of more than the first line nothing is wanted. */
const headBytes = 4_096;

/** How long a finished recording is to be kept, where it says so itself. */
export function keepDaysOf(folder: string): number | undefined {
  const head = readBytes(join(folder, recordingFiles.transcript), headBytes);
  if (head === undefined) return undefined;
  const [line = ''] = Buffer.from(head).toString('utf8').split('\n');
  return readBegun(line).keepDays;
}

/** Writes beside and renames: a file with its own name is whole. */
function replace(path: string, content: string | Uint8Array): void {
  writeFileSync(`${path}.part`, content, { mode: 0o640 });
  renameSync(`${path}.part`, path);
}

async function bringTogether(folder: string, rate: number, format: AudioFormat): Promise<void> {
  const asOpus = format === 'opus' && isOpusRate(rate);
  const path = join(folder, recordingFiles[asOpus ? 'opus' : 'wav']);
  const sides = ['heard.pcm', 'sent.pcm'].map((name) => join(folder, name));
  await withSound(sides, `${path}.part`, (sound) =>
    asOpus ? writeOpus(sound, rate) : writeWav(sound, rate),
  );
  renameSync(`${path}.part`, path);
}

/** Both sides as a stereo WAV of any length, written in parts. */
const headerBytes = 44;
/** Samples of each side that are woven at once. */
const samplesAtOnce = 256 * 1024;
const largestSize = 0xffff_ffff;

async function writeWav(sound: Sound, rate: number): Promise<void> {
  const { samples } = sound;
  sound.write(stereoHeader(samples, rate));
  for (let from = 0; from < samples; from += samplesAtOnce) {
    const both = sound.woven(from, Math.min(samplesAtOnce, samples - from));
    sound.write(new Uint8Array(both.buffer));
    await others();
  }
}

function stereoHeader(samples: number, rate: number): Uint8Array {
  const size = samples * 4;
  const header = Buffer.alloc(headerBytes);
  header.write('RIFF', 0, 'latin1');
  // A file that is too long for its header is read to its end.
  header.writeUInt32LE(Math.min(largestSize, 36 + size), 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(2, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 4, 28);
  header.writeUInt16LE(4, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(Math.min(largestSize, size), 40);
  return header;
}
