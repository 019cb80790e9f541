/**
 * The caller's turn on its way to the service, as an activity. An activity stops whatever the service says, and cannot be taken back; so it begins
 * when no answer is waited for any more, and ends when an answer is asked for. Until it begins its sound waits here. Pure.
 *
 * What was heard of an abandoned turn stays in the activity, which goes on with the next one. A turn that begins with the same sound again is
 * not told twice.
 */
import { activityEnd, activityStart, audioMessage } from './messages.ts';

/** With less of a voice the model may stay silent; filled up with silence. Samples of 16 kHz. */
const leastSamples = 1_600;
/** Longer turns lose their beginning where they have to wait. */
const mostWaiting = 600;
const mostPrints = 6_000;

export type SendTurn = (message: string, isSound: boolean) => void;

export class CallerTurn {
  readonly #send: SendTurn;
  /** `waits`: an answer is not over. */
  #phase: 'none' | 'waits' | 'flows' = 'none';
  #isEnded = false;
  #isOpen = false;
  #waiting: Int16Array[] = [];
  /** Of the sound that the open activity has. */
  #samples = 0;
  #prints: number[] = [];
  /** How far a repetition of it has come; absent where none is heard. */
  #repeated: number | undefined;

  constructor(send: SendTurn) {
    this.#send = send;
  }

  /** The service takes what it hears for the caller's. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get waits(): boolean {
    return this.#phase === 'waits';
  }

  /** The turn is complete, and is to be answered. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  begin(): void {
    this.#phase = this.#isOpen ? 'flows' : 'waits';
    this.#isEnded = false;
    this.#waiting = [];
    this.#repeated = 0;
  }

  /** @param pcm of at most a tenth of a second; the message that is to be sent at once, where one is. */
  audio(pcm: Int16Array): string | undefined {
    if (this.#phase === 'none' || this.#isEnded) return undefined;
    if (this.#phase === 'flows') return this.#message(pcm);
    this.#waiting.push(pcm.slice());
    if (this.#waiting.length > mostWaiting) this.#waiting.shift();
    return undefined;
  }

  /** False where no turn was begun. */
  end(): boolean {
    this.#isEnded = this.#phase !== 'none';
    return this.#isEnded;
  }

  abandon(): void {
    this.#phase = 'none';
    this.#isEnded = false;
    this.#waiting = [];
  }

  /** Nothing is waited for: the service may hear the caller. */
  flow(): void {
    this.open();
    if (this.#phase === 'waits') this.#phase = 'flows';
    for (const pcm of this.#waiting.splice(0)) {
      const message = this.#message(pcm);
      if (message !== undefined) this.#send(message, true);
    }
  }

  open(): void {
    if (this.#isOpen) return;
    this.#send(activityStart, false);
    this.#isOpen = true;
    this.#samples = 0;
    this.#prints = [];
    this.#repeated = undefined;
  }

  /** Has the model answer. A turn that goes on goes on when it has. */
  close(): void {
    const missing = leastSamples - this.#samples;
    if (this.#isEnded && missing > 0) this.#send(audioMessage(new Int16Array(missing)), true);
    this.#send(activityEnd, false);
    this.#isOpen = false;
    this.#phase = this.#phase === 'flows' && !this.#isEnded ? 'waits' : 'none';
    this.#isEnded = false;
  }

  #message(pcm: Int16Array): string | undefined {
    const print = printOf(pcm);
    if (this.#repeated !== undefined && this.#prints[this.#repeated] === print) {
      this.#repeated += 1;
      return undefined;
    }
    this.#repeated = undefined;
    if (this.#prints.length < mostPrints) this.#prints.push(print);
    this.#samples += pcm.length;
    return audioMessage(pcm);
  }
}

/** Sounds are told apart by a few samples; two that are silent may be taken for one. */
function printOf(pcm: Int16Array): number {
  const step = Math.max(1, pcm.length >> 3);
  let print = pcm.length;
  for (let at = 0; at < pcm.length; at += step) print = (Math.imul(print, 31) + (pcm[at] ?? 0)) | 0;
  return print;
}
