/**
 * The STT stage over one provider or two (docs/providers.md, When a provider fails): when a session dies, the other
 * provider gets the audio that no final text covers yet, faster than real time as far as it takes it, and the call's
 * session goes on.
 *
 * Invariant: finals are delivered once, in order, and every `finalize()` has its one `finalized`; `error` comes only when
 * neither provider is left, and nothing follows it. With one provider it only measures.
 */
import type { Timer } from '../../../shared/runtime/clock.ts';
import { ENGINE_RATE } from '../../../shared/base/units.ts';
import type { StageContext, StageError, SttEvent, SttSession, SttStage, Transcript } from '../stage.ts';
import { HeardAudio } from './heard-audio.ts';
import { Deadline } from '../timers.ts';
import { GivenUp, overBoth, type FailoverScope, type Use } from './provider.ts';
import { SessionTurns } from './session-turns.ts';

/** How often a session that takes over is looked at for room. */
const feedEveryMs = 20;
/** A finalize without an answer after so long is given to the other provider: the caller waits. */
const patienceMs = 700;
/** A session that is closed with a finalize as old as this was given up, and not ended with its call. */
const stalledAfterMs = 1_000;

export function newFailoverStt(scope: FailoverScope<SttStage>): SttStage {
  const givenUp = new GivenUp<SttStage>();
  return {
    ...overBoth(scope),
    open: (context, sink) => new FailoverSttSession({ ...scope, givenUp }, { context, sink }),
  };
}

type SessionOptions = FailoverScope<SttStage> & { readonly givenUp: GivenUp<SttStage> };

interface SessionScope {
  readonly context: StageContext;
  readonly sink: (event: SttEvent) => void;
}

class FailoverSttSession implements SttSession {
  readonly #scope: SessionScope;
  readonly #givenUp: GivenUp<SttStage>;
  readonly #patience: Deadline;
  readonly #turns: SessionTurns<SttStage>;
  /** Absent without a secondary: nobody could hear it again. */
  readonly #heard: HeardAudio | undefined;
  #use: Use<SttStage>;
  #inner: SttSession | undefined;
  /** The session has been given everything that was heard, and gets the rest as it comes. */
  #isLive = true;
  #feeding: Timer | undefined;
  /** When each finalize was asked for that has no answer. */
  #owed: number[] = [];
  #unreportedSamples = 0;
  #isClosed = false;

  constructor(failover: SessionOptions, scope: SessionScope) {
    this.#scope = scope;
    this.#givenUp = failover.givenUp;
    this.#patience = new Deadline(scope.context, () => this.#onImpatience());
    this.#turns = new SessionTurns(failover, scope.context);
    this.#heard = failover.secondary === undefined ? undefined : new HeardAudio();
    this.#use = failover.givenUp.nextUse(scope.context, failover);
    this.#inner = this.#open();
  }

  audio(pcm: Int16Array): boolean {
    if (this.#isClosed) return false;
    this.#goWhereItIsBetter({ mayReturn: false });
    const isKept = this.#heard?.push(pcm) ?? true;
    if (!this.#isLive || this.#inner === undefined) return isKept;
    this.#unreportedSamples += pcm.length;
    const isTaken = this.#inner.audio(pcm);
    this.#heard?.markFed();
    return isTaken;
  }

  finalize(): void {
    if (this.#isClosed) return;
    this.#owed.push(this.#now());
    this.#waitForAnswer();
    this.#heard?.end();
    if (!this.#isLive || this.#inner === undefined) return;
    this.#inner.finalize();
    this.#heard?.markFed();
  }

  close(): void {
    if (this.#isClosed) return;
    const [asked] = this.#owed;
    if (this.#inner !== undefined) {
      if (asked !== undefined && this.#now() - asked >= stalledAfterMs) this.#noteStall();
      else this.#use.abandoned();
    }
    this.#end();
  }

  #noteStall(): void {
    this.#use.stalled();
    this.#givenUp.note(this.#scope.context, this.#use);
  }

  #now(): number {
    return this.#scope.context.clock.now();
  }

  #open(): SttSession {
    const use = this.#use;
    const { stage, meter } = use.provider;
    meter.requested();
    const inner: SttSession = stage.open(this.#scope.context, (event) => {
      if (!this.#isClosed && this.#inner === inner) this.#onEvent(event);
    });
    return inner;
  }

  #onEvent(event: SttEvent): void {
    switch (event.type) {
      case 'transcript':
        if (event.isFinal) this.#onFinal(event);
        this.#scope.sink(event);
        return;
      case 'finalized':
        this.#onFinalized(event.isLate === true);
        this.#scope.sink(event);
        return;
      case 'written':
        this.#scope.sink(event);
        return;
      case 'error':
        this.#onError(event.error);
    }
  }

  #onFinal({ speechFinal, fromFinalize, heardMs }: Transcript): void {
    this.#turns.succeeded(this.#use);
    this.#heard?.covered({ isWhole: speechFinal && fromFinalize, heardMs });
  }

  #onFinalized(isLate: boolean): void {
    const asked = this.#owed.shift();
    if (asked !== undefined) this.#use.provider.meter.firstResult(this.#now() - asked);
    this.#waitForAnswer();
    if (isLate) this.#noteStall();
    else this.#turns.succeeded(this.#use);
    this.#heard?.settle();
    this.#report();
    this.#goWhereItIsBetter({ mayReturn: true });
  }

  /** Between utterances a change costs nothing. */
  #goWhereItIsBetter(options: { readonly mayReturn: boolean }): void {
    const inner = this.#inner;
    const heard = this.#heard;
    const isLive = this.#isLive;
    if (inner === undefined || heard?.isEmpty !== true || !isLive) return;
    const use = this.#turns.better(this.#use, options);
    if (use === undefined) return;
    this.#use.abandoned();
    inner.close();
    this.#takeOver(use);
  }

  #onError(error: StageError): void {
    this.#leave();
    if (this.#turns.afterFailure(this.#use, error, (use) => this.#takeOver(use))) return;
    this.#end();
    this.#scope.sink({ type: 'error', error });
  }

  /** Each finalize gets its time once those before it are answered. */
  #waitForAnswer(): void {
    if (this.#heard === undefined || this.#owed.length === 0) this.#patience.clear();
    else this.#patience.set(patienceMs);
  }

  /** The session is silent and may yet answer: it is left only for one that is there at once. */
  #onImpatience(): void {
    if (this.#isClosed || this.#inner === undefined) return;
    const error: StageError = { kind: 'timeout', what: 'finalize' };
    const isLeft = this.#turns.afterSilence(this.#use, error, (use) => {
      this.#leave();
      this.#takeOver(use);
    });
    if (isLeft) this.#patience.set(patienceMs);
  }

  #leave(): void {
    this.#report();
    this.#inner?.close();
    this.#inner = undefined;
    this.#isLive = false;
    this.#stopFeeding();
  }

  #takeOver(use: Use<SttStage>): void {
    this.#use = use;
    this.#heard?.rewind();
    this.#inner = this.#open();
    this.#feed();
  }

  /** Gives the session what it has room for of what was heard before it. */
  #feed(): void {
    this.#feeding = undefined;
    const inner = this.#inner;
    const heard = this.#heard;
    if (inner === undefined || heard === undefined) return;
    while (inner.hasRoom?.() ?? true) {
      const next = heard.next();
      if (next === undefined) {
        this.#isLive = true;
        return;
      }
      if (next.type === 'end') inner.finalize();
      else {
        this.#unreportedSamples += next.pcm.length;
        inner.audio(next.pcm);
      }
    }
    const { context } = this.#scope;
    this.#feeding = context.clock.after(
      feedEveryMs,
      context.bind(() => this.#feed()),
    );
  }

  #stopFeeding(): void {
    this.#feeding?.cancel();
    this.#feeding = undefined;
  }

  /** Tells the metrics what was sent; not with each chunk, because they come fifty times a second. */
  #report(): void {
    this.#use.provider.meter.spent('audio_seconds', this.#unreportedSamples / ENGINE_RATE);
    this.#unreportedSamples = 0;
  }

  #end(): void {
    this.#isClosed = true;
    this.#report();
    this.#stopFeeding();
    this.#patience.close();
    this.#turns.close();
    this.#inner?.close();
    this.#inner = undefined;
  }
}
