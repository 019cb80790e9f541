/**
 * Which STTs of this process have told words while a caller still spoke, in some call of the agent. The silence of such a one means something
 * from the first second of a call on: a caller who laughs has no words.
 */
import type { SttStage } from '../stages/stage.ts';

export class StreamingStts {
  readonly #known = new WeakSet<SttStage>();

  note(stt: SttStage): void {
    this.#known.add(stt);
  }

  has(stt: SttStage): boolean {
    return this.#known.has(stt);
  }
}

/** Of all calls of the process: a stage belongs to one agent, and is gone with it. */
export const streamingStts = new StreamingStts();
