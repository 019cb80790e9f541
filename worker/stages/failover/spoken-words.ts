/**
 * Where the words of a text lie in the audio of a voice that tells no times: pauses in the audio are matched with the
 * punctuation of the text, and between two of them words are laid out by their length.
 *
 * Invariant: words keep their order, and none begins before the one before it. Pure; characters count from the start of the
 * text, milliseconds from its first sample.
 */
import type { SpeechPause } from './speech-pauses.ts';

/** A place that is known: `chars` begins at `ms`, behind a pause that begins at `endMs`. */
export interface Anchor {
  readonly chars: number;
  readonly ms: number;
  readonly endMs: number;
}

export interface SpokenAudio {
  readonly pauses: readonly SpeechPause[];
  /** Length of the audio. */
  readonly deliveredMs: number;
  readonly msPerChar: number;
}

/** Where a text may pause: behind these marks, with what it costs to take it that there was none. */
const restMark = /[.!?:;…。！？]["'”’)\]]*\s*$/;
const sentenceMark = /[.!?…。！？]["'”’)\]]*\s+$/;
const commaMark = /[,–—、，]["'”’)]*\s*$/;
const restCost = 4;
const commaCost = 1;
/** What it costs to take a pause for one within a phrase: short ones are mouths that close, long ones are rare. */
const strayCost = ({ fromMs, toMs }: SpeechPause): number =>
  toMs === undefined ? 0.2 : Math.min(5, Math.max(0.2, (toMs - fromMs - 80) / 50));
/** How far a phrase may be from the length that its text lets expect, as a share, where the cost is 1. */
const tolerance = 0.22;
/** A pause that begins this soon is what a voice begins with: nobody says a phrase that is so short. */
const leadMs = 120;
/** Pauses and marks that are matched: the newest. Bounds the work. */
const mostMatched = 12;

interface Word {
  readonly chars: number;
  readonly text: string;
}

export const wordsOf = (text: string, from: number): Word[] =>
  [...text.slice(from).matchAll(/\S+\s*/g)].map((match) => ({ chars: from + match.index, text: match[0] }));

/** How long a word takes, in characters: digits are read out, capitals in a row are spelt, short words are swallowed. */
export function weightOf(word: string): number {
  const letters = word.replace(/[^\p{L}\p{M}\p{N}]/gu, '');
  const digits = letters.replace(/\P{N}/gu, '').length;
  const spelt = /^\p{Lu}{2,5}$/u.test(letters) ? letters.length * 2 : 0;
  return letters.length + digits * 3 + spelt + 1;
}

interface Mark {
  readonly chars: number;
  readonly skipCost: number;
  /** Weight of the text before it. */
  readonly weight: number;
}

/** Matches pauses with punctuation; the anchors in order, of which the first is the start of the text. */
export function anchorsOf(text: string, from: number, audio: SpokenAudio): Anchor[] {
  const { pauses, msPerChar } = audio;
  const lead = pauses.findLast(({ fromMs }) => fromMs < leadMs);
  const startMs = lead === undefined ? 0 : (lead.toMs ?? audio.deliveredMs);
  const start: Anchor = { chars: from, ms: startMs, endMs: 0 };
  const inside = pauses.filter(({ fromMs }) => fromMs > startMs).slice(0, mostMatched);
  const marks = marksOf(text, from).slice(0, mostMatched);
  return [start, ...matched(inside, marks, { startMs, msPerChar })];
}

function marksOf(text: string, from: number): Mark[] {
  const words = wordsOf(text, from);
  let weight = 0;
  const marks: Mark[] = [];
  for (const [index, word] of words.entries()) {
    weight += weightOf(word.text);
    const skipCost = restMark.test(word.text) ? restCost : commaMark.test(word.text) ? commaCost : undefined;
    const next = words[index + 1];
    if (skipCost !== undefined) marks.push({ chars: next?.chars ?? text.length, skipCost, weight });
  }
  return marks;
}

interface Path {
  readonly cost: number;
  readonly anchors: readonly Anchor[];
}

/** The cheapest way to pair them in order, by trying all of them; both are few. */
function matched(
  pauses: readonly SpeechPause[],
  marks: readonly Mark[],
  { startMs, msPerChar }: { readonly startMs: number; readonly msPerChar: number },
): readonly Anchor[] {
  // best[p][m]: pause p is the one behind mark m, and it is the last pair.
  const best: (Path | undefined)[][] = pauses.map(() => []);
  const strays = (from: number, to?: number): number =>
    pauses.slice(from, to).reduce((sum, pause) => sum + strayCost(pause), 0);
  let cheapest: Path = { cost: strays(0), anchors: [] };
  for (const [p, pause] of pauses.entries()) {
    for (const [m, mark] of marks.entries()) {
      let found: Path | undefined;
      const consider = (before: Path, fromMs: number, fromWeight: number): void => {
        const cost = before.cost + misfit(pause.fromMs - fromMs, (mark.weight - fromWeight) * msPerChar);
        if (found === undefined || cost < found.cost) {
          const anchor = { chars: mark.chars, ms: pause.toMs ?? pause.fromMs, endMs: pause.fromMs };
          found = { cost, anchors: [...before.anchors, anchor] };
        }
      };
      consider({ cost: strays(0, p) + skipped(marks, 0, m), anchors: [] }, startMs, 0);
      for (let q = 0; q < p; q += 1) {
        for (let n = 0; n < m; n += 1) {
          const before = best[q]?.[n];
          const at = pauses[q];
          if (before === undefined || at?.toMs === undefined) continue;
          const cost = before.cost + strays(q + 1, p) + skipped(marks, n + 1, m);
          consider({ ...before, cost }, at.toMs, marks[n]?.weight ?? 0);
        }
      }
      (best[p] ?? [])[m] = found;
      if (found === undefined) continue;
      const total = found.cost + strays(p + 1);
      if (total < cheapest.cost) cheapest = { cost: total, anchors: found.anchors };
    }
  }
  return cheapest.anchors;
}

function skipped(marks: readonly Mark[], from: number, to: number): number {
  return marks.slice(from, to).reduce((sum, { skipCost }) => sum + skipCost, 0);
}

/** Squared distance of a length from what was expected, in tolerances; short phrases vary more. */
function misfit(ms: number, expectedMs: number): number {
  const off = (ms - expectedMs) / (tolerance * expectedMs + 120);
  return off * off;
}

export interface PlacedWord {
  readonly chars: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Lays out the words from `from` on. What is behind the last anchor is an estimate. */
export function placeWords(text: string, from: number, audio: SpokenAudio): PlacedWord[] {
  const anchors = anchorsOf(text, from, audio);
  const words = wordsOf(text, from);
  const placed: PlacedWord[] = [];
  const pace = paceOf(words, anchors, audio.msPerChar);
  for (const [index, anchor] of anchors.entries()) {
    const next = anchors[index + 1];
    const own = words.filter(
      ({ chars }) => chars >= anchor.chars && (next === undefined || chars < next.chars),
    );
    const weight = own.reduce((sum, { text: word }) => sum + weightOf(word), 0);
    const msPerWeight = next === undefined ? pace : (next.endMs - anchor.ms) / Math.max(1, weight);
    let atMs = anchor.ms;
    for (const word of own) {
      const toMs = atMs + weightOf(word.text) * msPerWeight;
      placed.push({ chars: word.chars, fromMs: atMs, toMs });
      // A sentence is followed by a pause; where none was heard, it is not over.
      atMs = next === undefined && sentenceMark.test(word.text) ? Math.max(toMs, audio.deliveredMs) : toMs;
    }
  }
  return placed;
}

/** The pace of what lies between anchors, and the one that was known, each for as much as it tells. */
function paceOf(words: readonly Word[], anchors: readonly Anchor[], known: number): number {
  const last = anchors.at(-1);
  const first = anchors[0];
  if (last === undefined || first === undefined || last === first) return known;
  const weight = words
    .filter(({ chars }) => chars < last.chars)
    .reduce((sum, { text }) => sum + weightOf(text), 0);
  const ms = anchors.reduce((sum, { endMs }, index) => {
    const before = anchors[index - 1];
    return before === undefined ? sum : sum + endMs - before.ms;
  }, 0);
  const knownWeight = 20;
  return (ms + known * knownWeight) / (weight + knownWeight);
}
