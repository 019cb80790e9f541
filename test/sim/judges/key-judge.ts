/** Judges the keys that the caller presses: each entry is completed in time and enters the conversation. */
import type { Scene, Story } from '../story.ts';

export class KeyJudge {
  readonly #story: Story;
  #digits = '';
  #completeAt = Infinity;

  constructor(story: Story) {
    this.#story = story;
  }

  facts({ event, now }: Scene): void {
    if (event.type === 'dtmf.pressed') this.#pressed(event.digit, now);
  }

  complete({ event, now }: Scene): void {
    if (event.type === 'deadline.reached' && this.#digits !== '' && now >= this.#completeAt) this.#entry();
  }

  /** The entry that is completed now is in the request already. */
  isAsked({ actions }: Scene): boolean {
    const asked = actions.find((action) => action.type === 'llm.start');
    return asked?.messages.at(-1)?.text === `[The caller pressed the keys: ${this.#digits}]`;
  }

  #pressed(digit: string, now: number): void {
    if (digit === '#') {
      this.#digits ||= '#';
      this.#entry();
      return;
    }
    this.#digits += digit;
    this.#completeAt = now + 3_000;
    this.#story.await('keys', now + 3_000, 'an entry of keys is never completed');
    if (this.#digits.length >= 20) this.#entry();
  }

  #entry(): void {
    const story = this.#story;
    const words = `[The caller pressed the keys: ${this.#digits}]`.split(' ');
    story.users.push({ words, exact: true, needed: true });
    story.notesOwed = true;
    story.done('keys');
    this.#digits = '';
    this.#completeAt = Infinity;
  }
}
