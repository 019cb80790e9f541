/** Judges silence: while the agent owes speech, frames go out, or have gone out within the longest silence allowed. */
import type { Scene, Story } from '../story.ts';

/** Ticks of the world between a due deadline, the order that follows, and the frame. */
const slackMs = 120;

export class AirJudge {
  readonly #story: Story;
  #silentSince: number | undefined;
  /** Until when the tools that run want nothing said for the silence. */
  #quietUntil = -Infinity;
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
    if (now < this.#quietUntil) this.#silentSince = now;
    if (now - this.#silentSince > story.settings.limits.deadAirMs + slackMs)
      story.fail(now, 'dead air', `${now - this.#silentSince} ms in ${story.mouth}`);
  }

  /** After the orders of a step. */
  after(scene: Scene): void {
    const { now, event } = scene;
    const story = this.#story;
    const { response } = story;
    this.#tools(scene);
    if (response === undefined) {
      // A caller who presses keys has not finished.
      const owes = story.mouth === 'deciding' && !story.pressing;
      this.#silentSince = owes ? (this.#silentSince ?? now) : undefined;
      this.#context = 0;
      this.#quietUntil = -Infinity;
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

  /** Tools that want no filler, or a late one, keep the silence; the soonest of a round decides. */
  #tools(scene: Scene): void {
    const { now, actions } = scene;
    const { settings } = this.#story;
    if (scene.has('tools.answered')) this.#quietUntil = -Infinity;
    for (const action of actions) {
      if (action.type !== 'tool.run' || action.attempt > 1) continue;
      const { fillerAfterMs = 0, timeoutMs = 0 } = settings.tools.ruleOf(action.call.name) ?? {};
      const wantsMs = fillerAfterMs > 0 ? fillerAfterMs : timeoutMs;
      const until = wantsMs > settings.limits.fillerAfterMs ? now + wantsMs : now;
      this.#quietUntil = this.#quietUntil > -Infinity ? Math.min(this.#quietUntil, until) : until;
    }
  }
}
