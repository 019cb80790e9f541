/** Stages that are down in one way for a whole call, as their adapters tell the core of it, on virtual time. */
import type { CallEvent } from '../../../worker/core/events.ts';
import type { Timeline } from '../world/timeline.ts';

export type SttManner = 'works' | 'stalls' | 'resets' | 'garbage';
export type TtsManner = 'works' | 'stalls' | 'resets' | 'garbage';

interface StageEnds {
  readonly time: Timeline;
  readonly tell: (event: CallEvent) => void;
}

/** The adapter gives its recogniser this long for the last words. */
const finalizeTimeoutMs = 1_500;
/** A session that lived for less died soon; the second of such a row waits before it is opened, and the next longer. */
const soonMs = 1_000;
const pausesMs = [0, 0, 250, 500, 1_000, 2_000];
const msPerChar = 60;
const firstSoundMs = 200;
/** A server that cuts its connections does so at once; one that answers nonsense takes its time to answer. */
const failsAfterMs = { resets: 50, garbage: 150 };
/** After the second session without a sound there is a pause before the next, and each is longer. */
const voicePausesMs = [0, 0, 250, 500, 1_000];
/** A partial result comes with so much audio, and in its place nonsense. */
const firstResultAfterMs = 800;

/** A recogniser behind the sessions that a call opens one after another. */
export class WeakStt {
  readonly #ends: StageEnds;
  readonly #manner: SttManner;
  #session = 0;
  #opensAt = 0;
  #deaths = 0;
  /** Audio of the turn that the call has; of that, what the session was given. */
  #turnMs = 0;
  #givenMs = 0;
  #isAsked = false;
  isListening = false;

  constructor(manner: SttManner, ends: StageEnds) {
    this.#manner = manner;
    this.#ends = ends;
  }

  listen(fresh: boolean): void {
    this.isListening = true;
    if (!fresh) return;
    // What was just heard comes first.
    this.#turnMs = 200;
    this.#givenMs += 200;
    this.#look();
  }

  /** The microphone's audio, as long as the call gives it. */
  audio(ms: number): void {
    if (!this.isListening) return;
    this.#turnMs += ms;
    this.#givenMs += ms;
    this.#look();
  }

  finalize(): void {
    this.isListening = false;
    const isEmpty = this.#givenMs === 0;
    this.#isAsked = true;
    if (isEmpty) this.#later(this.#untilOpen, () => this.#ends.tell({ type: 'stt.finalized' }));
    else if (this.#manner !== 'works') this.#later(finalizeTimeoutMs, () => this.#die());
    else
      this.#later(100, () => {
        this.#ends.tell({ type: 'stt.final', text: 'iki bilet', speechFinal: false, position: undefined });
        this.#ends.tell({ type: 'stt.finalized' });
      });
    this.#givenMs = 0;
  }

  reopen(): void {
    const { now } = this.#ends.time;
    this.#session += 1;
    this.#deaths = now - this.#opensAt < soonMs ? this.#deaths + 1 : 0;
    this.#opensAt = now + (pausesMs[Math.min(this.#deaths, pausesMs.length - 1)] ?? 0);
    this.#givenMs = 0;
    this.#isAsked = false;
  }

  replay(): void {
    this.#givenMs = this.#turnMs;
    this.#look();
  }

  get #untilOpen(): number {
    return Math.max(20, this.#opensAt - this.#ends.time.now);
  }

  #look(): void {
    const isTold = this.#givenMs >= firstResultAfterMs && !this.#isAsked;
    if (this.#manner === 'works' && isTold)
      this.#ends.tell({ type: 'stt.partial', text: 'iki', speechFinal: false, position: undefined });
    if (this.#manner !== 'resets' && !(this.#manner === 'garbage' && isTold)) return;
    if (this.#ends.time.now > this.#opensAt + 20) this.#die();
    else this.#later(this.#untilOpen, () => this.#die());
  }

  #die(): void {
    this.#session += 1;
    this.#ends.tell({ type: 'stt.failed' });
  }

  #later(ms: number, what: () => void): void {
    const session = this.#session;
    this.#ends.time.after(ms, () => {
      if (session === this.#session) what();
    });
  }
}

interface TtsEnds extends StageEnds {
  readonly audio: (context: number, ms: number) => void;
  /** The line was made before the call. */
  readonly isReady: (text: string) => boolean;
}

/** A voice that may be down. Lines that were made before the call are there all the same. */
export class WeakTts {
  readonly #ends: TtsEnds;
  readonly #manner: TtsManner;
  #session = 0;
  /** The context of a piece that makes no sound: those behind it wait. Lines that are there are played in the next context all the same. */
  #stuck: number | undefined;
  #deaths = 0;
  #opensAt = 0;
  #said = new Map<number, { chars: number; ms: number }>();

  constructor(manner: TtsManner, ends: TtsEnds) {
    this.#manner = manner;
    this.#ends = ends;
  }

  speak(context: number, text: string, recorded = false): void {
    const said = this.#said.get(context) ?? { chars: 0, ms: 0 };
    const ms = text.length * msPerChar;
    this.#said.set(context, { chars: said.chars + text.length, ms: said.ms + ms });
    if (this.#stuck === context) return;
    const isReady = recorded || this.#ends.isReady(text);
    if (!isReady && this.#manner !== 'works') {
      this.#stuck = context;
      if (this.#manner !== 'stalls')
        this.#later(Math.max(0, this.#opensAt - this.#ends.time.now) + failsAfterMs[this.#manner], () => {
          this.#deaths += 1;
          this.#ends.tell({ type: 'tts.failed' });
        });
      return;
    }
    this.#later(isReady ? 0 : firstSoundMs, () => {
      if (!isReady) this.#deaths = 0;
      this.#ends.audio(context, ms);
      const { chars, ms: before } = said;
      this.#ends.tell({ type: 'tts.spoken', context, chars: chars + text.length, audioMs: before + ms });
    });
  }

  flush(context: number, finish: () => void): void {
    if (this.#stuck === context) return;
    this.#later(firstSoundMs, () => {
      this.#ends.tell({ type: 'tts.flushed', context, audioMs: this.#said.get(context)?.ms ?? 0 });
      finish();
    });
  }

  reopen(): void {
    this.#session += 1;
    this.#stuck = undefined;
    const pauseMs = voicePausesMs[Math.min(this.#deaths, voicePausesMs.length - 1)] ?? 0;
    this.#opensAt = this.#ends.time.now + pauseMs;
  }

  #later(ms: number, what: () => void): void {
    const session = this.#session;
    this.#ends.time.after(ms, () => {
      if (session === this.#session) what();
    });
  }
}
