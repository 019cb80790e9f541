/** The recogniser as its server sees it: streams by number, over one engine process. */
import type { EngineProcess } from './engine-process.ts';
import type { FromRecognizer, Recognition, ToRecognizer } from './messages.ts';

export interface StreamEvents {
  heard(result: Recognition): void;
  /** So many samples need no more room. */
  taken(samples: number): void;
  /** The answer to `finish`. */
  finished(): void;
  /** The engine died with what it had heard. */
  lost(): void;
}

export interface HearingStream {
  audio(samples: Float32Array): void;
  /** No more audio: the last result comes, then `finished`. Audio that follows begins anew. */
  finish(): void;
  drop(): void;
}

export interface Hearing {
  /** Undefined while the engine is not there. */
  open(events: StreamEvents): HearingStream | undefined;
}

type Engine = Pick<EngineProcess<ToRecognizer, FromRecognizer>, 'send' | 'isReady'>;

export class EngineHearing implements Hearing {
  readonly #engine: () => Engine;
  readonly #streams = new Map<number, StreamEvents>();
  #last = 0;

  constructor(engine: () => Engine) {
    this.#engine = engine;
  }

  open(events: StreamEvents): HearingStream | undefined {
    const engine = this.#engine();
    if (!engine.isReady) return undefined;
    this.#last += 1;
    const stream = this.#last;
    this.#streams.set(stream, events);
    return {
      audio: (samples) => void engine.send({ type: 'audio', stream, samples }),
      finish: () => void engine.send({ type: 'finish', stream }),
      drop: () => {
        this.#streams.delete(stream);
        engine.send({ type: 'drop', stream });
      },
    };
  }

  take(message: FromRecognizer): void {
    if (message.type === 'ready' || message.type === 'pong') return;
    const events = this.#streams.get(message.stream);
    switch (message.type) {
      case 'taken':
        events?.taken(message.samples);
        return;
      case 'heard':
        events?.heard(message.result);
        return;
      case 'finished':
        events?.finished();
    }
  }

  lost(): void {
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const events of streams) events.lost();
  }
}
