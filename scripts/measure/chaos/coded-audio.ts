/**
 * Audio whose samples say what they are. At 24 kHz PCM16 nothing of it is resampled on its way, so a caller can tell from
 * eight samples in a row which call, which reply, which word and which part of it they belong to.
 */

/** Eight samples: a mark, call, reply, word, part of the word, two that are free, another mark. */
const groupSamples = 8;
const firstMark = 0x5a3c;
const lastMark = -0x3ca5;
export const sampleRate = 24_000;
/** A word takes 160 ms. */
export const groupsPerWord = (sampleRate * 0.16) / groupSamples;
export const groupMs = (groupSamples * 1000) / sampleRate;

/** A word of a reply as text: `c17r3w5`. */
export const wordText = (call: number, reply: number, word: number): string => `c${call}r${reply}w${word}`;

export interface SpokenWord {
  readonly call: number;
  readonly reply: number;
  readonly word: number;
}

/** Coded words of a text in their order; other words of it are left out. */
export function wordsIn(text: string): SpokenWord[] {
  return [...text.matchAll(/\bc(\d+)r(\d+)w(\d+)\b/g)].map((found) => ({
    call: Number(found[1]),
    reply: Number(found[2]),
    word: Number(found[3]),
  }));
}

/** Speech for a text. Words that are not coded belong to call 0. */
export function speechFor(text: string): Buffer {
  const words = text.split(/\s+/).filter((word) => /\w/.test(word));
  const samples = new Int16Array(words.length * groupsPerWord * groupSamples);
  for (const [index, text] of words.entries()) {
    const { call, reply, word } = wordsIn(text)[0] ?? { call: 0, reply: 0, word: 0 };
    for (let part = 0; part < groupsPerWord; part += 1) {
      const at = (index * groupsPerWord + part) * groupSamples;
      samples.set([firstMark, call, reply, word, part, 0, 0, lastMark], at);
    }
  }
  return Buffer.from(samples.buffer);
}

/** One group as it was heard; `at` counts groups from the start of the reply. */
export interface HeardGroup {
  readonly call: number;
  readonly reply: number;
  readonly at: number;
}

/** The marks keep this proportion in a voice that was made softer. Its words cannot be told apart any more. */
const markShare = firstMark / lastMark;
/** Softer, rounding hides it. */
const leastMark = 500;

const isSoftMark = (first: number, last: number): boolean =>
  first >= leastMark && first < firstMark && Math.abs(first / last / markShare - 1) < 0.01;

/** Finds groups in a stream of samples, wherever they begin. Groups of which a part is missing are not told. */
export class GroupReader {
  #rest: Int16Array = new Int16Array(0);

  /** Says whether some of it was softer than it was made. */
  read(payload: Buffer, take: (group: HeardGroup) => void): boolean {
    let isSoft = false;
    const fresh = new Int16Array(payload.length >> 1);
    for (let i = 0; i < fresh.length; i += 1) fresh[i] = payload.readInt16LE(i * 2);
    const samples = new Int16Array(this.#rest.length + fresh.length);
    samples.set(this.#rest);
    samples.set(fresh, this.#rest.length);
    let at = 0;
    while (at + groupSamples <= samples.length) {
      if (samples[at] !== firstMark || samples[at + groupSamples - 1] !== lastMark) {
        isSoft ||= isSoftMark(samples[at] ?? 0, samples[at + groupSamples - 1] ?? 0);
        at += 1;
        continue;
      }
      const [call = 0, reply = 0, word = 0, part = 0] = samples.subarray(at + 1, at + 5);
      take({ call, reply, at: word * groupsPerWord + part });
      at += groupSamples;
    }
    this.#rest = samples.slice(at);
    return isSoft;
  }
}
