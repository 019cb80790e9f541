/**
 * Runs on the audio thread: plays the agent's frames from the playout buffer and reports what has left it.
 *
 * It must not decide anything; order, marks and the prebuffer are in playout-buffer.ts.
 */
import { levelOf } from './capture-framer.ts';
import { PlayoutBuffer } from './playout-buffer.ts';
import type { PlayoutOrder, PlayoutReport } from './worklet-messages.ts';

const LEVEL_EVERY_MS = 50;

class PlayoutProcessor extends AudioWorkletProcessor {
  readonly #buffer = new PlayoutBuffer(sampleRate);
  readonly #levelEvery = (sampleRate * LEVEL_EVERY_MS) / 1000;
  #loudest = 0;
  #sinceLevel = 0;

  constructor() {
    super();
    this.port.onmessage = (event: MessageEvent<PlayoutOrder>) => this.#obey(event.data);
  }

  override process(_inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
    const [first, ...others] = outputs[0] ?? [];
    if (first === undefined) return true;
    for (const event of this.#buffer.read(first, currentFrame)) this.#report(event);
    for (const channel of others) channel.set(first);
    this.#noteLevel(first);
    return true;
  }

  #obey(order: PlayoutOrder): void {
    switch (order.type) {
      case 'audio':
        this.#buffer.push(order.samples, currentFrame);
        return;
      case 'mark':
        this.#buffer.mark(order.id);
        return;
      case 'clear':
        this.#buffer.clear();
        return;
    }
  }

  #noteLevel(played: Float32Array): void {
    this.#loudest = Math.max(this.#loudest, levelOf(played));
    this.#sinceLevel += played.length;
    if (this.#sinceLevel < this.#levelEvery) return;
    const { bufferedMs, prebufferMs, lateFrames } = this.#buffer;
    this.#report({ type: 'level', rms: this.#loudest, bufferedMs, prebufferMs, lateFrames });
    this.#loudest = 0;
    this.#sinceLevel = 0;
  }

  #report(report: PlayoutReport): void {
    this.port.postMessage(report);
  }
}

registerProcessor('playout', PlayoutProcessor);
