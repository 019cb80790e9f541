/**
 * Judges the context that the LLM gets: exactly the texts of the caller, and of every response what was heard of it,
 * in whole words. What was said, the simulated STT knows; what was heard, the simulated client says.
 */
import type { ContextMessage } from '../../../worker/core/actions.ts';
import { mismatch, type Heard } from '../heard-match.ts';
import { wordsOf, type Remembered, type Said, type Story, type StoryResponse } from '../story.ts';

/** What one frame and the rounding of times may hide. */
const grainMs = 45;

/** Another worker had begun the answer, and the LLM is told to go on with it. */
export const goesOn = (messages: readonly ContextMessage[]): boolean =>
  messages.at(-1)?.role === 'system' && messages.at(-1)?.text.startsWith('Your last message') === true;

/** The messages of a request without the prompt, and without what is no part of the conversation yet. */
function toldBefore(
  messages: readonly ContextMessage[],
  kind: 'turn' | 'guess' | 'round',
): readonly ContextMessage[] {
  const told = messages.slice(1, messages.length - (goesOn(messages) ? 2 : kind === 'guess' ? 1 : 0));
  return told;
}

/** Rounds at the end that may be those of the answer that runs. */
function ownAtEnd(told: readonly ContextMessage[]): number {
  let own = 0;
  for (let at = told.length - 1; at >= 0; at -= 1) {
    const message = told[at];
    if (message?.role === 'assistant' && message.toolCalls !== undefined) own += 1;
    else if (message?.role !== 'tool') break;
  }
  return own;
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
    // Of one that goes on in a worker and is cut at once TTS knows no words before the step is done.
    const ends = (): readonly number[] => tts.wordEnds(response.context);
    const echoed = wordsOf(response.said.slice(0, response.echoedChars)).length;
    if (tts.hasGaps(response.context)) {
      this.#remember(response, () => ({ least: 0, most: Infinity }));
      return;
    }
    this.#remember(response, () => {
      const mostMs = client.heardMs(response.context, Infinity) + slackMs;
      const most = countUpTo(ends(), mostMs + (trusted ? 0 : client.delayMs)) + 1;
      const least = kind === 'bad' ? 0 : countUpTo(ends(), leastMs) - 1;
      return { least: Math.max(least, echoed), most: Math.max(most, echoed) };
    });
  }

  /** TTS died in the response; `sentMs` of it were played, the rest is a response of its own. */
  broken(response: StoryResponse, sentMs: number): void {
    const { tts } = this.#story.witnesses;
    const ends = tts.wordEnds(response.context);
    const guessedMs = this.#guessedMs(response, sentMs) + grainMs;
    // Where some of the text made no sound, only what was said before that is known.
    const silent = ends.indexOf(Infinity);
    const known = silent === -1 ? ends : ends.slice(0, silent);
    this.#remember(response, () => ({
      least: countUpTo(known, sentMs - guessedMs) - 2,
      most: silent === -1 ? countUpTo(ends, sentMs + guessedMs) + 2 : Infinity,
    }));
  }

  /** How far the place of a word may be off: within a piece its time is an estimate, unless TTS says where words begin. */
  #guessedMs(response: StoryResponse, sentMs: number): number {
    const { tts, faults, settings } = this.#story.witnesses.plan;
    if (tts.words && !response.takenOver) return 0;
    const beyondMs = Math.max(0, sentMs - response.reported.ms) * 0.5;
    // The voice of a model reports where a piece ends only if a word does.
    const exact = tts.reports && faults.lost === 0 && settings.modelSpeaks !== true;
    // A sentence whose beginning is only estimated may be left out.
    const doubtMs = 60 * Math.sqrt(response.said.length);
    // A service that believed a voice that said only some of its text has a wrong idea of its pace.
    const misledMs = this.#story.witnesses.tts.hadGaps ? sentMs : 0;
    return beyondMs + (exact ? 350 : 350 + sentMs * 0.08 + doubtMs + misledMs);
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

  /**
   * The context of a request, against everything that was said so far. `kind` says whether it is the first of a turn that is
   * over, a guess at one that is not, or another round of an answer that runs.
   */
  asked(now: number, messages: readonly ContextMessage[], kind: 'turn' | 'guess' | 'round'): void {
    const story = this.#story;
    const [first] = messages;
    story.demand(now, first?.role === 'system' && first.text === story.settings.prompt, 'no prompt');
    if (kind === 'guess') this.#guessed(now, messages.at(-1));
    let at = 0;
    const heard: Heard[] = [];
    const told = toldBefore(messages, kind);
    for (const [index, message] of told.entries()) {
      const { role, text } = message;
      if (role === 'assistant') {
        const calls = message.toolCalls !== undefined;
        heard.push({ words: wordsOf(text), after: at, before: Infinity, calls });
        continue;
      }
      if (role !== 'user' || text === story.settings.outage.unheardNote) continue;
      const isLast = !told.slice(index + 1).some((later) => later.role === 'user' && later.text === text);
      const found = placeOf(text, story.users, { at, isLast });
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
    // Behind the conversation stand the rounds of the answer that runs; where they begin, nothing says.
    const own = kind === 'round' ? ownAtEnd(told) : 0;
    const fits = (count: number): boolean =>
      mismatch(heard.slice(0, heard.length - count), story.remembered) === undefined;
    const found = Array.from({ length: own }, (_, index) => index + 1).some(fits);
    if (problem !== undefined && !found) story.fail(now, 'the context does not hold what was heard', problem);
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

/** Which text of the caller it is. The same words may have been said in a turn that need not be there: not for the last such message. */
function placeOf(
  text: string,
  users: readonly Said[],
  { at, isLast }: { at: number; isLast: boolean },
): number {
  const needed = users.findIndex((said, index) => index >= at && said.needed);
  const must = users[needed];
  if (isLast && must !== undefined && isSaid(text, must)) return needed;
  return users.findIndex((said, index) => index >= at && isSaid(text, said));
}

function isSaid(text: string, { words, exact }: Said): boolean {
  const got = plainWords(text);
  if (exact) return got.length === words.length && got.every((word, index) => word === words[index]);
  return got.every((word) => words.includes(word));
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

const countUpTo = (ends: readonly number[], ms: number): number => ends.filter((end) => end <= ms).length;
