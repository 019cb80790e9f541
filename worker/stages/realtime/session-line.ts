/**
 * The sessions of a speaking model in one call, of which one is in use. A session that ends is followed by another: ahead of its time and beside
 * it, where the vendor says when that is, else at once. Where none can be had, or none answers, the line is down for the rest of the call.
 *
 * What becomes of sessions and answers is reported to the vendor's breaker, which all calls share. A vendor that others have found broken is left
 * alone until it works for one of them again, where anybody else can answer.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { Timer } from '../../../shared/runtime/clock.ts';
import { firstUse, useOf, type FailoverReason, type FailoverScope, type Use } from '../failover/provider.ts';
import { kindOf } from '../failover/verdict.ts';
import type { StageContext, StageError } from '../stage.ts';
import { withOwnTurns } from './own-turns.ts';
import type {
  RealtimeCaps,
  RealtimeEvent,
  RealtimeModel,
  RealtimeSeed,
  RealtimeSession,
} from './contract.ts';

/** Sessions that died within this time in a row are as many as may: then others answer. */
const failuresWithinMs = 10_000;
const mostFailures = 2;
/** A session is replaced this long before its end, at the next quiet moment, and in any case this long before it. */
const rotateBeforeMs = 5 * 60_000;
/** Of a session that lives for less, the last tenth is left. */
const rotateShare = 0.1;
const askQuietMs = 500;
const longestMs = 24 * 3_600_000;

/** What is taken for granted of a session that is not ready: nothing needs more before it is. */
const capsBefore: RealtimeCaps = {
  truncates: false,
  removes: false,
  answersTurns: false,
  answersTools: false,
  updates: true,
  cancels: true,
};

/** The model with its breaker and its budget of retries. `isAlone`: nobody else can answer. */
export type Vendor = FailoverScope<RealtimeModel> & { readonly isAlone: boolean };

/** A session, and what it was opened with. */
export interface Opened<O> {
  readonly session: RealtimeSession;
  readonly opening: O;
}

export interface SessionLineOptions<O extends { readonly seed: RealtimeSeed }> {
  readonly context: StageContext;
  readonly vendor: Vendor;
  /** What a session is opened with now; with a handle it goes on where the session in use was last asked. */
  readonly opening: (handle: string | undefined) => O;
  /** Nothing was said since then. */
  readonly isCurrent: (opening: O) => boolean;
  /** Nobody speaks, and nothing is asked for. */
  readonly isQuiet: () => boolean;
  /** A session is in use from now on; it holds what it was opened with. */
  readonly opened: (opened: Opened<O>) => void;
  /** What the session in use tells, but for its own course. */
  readonly told: (
    event: Exclude<RealtimeEvent, { type: 'ready' | 'expiring' | 'resumable' | 'error' }>,
  ) => void;
  /** The session in use has ended; another is there already unless the line is down. */
  readonly lost: (error: StageError) => void;
}

export class SessionLine<O extends { readonly seed: RealtimeSeed }> {
  readonly #options: SessionLineOptions<O>;
  #session: RealtimeSession | undefined;
  #caps = capsBefore;
  #name: string | undefined;
  /** What another session can go on with from where the one in use is. */
  #handle: string | undefined;
  /** The session in use goes on from another, and has not said yet that it does. */
  #isResuming = false;
  /** A session that is to follow, until it is ready. */
  #next: Opened<O> | undefined;
  /** What the vendor is used for now: a session until it is asked, and then its newest answer. */
  #current: Use<RealtimeModel> | undefined;
  #failures: Millis[] = [];
  #timer: Timer | undefined;
  #isDown = false;
  #isClosed = false;

  constructor(options: SessionLineOptions<O>) {
    this.#options = options;
    this.#current = this.#leave();
    if (this.#current !== undefined) this.#use(this.#open());
  }

  /** Absent where the line is down, and while the vendor is left alone. */
  get session(): RealtimeSession | undefined {
    return this.#session;
  }

  get caps(): RealtimeCaps {
    return this.#caps;
  }

  /** As the vendor names the session in use. */
  get name(): string | undefined {
    return this.#name;
  }

  /** More is said in the session than its handle covers. */
  asked(): void {
    this.#handle = undefined;
  }

  /**
   * Why nobody is to be asked for an answer; undefined where a session is there that may be. While the vendor is left alone there is none: what
   * others answer meanwhile is told to the next.
   */
  refusal(): FailoverReason | undefined {
    if (this.#isDown) return 'failed';
    // A probe is claimed anew: what was found out since the session was opened counts.
    this.#current?.abandoned();
    this.#current = this.#leave();
    if (this.#current === undefined) {
      this.#drop();
      return 'breaker';
    }
    if (this.#session === undefined) this.#use(this.#open());
    return undefined;
  }

  /** Something has come of the answer. */
  worked(): void {
    this.#current?.succeeded();
  }

  /** Nothing has come of it, and the session goes on. */
  failed(error: StageError): void {
    this.#current?.failed(error);
  }

  /** Nobody waits for it any more. */
  abandoned(): void {
    this.#current?.abandoned();
  }

  /** Opens another session in place of the one in use, which cannot go on. */
  replace(): void {
    if (this.#isDown || this.#isClosed) return;
    this.#drop();
    this.#use(this.#open());
  }

  /** The session in use does not answer. */
  gaveUp(error: StageError): void {
    this.#count(error);
    if (!this.#isDown && !this.#isClosed) this.#follow();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#current?.abandoned();
    this.#session?.close();
    this.#next?.session.close();
  }

  #open(): Opened<O> {
    const { context, vendor } = this.#options;
    const opening = this.#options.opening(this.#handle);
    const session: RealtimeSession = vendor.primary.stage.open(context, opening.seed, (event) =>
      this.#take(session, event),
    );
    return { session, opening };
  }

  #use(opened: Opened<O>): void {
    this.#timer?.cancel();
    this.#session = opened.session;
    this.#caps = capsBefore;
    this.#name = undefined;
    this.#handle = undefined;
    this.#isResuming = opened.opening.seed.resume !== undefined;
    this.#options.opened(opened);
  }

  #take(session: RealtimeSession, told: RealtimeEvent): void {
    if (this.#isClosed) return;
    const event = withOwnTurns(told);
    if (session === this.#next?.session) this.#takeOfNext(this.#next, event);
    else if (session === this.#session) this.#takeOfUsed(session, event);
  }

  #takeOfNext(next: Opened<O>, event: RealtimeEvent): void {
    const { isQuiet, isCurrent } = this.#options;
    if (event.type !== 'ready' && event.type !== 'error') return;
    this.#next = undefined;
    if (event.type === 'ready' && isQuiet() && isCurrent(next.opening)) {
      this.#session?.close();
      this.#use(next);
      this.#ready(event);
      return;
    }
    // Words that were said meanwhile are not in it.
    next.session.close();
    if (event.type === 'error') this.#count(event.error);
    if (!this.#isDown) this.#rotateIn(askQuietMs);
  }

  #takeOfUsed(session: RealtimeSession, event: RealtimeEvent): void {
    switch (event.type) {
      case 'ready':
        this.#ready(event);
        return;
      case 'expiring':
        this.#rotateIn(0);
        return;
      case 'resumable':
        this.#handle = event.handle;
        return;
      case 'error':
        // A handle may be too old, or what it stands for may still live: the history does as well.
        if (this.#isResuming) this.#options.vendor.primary.meter.failed(kindOf(event.error), event.error);
        else this.#count(event.error);
        if (this.#isResuming) this.replace();
        else if (!this.#isDown) this.#follow();
        this.#options.lost(event.error);
        return;
      default:
        this.#options.told(event);
    }
  }

  #ready({ caps, session, expiresInMs }: Extract<RealtimeEvent, { type: 'ready' }>): void {
    this.#caps = caps;
    this.#name = session;
    this.#isResuming = false;
    // A timer cannot wait for longer than some days, and no call lasts for one.
    if (expiresInMs === undefined || !(expiresInMs <= longestMs)) return;
    this.#rotateIn(expiresInMs - Math.min(rotateBeforeMs, expiresInMs * rotateShare));
  }

  /** At the first quiet moment from then on. */
  #rotateIn(ms: Millis): void {
    const { context, isQuiet } = this.#options;
    this.#timer?.cancel();
    this.#timer = context.clock.after(
      ms,
      context.bind(() => {
        if (this.#session === undefined || this.#next !== undefined) return;
        // A session that is gone on with must be over first.
        if (isQuiet() && this.#handle !== undefined) this.replace();
        else if (isQuiet()) this.#next = this.#open();
        else this.#rotateIn(askQuietMs);
      }),
    );
  }

  #count(error: StageError): void {
    const now = this.#options.context.clock.now();
    const verdict = this.#current?.failed(error);
    this.#failures = [...this.#failures.filter((at) => now - at < failuresWithinMs), now];
    const isFinal = error.kind === 'rejected' && verdict?.mayRepeat !== true;
    if (!isFinal && this.#failures.length < mostFailures) return;
    this.#isDown = true;
    this.#drop();
  }

  #drop(): void {
    this.#session?.close();
    this.#next?.session.close();
    this.#session = undefined;
    this.#next = undefined;
  }

  /** Another session follows one that failed, at once, or when one is needed that may be had again. */
  #follow(): void {
    const { vendor, context } = this.#options;
    this.#drop();
    this.#current = this.#leave();
    if (this.#current === undefined) return;
    if (vendor.budgets.take(context)) this.#use(this.#open());
    else this.#current.abandoned();
  }

  #leave(): Use<RealtimeModel> | undefined {
    const { vendor } = this.#options;
    return vendor.isAlone ? firstUse(vendor) : useOf(vendor.primary, vendor);
  }
}
