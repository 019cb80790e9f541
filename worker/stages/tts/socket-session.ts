/**
 * A call's session with a voice that speaks over a WebSocket: contexts in order, one utterance on the wire at a time,
 * so that a pause of the socket holds back nothing but that utterance.
 *
 * Invariant: after `error` and after `close()` nothing is emitted, and nothing from inside a method of the session. A
 * connection that is lost between utterances is replaced silently; a connection that is lost within ends the session,
 * because text that was sent and lost is not its to repeat.
 */
import WebSocket from 'ws';
import { CONNECT_TIMEOUT_MS } from '../connect.ts';
import { causeInText, withCause } from '../failure.ts';
import { Deadline, Soon } from '../timers.ts';
import type { StageContext, StageError, TtsEvent, TtsSession } from '../stage.ts';
import { ContextQueue } from './context-queue.ts';
import { leave, openSocket } from '../vendor-socket.ts';
import { Timeline } from './timeline.ts';
import { closeErrorOf, isSpeakable, type Vendor, type Wire, type WireEvent } from './wire.ts';

const FIRST_AUDIO_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 8_000;
/** Without a word from the server for so long it is asked whether it lives, and given as long to answer. */
const LIVENESS_MS = 10_000;
/** From here on text waits in the bounded queue instead of in the socket. */
const CONGESTED_BYTES = 65_536;
/** So many cancels at a time are still to be answered. */
const CANCEL_ANSWERS = 8;
/** A connection that did not even last so long is opened again only when there is something to say. */
const SHORT_LIFE_MS = 5_000;
/** Connections in a row that were lost with text waiting and without a sound. */
const FRUITLESS_CONNECTIONS = 3;

interface SessionScope {
  readonly context: StageContext;
  readonly sink: (event: TtsEvent) => void;
}

type Link =
  | { readonly state: 'down' }
  | { readonly state: 'connecting'; readonly socket: WebSocket; readonly dueMs: number }
  | { readonly state: 'open'; readonly socket: WebSocket; readonly wire: Wire; readonly sinceMs: number };

/** The context at the head. */
interface Current {
  readonly id: number;
  readonly timeline: Timeline;
  /** Text that waits for something speakable to go with. */
  held: string;
  /** `none`: the server owes nothing of it. */
  utterance: 'none' | 'said' | 'ended';
  sounded: boolean;
}

export class SocketSession implements TtsSession {
  readonly sampleRate: number;
  readonly #vendor: Vendor;
  readonly #scope: SessionScope;
  readonly #deadline: Deadline;
  readonly #soon: Soon;
  readonly #onSent: () => void;
  readonly #queue = new ContextQueue();
  #link: Link = { state: 'down' };
  #current: Current | undefined;
  #notices: TtsEvent[] = [];
  /** Last progress of the utterance, last sign of life and last keep-alive. */
  #progressMs = 0;
  #aliveMs = 0;
  #keptMs = 0;
  #roomMs: number | undefined;
  #pinged = false;
  #everOpened = false;
  #fruitless = 0;
  #isPaused = false;
  #isClosed = false;

  constructor(vendor: Vendor, scope: SessionScope) {
    this.#vendor = vendor;
    this.#scope = scope;
    this.sampleRate = vendor.sampleRate;
    this.#deadline = new Deadline(scope.context, () => this.#onDeadline());
    this.#soon = new Soon(scope.context, () => this.#settle());
    this.#onSent = scope.context.bind(() => {
      if (this.#queue.size > 0) this.#advance();
    });
    this.#connect();
    this.#rearm();
  }

  speak(context: number, text: string): void {
    if (this.#isClosed) return;
    this.#queue.speak(context, text);
    this.#pump();
  }

  flush(context: number): void {
    if (this.#isClosed) return;
    this.#queue.flush(context);
    this.#pump();
  }

  cancel(context: number): void {
    if (this.#isClosed) return;
    this.#queue.cancel(context);
    if (this.#current?.id === context) {
      if (this.#current.utterance !== 'none' && this.#link.state === 'open')
        this.#send(this.#link.wire.cancel());
      this.#current = undefined;
    }
    const others = this.#notices.filter((notice) => notice.type === 'error' || notice.context !== context);
    const answers = others.filter((notice) => notice.type === 'cancelled');
    const oldest = answers.length >= CANCEL_ANSWERS ? answers[0] : undefined;
    this.#notices = others.filter((notice) => notice !== oldest);
    this.#notices.push({ type: 'cancelled', context });
    this.#pump();
  }

  pause(): void {
    this.#isPaused = true;
    this.#applyPause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    // A server is not slow because nobody reads what it sends.
    this.#progressMs = this.#aliveMs = this.#now();
    this.#applyPause();
    this.#rearm();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deadline.close();
    this.#soon.close();
    this.#notices = [];
    const link = this.#link;
    this.#link = { state: 'down' };
    if (link.state === 'connecting') link.socket.terminate();
    if (link.state !== 'open') return;
    const stop = this.#current === undefined || this.#current.utterance === 'none' ? [] : link.wire.cancel();
    leave(link.socket, this.#scope.context.clock, [...stop, ...this.#vendor.goodbye]);
  }

  #now(): number {
    return this.#scope.context.clock.now();
  }

  #connect(): void {
    const socket = openSocket(this.#vendor, {
      context: this.#scope.context,
      on: {
        opened: () => this.#ifCurrent(socket, () => this.#onOpen(socket)),
        message: (data) => this.#ifCurrent(socket, () => this.#onMessage(data)),
        alive: () => this.#ifCurrent(socket, () => this.#noteLife()),
        closed: (code, reason, error) =>
          this.#ifCurrent(socket, () => this.#onLost(error ?? closeErrorOf(this.#vendor, code, reason))),
      },
    });
    this.#link = { state: 'connecting', socket, dueMs: this.#now() + CONNECT_TIMEOUT_MS };
  }

  #ifCurrent(socket: WebSocket, action: () => void): void {
    if (!this.#isClosed && this.#link.state !== 'down' && this.#link.socket === socket) action();
  }

  #onOpen(socket: WebSocket): void {
    this.#everOpened = true;
    const sinceMs = this.#now();
    this.#link = { state: 'open', socket, wire: this.#vendor.newWire(), sinceMs };
    this.#keptMs = sinceMs;
    this.#noteLife();
    this.#advance();
  }

  #noteLife(): void {
    this.#aliveMs = this.#now();
    this.#pinged = false;
  }

  #onMessage(data: string | Buffer): void {
    if (this.#link.state !== 'open') return;
    this.#noteLife();
    const events = withCause(this.#link.wire.receive(data), () => causeInText(data.toString()));
    for (const event of events) if (!this.#isClosed) this.#onWire(event);
    if (!this.#isClosed) this.#advance();
  }

  #onWire(event: WireEvent): void {
    const current = this.#current;
    if (event.type === 'failed') {
      this.#onLost(event.error);
      return;
    }
    if (current === undefined || event.type === 'free') return;
    this.#progressMs = this.#now();
    if (event.type === 'audio') {
      if (event.pcm.length > 0) {
        current.sounded = true;
        this.#fruitless = 0;
      }
      this.#notices.push(...current.timeline.audio(event.pcm));
    } else if (event.type === 'words') {
      this.#notices.push(...current.timeline.words(event.words, event.base));
    } else if (event.type === 'settled') this.#notices.push(...current.timeline.settled());
    else this.#onUtteranceEnd(current);
    this.#settle();
  }

  #onUtteranceEnd(current: Current): void {
    this.#notices.push(...current.timeline.finished());
    const done = current.utterance === 'ended';
    current.utterance = 'none';
    if (!done) return;
    this.#current = undefined;
    this.#queue.shift();
    this.#notices.push({ type: 'flushed', context: current.id });
  }

  /** Sends what can be sent, and tells what needs no server. */
  #pump(): void {
    while (!this.#isClosed && this.#step());
    this.#applyPause();
    this.#rearm();
    if (this.#notices.length > 0) this.#soon.ask();
  }

  #advance(): void {
    this.#pump();
    this.#settle();
  }

  #step(): boolean {
    const head = this.#queue.head;
    if (head === undefined) return false;
    const { id } = head;
    if (this.#current?.id !== id) {
      const timeline = new Timeline(id, this.sampleRate);
      this.#current = { id, timeline, held: '', utterance: 'none', sounded: false };
    }
    const current = this.#current;
    const piece = head.pieces[0];
    if (current.utterance === 'ended') return false;
    if (piece !== undefined) {
      const text = current.held + piece;
      if (isSpeakable(text) && !this.#say(current, text)) return false;
      head.pieces.shift();
      current.timeline.add(piece);
      current.held = isSpeakable(text) ? '' : text;
      return true;
    }
    if (!head.flushed) return false;
    if (current.utterance === 'none') {
      this.#onUtteranceEnd({ ...current, utterance: 'ended' });
      return true;
    }
    if (this.#link.state !== 'open') return false;
    this.#send(this.#link.wire.end(current.held, this.#now()));
    current.utterance = 'ended';
    this.#progressMs = this.#now();
    return false;
  }

  /** False when the text has to wait. */
  #say(current: Current, text: string): boolean {
    if (this.#link.state === 'down') this.#connect();
    const link = this.#link;
    if (link.state !== 'open' || link.socket.bufferedAmount > CONGESTED_BYTES) return false;
    const now = this.#now();
    const { maxGapMs } = this.#vendor;
    const goesStale = maxGapMs !== undefined && now - this.#progressMs > maxGapMs;
    if (current.utterance === 'said' && goesStale && current.timeline.isComplete) {
      this.#send(link.wire.cancel());
      current.utterance = 'none';
    }
    if (current.utterance === 'none') {
      if (link.wire.isWorn) {
        this.#replace(link.socket);
        return false;
      }
      if (!link.wire.canBegin) {
        this.#roomMs ??= now;
        return false;
      }
      this.#roomMs = undefined;
      current.timeline.begin();
      current.utterance = 'said';
      current.sounded = false;
      this.#progressMs = now;
    }
    this.#send(link.wire.say(text, now));
    return true;
  }

  #send(messages: readonly string[]): void {
    if (this.#link.state !== 'open') return;
    for (const message of messages) this.#link.socket.send(message, this.#onSent);
  }

  #replace(socket: WebSocket): void {
    this.#roomMs = undefined;
    leave(socket, this.#scope.context.clock, this.#vendor.goodbye);
    this.#connect();
  }

  /** What is read while nothing of a wanted utterance is on its way is thrown away, so it need not wait. */
  #applyPause(): void {
    if (this.#link.state !== 'open') return;
    const held = this.#isPaused && this.#current !== undefined && this.#current.utterance !== 'none';
    if (held === this.#link.socket.isPaused) return;
    if (held) this.#link.socket.pause();
    else this.#link.socket.resume();
  }

  /** The connection is of no more use. */
  #onLost(error: StageError): void {
    const link = this.#link;
    if (link.state === 'down') return;
    this.#link = { state: 'down' };
    this.#roomMs = undefined;
    link.socket.terminate();
    const within = this.#current !== undefined && this.#current.utterance !== 'none';
    const waits = this.#queue.size > 0;
    if (within || !this.#everOpened || (waits && link.state === 'connecting')) {
      this.#fail(error);
      return;
    }
    this.#fruitless += 1;
    if (waits && this.#fruitless >= FRUITLESS_CONNECTIONS) this.#fail(error);
    else if (waits || (link.state === 'open' && this.#now() - link.sinceMs >= SHORT_LIFE_MS)) this.#connect();
    this.#rearm();
  }

  /** When each thing that can be late is due. */
  #dues(): { readonly atMs: number; readonly passed: () => void }[] {
    const link = this.#link;
    const current = this.#current;
    const vendor = this.#vendor;
    if (link.state === 'connecting') {
      return [{ atMs: link.dueMs, passed: () => this.#onLost({ kind: 'timeout', what: 'connect' }) }];
    }
    if (link.state === 'down') return [];
    const dues = [];
    if (vendor.keepAliveMs !== undefined) {
      dues.push({ atMs: this.#keptMs + vendor.keepAliveMs, passed: () => this.#keepAlive() });
    }
    if (this.#roomMs !== undefined) {
      dues.push({ atMs: this.#roomMs + vendor.roomTimeoutMs, passed: () => this.#replace(link.socket) });
    }
    if (link.socket.isPaused) return dues;
    dues.push({ atMs: this.#aliveMs + LIVENESS_MS, passed: () => this.#checkLife(link.socket) });
    if (current === undefined || current.utterance === 'none') return dues;
    const owes = current.utterance === 'ended' || (vendor.speaksUnflushed && !current.sounded);
    const limitMs = current.sounded ? IDLE_TIMEOUT_MS : FIRST_AUDIO_TIMEOUT_MS;
    const what = current.sounded ? 'idle' : 'first audio';
    if (owes) {
      dues.push({ atMs: this.#progressMs + limitMs, passed: () => this.#onLost({ kind: 'timeout', what }) });
    }
    return dues;
  }

  #keepAlive(): void {
    this.#keptMs = this.#now();
    if (this.#link.state === 'open') this.#send(this.#link.wire.keepAlive());
  }

  #checkLife(socket: WebSocket): void {
    if (this.#pinged) {
      this.#onLost({ kind: 'disconnected' });
      return;
    }
    this.#pinged = true;
    this.#aliveMs = this.#now();
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }

  #rearm(): void {
    if (this.#isClosed) return;
    const atMs = Math.min(...this.#dues().map((due) => due.atMs));
    if (atMs === Number.POSITIVE_INFINITY) this.#deadline.clear();
    else this.#deadline.setAt(atMs);
  }

  #onDeadline(): void {
    const now = this.#now();
    for (const due of this.#dues()) if (!this.#isClosed && due.atMs <= now) due.passed();
    if (!this.#isClosed) this.#advance();
  }

  #settle(): void {
    for (let next = this.#notices.shift(); next !== undefined; next = this.#notices.shift()) {
      if (!this.#isClosed) this.#scope.sink(next);
    }
  }

  #fail(error: StageError): void {
    this.#settle();
    if (!this.#isClosed) this.#scope.sink({ type: 'error', error });
    this.close();
  }
}
