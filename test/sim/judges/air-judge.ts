/** Judges silence: while the bot owes speech, frames go out, or have gone out within the longest silence allowed. */
import type { Scene, Story } from '../story.ts';

/** Ticks of the world between a due deadline, the order that follows, and the frame. */
const slackMs = 120;

export class AirJudge {
  readonly #story: Story;
  #silentSince: number | undefined;
  #context = 0;

  constructor(story: Story) {
    this.#story = story;
  }

  frame(now: number): void {
    if (this.#silentSince !== undefined) this.#silentSince = now;
  }

  tick(now: number): void {
    const story = this.#story;
    if (this.#silentSince === undefined || story.over) return;
    if (now - this.#silentSince > story.settings.limits.deadAirMs + slackMs)
      story.fail(now, 'dead air', `${now - this.#silentSince} ms in ${story.mouth}`);
  }

  /** After the orders of a step. */
  after({ now, event }: Scene): void {
    const story = this.#story;
    const { response } = story;
    if (response === undefined) {
      // Who presses keys has not finished.
      const owes = story.mouth === 'deciding' && !story.pressing;
      this.#silentSince = owes ? (this.#silentSince ?? now) : undefined;
      this.#context = 0;
      return;
    }
    const drained = response.drainedAt !== undefined && !response.broken;
    if (story.held || drained) {
      this.#silentSince = undefined;
      return;
    }
    const answers = story.decided?.needed === true || !response.said.startsWith('line');
    if (this.#context === 0) this.#silentSince = answers ? (story.decided?.since ?? now) : now;
    else if (event.type === 'call.resumed' || event.type === 'dtmf.pressed') this.#silentSince = now;
    this.#silentSince ??= now;
    this.#context = response.context;
  }
}
