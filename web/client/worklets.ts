/**
 * Runs on the audio thread: hands the microphone's samples to the page in frames of 20 ms, and plays the agent's frames from the
 * playout buffer.
 *
 * It must not decide anything: cutting and measuring are in capture-framer.ts; order, marks and the prebuffer in playout-buffer.ts.
 */
import { CaptureFramer, levelOf } from './audio/capture-framer.ts';
import { PlayoutBuffer } from './audio/playout-buffer.ts';
import type { CaptureReport, PlayoutOrder, PlayoutReport } from './audio/worklet-messages.ts';

const LEVEL_EVERY_MS = 50;

class CaptureProcessor extends AudioWorkletProcessor {
  readonly #framer = new CaptureFramer(sampleRate);

  override process(inputs: Float32Array[][]): boolean {
    const block = inputs[0]?.[0];
    if (block === undefined) return true;
    for (const frame of this.#framer.push(block, currentFrame)) {
      const report: CaptureReport = frame;
      this.port.postMessage(report, [frame.pcm.buffer]);
    }
    return true;
  }
}

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

registerProcessor('capture', CaptureProcessor);
registerProcessor('playout', PlayoutProcessor);
