/** Finds out whether the messages of the assistant are what was heard of the responses, in order. */
import type { Remembered } from './story.ts';

export interface Heard {
  readonly words: readonly string[];
  /** Texts of the caller that are certainly before it, and those that may be. */
  readonly after: number;
  before: number;
  /** Tools were called behind it, so that the next one may be the rest of the same answer. */
  readonly calls: boolean;
}

/** Matches messages with responses in order; a response of which nothing need be known may have none. */
export function mismatch(heard: readonly Heard[], remembered: readonly Remembered[]): string | undefined {
  let furthest = '';
  let depth = -1;
  const note = (message: number, problem: string): void => {
    if (message <= depth) return;
    depth = message;
    furthest = problem;
  };
  const match = (message: number, response: number, before: number): boolean => {
    const memory = remembered[response];
    const text = heard[message];
    if (memory === undefined) {
      const nothing = text?.words.length === 0 && match(message + 1, response, before);
      if (text !== undefined && !nothing) note(message, `nobody said: ${text.words.join(' ')}`);
      return text === undefined || nothing;
    }
    const { least, most } = memory.bounds();
    if (!followsOn(memory, before)) {
      note(message, `${memory.words.join(' ')} does not go on after ${before} words`);
      return false;
    }
    for (const { words, count } of answersFrom(heard, message)) {
      const answer = { ...text!, words };
      if (fits(answer, memory, { least, most }) && match(message + count, response + 1, words.length))
        return true;
    }
    if (text?.words.length === 0 && match(message + 1, response, before)) return true;
    if (least <= 0 && match(message, response + 1, 0)) return true;
    note(
      message,
      `${text?.words.join(' ') ?? 'nothing'} is not ${least} to ${most} words of: ${memory.words.join(' ')}`,
    );
    return false;
  };
  if (match(0, 0, 0)) return undefined;
  const all = remembered.map(
    (one) => `${one.bounds().least} to ${one.bounds().most}: ${one.words.join(' ')}`,
  );
  return [furthest, ...heard.map(({ words }) => `heard: ${words.join(' ')}`), ...all].join('\n');
}

/** A message, and what it amounts to with those behind it that may be the rest of the same answer. */
function answersFrom(heard: readonly Heard[], from: number): { words: readonly string[]; count: number }[] {
  const answers: { words: readonly string[]; count: number }[] = [];
  const words: string[] = [];
  for (let at = from; at < heard.length; at += 1) {
    words.push(...heard[at]!.words);
    answers.push({ words: [...words], count: at - from + 1 });
    if (!heard[at]!.calls) break;
  }
  return answers;
}

/** The rest of a response that broke off starts, after a filler perhaps, with the first word that is not remembered of it. */
function followsOn({ continues, words }: Remembered, before: number): boolean {
  const next = continues?.words.slice(before).find(isWritten);
  return next === undefined || words.every((word) => !isWritten(word)) || words.find(isWritten) === next;
}

const isWritten = (word: string): boolean => /\d|SQL/.test(word);

const fits = (text: Heard, memory: Remembered, { least, most }: { least: number; most: number }): boolean =>
  text.words.length >= least &&
  text.words.length <= most &&
  text.after <= memory.usersAfter &&
  text.before >= memory.usersBefore &&
  text.words.every((word, index) => word === memory.words[index]);
