/** Judges silence: while the bot owes speech, frames go out, or have gone out within the longest silence allowed. */
import type { Scene, Story } from './story.ts';

/** Ticks of the world between a due deadline, the order that follows, and the frame. */
const slackMs = 120;

export class AirJudge {
  readonly #story: Story;
  #silentSince: number | undefined;
  #context = 0;
  /** An agent without fillers has apologised for the silence of the response that runs. */
  #isExcused = false;

  constructor(story: Story) {
    this.#story = story;
  }

  frame(now: number): void {
    if (this.#silentSince !== undefined) this.#silentSince = now;
  }

  tick(now: number): void {
    const story = this.#story;
    if (this.#silentSince === undefined || story.over) return;
    const { deadAirMs, llmSilentMs } = story.settings.limits;
    const longestMs = deadAirMs + (this.#isExcused ? llmSilentMs : 0);
    if (now - this.#silentSince > longestMs + slackMs)
      story.fail(now, 'dead air', `${now - this.#silentSince} ms in ${story.mouth}`);
  }

  /** How often the response of an agent without fillers has apologised; after that it waits in silence for what is late. */
  #apologies(): number {
    const { response, settings } = this.#story;
    const { fillers, apology } = settings;
    return fillers.length > 0 ? 0 : (response?.said.split(apology).length ?? 1) - 1;
  }

  /** After the orders of a step. */
  after({ now, event }: Scene): void {
    const story = this.#story;
    const { response } = story;
    if (response === undefined) {
      this.#silentSince = story.mouth === 'deciding' ? (this.#silentSince ?? now) : undefined;
      this.#context = 0;
      this.#isExcused = false;
      return;
    }
    this.#isExcused ||= this.#apologies() > 0;
    // An LLM that broke off is apologised for at the end of what it wrote, whatever was said for a silence before.
    const most = story.faults.llm > 0 ? 2 : 1;
    story.demand(now, this.#apologies() <= most, 'the apology is said again for the same silence');
    const drained = response.drainedAt !== undefined && !response.broken;
    if (story.held || drained) {
      this.#silentSince = undefined;
      return;
    }
    const answers = story.decided?.needed === true || !response.said.startsWith('line');
    if (this.#context === 0) this.#silentSince = answers ? (story.decided?.since ?? now) : now;
    else if (
      event.type === 'playout.drained' ||
      event.type === 'call.resumed' ||
      event.type === 'dtmf.pressed'
    )
      this.#silentSince = now;
    this.#silentSince ??= now;
    this.#context = response.context;
  }
}
