/** Looks at the load of workers and inference at regular times, and says whether calls would suffer from one call more. */
import { BacklogWatch, LatenessWatch } from '../admission/admission.ts';
import { worstLatenessMs, type CallMemory } from './call-memory.ts';

export class LoadWatch {
  readonly #memory: CallMemory;
  readonly #backlog = new BacklogWatch();
  readonly #lateness = new LatenessWatch();

  constructor(memory: CallMemory) {
    this.#memory = memory;
  }

  look(nowMs: number): void {
    const { boxes } = this.#memory;
    this.#backlog.look(this.#memory.inferenceUnread(), boxes.oldestTurnAskMs(nowMs));
    this.#lateness.look(worstLatenessMs(boxes, nowMs));
  }

  get inferenceBehind(): boolean {
    return this.#backlog.behind;
  }

  get workersLate(): boolean {
    return this.#lateness.late;
  }
}
