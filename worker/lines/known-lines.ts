/**
 * Lines that the agent is sure to need, spoken ahead of time: fillers, the apology, the farewell, the greeting. A call whose
 * TTS has fallen silent can still be told so, and known lines begin without a wait. The audio is made once per worker, behind
 * the back of calls, by the same voice; a line that could not be made is asked of TTS like any other text.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { Scope } from '../../shared/runtime/scope.ts';
import { KnownLinesSession, type KnownLine } from './known-lines-session.ts';
import type { TtsEvent, TtsSession, TtsStage } from '../stages/stage.ts';

export interface KnownLinesOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Pieces of text as the core gives them to TTS, white space around them aside. */
  readonly texts: readonly string[];
  /** Those of them that calls ask about. */
  readonly fillers: readonly string[];
  readonly farewell: readonly string[];
  /** Played where the core orders it, at the rate of the stage. */
  readonly announcement: KnownLine;
  /** The voice is known to be down: nothing is asked of it. Made by another one, lines would sound like a stranger. */
  readonly isDown?: () => boolean;
  /** From the opening of a call to the making: a voice on this machine speaks the call's greeting first. */
  readonly pauseMs?: Millis;
}

/** Lines that are there as sound. */
export interface ReadyLines {
  readonly fillers: boolean;
  readonly farewell: boolean;
}

export interface SpokenStage extends TtsStage {
  /** The same object until something changes. */
  readonly ready: ReadyLines;
  /** The sound of a line, as far as it is made. */
  readonly known: (text: string) => KnownLine | undefined;
}

/** More than fillers, greeting and the like have; lines beyond it are asked of TTS each time. */
const mostTexts = 64;
const longestLineMs = 30_000;
/** A line that takes longer than this to make is left out. */
const makeWithinMs = 20_000;
/** After an attempt that failed, the next one waits, longer each time. Calls begin them, so an idle worker makes none. */
const firstWaitMs = 5_000;
const longestWaitMs = 600_000;
const defaultPauseMs = 3_000;

const lineKey = (text: string): string => text.trim();

/** The stage, with known lines and the announcement in front of it. */
export function withKnownLines(stage: TtsStage, options: KnownLinesOptions): SpokenStage {
  const lines = new KnownLines(stage, options);
  const { announcement } = options;
  const find = (text: string): KnownLine | undefined => lines.find(text);
  return {
    provider: stage.provider,
    known: find,
    get ready() {
      return lines.ready;
    },
    open: (context, sink) => {
      const session = new KnownLinesSession(context, { sink, find, announcement });
      session.attach(stage.open(context, (event) => session.take(event)));
      lines.make();
      return session;
    },
    close: async () => {
      lines.close();
      await stage.close();
    },
  };
}

class KnownLines {
  readonly #stage: TtsStage;
  readonly #options: KnownLinesOptions;
  readonly #made = new Map<string, KnownLine>();
  readonly #wanted: string[];
  ready: ReadyLines;
  #failures = 0;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #closed = false;
  #closeRun: (() => void) | undefined;

  constructor(stage: TtsStage, options: KnownLinesOptions) {
    this.#stage = stage;
    this.#options = options;
    const keys = options.texts.map(lineKey).filter((text) => text !== '');
    this.#wanted = [...new Set(keys)].slice(0, mostTexts);
    this.ready = this.#readyNow();
  }

  #readyNow(): ReadyLines {
    const isReady = (texts: readonly string[]): boolean =>
      texts.every((text) => lineKey(text) === '' || this.find(text) !== undefined);
    return { fillers: isReady(this.#options.fillers), farewell: isReady(this.#options.farewell) };
  }

  find(text: string): KnownLine | undefined {
    return this.#made.get(lineKey(text));
  }

  /** Makes what is missing, one line after another, unless that is under way or was in vain a moment ago. */
  make(): void {
    const { clock } = this.#options;
    if (this.#closed || this.#closeRun !== undefined || this.#wanted.length === 0) return;
    if (clock.now() < this.#notBeforeMs) return;
    let session: TtsSession | undefined;
    let timer: Timer | undefined;
    const scope = new Scope('known lines', () => stop('failed'));
    const stop = (why: string | undefined): void => {
      if (scope.closed) return;
      scope.close();
      timer?.cancel();
      this.#closeRun = undefined;
      if (why !== undefined) this.#failed(why);
      session?.close();
    };
    this.#closeRun = () => stop(undefined);
    let context = 0;
    let parts: Int16Array[] = [];
    const next = (): void => {
      parts = [];
      timer?.cancel();
      const text = this.#wanted[0];
      if (text === undefined || session === undefined) {
        stop(undefined);
        return;
      }
      timer = clock.after(
        makeWithinMs,
        scope.bind(() => stop('timeout')),
      );
      context += 1;
      session.speak(context, text);
      session.flush(context);
    };
    const take = (event: TtsEvent): void => {
      if (event.type === 'error') stop(event.error.kind);
      else if (event.type === 'audio' && event.context === context) parts.push(event.pcm.slice());
      else if (event.type === 'flushed' && event.context === context) {
        this.#keep(parts, session?.sampleRate ?? 1);
        // Not from inside the session's own callback.
        clock.after(0, scope.bind(next));
      }
    };
    const begin = (): void => {
      if (this.#options.isDown?.() === true) {
        stop('down');
        return;
      }
      session = this.#stage.open({ clock, bind: (callback) => scope.bind(callback) }, take);
      next();
    };
    timer = clock.after(this.#options.pauseMs ?? defaultPauseMs, scope.bind(begin));
  }

  #keep(parts: readonly Int16Array[], sampleRate: number): void {
    const text = this.#wanted.shift();
    if (this.#wanted.length === 0 && this.#failures > 0)
      this.#options.log.info({ times: this.#failures }, 'known lines are made');
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const ms = (length * 1000) / sampleRate;
    if (text === undefined || length === 0 || ms > longestLineMs) return;
    const pcm = new Int16Array(length);
    let at = 0;
    for (const part of parts) {
      pcm.set(part, at);
      at += part.length;
    }
    this.#made.set(text, { pcm, ms });
    this.ready = this.#readyNow();
  }

  #failed(why: string): void {
    const { clock, log } = this.#options;
    this.#notBeforeMs = clock.now() + Math.min(longestWaitMs, firstWaitMs * 4 ** this.#failures);
    this.#failures += 1;
    // An outage fails each further try as well.
    if (this.#failures === 1)
      log.warn({ why, missing: this.#wanted.length }, 'known lines were not all made');
  }

  close(): void {
    this.#closed = true;
    this.#closeRun?.();
  }
}
