/**
 * Pauses before a session of TTS is opened again for a call whose sessions die without a sound, so that a voice that
 * refuses at once is not asked hundreds of times a second. Text that comes in the pause goes to the session when it is open.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { Timer } from '../../shared/runtime/clock.ts';
import type { StageContext, TtsEvent, TtsSession, TtsStage } from './stage.ts';

const firstPauseMs = 250;
/** Shorter than a caller's patience with silence: a text that is spoken again must have been tried in between. */
const longestPauseMs = 1_000;

interface CallVoice {
  /** Sessions in a row that died without a sound. */
  deaths: number;
  sampleRate: number;
}

/** The stage, with pauses between sessions of a call that die; the first one is replaced at once. */
export function withPauses(stage: TtsStage): TtsStage {
  const calls = new WeakMap<StageContext, CallVoice>();
  return {
    provider: stage.provider,
    open: (context, sink) => {
      const voice = calls.get(context) ?? { deaths: 0, sampleRate: 0 };
      calls.set(context, voice);
      const open = (): TtsSession =>
        stage.open(context, (event) => {
          if (event.type === 'error') voice.deaths += 1;
          else if (event.type === 'audio') voice.deaths = 0;
          sink(event);
        });
      if (voice.deaths >= 2) {
        const afterMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (voice.deaths - 2));
        return new LaterTts(context, { afterMs, open, sampleRate: voice.sampleRate, sink });
      }
      const session = open();
      voice.sampleRate = session.sampleRate;
      return session;
    },
    close: () => stage.close(),
  };
}

type Wish =
  | { readonly type: 'speak'; readonly context: number; readonly text: string }
  | { readonly type: 'flush'; readonly context: number };

interface LaterTtsOptions {
  readonly afterMs: Millis;
  readonly open: () => TtsSession;
  readonly sampleRate: number;
  readonly sink: (event: TtsEvent) => void;
}

class LaterTts implements TtsSession {
  readonly sampleRate: number;
  readonly #context: StageContext;
  readonly #sink: (event: TtsEvent) => void;
  readonly #timer: Timer;
  #inner: TtsSession | undefined;
  #wishes: Wish[] = [];
  #isPaused = false;
  #isClosed = false;

  constructor(context: StageContext, { afterMs, open, sampleRate, sink }: LaterTtsOptions) {
    this.#context = context;
    this.#sink = sink;
    this.sampleRate = sampleRate;
    this.#timer = context.clock.after(
      afterMs,
      context.bind(() => this.#begin(open())),
    );
  }

  speak(context: number, text: string): void {
    if (this.#inner !== undefined) {
      this.#inner.speak(context, text);
      return;
    }
    // Pieces are joined: what waits is bounded by what a response may say.
    const last = this.#wishes.at(-1);
    const joined = last?.type === 'speak' && last.context === context ? last.text + text : text;
    if (joined !== text) this.#wishes.pop();
    this.#wishes.push({ type: 'speak', context, text: joined });
  }

  flush(context: number): void {
    if (this.#inner !== undefined) this.#inner.flush(context);
    else this.#wishes.push({ type: 'flush', context });
  }

  cancel(context: number): void {
    if (this.#inner !== undefined) {
      this.#inner.cancel(context);
      return;
    }
    this.#wishes = this.#wishes.filter((wish) => wish.context !== context);
    this.#context.clock.after(
      0,
      this.#context.bind(() => {
        if (!this.#isClosed) this.#sink({ type: 'cancelled', context });
      }),
    );
  }

  pause(): void {
    this.#isPaused = true;
    this.#inner?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#inner?.resume();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer.cancel();
    this.#inner?.close();
  }

  #begin(inner: TtsSession): void {
    this.#inner = inner;
    if (this.#isPaused) inner.pause();
    for (const wish of this.#wishes) {
      if (wish.type === 'speak') inner.speak(wish.context, wish.text);
      else inner.flush(wish.context);
    }
    this.#wishes = [];
  }
}
