/** Virtual time of one simulated world: what is planned happens in order of its time, and nothing else moves the time. */

interface Planned {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class Timeline {
  now = 0;
  #order = 0;
  /** Latest first, so that the next one is popped. */
  readonly #planned: Planned[] = [];

  after(delayMs: number, run: () => void): void {
    const planned = { at: this.now + Math.max(0, delayMs), order: this.#order++, run };
    let index = this.#planned.length;
    while (index > 0 && this.#planned[index - 1]!.at <= planned.at) index -= 1;
    this.#planned.splice(index, 0, planned);
  }

  /** Runs everything up to and including `untilMs`. */
  run(untilMs: number): void {
    for (
      let next = this.#planned.at(-1);
      next !== undefined && next.at <= untilMs;
      next = this.#planned.at(-1)
    ) {
      this.#planned.pop();
      this.now = next.at;
      next.run();
    }
    this.now = untilMs;
  }
}
