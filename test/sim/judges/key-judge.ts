/** Judges the keys that the caller presses: each entry is completed in time and enters the conversation, in order with what is said. */
import type { Order } from '../../support/core/order.ts';
import type { Said, Scene, Story } from '../story.ts';

/** Between which moments the caller began to say what is being said. */
export interface Since {
  readonly earliest: number;
  readonly latest: number;
}

export const never: Since = { earliest: Infinity, latest: Infinity };

const noteOf = (digits: string): string => `[The caller pressed the keys: ${digits}]`;

export class KeyJudge {
  readonly #story: Story;
  #digits = '';
  #pressedAt = 0;
  #completeAt = Infinity;
  /** Entries that were begun while the caller was speaking: they stand behind the words. */
  #behind: Said[] = [];

  constructor(story: Story) {
    this.#story = story;
  }

  facts(scene: Scene, spokeAt: Since): void {
    if (scene.event.type === 'dtmf.pressed') this.#pressed(scene, scene.event.digit, spokeAt);
  }

  complete(scene: Scene, spokeAt: Since): void {
    const isDue = scene.event.type === 'deadline.reached' && scene.now >= this.#completeAt;
    if (isDue && this.#story.pressing) this.#entry(scene, spokeAt);
  }

  /** What was said before them is known, or was nothing. */
  follow({ actions }: Scene): void {
    const { users } = this.#story;
    const asked = actions.find(({ type }) => type === 'llm.start') as
      Extract<Order, { type: 'llm.start' }> | undefined;
    for (const said of this.#behind.splice(0)) {
      const early = users.indexOf(said);
      // Where it stands is only known from where it is found.
      if (early !== -1 && asked?.messages.at(-1)?.text !== said.words.join(' ')) continue;
      if (early !== -1) users.splice(early, 1);
      users.push(said);
    }
  }

  #pressed(scene: Scene, digit: string, spokeAt: Since): void {
    const { now } = scene;
    if (this.#digits === '') this.#pressedAt = now;
    if (digit === '#') {
      this.#digits ||= '#';
      this.#entry(scene, spokeAt);
      return;
    }
    this.#digits += digit;
    this.#story.pressing = true;
    this.#completeAt = now + 3_000;
    this.#story.await('keys', now + 3_000, 'an entry of keys is never completed');
    if (this.#digits.length >= 20) this.#entry(scene, spokeAt);
  }

  #entry(scene: Scene, { earliest, latest }: Since): void {
    const story = this.#story;
    const said = { words: noteOf(this.#digits).split(' '), exact: true, needed: true };
    this.#behind.push(said);
    if (earliest > this.#pressedAt) this.follow(scene);
    else if (latest > this.#pressedAt) story.users.push(said);
    story.notesOwed = true;
    story.done('keys');
    story.pressing = false;
    this.#digits = '';
    this.#completeAt = Infinity;
  }
}
