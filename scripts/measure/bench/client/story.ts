/** The story of a caller holds the last events of the call, for runs in which something went wrong. Pure: times are arguments, in milliseconds. */

interface Moment {
  readonly at: number;
  readonly what: string;
}

/** A longer one reaches beyond the turn before. */
const mostMoments = 16;

export class Story {
  #moments: readonly Moment[] = [];

  note(at: number, what: string): void {
    this.#moments = [...this.#moments.slice(1 - mostMoments), { at, what }];
  }

  /** In words, each moment with the time from it to `now`. */
  told(now: number): string {
    return this.#moments
      .map(({ at, what }) => `${what} (${((now - at) / 1000).toFixed(1)} s ago)`)
      .join(', ');
  }
}
