/**
 * Puts a recording together when its call is over: one WAV of both sides, one transcript, the facts in compressed form. Works in small
 * parts, because the thread that does it also writes the running calls. Doing it again after half of it gives the same.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, renameSync, rmSync } from 'node:fs';
import { statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterOthers } from '../../shared/runtime/clock.ts';

/** Names in a finished recording. */
export const recordingFiles = {
  audio: 'audio.wav',
  transcript: 'call.jsonl',
  facts: 'facts.jsonl.gz',
} as const;

const headerBytes = 44;
/** Samples of each side that are woven at once. */
const samplesAtOnce = 256 * 1024;
const largestSize = 0xffff_ffff;

const others = (): Promise<void> => new Promise((resolve) => afterOthers(resolve));

/** What the first line of a transcript says; the usual values for one that is damaged. */
interface Begun {
  readonly rate: number;
  /** Day on which the call began, `2026-01-31`. */
  readonly day: string;
  readonly agent: string;
}

/** Puts together what stands in a folder. `wasCut`: nobody has said that the call is over. */
export async function finishRecording(folder: string, { wasCut = false } = {}): Promise<Begun> {
  const names = readdirSync(folder);
  const lines = joined(folder, names, 'lines-');
  const begun = readBegun(lines);
  if (names.includes('heard.pcm') || names.includes('sent.pcm')) await weave(folder, begun.rate);
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
  const [, agent] = /"agent":"([A-Za-z0-9_-]{1,64})"/.exec(lines) ?? [];
  return { rate: Number(rate ?? 16_000), day: day ?? 'undated', agent: agent ?? 'unknown' };
}

/** Writes beside and renames: a file with its own name is whole. */
function replace(path: string, content: string | Uint8Array): void {
  writeFileSync(`${path}.part`, content, { mode: 0o640 });
  renameSync(`${path}.part`, path);
}

async function weave(folder: string, rate: number): Promise<void> {
  const sides = ['heard.pcm', 'sent.pcm'].map((name) => openedIfThere(join(folder, name)));
  const samples = Math.max(...sides.map(({ bytes }) => Math.floor(bytes / 2)));
  const path = join(folder, recordingFiles.audio);
  const out = openSync(`${path}.part`, 'w', 0o640);
  try {
    writeSync(out, stereoHeader(samples, rate));
    for (let from = 0; from < samples; from += samplesAtOnce) {
      const count = Math.min(samplesAtOnce, samples - from);
      writeSync(out, woven(sides, from, count));
      await others();
    }
  } finally {
    closeSync(out);
    for (const { fd } of sides) if (fd !== undefined) closeSync(fd);
  }
  renameSync(`${path}.part`, path);
}

interface Side {
  readonly fd: number | undefined;
  readonly bytes: number;
}

function openedIfThere(path: string): Side {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size;
  return bytes === undefined ? { fd: undefined, bytes: 0 } : { fd: openSync(path, 'r'), bytes };
}

/** Samples of both sides in turns; where a side has none, it was silent. */
function woven(sides: readonly Side[], from: number, count: number): Uint8Array {
  const both = new Int16Array(count * sides.length);
  sides.forEach(({ fd }, side) => {
    if (fd === undefined) return;
    const one = new Int16Array(count);
    const bytes = new Uint8Array(one.buffer);
    let read = 0;
    for (let got = -1; got !== 0 && read < bytes.length; read += got)
      got = readSync(fd, bytes, read, bytes.length - read, from * 2 + read);
    for (let index = 0; index < count; index += 1) both[index * sides.length + side] = one[index] ?? 0;
  });
  return new Uint8Array(both.buffer);
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
