/**
 * Whose words count, where a recogniser tells who says each of them: those of the caller, who has said most of the first turns. Nobody's words
 * are left out before the caller is known, nor the first few of a speaker who is new: a recogniser takes a short word for somebody else's at
 * times. Labels are a connection's own, and so is what is learned of them. Pure.
 */
import { asObject, stringAt, type JsonObject } from './wire.ts';

export interface SpokenWord {
  readonly text: string;
  /** Absent where the recogniser does not say. */
  readonly speaker: string | undefined;
}

/** What of a text is the caller's. `isOthers`: the newest words are not. */
export interface Own {
  readonly text: string;
  readonly isOthers: boolean;
}

/** The caller is known by so many words in so many finals, when nobody else has said half as many. */
const knownWords = 10;
const knownFinals = 3;
const clearShare = 0.5;
/** A speaker is another one after so many words. */
const strangerWords = 4;
/** The caller has said nothing for so many words of others, 20 s of speech: the phone was handed over, to whoever says the next. */
const handedOverWords = 50;
/** The caller who was there before is back with so many words at once. */
const backWords = 3;

export class MainSpeaker {
  #main: string | undefined;
  #former: string | undefined;
  readonly #said = new Map<string, { words: number; finals: number }>();
  #othersSince = 0;

  /** @param text as the recogniser writes it, which stays so where no word is left out. */
  own(text: string, words: readonly SpokenWord[], { isFinal }: { readonly isFinal: boolean }): Own {
    const certain = isFinal || !this.#knowsStrangers ? words : withoutUncertain(words);
    const told = attributed(certain);
    const counts = countsOf(told);
    if (isFinal) this.#learn(counts);
    const isStranger = (speaker: string | undefined): boolean =>
      speaker !== undefined && this.#isStranger(speaker, isFinal ? 0 : (counts.get(speaker) ?? 0));
    const kept = told.filter(({ speaker }) => !isStranger(speaker));
    if (kept.length === words.length) return { text, isOthers: false };
    return { text: kept.map((word) => word.text).join(' '), isOthers: isStranger(told.at(-1)?.speaker) };
  }

  get #knowsStrangers(): boolean {
    return [...this.#said.keys()].some((speaker) => this.#isStranger(speaker, 0));
  }

  #isStranger(speaker: string, newWords: number): boolean {
    if (this.#main === undefined || speaker === this.#main) return false;
    return (this.#said.get(speaker)?.words ?? 0) + newWords >= strangerWords;
  }

  #learn(counts: ReadonlyMap<string, number>): void {
    for (const [speaker, count] of counts) {
      const { words, finals } = this.#said.get(speaker) ?? { words: 0, finals: 0 };
      this.#said.set(speaker, { words: words + count, finals: finals + 1 });
    }
    if (this.#main === undefined) this.#main = this.#known();
    else this.#follow(counts, this.#main);
  }

  #known(): string | undefined {
    const [first, second] = [...this.#said].sort(([, a], [, b]) => b.words - a.words);
    if (first === undefined || first[1].words < knownWords || first[1].finals < knownFinals) return undefined;
    return (second?.[1].words ?? 0) > first[1].words * clearShare ? undefined : first[0];
  }

  /** Says who is the caller from now on. */
  #follow(counts: ReadonlyMap<string, number>, main: string): void {
    const [first] = [...counts].sort(([, a], [, b]) => b - a);
    if (counts.has(main)) this.#othersSince = 0;
    if (first === undefined || counts.has(main)) return;
    const [loudest, count] = first;
    this.#othersSince += count;
    const isBack = loudest === this.#former && count >= backWords;
    if (!isBack && this.#othersSince < handedOverWords) return;
    this.#main = loudest;
    this.#former = isBack ? undefined : main;
    this.#othersSince = 0;
  }
}

/** The speaker of the newest word is not known yet: where others are heard, it may be theirs. */
function withoutUncertain(words: readonly SpokenWord[]): readonly SpokenWord[] {
  const last = words.findLastIndex(({ speaker }) => speaker !== undefined);
  return words.slice(0, last + 1);
}

/** A word of which nothing is said belongs to whoever says those beside it. */
function attributed(words: readonly SpokenWord[]): readonly SpokenWord[] {
  let speaker = words.find((word) => word.speaker !== undefined)?.speaker;
  return words.map((word) => {
    speaker = word.speaker ?? speaker;
    return { text: word.text, speaker };
  });
}

function countsOf(words: readonly SpokenWord[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { speaker } of words)
    if (speaker !== undefined) counts.set(speaker, (counts.get(speaker) ?? 0) + 1);
  return counts;
}

/** The words of a message, each under the first of `keys` that it has. A label may be a number; none, or one that says so, is no label. */
export function spokenWords(words: unknown, keys: readonly string[]): SpokenWord[] {
  if (!Array.isArray(words)) return [];
  return words.flatMap((one: unknown) => {
    const word = asObject(one) ?? {};
    const text = keys.map((key) => stringAt(word, key)?.trim()).find((told) => told !== undefined);
    return text === undefined || text === '' ? [] : [{ text, speaker: speakerAt(word, 'speaker') }];
  });
}

export function speakerAt(object: JsonObject, key: string): string | undefined {
  const label = object[key];
  if (typeof label === 'number' && Number.isInteger(label) && label >= 0) return String(label);
  return typeof label === 'string' && label !== '' && label !== 'UNKNOWN' ? label : undefined;
}
