/** Recordings in folders, at 16 kHz. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { newResampler } from '../../../shared/audio/resampler.ts';
import { parseWav } from '../../../shared/audio/wav.ts';

/** Said where nobody wrote down what is. */
export const unknownText = 'i would like to know something about that';

export interface Recording {
  readonly name: string;
  readonly pcm: Int16Array;
  /** What is said in it, in small letters without punctuation; other words where nobody wrote it down. */
  readonly text: string;
}

/** Words stand in a text file beside a recording, or in `texts` by its name. */
export function recordingsIn(folder: string, texts: ReadonlyMap<string, string> = new Map()): Recording[] {
  const textOf = (name: string): string => {
    const beside = join(folder, name.replace(/\.wav$/i, '.txt'));
    const text = existsSync(beside) ? readFileSync(beside, 'utf8') : (texts.get(name) ?? '');
    return text.toLowerCase().replace(/\s+/g, ' ').trim() || unknownText;
  };
  return readdirSync(folder)
    .filter((file) => file.toLowerCase().endsWith('.wav'))
    .sort()
    .map((name) => {
      const { pcm, sampleRate } = parseWav(readFileSync(join(folder, name)));
      return {
        name,
        pcm: newResampler({ from: sampleRate, to: 16_000 }).process(pcm).slice(),
        text: textOf(name),
      };
    });
}

/** The texts that a manifest (`[{ file, text }]`) gives for recordings, by the names of their files. */
export function textsIn(manifest: string): Map<string, string> {
  if (!existsSync(manifest)) return new Map();
  const entries: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
  const texts = new Map<string, string>();
  for (const entry of Array.isArray(entries) ? (entries as unknown[]) : []) {
    if (typeof entry !== 'object' || entry === null) continue;
    const { file, text } = entry as Readonly<Record<string, unknown>>;
    if (typeof file === 'string' && typeof text === 'string') texts.set(basename(file), text);
  }
  return texts;
}
