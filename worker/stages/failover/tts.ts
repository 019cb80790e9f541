/**
 * The TTS stage over one provider or two (docs/providers.md, When a provider fails): when a session dies, the other voice goes on
 * at the first word that was not said, or with the piece in which a voice died that tells no times of its words; with
 * `hedge_after_ms` the other is asked as well when the first is slow to begin, and the first that is heard speaks.
 *
 * Invariant: audio of one voice at a time is delivered, and no piece is said again that was heard whole; after `error`
 * nothing follows. With one provider it only measures.
 */
import { assert } from '../../../shared/base/assert.ts';
import type { ProviderRole } from '../../../shared/protocol/breakers.ts';
import type { Timer } from '../../../shared/runtime/clock.ts';
import type { StageContext, StageError, TtsEvent, TtsSession, TtsStage } from '../stage.ts';
import { HeldSpeech, type SaidEvent } from './held-speech.ts';
import { GivenUp, otherThan, overBoth, useOf, type FailoverScope, type Use } from './provider.ts';
import { isSpeakable } from '../tts/wire.ts';
import { SessionTurns } from './session-turns.ts';
import { Pace } from './spoken-place.ts';
import { piecesFrom, SpokenText, type SpokenContext } from './spoken-text.ts';

/** A voice that is cancelled or closed after it has owed a sound for so long was given up and not interrupted. */
const stalledAfterMs = 2_000;
/** One that was overtaken after so long without a sound has failed its caller, be it slow or hanging. */
const overtakenAfterMs = 1_500;

export interface FailoverTtsOptions extends FailoverScope<TtsStage> {
  readonly hedgeAfterMs?: number;
}

export function newFailoverTts(options: FailoverTtsOptions): TtsStage {
  // The pace that a voice has shown holds for all calls of the worker.
  const paces: Paces = { primary: new Pace(), secondary: new Pace() };
  const givenUp = new GivenUp<TtsStage>();
  return {
    ...overBoth(options),
    open: (context, sink) => new FailoverTtsSession({ ...options, paces, givenUp }, { context, sink }),
  };
}

type Paces = Readonly<Record<ProviderRole, Pace>>;
type SessionOptions = FailoverTtsOptions & { readonly paces: Paces; readonly givenUp: GivenUp<TtsStage> };

interface SessionScope {
  readonly context: StageContext;
  readonly sink: (event: TtsEvent) => void;
}

/** A provider's session. */
interface Voice {
  readonly use: Use<TtsStage>;
  readonly session: TtsSession;
  readonly unheard: Unheard;
}

const mute: StageError = { kind: 'protocol', rule: 'speech can be heard' };

class FailoverTtsSession implements TtsSession {
  readonly sampleRate: number;
  readonly #options: SessionOptions;
  readonly #scope: SessionScope;
  readonly #turns: SessionTurns<TtsStage>;
  readonly #texts: SpokenText;
  readonly #held: HeldSpeech;
  /** Absent between two voices. */
  #voice: Voice | undefined;
  /** Was asked as well, because the voice is slow; nothing of either has been heard yet. */
  #rival: Voice | undefined;
  #hedge: Timer | undefined;
  #isPaused = false;
  #isClosed = false;

  constructor(options: SessionOptions, scope: SessionScope) {
    this.#options = options;
    this.#scope = scope;
    this.#turns = new SessionTurns(options, scope.context);
    this.#voice = this.#open(options.givenUp.nextUse(scope.context, options));
    this.sampleRate = this.#voice.session.sampleRate;
    this.#texts = new SpokenText(this.sampleRate);
    this.#held = new HeldSpeech(scope.context, { sampleRate: this.sampleRate, sink: scope.sink });
  }

  speak(context: number, text: string): void {
    if (this.#isClosed || text === '') return;
    this.#goWhereItIsBetter({ mayReturn: false });
    this.#texts.speak(context, text, this.#now());
    for (const voice of this.#voices) this.#give(voice, context, text);
    this.#armHedge();
  }

  flush(context: number): void {
    if (this.#isClosed) return;
    this.#texts.flush(context, this.#now());
    for (const { session } of this.#voices) session.flush(context);
  }

  cancel(context: number): void {
    if (this.#isClosed) return;
    if (this.#texts.head?.id === context && this.#hasStalled) this.#giveUp();
    this.#texts.remove(context, this.#now());
    this.#held.drop(context);
    for (const { session, unheard } of this.#voices) {
      session.cancel(context);
      unheard.forget(context);
    }
    this.#armHedge();
    if (this.#voice === undefined) this.#soon(() => this.#scope.sink({ type: 'cancelled', context }));
  }

  pause(): void {
    this.#isPaused = true;
    this.#held.pause();
    for (const { session } of this.#voices) session.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#texts.resume(this.#now());
    this.#held.resume();
    for (const { session } of this.#voices) session.resume();
  }

  close(): void {
    if (this.#isClosed) return;
    if (this.#hasStalled) this.#giveUp();
    else this.#voice?.use.abandoned();
    this.#rival?.use.abandoned();
    this.#end();
  }

  get #voices(): Voice[] {
    return [this.#voice, this.#rival].filter((voice) => voice !== undefined);
  }

  #now(): number {
    return this.#scope.context.clock.now();
  }

  get #hasStalled(): boolean {
    return !this.#isPaused && this.#texts.silentMs(this.#now()) >= stalledAfterMs;
  }

  #giveUp(): void {
    if (this.#voice === undefined) return;
    this.#voice.use.stalled();
    this.#options.givenUp.note(this.#scope.context, this.#voice.use);
  }

  #soon(action: () => void): void {
    const { context } = this.#scope;
    context.clock.after(
      0,
      context.bind(() => {
        if (!this.#isClosed) action();
      }),
    );
  }

  #open(use: Use<TtsStage>): Voice {
    const session: TtsSession = use.provider.stage.open(this.#scope.context, (event) => {
      const voice = this.#voices.find((one) => one.session === session);
      if (!this.#isClosed && voice !== undefined) this.#onEvent(voice, event);
    });
    return { use, session, unheard: new Unheard(session.sampleRate) };
  }

  #give({ use, session }: Voice, context: number, text: string): void {
    use.provider.meter.requested();
    use.provider.meter.spent('characters', text.length);
    session.speak(context, text);
  }

  #onEvent(voice: Voice, event: TtsEvent): void {
    if (event.type === 'error') {
      this.#onError(voice, event.error);
      return;
    }
    if (event.type === 'cancelled') {
      if (voice === this.#voice) this.#scope.sink(event);
      return;
    }
    const known = this.#texts.find(event.context);
    if (known === undefined) return;
    const said = voice.unheard.take(event);
    if (event.type === 'flushed' && said.length === 0) this.#onUnheard(voice, known);
    if (said.some(({ type }) => type === 'audio')) this.#onAudio(voice, known);
    for (const one of said) this.#onSaid(voice, one);
  }

  /** Nothing of the context could be heard: the other voice says it, where there is one. */
  #onUnheard(voice: Voice, { id, text, baseChars }: SpokenContext): void {
    const isMute = isSpeakable(text.slice(baseChars));
    if (isMute && this.#rival !== undefined) {
      this.#onError(voice, mute);
      return;
    }
    const goOn = (use: Use<TtsStage>): void => {
      voice.session.close();
      this.#takeOver(use);
    };
    if (isMute && this.#turns.afterSilence(voice.use, mute, goOn)) return;
    if (voice !== this.#voice) return;
    if (isMute) voice.use.failed(mute);
    for (const event of voice.unheard.end(id)) this.#onSaid(voice, event);
    if (isMute && voice === this.#voice) this.#leave(voice);
  }

  /** Both could not be heard of late: the other one may be whole by now, and is asked next. */
  #leave(voice: Voice): void {
    const other = otherThan(voice.use.provider, this.#options);
    const use = other && useOf(other, this.#options);
    if (use === undefined) return;
    if (!this.#options.budgets.take(this.#scope.context)) {
      use.abandoned();
      return;
    }
    this.#options.failedOver('failed');
    voice.session.close();
    this.#takeOver(use);
  }

  #onSaid(voice: Voice, event: SaidEvent): void {
    if (this.#isClosed) return;
    if (event.type === 'flushed') {
      this.#texts.remove(event.context, this.#now());
      this.#armHedge();
      this.#goWhereItIsBetter({ mayReturn: true });
      this.#pass(event);
      return;
    }
    this.#texts.pace = this.#options.paces[voice.use.provider.role];
    const placed = this.#texts.take(event, this.#now());
    if (placed !== undefined) this.#pass(placed);
  }

  /** Audio of a voice that tells no times is held back while it is not needed, where another voice could go on with it. */
  #pass(event: SaidEvent): void {
    const isHeld = this.#options.secondary !== undefined && !this.#texts.pace.tellsTimes;
    this.#held.push(event, { isHeld });
  }

  #onAudio(voice: Voice, { waitsSinceMs }: SpokenContext): void {
    if (waitsSinceMs !== undefined) voice.use.provider.meter.firstResult(this.#now() - waitsSinceMs);
    if (waitsSinceMs !== undefined || this.#rival !== undefined) this.#turns.succeeded(voice.use);
    this.#hedge?.cancel();
    this.#hedge = undefined;
    if (this.#rival === undefined) return;
    const loser = voice === this.#rival ? this.#voice : this.#rival;
    const waitedMs = waitsSinceMs === undefined || voice === this.#voice ? 0 : this.#now() - waitsSinceMs;
    this.#voice = voice;
    this.#rival = undefined;
    if (loser === undefined) return;
    if (waitedMs >= overtakenAfterMs) loser.use.stalled();
    dismiss(loser);
  }

  #onError(voice: Voice, error: StageError): void {
    voice.session.close();
    if (voice === this.#rival) {
      this.#rival = undefined;
      voice.use.failed(error);
      return;
    }
    this.#voice = undefined;
    const rival = this.#rival;
    if (rival !== undefined) {
      // It has everything that is to be said already.
      voice.use.failed(error);
      this.#rival = undefined;
      this.#voice = rival;
      return;
    }
    if (this.#turns.afterFailure(voice.use, error, (use) => this.#takeOver(use))) return;
    // Audio that exists is heard; the core deals with the text behind it.
    this.#held.passAll();
    if (this.#isClosed) return;
    this.#end();
    this.#scope.sink({ type: 'error', error });
  }

  #takeOver(use: Use<TtsStage>): void {
    const voice = this.#open(use);
    // The configuration asks both for the rate of the stage.
    assert(voice.session.sampleRate === this.sampleRate, 'both voices deliver one rate');
    this.#voice = voice;
    if (this.#isPaused) voice.session.pause();
    for (const context of [...this.#texts.all]) this.#goOn(voice, context);
    this.#armHedge();
  }

  /** Between contexts a change costs no more than a connection. */
  #goWhereItIsBetter(options: { readonly mayReturn: boolean }): void {
    const voice = this.#voice;
    const rival = this.#rival;
    if (voice === undefined || rival !== undefined || this.#texts.head !== undefined) return;
    const use = this.#turns.better(voice.use, options);
    if (use === undefined) return;
    dismiss(voice);
    this.#takeOver(use);
  }

  /** Gives a voice what is left of a context. */
  #goOn(voice: Voice, context: SpokenContext): void {
    const { id, text, ends, flushed, saidChars } = context;
    const place = this.#texts.placeIn(context, this.#held.passedMs(id));
    const from = place.chars;
    this.#texts.moveOn(context, place, this.#now());
    this.#held.cut(id, place.cutMs);
    // A place within a piece is an estimate, and nothing to set a mark by.
    if (from > saidChars && ends.includes(from)) this.#pass({ type: 'spoken', context: id, chars: from });
    if (this.#isClosed) return;
    for (const piece of piecesFrom(context, from)) this.#give(voice, id, piece);
    if (!flushed) return;
    if (from < text.length) voice.session.flush(id);
    else {
      this.#texts.remove(id, this.#now());
      this.#pass({ type: 'flushed', context: id });
    }
  }

  /** The other provider is asked as well when the context at the head stays silent. */
  #armHedge(): void {
    const { hedgeAfterMs, secondary } = this.#options;
    const waitsSinceMs = this.#texts.head?.waitsSinceMs;
    this.#hedge?.cancel();
    this.#hedge = undefined;
    if (hedgeAfterMs === undefined || secondary === undefined || waitsSinceMs === undefined) return;
    if (this.#rival !== undefined) return;
    const { context } = this.#scope;
    this.#hedge = context.clock.after(
      Math.max(0, waitsSinceMs + hedgeAfterMs - this.#now()),
      context.bind(() => this.#askBoth()),
    );
  }

  #askBoth(): void {
    this.#hedge = undefined;
    const voice = this.#voice;
    const options = this.#options;
    if (this.#isClosed || this.#isPaused || voice === undefined || this.#rival !== undefined) return;
    const other = otherThan(voice.use.provider, options);
    const use = other && useOf(other, options);
    if (use === undefined) return;
    if (!options.budgets.take(this.#scope.context)) {
      use.abandoned();
      return;
    }
    options.failedOver('hedge');
    const rival = this.#open(use);
    assert(rival.session.sampleRate === this.sampleRate, 'both voices deliver one rate');
    this.#rival = rival;
    for (const context of this.#texts.all) {
      for (const piece of piecesFrom(context, context.baseChars)) this.#give(rival, context.id, piece);
      if (context.flushed) rival.session.flush(context.id);
    }
  }

  #end(): void {
    this.#isClosed = true;
    this.#hedge?.cancel();
    this.#held.close();
    this.#turns.close();
    for (const { session } of this.#voices) session.close();
    this.#voice = undefined;
    this.#rival = undefined;
  }
}

function dismiss({ use, session }: Voice): void {
  use.abandoned();
  session.close();
}

/**
 * What a voice has said of a context before its first sound. A voice that sends nothing but digital silence is no better than one that
 * sends nothing, so none of it is passed on until there is something to hear.
 */

/** What is louder can be heard: dither is not. */
const leastSample = 16;
/** Nobody pauses for longer before the first word; audio beyond it is not kept. */
const longestSeconds = 3;

class Unheard {
  readonly #mostSamples: number;
  readonly #sounding = new Set<number>();
  readonly #held = new Map<number, SaidEvent[]>();

  constructor(sampleRate: number) {
    this.#mostSamples = longestSeconds * sampleRate;
  }

  /** What is to be passed on now, in order. */
  take(event: SaidEvent): readonly SaidEvent[] {
    const { context } = event;
    if (this.#sounding.has(context)) {
      if (event.type === 'flushed') this.forget(context);
      return [event];
    }
    const held = this.#held.get(context) ?? [];
    const isHeard = event.type === 'audio' && event.pcm.some((sample) => Math.abs(sample) > leastSample);
    if (isHeard) {
      this.#sounding.add(context);
      this.#held.delete(context);
      return [...held, event];
    }
    if (event.type !== 'audio' || samplesIn(held) < this.#mostSamples) held.push(event);
    this.#held.set(context, held);
    return [];
  }

  /** Ends a context of which nothing could be heard, and gives what was said of it without its silence; empty for every other one. */
  end(context: number): readonly SaidEvent[] {
    const held = this.#held.get(context) ?? [];
    this.forget(context);
    return held.filter(({ type }) => type !== 'audio');
  }

  forget(context: number): void {
    this.#sounding.delete(context);
    this.#held.delete(context);
  }
}

const samplesIn = (events: readonly SaidEvent[]): number =>
  events.reduce((sum, event) => sum + (event.type === 'audio' ? event.pcm.length : 0), 0);
