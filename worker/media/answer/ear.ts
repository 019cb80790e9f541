/** Listens to who has answered: audio in, frame by frame to VAD and to the look for tones, and what is known by them out. */
import { ENGINE_RATE, type Millis } from '../../../shared/base/units.ts';
import type { Mailboxes } from '../../../shared/protocol/mailbox.ts';
import { resultRing, vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';
import { InboundAudio } from '../in/inbound.ts';
import { VadClient } from '../vad/vad-client.ts';
import { hearAnswer, newAnswer, type Answer, type AnswerEvent } from './answer.ts';
import { ToneMeter } from './tone.ts';

export interface AnswerEarOptions {
  readonly boxes: Mailboxes;
  /** The call's mailbox; its next owner begins anew. */
  readonly slot: number;
  readonly machineMs: () => Millis;
  readonly wake?: ((word: Int32Array) => void) | undefined;
  readonly sampleRate: number;
  readonly encoding: 'pcm16' | 'mulaw';
  /** Probability from which on a frame counts as voice. */
  readonly threshold: number;
  /** It is known to be a machine, and its beep is waited for. */
  readonly isMachine: boolean;
  readonly told: (event: AnswerEvent) => void;
}

export class AnswerEar {
  readonly answer: Answer;
  readonly #inbound: InboundAudio;
  readonly #vad: VadClient;
  readonly #meter = new ToneMeter(ENGINE_RATE);
  readonly #frame = new Int16Array(vadFrameSamples);
  #filled = 0;
  /** Of the frames that VAD has yet to judge. */
  readonly #tones: (number | undefined)[] = [];

  constructor(options: AnswerEarOptions) {
    const { boxes, slot, machineMs, wake, sampleRate, encoding, threshold, isMachine, told } = options;
    this.answer = newAnswer({ isMachine });
    this.#vad = new VadClient({
      boxes,
      slot,
      machineMs,
      wake,
      judged: (probability, ms) => {
        const frame = { ms, isVoice: probability >= threshold, toneHz: this.#tones.shift() };
        for (const event of hearAnswer(this.answer, frame)) told(event);
      },
    });
    this.#inbound = new InboundAudio({
      sampleRate,
      encoding,
      vad: this.#vad,
      toStt: () => undefined,
      took: (pcm) => this.#look(pcm),
    });
  }

  /** Takes audio in the call's encoding; audio faster than twice real time is not listened to. */
  audio(bytes: Uint8Array, now: Millis): void {
    this.#inbound.push(bytes, now);
  }

  /** Looks for results of VAD. */
  collect(): void {
    this.#vad.collect();
  }

  #look(pcm: Int16Array): void {
    for (let at = 0; at < pcm.length;) {
      const count = Math.min(pcm.length - at, vadFrameSamples - this.#filled);
      this.#frame.set(pcm.subarray(at, at + count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled < vadFrameSamples) continue;
      this.#filled = 0;
      this.#tones.push(this.#meter.measure(this.#frame));
      // VAD leaves out what nobody has looked at for so long.
      if (this.#tones.length > resultRing) this.#tones.shift();
    }
  }
}
