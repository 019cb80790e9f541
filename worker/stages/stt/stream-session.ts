/**
 * The session of a streaming recogniser behind a WebSocket: connects, queues, watches and reconnects, while the
 * vendor's {@link SttWire} says what goes over the wire.
 *
 * Invariant: every `finalize()` ends in exactly one `finalized`, in order and within its time limit, unless the session
 * dies first. Audio that follows a finalize waits until the server has closed that utterance, so that its words cannot
 * be taken for those of the one before. It reconnects only between utterances: audio that was sent and lost is not its
 * to repeat.
 */
import { ENGINE_RATE } from '../../../shared/base/units.ts';
import { newResampler, type Resampler } from '../../../shared/audio/resampler.ts';
import { CONNECT_TIMEOUT_MS } from '../connect.ts';
import { Deadline, Soon } from '../timers.ts';
import type { StageContext, StageError, SttEvent, SttSession } from '../stage.ts';
import { InputQueue, type UtteranceEnd } from './input-queue.ts';
import { LineWatch } from './line-watch.ts';
import type { Closing, Connection } from './socket.ts';
import type { SttVendor } from './vendor.ts';
import { closeErrorOf, finalized, readText, type Outgoing, type SttWire, type WireEvent } from './wire.ts';

// The states of a session's way to its recogniser. Times in milliseconds of the call's clock.

/** One connection and what goes over it. */
interface Line {
  readonly connection: Connection;
  readonly wire: SttWire;
}

type Link =
  | { readonly state: 'down'; readonly retryAtMs: number }
  | ({ readonly state: 'connecting'; readonly dueMs: number } & Line)
  | ({ readonly state: 'open' } & Line)
  /** The wire was asked to finalize. */
  | ({ readonly state: 'finishing'; readonly dueMs: number; readonly sinceMs: number } & Line)
  /** The utterance is finalized, but the server does not take audio of the next one yet. */
  | ({ readonly state: 'settling'; readonly dueMs: number } & Line);

/** How long a server that has told everything is given to show that there was one more word. */
const ONE_MORE_WORD_MS = 250;

/** Until when the end of an utterance is waited for. */
const finishDueMs = ({ wire, dueMs, sinceMs }: Extract<Link, { state: 'finishing' }>): number =>
  wire.isTold?.() === true ? Math.min(dueMs, sinceMs + ONE_MORE_WORD_MS) : dueMs;

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5_000;

/** How long to wait after so many connects have failed before, and now another one. */
const retryPauseMs = (failedBefore: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** failedBefore, LAST_RETRY_MS);

/** From here on audio waits in the bounded queue, where the oldest goes, and not in the socket, where none can. */
const CONGESTED_FRAMES = 4;

interface SessionScope {
  readonly context: StageContext;
  readonly sink: (event: SttEvent) => void;
}

export class StreamSession implements SttSession {
  readonly #vendor: SttVendor;
  readonly #scope: SessionScope;
  readonly #deadline: Deadline;
  readonly #soon: Soon;
  readonly #frames: PcmFrames;
  readonly #resampler: Resampler | undefined;
  readonly #queue = new InputQueue();
  readonly hasRoom = (): boolean => this.#queue.hasRoom;
  readonly #onSent: () => void;
  readonly #congestedBytes: number;
  #link: Link = { state: 'down', retryAtMs: 0 };
  /** What the wire said inside a method of the session; it is delivered soon after. */
  #late: readonly WireEvent[] = [];
  /** Audio came since the last `finalize()`. */
  #heard = false;
  /** This connection has been given audio of an utterance whose end it was not told. */
  #sent = false;
  #dropped = false;
  #everConnected = false;
  #failedConnects = 0;
  #isClosed = false;
  readonly #watch = new LineWatch();

  constructor(vendor: SttVendor, scope: SessionScope) {
    this.#vendor = vendor;
    this.#scope = scope;
    const rate = vendor.sampleRate;
    const samplesPerFrame = Math.floor((rate * vendor.frameMs) / 1000);
    this.#congestedBytes = CONGESTED_FRAMES * samplesPerFrame * Int16Array.BYTES_PER_ELEMENT;
    this.#frames = new PcmFrames(samplesPerFrame, (frame) => this.#onFrame(frame));
    this.#resampler = rate === ENGINE_RATE ? undefined : newResampler({ from: ENGINE_RATE, to: rate });
    this.#deadline = new Deadline(scope.context, () => this.#onDeadline());
    this.#soon = new Soon(scope.context, () => this.#deliverLate());
    this.#onSent = scope.context.bind(() => {
      if (this.#queue.head !== undefined) this.#pumpUnlessClosed();
    });
    this.#connect();
    this.#rearm();
  }

  audio(pcm: Int16Array): boolean {
    if (this.#isClosed) return false;
    if (pcm.length === 0) return true;
    this.#dropped = false;
    const starts = !this.#heard;
    this.#heard = true;
    this.#frames.push(this.#resampler?.process(pcm) ?? pcm);
    if (starts) this.#retry();
    return !this.#dropped;
  }

  finalize(): void {
    if (this.#isClosed) return;
    if (this.#heard && this.#resampler !== undefined) this.#frames.push(this.#resampler.flush());
    this.#frames.flush(this.#vendor.onlyWholeFrames === true);
    const dueMs = this.#now() + this.#vendor.finalizeTimeoutMs;
    this.#queue.push({ type: 'end', dueMs, isEmpty: !this.#heard });
    this.#heard = false;
    this.#pump();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deadline.close();
    this.#soon.close();
    this.#leave();
  }

  #now(): number {
    return this.#scope.context.clock.now();
  }

  /** Audio of an utterance was given that no `finalized` has answered yet, apart from one that is being finished. */
  get #isUnderWay(): boolean {
    const end = this.#queue.firstEnd;
    return this.#heard || this.#queue.hasFrames || (end !== undefined && !end.isEmpty);
  }

  #onFrame(frame: Int16Array): void {
    const link = this.#link;
    if (link.state === 'open' && this.#queue.head === undefined && this.#takes(link.connection)) {
      this.#sendFrame(link, frame);
      return;
    }
    this.#queue.push({ type: 'frame', frame });
    if (this.#queue.trim()) this.#dropped = true;
    this.#pump();
  }

  /** Sends what may be sent now. Emits nothing, because methods of the session call it. */
  #pump(): void {
    for (let head = this.#queue.head; head !== undefined; head = this.#queue.head) {
      const link = this.#link;
      if (head.type === 'end' && head.isEmpty) {
        if (link.state !== 'finishing') this.#soon.ask();
        break;
      }
      if (link.state !== 'open' || !this.#takes(link.connection)) break;
      this.#queue.shift();
      if (head.type === 'frame') this.#sendFrame(link, head.frame);
      else this.#finish(link, head);
    }
    this.#retry();
  }

  #takes(connection: Connection): boolean {
    const isFree = connection.isOpen && connection.bufferedBytes < this.#congestedBytes;
    return isFree && this.#now() >= this.#watch.frameAtMs;
  }

  #sendFrame({ connection, wire }: Line, frame: Int16Array): void {
    const { burstMs, sampleRate } = this.#vendor;
    if (!this.#sent) this.#watch.expect(this.#now());
    this.#sent = true;
    this.#watch.gave(this.#now(), { frameMs: (frame.length * 1000) / sampleRate, burstMs });
    for (const message of wire.audio(frame)) this.#send(connection, message);
    this.#rearm();
  }

  #send(connection: Connection, message: Outgoing): void {
    this.#watch.sent(this.#now());
    connection.send(message, this.#onSent);
  }

  #finish({ connection, wire }: Line, end: UtteranceEnd): void {
    this.#sent = false;
    this.#link = { state: 'finishing', connection, wire, dueMs: end.dueMs, sinceMs: this.#now() };
    const answers: WireEvent[] = [];
    for (const event of wire.finalize()) {
      if (event.type === 'send') this.#send(connection, event.message);
      else answers.push(event);
    }
    this.#ping(connection);
    if (answers.length === 0) return;
    this.#late = [...this.#late, ...answers];
    this.#soon.ask();
  }

  /** What could be answered without the server, in its turn. */
  #deliverLate(): void {
    const late = this.#late;
    const link = this.#link;
    this.#late = [];
    if (late.length > 0 && link.state !== 'down') this.#apply(link.connection, late);
    while (!this.#isClosed && this.#link.state !== 'finishing') {
      const head = this.#queue.head;
      if (head?.type !== 'end' || !head.isEmpty) break;
      this.#queue.shift();
      this.#scope.sink({ type: 'finalized' });
    }
    this.#pumpUnlessClosed();
  }

  #connect(): void {
    const wire = this.#vendor.newWire();
    const connection: Connection = this.#vendor.dial(this.#scope.context, {
      opened: () => this.#ifCurrent(connection, () => this.#apply(connection, wire.opened?.() ?? [])),
      text: (text) => this.#ifCurrent(connection, () => this.#onText({ connection, wire }, text)),
      alive: () => this.#ifCurrent(connection, () => this.#onAlive()),
      closed: (closing) => this.#ifCurrent(connection, () => this.#onClose(wire, closing)),
    });
    this.#sent = false;
    this.#late = [];
    this.#watch.begin(this.#now());
    this.#link = { state: 'connecting', connection, wire, dueMs: this.#now() + CONNECT_TIMEOUT_MS };
  }

  /** Connects when there is something to send, now or when the pause after the last failure is over. */
  #retry(): void {
    const link = this.#link;
    if (link.state === 'down' && this.#isUnderWay && this.#now() >= link.retryAtMs) this.#connect();
    this.#rearm();
  }

  #isCurrent(connection: Connection): boolean {
    return !this.#isClosed && this.#link.state !== 'down' && this.#link.connection === connection;
  }

  #ifCurrent(connection: Connection, action: () => void): void {
    if (this.#isCurrent(connection)) action();
  }

  #onAlive(): void {
    this.#watch.alive(this.#now());
    this.#rearm();
  }

  #onText({ connection, wire }: Line, text: string): void {
    this.#onAlive();
    this.#apply(connection, readText(wire, text));
  }

  /** Does what the wire says, as long as it is about the connection that the session has. */
  #apply(connection: Connection, events: readonly WireEvent[]): void {
    for (const event of events) {
      if (!this.#isCurrent(connection)) return;
      this.#applyOne(connection, event);
    }
    this.#pumpUnlessClosed();
  }

  #applyOne(connection: Connection, event: WireEvent): void {
    const link = this.#link;
    switch (event.type) {
      case 'ready':
        if (link.state === 'connecting') this.#onReady(link);
        else if (link.state === 'settling') this.#link = { state: 'open', connection, wire: link.wire };
        return;
      case 'send':
        this.#send(connection, event.message);
        return;
      case 'transcript':
        this.#scope.sink(this.#watch.placed(event));
        return;
      case 'finalized':
        if (link.state !== 'finishing') return;
        this.#link = event.isSettling
          ? { ...link, state: 'settling' }
          : { state: 'open', connection, wire: link.wire };
        this.#scope.sink({ type: 'finalized' });
        return;
      case 'error':
        connection.terminate();
        this.#lost(event.error);
    }
  }

  #onReady({ connection, wire }: Line): void {
    this.#everConnected = true;
    this.#failedConnects = 0;
    this.#watch.begin(this.#now());
    this.#link = { state: 'open', connection, wire };
  }

  #onClose(wire: SttWire, closing: Closing): void {
    const answer = wire.answeredByClose?.(closing.code);
    if (answer === undefined) {
      this.#lost(closeErrorOf(wire, closing));
      return;
    }
    // The server closes after each utterance: the next one finds a connection already there.
    this.#connect();
    this.#deliver(answer);
    this.#pumpUnlessClosed();
  }

  /** The connection is gone or useless. Between utterances that is nobody's loss, unless the server broke its rules. */
  #lost(error: StageError): void {
    if (this.#link.state === 'connecting') {
      this.#connectFailed(error);
      return;
    }
    if (this.#link.state === 'finishing' || this.#sent || error.kind === 'protocol') {
      this.#fail(error);
      return;
    }
    this.#link = { state: 'down', retryAtMs: this.#now() };
    this.#pumpUnlessClosed();
  }

  /** Without anything to hear, a failed connect is tried again when there is something. */
  #connectFailed(error: StageError): void {
    if (!this.#everConnected || this.#isUnderWay) {
      this.#fail(error);
      return;
    }
    this.#link = { state: 'down', retryAtMs: this.#now() + retryPauseMs(this.#failedConnects) };
    this.#failedConnects += 1;
    this.#pumpUnlessClosed();
  }

  #pumpUnlessClosed(): void {
    if (!this.#isClosed) this.#pump();
  }

  #ping(connection: Connection): void {
    this.#watch.asked(this.#now());
    connection.ping();
  }

  /** The earliest thing that is due; the session's one timer waits for it. */
  #rearm(): void {
    if (!this.#isClosed) this.#deadline.setAt(Math.min(...this.#dueTimes()));
  }

  #dueTimes(): number[] {
    const link = this.#link;
    const end = this.#queue.firstEnd;
    const due = end === undefined || end.isEmpty ? [] : [end.dueMs];
    if (link.state === 'down') return [...due, this.#isUnderWay ? link.retryAtMs : Infinity];
    if (link.state === 'connecting' || link.state === 'settling') return [...due, link.dueMs];
    due.push(this.#watch.patienceEndsMs(this.#sent), this.#watch.keepAliveAtMs(this.#vendor.keepAliveMs));
    if (link.state === 'finishing') return [...due, finishDueMs(link)];
    // Audio that waits for anything but its pace is sent on when the socket has room.
    const isHeld = this.#queue.head !== undefined && this.#watch.frameAtMs > this.#now();
    return isHeld ? [...due, this.#watch.frameAtMs] : due;
  }

  #onDeadline(): void {
    const now = this.#now();
    const link = this.#link;
    const endDueMs = this.#queue.firstEnd?.dueMs ?? Infinity;
    if (link.state === 'connecting' && now >= link.dueMs) {
      link.connection.terminate();
      this.#connectFailed({ kind: 'timeout', what: 'connect' });
    } else if (link.state === 'finishing' && now >= finishDueMs(link)) {
      this.#finishExpired(link);
    } else if (link.state === 'settling' && now >= link.dueMs) {
      link.connection.leave(this.#scope.context.clock, link.wire.goodbye?.() ?? []);
      this.#connect();
    } else if (now >= endDueMs && this.#isUnderWay) {
      // Its audio never reached the server: the owner of the session still has it.
      this.#fail({ kind: 'timeout', what: link.state === 'connecting' ? 'connect' : 'finalize' });
    } else if (link.state === 'open' || link.state === 'finishing') {
      this.#look(link);
    }
    this.#pumpUnlessClosed();
  }

  #finishExpired({ connection, wire }: Line): void {
    if (wire.isTold?.() === true) this.#apply(connection, [...wire.expired(), finalized]);
    else if (this.#watch.isAsked) this.#fail({ kind: 'timeout', what: 'finalize' });
    else {
      // Results that this connection still brings belong to the past; a new one cannot mix them into the next utterance.
      connection.leave(this.#scope.context.clock, wire.goodbye?.() ?? []);
      this.#connect();
      this.#deliver([...wire.expired(), { type: 'finalized', isLate: true }]);
    }
  }

  #deliver(events: readonly SttEvent[]): void {
    for (const event of events) if (!this.#isClosed) this.#scope.sink(event);
  }

  #look({ connection, wire }: Line): void {
    const now = this.#now();
    if (now >= this.#watch.patienceEndsMs(this.#sent)) {
      if (this.#watch.isAsked) {
        connection.terminate();
        this.#lost({ kind: 'timeout', what: 'progress' });
      } else this.#ping(connection);
    } else if (now >= this.#watch.keepAliveAtMs(this.#vendor.keepAliveMs)) {
      this.#watch.sent(now);
      for (const message of wire.keepAlive?.() ?? []) this.#send(connection, message);
      this.#ping(connection);
    }
  }

  #leave(): void {
    const link = this.#link;
    if (link.state !== 'down') {
      const lastWords = link.state === 'connecting' ? [] : (link.wire.goodbye?.() ?? []);
      link.connection.leave(this.#scope.context.clock, lastWords);
    }
    this.#link = { state: 'down', retryAtMs: 0 };
  }

  #fail(error: StageError): void {
    this.#isClosed = true;
    this.#deadline.close();
    this.#soon.close();
    this.#leave();
    this.#scope.sink({ type: 'error', error });
  }
}

/**
 * Collects 16-bit samples into frames of one size. A frame is handed over for good, so that it can wait in a queue or
 * in a socket without a copy. Pure.
 */
class PcmFrames {
  readonly #samplesPerFrame: number;
  readonly #emit: (frame: Int16Array) => void;
  #frame: Int16Array;
  #filled = 0;

  constructor(samplesPerFrame: number, emit: (frame: Int16Array) => void) {
    this.#samplesPerFrame = samplesPerFrame;
    this.#emit = emit;
    this.#frame = new Int16Array(samplesPerFrame);
  }

  push(pcm: Int16Array): void {
    let at = 0;
    while (at < pcm.length) {
      const taken = Math.min(pcm.length - at, this.#samplesPerFrame - this.#filled);
      this.#frame.set(pcm.subarray(at, at + taken), this.#filled);
      at += taken;
      this.#filled += taken;
      if (this.#filled === this.#samplesPerFrame) this.#handOver(this.#frame);
    }
  }

  /** Hands over what has been collected, if anything; `whole` fills the frame up with silence. */
  flush(whole: boolean): void {
    if (this.#filled === 0) return;
    this.#handOver(whole ? this.#frame : this.#frame.subarray(0, this.#filled));
  }

  #handOver(frame: Int16Array): void {
    this.#frame = new Int16Array(this.#samplesPerFrame);
    this.#filled = 0;
    this.#emit(frame);
  }
}
