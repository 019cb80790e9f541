/**
 * Runs on the audio thread: hands the microphone's samples to the page in 20 ms frames of PCM16.
 *
 * It must not decide anything; cutting and measuring are in capture-framer.ts.
 */
import { CaptureFramer } from './capture-framer.ts';
import type { CaptureReport } from './worklet-messages.ts';

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

registerProcessor('capture', CaptureProcessor);
