/**
 * How many calls have begun (docs/reference/server-settings.md, `SVC_MAX_SESSIONS`), and how many more the workers may let begin. Workers count their
 * own in shared memory; a call whose worker is gone, and one of the supervisor before this one, are counted elsewhere.
 */
import type { Mailboxes } from '../../shared/protocol/mailbox.ts';

export interface SessionCountOptions {
  /** SVC_MAX_SESSIONS. */
  readonly most: number;
  /** Calls that no worker of this supervisor counts. */
  readonly elsewhere: () => number;
}

export class SessionCount {
  readonly #boxes: Mailboxes;
  readonly #options: SessionCountOptions;

  constructor(boxes: Mailboxes, options: SessionCountOptions) {
    this.#boxes = boxes;
    this.#options = options;
  }

  get now(): number {
    return this.#boxes.sessions + this.#options.elsewhere();
  }

  /** Tells the workers how many there may be; to be called when calls elsewhere have become more or fewer. */
  share(): void {
    this.#boxes.setMostSessions(this.#options.most - this.#options.elsewhere());
  }

  workerGone(worker: number): void {
    this.#boxes.forgetSessions(worker);
    this.share();
  }
}
