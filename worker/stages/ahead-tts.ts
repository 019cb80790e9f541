/**
 * A TTS session that can be told what may have to be said next. It is spoken to nobody, in a context of its own; when a context begins with
 * that very text, what there is of it is passed on as that context's, and the rest follows. A wrong guess is cancelled.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { StageContext, TtsEvent, TtsSession } from './stage.ts';

/** A provider may have closed a context that it was told nothing of for longer. */
const longestWaitMs = 5_000;
/** More than a first piece of an answer ever takes; a voice that says more is no longer listened to. */
const mostSeconds = 20;

type OfContext = Exclude<TtsEvent, { type: 'error' }>;

interface Prepared {
  readonly id: number;
  readonly text: string;
  readonly atMs: Millis;
  readonly events: OfContext[];
  samples: number;
}

export class AheadTts implements TtsSession {
  readonly #context: StageContext;
  readonly #sink: (event: TtsEvent) => void;
  readonly #inner: TtsSession;
  #isClosed = false;
  /** Contexts that nobody asked for have numbers below zero. */
  #newest = 0;
  /** The newest context that something was said in. */
  #spoken = 0;
  #prepared: Prepared | undefined;
  /** Contexts that go by another name within, until they are over, and the other way round. */
  readonly #inside = new Map<number, number>();
  readonly #outside = new Map<number, number>();
  /** What was said of an adopted context before it was asked for, and is still to be told. */
  readonly #untold = new Map<number, OfContext[]>();

  constructor(
    context: StageContext,
    open: (sink: (event: TtsEvent) => void) => TtsSession,
    sink: (event: TtsEvent) => void,
  ) {
    this.#context = context;
    this.#sink = sink;
    this.#inner = open((event) => this.#take(event));
  }

  get sampleRate(): number {
    return this.#inner.sampleRate;
  }

  /** This may be the first that is said next. */
  prepare(text: string): void {
    this.forget();
    this.#newest -= 1;
    this.#prepared = { id: this.#newest, text, atMs: this.#context.clock.now(), events: [], samples: 0 };
    this.#inner.speak(this.#newest, text);
  }

  /** It will not. */
  forget(): void {
    if (this.#prepared === undefined) return;
    const { id } = this.#prepared;
    this.#prepared = undefined;
    this.#inner.cancel(id);
  }

  speak(context: number, text: string, how?: { readonly recorded?: boolean }): void {
    const prepared = this.#prepared;
    const isIt = prepared?.text === text && how?.recorded !== true && context > this.#spoken;
    this.#spoken = Math.max(this.#spoken, context);
    if (isIt && this.#context.clock.now() - prepared.atMs < longestWaitMs) {
      this.#adopt(prepared, context);
      return;
    }
    this.forget();
    this.#inner.speak(this.#inside.get(context) ?? context, text, how);
  }

  flush(context: number): void {
    this.#inner.flush(this.#inside.get(context) ?? context);
  }

  cancel(context: number): void {
    const id = this.#inside.get(context);
    if (id !== undefined) this.#untold.delete(id);
    this.#inner.cancel(id ?? context);
  }

  pause(): void {
    this.#inner.pause();
  }

  resume(): void {
    this.#inner.resume();
  }

  close(): void {
    this.#isClosed = true;
    this.#prepared = undefined;
    this.#untold.clear();
    this.#inner.close();
  }

  #adopt({ id, events }: Prepared, context: number): void {
    this.#prepared = undefined;
    this.#inside.set(context, id);
    this.#outside.set(id, context);
    this.#untold.set(id, events);
    // Sessions never speak from inside a question.
    this.#context.clock.after(
      0,
      this.#context.bind(() => {
        if (!this.#untold.delete(id)) return;
        for (const event of events) this.#pass(event);
      }),
    );
  }

  #take(event: TtsEvent): void {
    if (event.type === 'error') {
      this.#prepared = undefined;
      this.#sink(event);
      return;
    }
    const { context } = event;
    const waiting = this.#prepared?.id === context ? this.#prepared.events : this.#untold.get(context);
    if (waiting === undefined) this.#pass(event);
    else waiting.push(event);
    if (this.#prepared?.id !== context || event.type !== 'audio') return;
    this.#prepared.samples += event.pcm.length;
    if (this.#prepared.samples > mostSeconds * this.sampleRate) this.forget();
  }

  #pass(event: OfContext): void {
    if (this.#isClosed) return;
    const { context: id } = event;
    const context = this.#outside.get(id) ?? id;
    // Of a wrong guess nobody hears.
    if (context < 0) return;
    if (event.type === 'flushed' || event.type === 'cancelled') {
      this.#outside.delete(id);
      this.#inside.delete(context);
    }
    this.#sink({ ...event, context });
  }
}
