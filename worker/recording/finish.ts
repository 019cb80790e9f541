/**
 * Puts a recording together when its call is over: one sound file of both sides, one transcript, the facts in compressed form. Works in
 * small parts, because the thread that does it also writes the running calls. Doing it again after half of it gives the same.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openRecordingFile } from '../../shared/installation/recording-file.ts';
import type { AudioFormat } from '../../shared/recording/agent-file.ts';
import type { RecordingKeys } from '../../shared/recording/keys.ts';
import { recordingFiles } from '../../shared/recording/layout.ts';
import { sealedEnding, Unreadable } from '../../shared/recording/sealed.ts';
import { isOpusRate } from '../media/opus/opus.ts';
import { writeOutput } from './file-output.ts';
import { writeOpus } from './ogg-opus.ts';
import { SealedLogReader } from './sealed-log.ts';
import { withSound, others, type SideFiles, type Sound } from './sound.ts';
import { Waveform } from './waveform.ts';

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
  /** Absent: nothing is encrypted. */
  readonly keys?: RecordingKeys | undefined;
}

/** What a running call wrote, and what was half written of that into which it is made. */
const isPart = (name: string): boolean => /^(lines|facts)-|^(heard|sent)[.-]|[.]part$/.test(name);

/** Puts together what stands in a folder. The transcript comes last: what has one is whole, but for parts that are still to be removed. */
export async function finishRecording(
  folder: string,
  { wasCut = false, format = 'wav', isHurried = false, keys }: FinishOptions = {},
): Promise<Begun> {
  const names = readdirSync(folder).toSorted();
  const written = await headOf(folder, keys);
  const lines = written ?? joined(folder, names, { prefix: 'lines-', keys });
  const begun = readBegun(lines);
  if (written === undefined) {
    const sides = ['heard', 'sent'].map((side) => sideIn(folder, names, side));
    if (names.some((name) => /^(heard|sent)[.-]/.test(name)))
      await bringTogether(folder, sides, {
        keys,
        rate: begun.rate,
        format: isHurried ? 'wav' : (begun.format ?? format),
      });
    const write = (name: string, content: string | Uint8Array): Promise<void> =>
      writeOutput(join(folder, name), keys?.[0], (out) => out.write(Buffer.from(content)));
    const facts = joined(folder, names, { prefix: 'facts-', keys });
    if (facts !== '') await write(recordingFiles.facts, gzipSync(facts));
    const ending = wasCut ? `${JSON.stringify({ type: 'ended', end: 'lost' })}\n` : '';
    if (lines !== '') await write(recordingFiles.transcript, lines + ending);
  }
  for (const name of names) if (isPart(name)) rmSync(join(folder, name), { force: true });
  return begun;
}

interface Joined {
  readonly prefix: string;
  readonly keys: RecordingKeys | undefined;
}

/** The parts of several workers, in their order; a line that a dying worker left unfinished is left out. */
function joined(folder: string, names: readonly string[], { prefix, keys }: Joined): string {
  const parts = names.filter((name) => name.startsWith(prefix));
  return parts
    .map((name) => textOf(join(folder, name), keys))
    .map((text) => text.slice(0, text.lastIndexOf('\n') + 1))
    .join('');
}

function textOf(path: string, keys: RecordingKeys | undefined): string {
  if (!path.endsWith(sealedEnding)) return readFileSync(path, 'utf8');
  const log = new SealedLogReader(path, keys);
  try {
    return Buffer.concat([...log.whole()].map(({ bytes }) => bytes)).toString('utf8');
  } finally {
    log.close();
  }
}

const sideIn = (folder: string, names: readonly string[], side: string): SideFiles => ({
  plain: join(folder, `${side}.pcm`),
  sealed: names.filter((name) => name.startsWith(`${side}-`)).map((name) => join(folder, name)),
});

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

/** The beginning of a finished transcript; undefined where there is none. @throws Unreadable */
async function headOf(folder: string, keys: RecordingKeys | undefined): Promise<string | undefined> {
  const file = await openRecordingFile(folder, recordingFiles.transcript, keys);
  if (file === undefined) return undefined;
  try {
    const parts: Uint8Array[] = [];
    for await (const part of file.read(0, Math.min(headBytes, file.size))) parts.push(part);
    return Buffer.concat(parts).toString('utf8');
  } finally {
    await file.close();
  }
}

/** How long a finished recording is to be kept, where it says so itself and can be read. */
export async function keepDaysOf(
  folder: string,
  keys: RecordingKeys | undefined,
): Promise<number | undefined> {
  try {
    const [line = ''] = (await headOf(folder, keys))?.split('\n') ?? [];
    return readBegun(line).keepDays;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

interface Together {
  readonly rate: number;
  readonly format: AudioFormat;
  readonly keys: RecordingKeys | undefined;
}

async function bringTogether(
  folder: string,
  sides: readonly SideFiles[],
  { rate, format, keys }: Together,
): Promise<void> {
  const asOpus = format === 'opus' && isOpusRate(rate);
  const path = join(folder, recordingFiles[asOpus ? 'opus' : 'wav']);
  let waveform: Waveform | undefined;
  await writeOutput(path, keys?.[0], (out) =>
    withSound(sides, { keys, out }, async (sound) => {
      const drawn = (waveform = new Waveform(sound.samples));
      const watched = {
        ...sound,
        woven: (from: number, count: number) => drawn.take(from, sound.woven(from, count)),
      };
      await (asOpus ? writeOpus(watched, rate) : writeWav(watched, rate));
    }),
  );
  const levels = waveform?.levels;
  if (levels !== undefined)
    await writeOutput(join(folder, recordingFiles.waveform), keys?.[0], (out) => out.write(levels));
}

/** Both sides as a stereo WAV of any length, written in parts. */
const wavHeaderBytes = 44;
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
  const header = Buffer.alloc(wavHeaderBytes);
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
