/**
 * Whether a caller's words are a whole sentence or answer, or have only begun: a logistic regression over the last words, the first ones
 * and their number, for English, German, French and Spanish. Its weights are learned from what people write and say to services
 * (docs/decisions/0079-whole-sentences.md). It knows nothing of punctuation, melody, time or turns.
 */
import { bias, encodedWeights, weightStep } from '../../../shared/languages/completeness-weights.ts';
import { spokenWords } from '../../../shared/languages/spelling.ts';

/** What is known of the words so far, each feature as a text. The first one is the last word. */
export function featuresOf(words: readonly string[]): string[] {
  const plain = words.map((word) => (/\p{N}/u.test(word) ? '#' : word));
  const [fourth, third, second, last] = ['<', '<', '<', '<', ...plain].slice(-4) as [
    string,
    string,
    string,
    string,
  ];
  const [first = '', next = ''] = plain;
  return [
    `1 ${last}`,
    `2 ${second} ${last}`,
    `3 ${third} ${second} ${last}`,
    `4 ${fourth} ${third} ${second} ${last}`,
    `b ${first} ${last}`,
    `c ${first} ${next} ${last}`,
    `d ${first} ${next}`,
    `g ${second}`,
    `f ${second} ${last.slice(-2)}`,
    `e ${last.slice(-3)}`,
    `n ${String(Math.min(plain.length, 12))}`,
  ];
}

/** FNV-1a over UTF-16 code units, folded to 24 bits. */
export function hashOf(feature: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < feature.length; at += 1) {
    hash = Math.imul(hash ^ feature.charCodeAt(at), 0x01000193);
  }
  return (hash ^ (hash >>> 24)) & 0xffffff;
}

/** Sorted hashes of the features that count, and the weight of each. */
interface Weights {
  readonly hashes: Uint32Array;
  readonly weights: Int8Array;
}

/** How hashes and weights are written down: the distance to the hash before, seven bits a byte, then the weight. */
export function decodeWeights(encoded: string): Weights {
  const bytes = atob(encoded);
  const hashes: number[] = [];
  const weights: number[] = [];
  let hash = 0;
  for (let at = 0; at < bytes.length;) {
    let distance = 0;
    let factor = 1;
    for (let more = true; more; factor *= 128) {
      const byte = bytes.charCodeAt(at);
      distance += (byte & 127) * factor;
      more = byte > 127;
      at += 1;
    }
    hash += distance;
    hashes.push(hash);
    weights.push((bytes.charCodeAt(at) << 24) >> 24);
    at += 1;
  }
  return { hashes: Uint32Array.from(hashes), weights: Int8Array.from(weights) };
}

/** Read at the start: the first pause of a call is no time for it. */
const learned = decodeWeights(encodedWeights);

function weightOf(feature: string): number | undefined {
  const { hashes, weights } = learned;
  const hash = hashOf(feature);
  let [low, high] = [0, hashes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((hashes[middle] ?? 0) < hash) low = middle + 1;
    else high = middle;
  }
  return hashes[low] === hash ? weights[low] : undefined;
}

const sentenceEnd = /[.?!;。！？।]\s+/u;
/** Of the last words of a sentence in another language fewer are known. */
const knownShare = 0.6;
const lookedAt = 12;
/** Answers are short, and what was learned from are sentences: of so few words only those that have surely begun are taken for a beginning. */
const shortWords = 3;
const shortBegun = 0.1;

/**
 * The probability that the words are whole; undefined where it cannot be told. Of several sentences the last counts. Of few words that
 * answer a question it is told only where there is no doubt, and of a single one never.
 */
export function completeness(text: string, { answers }: { answers: boolean }): number | undefined {
  const words = spokenWords(text.split(sentenceEnd).at(-1) ?? '');
  if (words.length < (answers ? 2 : 1)) return undefined;
  const weights = featuresOf(words).map(weightOf);
  const last = words.slice(-lookedAt);
  const known = last.filter((word) => weightOf(`1 ${word}`) !== undefined);
  if (known.length < last.length * knownShare) return undefined;
  const sum = weights.reduce<number>((total, weight) => total + (weight ?? 0), 0);
  const whole = 1 / (1 + Math.exp(-(bias + sum * weightStep)));
  return answers && words.length <= shortWords && whole >= shortBegun && whole < 0.5 ? undefined : whole;
}
