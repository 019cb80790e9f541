/** Recordings that are not part of the project, for tests that judge quality. They are found through SVC_TEST_ASSETS. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseWav } from '../../../shared/audio/wav.ts';
import { newResampler } from '../../../shared/audio/resampler.ts';

export interface Recording {
  readonly name: string;
  /** 16 kHz. */
  readonly pcm: Int16Array;
}

const assets = process.env['SVC_TEST_ASSETS'];

/** Why tests on recordings do not run; undefined when they do. */
export const noRecordings =
  assets === undefined ? 'SVC_TEST_ASSETS does not name the folder of recordings' : undefined;

/** All recordings of a kind, by name, at 16 kHz. */
export function recordings(kind: 'speech' | 'noise'): Recording[] {
  if (assets === undefined) return [];
  const folder = join(assets, 'audio', kind);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.wav'))
    .sort()
    .map((file) => {
      const { pcm, sampleRate } = parseWav(readFileSync(join(folder, file)));
      return { name: file, pcm: newResampler({ from: sampleRate, to: 16_000 }).process(pcm).slice() };
    });
}
