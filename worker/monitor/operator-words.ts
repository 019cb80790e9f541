/**
 * The words of an operator who speaks to the caller, by a session of the call's STT beside the caller's own. They are kept for the agent and
 * for the record, and nothing waits for them: an STT that fails leaves them unknown.
 */
import { operatorRate } from '../../shared/monitor/messages.ts';
import type { SttEvent, SttSession } from '../stages/stage.ts';

/** Mean of the samples' sizes in silence, noise of a microphone included. */
const quietMean = 250;
/** Silence behind speech after which STT is asked for the rest, in samples. */
const pauseSamples = (operatorRate * 800) / 1000;

export interface OperatorWordsOptions {
  readonly open: (sink: (event: SttEvent) => void) => SttSession;
  readonly said: (text: string) => void;
}

export class OperatorWords {
  readonly #said: (text: string) => void;
  #session: SttSession | undefined;
  #text: string[] = [];
  /** What STT takes the newest words for, as long as they are not final. */
  #likely = '';
  #quiet = 0;
  #hasVoice = false;
  /** What was said is not known from here on. */
  isLost = false;

  constructor({ open, said }: OperatorWordsOptions) {
    this.#said = said;
    try {
      this.#session = open((event) => this.#heard(event));
    } catch {
      this.isLost = true;
    }
  }

  /** Takes the operator's voice, PCM16 at {@link operatorRate}. */
  audio(pcm: Int16Array): void {
    if (this.#session === undefined) return;
    this.#session.audio(pcm);
    if (pcm.reduce((sum, sample) => sum + Math.abs(sample), 0) >= quietMean * pcm.length) {
      this.#hasVoice = true;
      this.#quiet = 0;
      return;
    }
    this.#quiet += pcm.length;
    if (this.#hasVoice && this.#quiet >= pauseSamples) this.#finalize();
  }

  /** No more is said: what STT has by now is all, final or not. */
  close(): void {
    this.#text.push(this.#likely);
    this.#likely = '';
    this.#tell();
    this.#session?.close();
    this.#session = undefined;
  }

  #finalize(): void {
    this.#hasVoice = false;
    this.#session?.finalize();
  }

  #heard(event: SttEvent): void {
    if (event.type === 'error') {
      this.isLost = true;
      this.close();
      return;
    }
    if (event.type === 'transcript') {
      if (event.isFinal) this.#text.push(event.text.trim());
      this.#likely = event.isFinal ? '' : event.text.trim();
    }
    if (event.type === 'finalized' || (event.type === 'transcript' && event.speechFinal)) this.#tell();
  }

  #tell(): void {
    const text = this.#text
      .splice(0)
      .filter((part) => part !== '')
      .join(' ');
    if (text !== '') this.#said(text);
  }
}
