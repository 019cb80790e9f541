/** Who speaks in which recording, and which speakers are kept aside: no threshold is chosen by anything that they say. */
import type { Recording } from './recordings.ts';
import { msOf, rms, speechOf } from './scenarios.ts';
import { wordsOver, type SpokenWord } from './words.ts';

export interface Person {
  readonly name: string;
  readonly isAside: boolean;
  /** Speech alone, of the level that all of it has here. */
  readonly clips: readonly { readonly text: string; readonly pcm: Int16Array }[];
}

/** Recordings of one speaker have a name in common, with a number behind it. */
const personOf = (file: string): string => file.replace(/\.wav$/i, '').replace(/_(snt|yes|no|a?\d).*$/, '');

/** A little shorter than words of more than one syllable. */
const leastMs = 700;

/** Every other speaker is kept aside. */
export function personsOf(recordings: readonly Recording[]): Person[] {
  const byName = new Map<string, Recording[]>();
  for (const one of recordings)
    byName.set(personOf(one.name), [...(byName.get(personOf(one.name)) ?? []), one]);
  return [...byName]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, own], index) => ({
      name,
      isAside: index % 2 === 1,
      clips: own
        .map(({ pcm, text }) => ({ text, pcm: speechOf(pcm) }))
        .filter(({ pcm }) => msOf(pcm.length) >= leastMs),
    }))
    .filter(({ clips }) => clips.length > 0);
}

/** So loud, in dB below full scale. */
export function levelled(pcm: Int16Array, db: number): Int16Array {
  const gain = (32_768 * 10 ** (db / 20)) / Math.max(1, rms(pcm));
  return pcm.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
}

const gapMs = 200;

/** These persons one after another, over and over from one time to another: where what lies, and its words. */
export function talk(
  persons: readonly Person[],
  { fromMs, toMs, db }: { fromMs: number; toMs: number; db: number },
): { parts: { atMs: number; pcm: Int16Array }[]; words: SpokenWord[] } {
  const clips = persons.flatMap((person) => person.clips);
  const levels = new Map<Int16Array, Int16Array>();
  const ofLevel = (pcm: Int16Array): Int16Array => {
    const known = levels.get(pcm) ?? levelled(pcm, db);
    levels.set(pcm, known);
    return known;
  };
  const parts: { atMs: number; pcm: Int16Array }[] = [];
  const words: SpokenWord[] = [];
  for (let atMs = fromMs, at = 0; atMs < toMs && clips.length > 0; at += 1) {
    const clip = clips[at % clips.length];
    if (clip === undefined) break;
    const endMs = atMs + msOf(clip.pcm.length);
    parts.push({ atMs, pcm: ofLevel(clip.pcm) });
    words.push(...wordsOver(clip.text, atMs, endMs));
    atMs = endMs + gapMs;
  }
  return { parts, words };
}
