/**
 * The agent's voice as a stream of the browser's: played, and listened to as the own playout is, so that a call shows both alike.
 *
 * Invariant: after `close` nothing sounds and nothing is told.
 */
import { FRAME_MS } from './capture-framer.ts';
import { Sounding } from './sounding.ts';
import type { CaptureReport, PlayoutReport } from './worklet-messages.ts';

export interface StreamVoiceOptions {
  readonly context: AudioContext;
  readonly output: AudioNode;
  readonly reported: (report: PlayoutReport) => void;
}

export class StreamVoice {
  readonly #source: MediaStreamAudioSourceNode;
  readonly #ear: AudioWorkletNode;
  readonly #element = new Audio();
  readonly #sounding = new Sounding();

  constructor(stream: MediaStream, { context, output, reported }: StreamVoiceOptions) {
    // Chromium lets a stream from the network flow only while an element plays it, too; this one is not heard.
    this.#element.muted = true;
    this.#element.srcObject = stream;
    this.#element.play().catch((error: unknown) => console.debug('the stream waits for a gesture', error));
    this.#source = context.createMediaStreamSource(stream);
    this.#ear = new AudioWorkletNode(context, 'capture', { channelCount: 1, channelCountMode: 'explicit' });
    const frameSamples = (context.sampleRate * FRAME_MS) / 1000;
    this.#ear.port.onmessage = ({ data }: MessageEvent<CaptureReport>) => {
      const change = this.#sounding.push(data, frameSamples);
      if (change !== undefined) reported(change);
      reported({ type: 'level', rms: data.rms, bufferedMs: 0, prebufferMs: 0, lateFrames: 0 });
    };
    this.#source.connect(output);
    // The ear plays silence; browsers run only what leads to the output.
    this.#source.connect(this.#ear).connect(context.destination);
  }

  /** The service has cut what it was saying. */
  cut(): void {
    this.#sounding.cut();
  }

  close(): void {
    this.#ear.port.onmessage = null;
    this.#source.disconnect();
    this.#ear.disconnect();
    this.#element.srcObject = null;
  }
}
