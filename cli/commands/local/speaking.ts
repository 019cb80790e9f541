/**
 * The voice as its server sees it: sentences wait in a bounded line for one engine process, which takes one at a time. A
 * request has at most one sentence in the line, so that a long text does not keep short ones waiting.
 */
import type { EngineProcess } from './engine-process.ts';
import type { FromVoice, SpeechJob, ToVoice } from './messages.ts';

export class VoiceBusy extends Error {
  constructor() {
    super('too many texts are waiting');
  }
}

/** The engine is not there, or went in the middle, or cannot speak this text. */
export class VoiceFailed extends Error {
  constructor() {
    super('the voice failed');
  }
}

export interface Speaking {
  /** Mono at 24 kHz. Rejects with {@link VoiceBusy} or {@link VoiceFailed}, or with the signal's reason. */
  speak(speech: SpeechJob, signal: AbortSignal): Promise<Int16Array>;
}

interface Waiting {
  readonly speech: SpeechJob;
  readonly resolve: (pcm: Int16Array) => void;
  readonly reject: (error: Error) => void;
}

type Engine = Pick<EngineProcess<ToVoice, FromVoice>, 'send' | 'isReady'>;

export class EngineSpeaking implements Speaking {
  readonly #engine: () => Engine;
  readonly #mostWaiting: number;
  readonly #line: Waiting[] = [];
  #running: { job: number; waiting: Waiting } | undefined;
  #last = 0;

  constructor(engine: () => Engine, options: { readonly mostWaiting: number }) {
    this.#engine = engine;
    this.#mostWaiting = options.mostWaiting;
  }

  get waiting(): number {
    return this.#line.length + (this.#running === undefined ? 0 : 1);
  }

  speak(speech: SpeechJob, signal: AbortSignal): Promise<Int16Array> {
    if (signal.aborted) return Promise.reject(new VoiceFailed());
    if (!this.#engine().isReady) return Promise.reject(new VoiceFailed());
    if (this.#line.length >= this.#mostWaiting) return Promise.reject(new VoiceBusy());
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        const at = this.#line.indexOf(waiting);
        if (at >= 0) this.#line.splice(at, 1);
        reject(new VoiceFailed());
      };
      const waiting: Waiting = {
        speech,
        resolve: (pcm) => {
          signal.removeEventListener('abort', leave);
          resolve(pcm);
        },
        reject: (error) => {
          signal.removeEventListener('abort', leave);
          reject(error);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#line.push(waiting);
      this.#next();
    });
  }

  take(message: FromVoice): void {
    if (message.type === 'ready' || message.type === 'pong') return;
    if (this.#running?.job !== message.job) return;
    const { waiting } = this.#running;
    this.#running = undefined;
    if (message.type === 'spoken') waiting.resolve(message.pcm);
    else waiting.reject(new VoiceFailed());
    this.#next();
  }

  lost(): void {
    const all = [...(this.#running === undefined ? [] : [this.#running.waiting]), ...this.#line.splice(0)];
    this.#running = undefined;
    for (const waiting of all) waiting.reject(new VoiceFailed());
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const waiting = this.#line.shift();
    if (waiting === undefined) return;
    this.#last += 1;
    this.#running = { job: this.#last, waiting };
    if (!this.#engine().send({ type: 'speak', job: this.#last, speech: waiting.speech })) this.lost();
  }
}
