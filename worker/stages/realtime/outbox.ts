/**
 * What waits for a session to be ready or for its socket to take more. Sound is bounded by time, and the newest is kept; everything else is
 * kept in order, and too much of it is more than a session recovers from. Pure.
 */
interface Waiting {
  readonly message: string;
  readonly isSound: boolean;
}

/** Fifteen seconds of sound, and a long history twice. */
const mostSounds = 150;
const mostCharacters = 2_000_000;

export class Outbox {
  #waiting: Waiting[] = [];
  #sounds = 0;
  #characters = 0;

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** False when too much waits. */
  push(waiting: Waiting): boolean {
    this.#waiting.push(waiting);
    if (!waiting.isSound) {
      this.#characters += waiting.message.length;
      return this.#characters <= mostCharacters;
    }
    this.#sounds += 1;
    if (this.#sounds > mostSounds) {
      this.#waiting.splice(
        this.#waiting.findIndex(({ isSound }) => isSound),
        1,
      );
      this.#sounds -= 1;
    }
    return true;
  }

  shift(): string | undefined {
    const first = this.#waiting.shift();
    if (first?.isSound === true) this.#sounds -= 1;
    else this.#characters -= first?.message.length ?? 0;
    return first?.message;
  }
}
