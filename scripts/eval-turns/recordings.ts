/** Recordings in folders, at 16 kHz. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newResampler } from '../../shared/audio/resampler.ts';
import { parseWav } from '../../shared/audio/wav.ts';

export interface Recording {
  readonly name: string;
  readonly pcm: Int16Array;
}

export function recordingsIn(folder: string): Recording[] {
  return readdirSync(folder)
    .filter((file) => file.toLowerCase().endsWith('.wav'))
    .sort()
    .map((name) => {
      const { pcm, sampleRate } = parseWav(readFileSync(join(folder, name)));
      return { name, pcm: newResampler({ from: sampleRate, to: 16_000 }).process(pcm).slice() };
    });
}
