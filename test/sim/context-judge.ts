/**
 * Judges the context that the LLM gets: exactly the texts of the caller, and of every response what was heard of it,
 * in whole words. What was said, the simulated STT knows; what was heard, the simulated client says.
 */
import type { ContextMessage } from '../../worker/core/actions.ts';
import { wordsOf, type Remembered, type Said, type Story, type StoryResponse } from './story.ts';

/** What one frame and the rounding of times may hide. */
const grainMs = 45;

interface Heard {
  readonly words: readonly string[];
  /** Texts of the caller that are certainly before it, and those that may be. */
  readonly after: number;
  before: number;
}

export class ContextJudge {
  readonly #story: Story;

  constructor(story: Story) {
    this.#story = story;
  }

  /** A response that was played to its end is remembered as a whole. */
  completed(response: StoryResponse): void {
    const count = response.startedAt === undefined ? 0 : wordsOf(response.said).length;
    this.#remember(response, () => ({ least: count, most: count }));
  }

  /** Nothing of the response reached the caller. */
  unheard(response: StoryResponse): void {
    this.#remember(response, () => ({ least: 0, most: 0 }));
  }

  /** The response was cut; `sentMs` of its audio were on the wire. */
  cut(response: StoryResponse, now: number, sentMs: number): void {
    if (response.startedAt === undefined) {
      this.unheard(response);
      return;
    }
    const { plan, client, tts } = this.#story.witnesses;
    const kind = plan.client.kind;
    const trusted = response.acknowledged || (this.#story.echoDelayMs > 0 && kind === 'echo');
    const slackMs = this.#guessedMs(response, sentMs) + grainMs + (kind === 'acks' ? 100 : 0);
    const leastMs = client.heardMs(response.context, now - plan.client.upMs) - slackMs;
    const ends = tts.wordEnds(response.context);
    const echoed = wordsOf(response.said.slice(0, response.echoedChars)).length;
    const least = kind === 'bad' ? 0 : countUpTo(ends, leastMs) - 1;
    this.#remember(response, () => {
      const mostMs = client.heardMs(response.context, Infinity) + slackMs;
      const most = countUpTo(ends, mostMs + (trusted ? 0 : client.delayMs)) + 1;
      return { least: Math.max(least, echoed), most: Math.max(most, echoed) };
    });
  }

  /** TTS died in the response; `sentMs` of it were played, the rest is a response of its own. */
  broken(response: StoryResponse, sentMs: number): void {
    const ends = this.#story.witnesses.tts.wordEnds(response.context);
    const guessedMs = this.#guessedMs(response, sentMs) + grainMs;
    this.#remember(response, () => ({
      least: countUpTo(ends, sentMs - guessedMs) - 2,
      most: countUpTo(ends, sentMs + guessedMs) + 2,
    }));
  }

  /** How far the place of a word may be off: within a piece its time is an estimate, unless TTS says where words begin. */
  #guessedMs(response: StoryResponse, sentMs: number): number {
    const { tts, faults } = this.#story.witnesses.plan;
    if (tts.words && !response.takenOver) return 0;
    const beyondMs = Math.max(0, sentMs - response.reported.ms) * 0.5;
    const exact = tts.reports && faults.lost === 0;
    return beyondMs + (exact ? 350 : 350 + sentMs * 0.08);
  }

  #remember(response: StoryResponse, bounds: Remembered['bounds']): void {
    this.#story.remembered.push({
      words: wordsOf(response.said),
      continues: response.continues ? this.#story.remembered.at(-1) : undefined,
      usersBefore: response.usersBefore,
      usersAfter: this.#story.users.length,
      bounds,
    });
  }

  /** The context of a request, against everything that was said so far. `guess` says that the turn is not over yet. */
  asked(now: number, messages: readonly ContextMessage[], guess: boolean): void {
    const story = this.#story;
    const [first] = messages;
    story.demand(now, first?.role === 'system' && first.text === story.settings.prompt, 'no prompt');
    // A request that goes on with an answer of another worker ends with that answer and the order to go on.
    const behind = messages.at(-1)?.role === 'system' && messages.length > 1 ? 2 : guess ? 1 : 0;
    const told = messages.slice(1, messages.length - behind);
    if (guess) this.#guessed(now, messages.at(-1));
    let at = 0;
    const heard: Heard[] = [];
    for (const { role, text } of told) {
      if (role === 'assistant') {
        heard.push({ words: wordsOf(text), after: at, before: Infinity });
        continue;
      }
      const found = story.users.findIndex((said, index) => index >= at && isSaid(text, said));
      if (found === -1 || story.users.slice(at, found).some(({ needed }) => needed)) {
        this.#otherTexts(now, text, story.users.slice(at));
        return;
      }
      // Words of listening may have been said, in the same way, more than once.
      const latest = story.users.findLastIndex((said) => isSaid(text, said));
      for (const one of heard) one.before = Math.min(one.before, latest);
      at = found + 1;
    }
    if (story.users.slice(at).some(({ needed }) => needed)) {
      this.#otherTexts(now, '', story.users.slice(at));
      return;
    }
    const problem = mismatch(heard, story.remembered);
    if (problem !== undefined) story.fail(now, 'the context does not hold what was heard', problem);
  }

  #otherTexts(now: number, text: string, users: readonly Said[]): void {
    const said = users.map(({ words }) => words.join(' ')).join(' | ');
    this.#story.fail(now, 'the context holds other texts of the caller', `${text} / ${said}`);
  }

  #guessed(now: number, last: ContextMessage | undefined): void {
    const given = this.#story.witnesses.stt.turnWords.map(({ word }) => word);
    const holds = last?.role === 'user' && isPart(plainWords(last.text), given);
    this.#story.demand(now, holds, 'the LLM is asked with words that nobody said');
  }
}

/** Without the marks that STT puts behind a sentence. */
export const plainWords = (text: string): string[] =>
  wordsOf(text).map((word) => (word.startsWith('[') || word.endsWith(']') ? word : word.replace(/\.$/, '')));

function isSaid(text: string, { words, exact }: Said): boolean {
  const got = plainWords(text);
  if (exact) return got.length === words.length && got.every((word, index) => word === words[index]);
  return isPart(got, words);
}

/** Some of the words, in their order. */
export function isPart(some: readonly string[], all: readonly string[]): boolean {
  let at = 0;
  for (const word of some) {
    const found = all.indexOf(word, at);
    if (found === -1) return false;
    at = found + 1;
  }
  return true;
}

/** Matches messages with responses in order; a response of which nothing need be known may have none. */
function mismatch(heard: readonly Heard[], remembered: readonly Remembered[]): string | undefined {
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
      if (text !== undefined) note(message, `nobody said: ${text.words.join(' ')}`);
      return text === undefined;
    }
    const { least, most } = memory.bounds();
    if (!goesOn(memory, before)) {
      note(message, `${memory.words.join(' ')} does not go on after ${before} words`);
      return false;
    }
    const matches = text !== undefined && fits(text, memory, { least, most });
    if (matches && match(message + 1, response + 1, text.words.length)) return true;
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

/** The rest of a response that broke off starts, after a filler perhaps, with the first word that is not remembered of it. */
function goesOn({ continues, words }: Remembered, before: number): boolean {
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

const countUpTo = (ends: readonly number[], ms: number): number => ends.filter((end) => end <= ms).length;
