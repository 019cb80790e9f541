/**
 * An observer follows a call to tell of it later: recordings, facts for replays, traces, the live view. None of them can change the
 * call or end it: an error of an observer is logged, and it is not asked again.
 */
import type { AdmittedStart } from './admission.ts';
import type { Millis } from '../../shared/base/units.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { CallAction } from '../core/actions.ts';
import type { CallCommand } from '../core/commands.ts';
import type { CallEvent } from '../core/events.ts';
import type { CallSettings, ToolBook } from '../core/settings.ts';
import type { CallState } from '../core/state.ts';
import type { AudioTap } from '../media/tap.ts';
import type { LiveVoice } from '../media/out/live-voice.ts';
import type { SttEvent, SttSession } from '../stages/stage.ts';
import type { MonitorUse } from '../../shared/monitor/messages.ts';
import type { TransportEnd } from '../transports/transport.ts';

/** A call as it is before its first fact. */
export interface ObservedCall {
  readonly start: AdmittedStart;
  /** The call's mailbox. */
  readonly slot: number;
  readonly startedAt: Millis;
  /** Another worker had it before. */
  readonly isResumed: boolean;
  readonly log: Log;
  /** Gives the core a command from outside, in the call's scope. */
  readonly command: (command: CallCommand) => void;
  /** Opens a session of the call's STT beside its own. */
  readonly openStt: (sink: (event: SttEvent) => void) => SttSession;
  /** Tells all observers that an operator has done something. */
  readonly monitored: (use: MonitorUse) => void;
}

/** What the core does in one step. */
export interface CallStep {
  readonly fact: CallEvent;
  readonly orders: readonly CallAction[];
  readonly now: Millis;
  readonly state: CallState;
}

/** What a call is made of, once it is there. */
export interface BegunCall {
  readonly settings: CallSettings;
  readonly state: CallState;
  readonly tap: AudioTap;
  /** Who speaks to the caller in the agent's place. */
  readonly person: LiveVoice;
  readonly now: Millis;
}

export interface CallObserver {
  /** The tools of the call as the core is to see them. */
  watchTools?(book: ToolBook): ToolBook;
  /** Everything of the call is there. */
  begins?(call: BegunCall): void;
  /** After the core has decided and before anything is performed. */
  stepped?(step: CallStep): void;
  /** An operator has listened, whispered, or spoken in the agent's place. */
  monitored?(use: MonitorUse, now: Millis): void;
  /** The call is over. Called once. */
  ended?(end: TransportEnd, now: Millis): void;
}

/** Gives the observers of a call, those that want this one. */
export type ObserveCall = (call: ObservedCall) => readonly CallObserver[];

/** All observers of one call, as one that does no harm. */
export class CallObservers {
  #observers: readonly CallObserver[];
  readonly #log: Log;

  constructor(observers: readonly CallObserver[], log: Log) {
    this.#observers = observers;
    this.#log = log;
  }

  watchTools(book: ToolBook): ToolBook {
    let watched = book;
    this.#each((observer) => (watched = observer.watchTools?.(watched) ?? watched));
    return watched;
  }

  begins(call: BegunCall): void {
    this.#each((observer) => observer.begins?.(call));
  }

  stepped(step: CallStep): void {
    if (this.#observers.length > 0) this.#each((observer) => observer.stepped?.(step));
  }

  monitored(use: MonitorUse, now: Millis): void {
    this.#each((observer) => observer.monitored?.(use, now));
  }

  ended(end: TransportEnd, now: Millis): void {
    this.#each((observer) => observer.ended?.(end, now));
    this.#observers = [];
  }

  #each(ask: (observer: CallObserver) => void): void {
    for (const observer of this.#observers) {
      try {
        ask(observer);
      } catch (error) {
        this.#log.error(errorFields(error), 'an observer of a call failed and is left out');
        this.#observers = this.#observers.filter((one) => one !== observer);
      }
    }
  }
}
