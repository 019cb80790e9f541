/**
 * A call's session with Gemini Live on its socket. Messages before the service is ready wait, in order and bounded.
 *
 * Invariant: after `error` and after `close()` nothing is emitted, and nothing from inside a method of the session.
 */
import type WebSocket from 'ws';
import { explained } from '../../failure.ts';
import type { ChatMessage, StageContext, StageError } from '../../stage.ts';
import { Deadline, Soon } from '../../timers.ts';
import { leave, openSocket } from '../../vendor-socket.ts';
import { Outbox } from '../outbox.ts';
import type { RealtimeEvent, RealtimeSeed, RealtimeSession } from '../contract.ts';
import { OUTPUT_RATE, type GeminiWire, type WireEvent } from './wire.ts';

/** From opening the socket to a session that takes audio. */
const SETUP_MS = 5_000;
const PING_MS = 20_000;
/** Answers to a ping are known to take half a minute while the model speaks. */
const SILENT_MS = 75_000;
/** How long words may come behind the sound that they belong to. */
const LATE_WORDS_MS = 400;
/** What the service says within this time from being stopped was on its way; a new answer takes longer. */
const STOPPING_MS = 300;
/** Words of the caller behind which none came for so long are all. */
const QUIET_WORDS_MS = 900;
/** A second of audio from the service is 64 KiB. */
const MAX_MESSAGE_BYTES = 8_388_608;
/** Audio goes in pieces of at most a tenth of a second, as samples. */
const PIECE_SAMPLES = 1_600;
/** From here on messages wait where they are bounded instead of in the socket. */
const CONGESTED_BYTES = 262_144;

interface GeminiLine {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly wire: GeminiWire;
  /** The first message holds words of the caller. */
  readonly isSeeded: boolean;
}

interface SessionScope {
  readonly context: StageContext;
  readonly sink: (event: RealtimeEvent) => void;
}

export class GeminiSession implements RealtimeSession {
  readonly outputRate = OUTPUT_RATE;
  readonly #wire: GeminiWire;
  readonly #scope: SessionScope;
  readonly #isSeeded: boolean;
  readonly #socket: WebSocket;
  readonly #life: Deadline;
  readonly #lateWords: Deadline;
  readonly #stopping: Deadline;
  readonly #quiet: Deadline;
  readonly #soon: Soon;
  readonly #onSent: () => void;
  readonly #outbox = new Outbox();
  /** Told when the method that made them has returned. */
  #later: RealtimeEvent[] = [];
  #stops = 0;
  #callerText: string | undefined;
  #aliveMs = 0;
  #isClosed = false;

  constructor({ url, headers, wire, isSeeded }: GeminiLine, scope: SessionScope) {
    const { context } = scope;
    this.#wire = wire;
    this.#scope = scope;
    this.#isSeeded = isSeeded;
    this.#life = new Deadline(context, () => this.#onDeadline());
    this.#lateWords = new Deadline(context, () => this.#hear(() => wire.wordsAreOver()));
    this.#stopping = new Deadline(context, () => wire.hasStopped());
    this.#quiet = new Deadline(context, () => this.#hear(() => wire.callerIsWritten()));
    this.#soon = new Soon(context, () => this.#hear(() => []));
    this.#onSent = context.bind(() => this.#drain());
    const on = {
      opened: () => this.#opened(),
      message: (data: string | Buffer) => {
        this.#alive();
        this.#hear(() => wire.read(data.toString()));
      },
      alive: () => this.#alive(),
      closed: (code: number, reason: string, error: StageError | undefined) =>
        this.#closed(code, reason, error),
    };
    this.#socket = openSocket({ url, headers, maxMessageBytes: MAX_MESSAGE_BYTES }, { context, on });
    this.#life.set(SETUP_MS);
  }

  beginTurn(): void {
    this.#say(() => this.#wire.beginTurn());
  }

  audio(pcm: Int16Array): void {
    if (this.#isClosed) return;
    for (let at = 0; at < pcm.length; at += PIECE_SAMPLES) {
      const message = this.#wire.audio(pcm.subarray(at, at + PIECE_SAMPLES));
      if (message !== undefined) this.#send(message, true);
    }
  }

  endTurn(turn: number): void {
    this.#say(() => this.#wire.endTurn(turn));
  }

  abandonTurn(): void {
    this.#wire.abandonTurn();
  }

  respond(answer: number): void {
    this.#say(() => this.#wire.respond(answer));
  }

  cancel(): void {
    this.#say(() => this.#wire.cancel());
  }

  append(messages: readonly ChatMessage[]): void {
    this.#say(() => this.#wire.append(messages));
  }

  /** The service has no message for it. */
  truncate(): void {}

  update(changed: Pick<RealtimeSeed, 'instructions' | 'tools'>): void {
    this.#say(() => this.#wire.update(changed));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#stop();
    leave(this.#socket, this.#scope.context.clock, []);
  }

  #stop(): void {
    this.#isClosed = true;
    this.#life.close();
    this.#lateWords.close();
    this.#stopping.close();
    this.#quiet.close();
    this.#soon.close();
    this.#later = [];
  }

  #say(speak: () => readonly WireEvent[]): void {
    if (this.#isClosed) return;
    for (const event of speak()) {
      if (event.type === 'send') this.#send(event.message, event.isSound);
      else this.#later.push(event);
    }
    if (this.#later.length > 0) this.#soon.ask();
    this.#watch();
  }

  #opened(): void {
    this.#socket.send(this.#wire.opened(), this.#onSent);
  }

  /** What came, behind what was to be told before it. */
  #hear(read: () => readonly WireEvent[]): void {
    const later = this.#later;
    this.#later = [];
    for (const event of later) this.#tell(event);
    if (this.#isClosed) return;
    const wasReady = this.#wire.isReady;
    for (const event of read()) {
      if (this.#isClosed) return;
      if (event.type !== 'send') this.#tell(event);
      // The conversation so far goes before all that waited for the session.
      else if (wasReady) this.#send(event.message, event.isSound);
      else this.#socket.send(event.message, this.#onSent);
    }
    if (this.#isClosed) return;
    if (!wasReady && this.#wire.isReady) this.#life.set(PING_MS);
    this.#drain();
    this.#watch();
  }

  #tell(event: RealtimeEvent): void {
    if (this.#isClosed) return;
    if (event.type === 'error') this.#fail(event.error);
    else this.#scope.sink(event);
  }

  #watch(): void {
    const { callerText, stops } = this.#wire;
    if (stops !== this.#stops) this.#stopping.set(STOPPING_MS);
    this.#stops = stops;
    if (callerText !== this.#callerText) {
      this.#callerText = callerText;
      if (callerText === undefined) this.#quiet.clear();
      else this.#quiet.set(QUIET_WORDS_MS);
    }

    if (this.#wire.isEnding) this.#lateWords.set(LATE_WORDS_MS);
    else this.#lateWords.clear();
  }

  #send(message: string, isSound: boolean): void {
    if (!this.#outbox.push({ message, isSound })) {
      this.#later.push({ type: 'error', error: { kind: 'timeout', what: 'send' } });
      this.#soon.ask();
    }
    this.#drain();
  }

  #drain(): void {
    const { readyState, OPEN } = this.#socket;
    if (!this.#wire.isReady || readyState !== OPEN) return;
    while (this.#socket.bufferedAmount < CONGESTED_BYTES) {
      const message = this.#outbox.shift();
      if (message === undefined) return;
      // A callback also keeps a write that fails from throwing; the loss shows in the close.
      this.#socket.send(message, this.#onSent);
    }
  }

  #alive(): void {
    this.#aliveMs = this.#scope.context.clock.now();
  }

  #onDeadline(): void {
    if (!this.#wire.isReady) this.#fail({ kind: 'timeout', what: 'connect' });
    else if (this.#scope.context.clock.now() - this.#aliveMs >= SILENT_MS)
      this.#fail({ kind: 'timeout', what: 'progress' });
    else {
      // Between turns nothing is sent, and what lies between may take the connection for dead.
      this.#socket.ping(undefined, undefined, () => undefined);
      this.#life.set(PING_MS);
    }
  }

  #closed(code: number, reason: string, error: StageError | undefined): void {
    if (this.#isClosed) return;
    const site = { beforeCall: !this.#wire.isReady && !this.#isSeeded };
    const cause = { code: String(code), text: reason };
    const isClosed = error === undefined && code !== 1006;
    this.#fail(
      isClosed
        ? explained(this.#wire.closed(code, reason), cause, site)
        : (error ?? { kind: 'disconnected' }),
    );
  }

  #fail(error: StageError): void {
    if (this.#isClosed) return;
    this.#stop();
    this.#socket.terminate();
    this.#scope.sink({ type: 'error', error });
  }
}
