/** Judges the lines of others: in order, none lost, none too many, none while somebody speaks, none that waits for nothing. */
import type { Scene, Story } from '../story.ts';

const mostWaiting = 8;

interface Line {
  readonly text: string;
  readonly interrupt: boolean;
  readonly interruptible: boolean;
}

const isRefused = ({ actions }: Scene): boolean =>
  actions.some((action) => action.type === 'command.answered' && action.outcome.kind === 'refused');

export class LineJudge {
  readonly #story: Story;
  #waiting: Line[] = [];
  /** The call may be about to end: new lines may be refused from then on. */
  #off = false;
  readonly #spoken = new Set<string>();
  /** Everything that was ever asked for. */
  readonly #requested = new Map<string, Line>();

  constructor(story: Story) {
    this.#story = story;
  }

  facts(scene: Scene): void {
    const { event, now } = scene;
    const story = this.#story;
    if (event.type !== 'command.given' || story.openedAt === undefined) return;
    const { command } = event;
    if (command.type !== 'say') return;
    this.#requested.set(command.text, command);
    this.#off ||= story.ending || story.parting === 'heard';
    // A voice that was given up says none of them.
    if (story.tts.givenUp || (this.#off && isRefused(scene))) return;
    if (command.interrupt) this.#dropped(scene);
    const full = this.#waiting.length >= mostWaiting;
    story.demand(now, full === isRefused(scene), 'the queue of lines has another bound');
    if (!full) this.#waiting.push(command);
  }

  /** An interrupting line takes the place of those that wait, and nobody else does. */
  #dropped({ now, actions }: Scene): void {
    const dropped = actions.filter(
      (action) => action.type === 'command.answered' && action.outcome.kind === 'dropped',
    );
    this.#story.demand(now, dropped.length === this.#waiting.length, 'lines that are replaced are not told');
    this.#waiting = [];
  }

  /** The line that waits first, when this is it. */
  take(text: string, now: number): Line | undefined {
    if (!text.startsWith('line') || this.was(text)) return undefined;
    const line = this.#waiting[0];
    if (line?.text === text) {
      this.#waiting.shift();
      this.#spoken.add(text);
      return line;
    }
    this.#story.demand(now, this.#off || this.#story.ending, 'a line is spoken out of its order');
    this.#spoken.add(text);
    return this.#requested.get(text);
  }

  /** Whether the text is part of a line that was spoken already. */
  was(text: string): boolean {
    return [...this.#spoken].some((line) => line.includes(text));
  }

  /** A line may cut what runs. */
  get cuts(): boolean {
    return this.#waiting[0]?.interrupt === true || this.#off;
  }

  /** Lines stand between a farewell and the end of the call. */
  get waits(): boolean {
    return this.#waiting.length > 0;
  }

  after({ now }: Scene): void {
    const story = this.#story;
    this.#off ||= story.ending;
    if (story.tts.givenUp) this.#waiting = [];
    if (this.#waiting.length === 0 || story.mouth !== 'none' || story.voice || story.over) return;
    if (story.response === undefined) story.fail(now, 'a line waits for nothing');
    else if (this.#waiting[0]?.interrupt === true && !story.response.hangUp)
      story.fail(now, 'an interrupting line waits');
  }
}
