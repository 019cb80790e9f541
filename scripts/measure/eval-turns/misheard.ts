/**
 * What a real recogniser makes of recordings as STT gets them: over a telephone, behind noise, quiet. Each recording is heard once as it is and once
 * in each of these ways, and its words are counted.
 */
import { decodeMulaw, encodeMulaw } from '../../../shared/audio/g711.ts';
import { newResampler } from '../../../shared/audio/resampler.ts';
import type { RealEar } from '../ear/real-ear.ts';
import { wordErrors, type WordErrors } from '../ear/word-errors.ts';
import { print, shareWithin } from './print.ts';
import type { Counts } from './ratchet.ts';
import type { Recording } from './recordings.ts';
import { addNoise, quieterBy, rms, speechOf } from './scenarios.ts';

type Change = (pcm: Int16Array, noise: Int16Array) => Int16Array;

const telephoneRate = 8_000;
const rate = 16_000;

/** As a carrier has it: 8 kHz, eight bits a sample. */
function overTelephone(pcm: Int16Array): Int16Array {
  const narrow = newResampler({ from: rate, to: telephoneRate }).process(pcm).slice();
  const bytes = new Uint8Array(narrow.length);
  encodeMulaw(narrow, bytes);
  decodeMulaw(bytes, narrow);
  return newResampler({ from: telephoneRate, to: rate }).process(narrow).slice();
}

const behind =
  (db: number): Change =>
  (pcm, noise) => {
    const mixed = pcm.slice();
    addNoise(mixed, noise, quieterBy(speechOf(pcm), noise, db));
    return mixed;
  };

/** The mean level of the speech, in dB below full scale. */
const atLevel =
  (db: number): Change =>
  (pcm) => {
    const factor = (10 ** (db / 20) * 32_768) / Math.max(1, rms(speechOf(pcm)));
    return pcm.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * factor))));
  };

const then =
  (...changes: readonly Change[]): Change =>
  (pcm, noise) =>
    changes.reduce((sound, change) => change(sound, noise), pcm);

const ways: Readonly<Record<string, Change>> = {
  'as recorded': (pcm) => pcm,
  telephone: overTelephone,
  'noise 10 dB': behind(10),
  'noise 5 dB': behind(5),
  'noise 0 dB': behind(0),
  'telephone, noise 10 dB': then(behind(10), overTelephone),
  ...Object.fromEntries(
    [-20, -30, -40, -50].map((db) => [`telephone, ${db} dBFS`, then(atLevel(db), overTelephone)]),
  ),
};

/** The words of a recording that nobody wrote down count for nothing. */
export async function misheard(
  { speech, noises }: { readonly speech: readonly Recording[]; readonly noises: readonly Int16Array[] },
  ear: Pick<RealEar, 'transcribe'>,
): Promise<ReadonlyMap<string, WordErrors>> {
  const rows = new Map<string, WordErrors>();
  for (const [name, change] of Object.entries(ways)) {
    if (noises.length === 0 && name.includes('noise')) continue;
    let sum: WordErrors = { errors: 0, of: 0 };
    for (const [index, { pcm, text }] of speech.entries()) {
      const noise = noises[index % noises.length] ?? new Int16Array(1);
      const { errors, of } = wordErrors(text, await ear.transcribe(change(pcm, noise)));
      // Words that were made up are no more than there were words: a share says how much is lost.
      sum = { errors: sum.errors + Math.min(errors, of), of: sum.of + of };
    }
    rows.set(name, sum);
  }
  return rows;
}

export const misheardTable = (rows: ReadonlyMap<string, WordErrors>): string =>
  print(
    ['words', 'wrong, missing or too many'],
    [...rows].map(([name, { errors, of }]) => [name, shareWithin(errors, of)]),
  );

export const misheardCounts = (rows: ReadonlyMap<string, WordErrors>): Counts =>
  Object.fromEntries([...rows].map(([name, { errors, of }]) => [`words: ${name}`, { bad: errors, of }]));
