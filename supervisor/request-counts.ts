/** What calls asked of their providers, read from the counters that workers keep in shared memory. */
import { countedStages, type CountedStage, type Mailboxes } from '../shared/protocol/mailbox.ts';

/** Counters are 32 bits wide and wrap. */
const wrap = 0x1_0000_0000;

export class RequestCounts {
  readonly #boxes: Mailboxes;
  readonly #seen = new Map<string, number>();

  constructor(boxes: Mailboxes) {
    this.#boxes = boxes;
  }

  /** Requests of each stage since the last look. */
  take(): Readonly<Record<CountedStage, number>> {
    const taken: Record<CountedStage, number> = { stt: 0, llm: 0, tts: 0 };
    for (const stage of countedStages) {
      for (let worker = 0; worker < this.#boxes.layout.workers; worker += 1) {
        const key = `${worker} ${stage}`;
        const count = this.#boxes.requests(worker, stage);
        taken[stage] += (count - (this.#seen.get(key) ?? 0) + wrap) % wrap;
        this.#seen.set(key, count);
      }
    }
    return taken;
  }
}
