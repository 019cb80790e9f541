/**
 * Judges the context that the LLM gets: exactly the texts of the caller, and of every response what was heard of it,
 * in whole words. What was heard, the simulated client says.
 */
import type { ContextMessage } from '../../worker/core/actions.ts';
import type { Remembered, Story, StoryResponse } from './story.ts';

/** What one frame and the rounding of times may hide. */
const grainMs = 45;

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
    const trusted = this.#story.echoDelayMs > 0 && kind === 'echo';
    // Over text whose pieces were not reported one by one, the rate of each piece is a guess.
    const blurredMs = plan.tts.reportsPieces && plan.faults.lost === 0 ? 0 : sentMs * 0.05;
    const guessedMs = Math.max(0, sentMs - response.reported.ms) * 0.5 + blurredMs;
    // Two holds within the delay of the client: the core knows of the newer one alone.
    const delayMs = client.delayMs + plan.client.upMs;
    const heldTwice = response.resumedAt !== undefined && now - response.resumedAt < delayMs;
    const blindMs = guessedMs + grainMs + (heldTwice ? delayMs : 0);
    const leastMs = client.heardMs(response.context, now - plan.client.upMs) - blindMs;
    const ends = tts.wordEnds(response.context, response.said);
    const echoed = wordsOf(response.said.slice(0, response.echoedChars)).length;
    const least = kind === 'bad' ? 0 : countUpTo(ends, leastMs) - (guessedMs > 0 ? 2 : 1);
    this.#remember(response, () => {
      const mostMs = client.heardMs(response.context, Infinity) + guessedMs + grainMs;
      const most = countUpTo(ends, mostMs + (trusted ? 0 : client.delayMs)) + 1;
      return { least: Math.max(least, echoed), most: Math.max(most, echoed) };
    });
  }

  /** TTS died in the response; `sentMs` of it were played, the rest is a response of its own. */
  broken(response: StoryResponse, sentMs: number): void {
    const ends = this.#story.witnesses.tts.wordEnds(response.context, response.said);
    const guessedMs = Math.max(0, sentMs - response.reported.ms) * 0.5 + grainMs;
    this.#remember(response, () => ({
      least: countUpTo(ends, sentMs - guessedMs) - 2,
      most: countUpTo(ends, sentMs + guessedMs) + 2,
    }));
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

  /** The context of a request, against everything that was said so far. */
  asked(now: number, messages: readonly ContextMessage[]): void {
    const story = this.#story;
    story.demand(
      now,
      messages[0]?.role === 'system' && messages[0].text === story.settings.prompt,
      'no prompt',
    );
    const users = messages.filter(({ role }) => role === 'user').map(({ text }) => text);
    const asExpected =
      users.length === story.users.length && users.every((text, index) => text === story.users[index]);
    if (!asExpected) {
      story.fail(
        now,
        'the context holds other texts of the caller',
        `${users.join(' | ')} / ${story.users.join(' | ')}`,
      );
      return;
    }
    let count = 0;
    const heard: { words: readonly string[]; users: number }[] = [];
    for (const { role, text } of messages.slice(1)) {
      if (role === 'user') count += 1;
      else heard.push({ words: wordsOf(text), users: count });
    }
    const problem = mismatch(heard, story.remembered);
    if (problem !== undefined) story.fail(now, 'the context does not hold what was heard', problem);
  }
}

/** Matches messages with responses in order; a response of which nothing need be known may have none. */
function mismatch(
  heard: readonly { words: readonly string[]; users: number }[],
  remembered: readonly Remembered[],
): string | undefined {
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
  return match(0, 0, 0) ? undefined : furthest;
}

/** The rest of a response that broke off starts with the first word that is not remembered of it. */
const goesOn = ({ continues, words }: Remembered, before: number): boolean =>
  words.length === 0 || continues?.words[before] === undefined || continues.words[before] === words[0];

const fits = (
  text: { words: readonly string[]; users: number },
  memory: Remembered,
  { least, most }: { least: number; most: number },
): boolean =>
  text.words.length >= least &&
  text.words.length <= most &&
  text.users >= memory.usersBefore &&
  text.users <= memory.usersAfter &&
  text.words.every((word, index) => word === memory.words[index]);

/** Words as they are written, whatever TTS was told to say. */
export const wordsOf = (said: string): string[] =>
  said
    .replaceAll('sequel', 'SQL')
    .split(/\s+/)
    .filter((word) => word !== '');

const countUpTo = (ends: readonly number[], ms: number): number => ends.filter((end) => end <= ms).length;
