/** What STT has told of a candidate, as far as it is known by now. */
import type { CallEvent } from '../../worker/core/events.ts';

export class ToldWords {
  /** How often it has said something. */
  texts = 0;
  #finals = '';
  #partial = '';

  take(event: CallEvent): void {
    if (event.type === 'stt.partial') this.#partial = event.text;
    else if (event.type === 'stt.final') {
      this.#finals += ` ${event.text}`;
      this.#partial = '';
    } else return;
    this.texts += 1;
  }

  forget(): void {
    this.texts = 0;
    this.#finals = '';
    this.#partial = '';
  }

  get words(): string[] {
    return `${this.#finals} ${this.#partial}`.split(/\s+/).filter((word) => word !== '');
  }

  /** To compare one moment with another by. */
  get bare(): string {
    return this.words
      .join(' ')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, ' ')
      .trim();
  }
}
