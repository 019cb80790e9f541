/**
 * The STT stage over a streaming recogniser on this machine or network (spec 03, `stt_local_ws`).
 *
 * Invariant: every `finalize()` ends in exactly one `finalized`, in order and within its time limit, unless the session
 * dies first, as it does when nothing tells that the server has heard the utterance. Audio that follows a finalize waits until the server has closed that utterance, because a server may die
 * of samples for a finished stream. It must not send any text but the end marker, and it reconnects only between
 * utterances: audio that was sent and lost is not its to repeat.
 */
import WebSocket from 'ws';
import type { SttLocalWsOptions } from '../../../shared/config/stages/stt-local-ws.ts';
import { newResampler } from '../../../shared/audio/resampler.ts';
import type { Resampler } from '../../../shared/audio/resampler.ts';
import { ENGINE_RATE } from '../../../shared/base/units.ts';
import { CONNECT_TIMEOUT_MS } from '../connect.ts';
import { Deadline, Soon, bearerHeaders, urlUnder } from '../http.ts';
import type { StageContext, StageError, SttEvent, SttSession, SttStage } from '../stage.ts';
import { InputQueue } from './input-queue.ts';
import type { UtteranceEnd } from './input-queue.ts';
import { LineWatch } from './line-watch.ts';
import { DONE, FloatFrames, Transcripts, parseServerMessage } from './local-ws-protocol.ts';
import type { Closing } from './socket.ts';
import { openSocket, sayGoodbye } from './socket.ts';

const FRAME_MS = 100;
/** From here on audio waits in the bounded queue, where the oldest goes, and not in the socket, where none can. */
const CONGESTED_FRAMES = 4;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5_000;

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newSttLocalWs(options: SttLocalWsOptions & { apiKey?: string }): SttStage {
  const url = urlUnder(options.baseUrl, options.path);
  const server: Server = { url, headers: bearerHeaders(url, options.apiKey), options };
  return {
    provider: 'stt_local_ws',
    open: (context, sink) => new LocalWsSession(server, { context, sink }),
    close: () => Promise.resolve(),
  };
}

interface Server {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: SttLocalWsOptions;
}

type Link =
  | { readonly state: 'down'; readonly retryAtMs: number }
  | { readonly state: 'connecting'; readonly socket: WebSocket; readonly dueMs: number }
  | { readonly state: 'open'; readonly socket: WebSocket }
  /** The end marker was sent; `answered` when `finalized` was emitted and only the server's own marker is missing. */
  | {
      readonly state: 'finishing';
      readonly socket: WebSocket;
      readonly dueMs: number;
      readonly answered: boolean;
    };

interface SessionScope {
  readonly context: StageContext;
  readonly sink: (event: SttEvent) => void;
}

class LocalWsSession implements SttSession {
  private readonly server: Server;
  private readonly scope: SessionScope;
  private readonly deadline: Deadline;
  private readonly soon: Soon;
  private readonly frames: FloatFrames;
  private readonly resampler: Resampler | undefined;
  private readonly transcripts = new Transcripts();
  private readonly queue = new InputQueue<Float32Array>();
  private readonly watch = new LineWatch();
  private readonly onSent: () => void;
  private readonly congestedBytes: number;
  private link: Link = { state: 'down', retryAtMs: 0 };
  /** Audio came since the last `finalize()`. */
  private heard = false;
  /** This connection has been given audio of an utterance whose end it was not told. */
  private sent = false;
  private dropped = false;
  private everConnected = false;
  private failedConnects = 0;
  private isClosed = false;

  constructor(server: Server, scope: SessionScope) {
    this.server = server;
    this.scope = scope;
    const rate = server.options.sampleRate;
    const samplesPerFrame = Math.floor((rate * FRAME_MS) / 1000);
    this.congestedBytes = CONGESTED_FRAMES * samplesPerFrame * Float32Array.BYTES_PER_ELEMENT;
    this.frames = new FloatFrames(samplesPerFrame, (frame) => this.onFrame(frame));
    this.resampler = rate === ENGINE_RATE ? undefined : newResampler({ from: ENGINE_RATE, to: rate });
    this.deadline = new Deadline(scope.context, () => this.onDeadline());
    this.soon = new Soon(scope.context, () => this.answerEmpty());
    this.onSent = scope.context.bind(() => {
      if (this.queue.head !== undefined) this.pump();
    });
    this.connect();
    this.rearm();
  }

  audio(pcm: Int16Array): boolean {
    if (this.isClosed) return false;
    if (pcm.length === 0) return true;
    this.dropped = false;
    const starts = !this.heard;
    this.heard = true;
    this.frames.push(this.resampler?.process(pcm) ?? pcm);
    if (starts && this.link.state === 'down') this.retry();
    return !this.dropped;
  }

  hasRoom(): boolean {
    return this.queue.hasRoom;
  }

  finalize(): void {
    if (this.isClosed) return;
    if (this.heard && this.resampler !== undefined) this.frames.push(this.resampler.flush());
    this.frames.flush();
    const dueMs = this.now() + this.server.options.finalizeTimeoutMs;
    this.queue.push({ type: 'end', dueMs, isEmpty: !this.heard });
    this.heard = false;
    this.pump();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.deadline.close();
    this.soon.close();
    if (this.link.state !== 'down') sayGoodbye(this.link.socket, this.scope.context.clock);
    this.link = { state: 'down', retryAtMs: 0 };
  }

  private now(): number {
    return this.scope.context.clock.now();
  }

  /** Audio of an utterance was given that no `finalized` has answered yet, apart from one that is being finished. */
  private get isUnderWay(): boolean {
    const end = this.queue.firstEnd;
    return this.heard || this.queue.hasFrames || (end !== undefined && !end.isEmpty);
  }

  private onFrame(frame: Float32Array): void {
    const { link } = this;
    if (link.state === 'open' && this.queue.head === undefined && this.takes(link.socket)) {
      this.send(link.socket, frame);
      return;
    }
    this.queue.push({ type: 'frame', frame });
    if (this.queue.trim()) this.dropped = true;
    this.pump();
  }

  /** Sends what may be sent now. Emits nothing, because methods of the session call it. */
  private pump(): void {
    for (let head = this.queue.head; head !== undefined; head = this.queue.head) {
      if (head.type === 'end' && head.isEmpty) {
        if (!this.awaitsAnswer()) this.soon.ask();
        break;
      }
      const { link } = this;
      if (link.state !== 'open' || !this.takes(link.socket)) break;
      this.queue.shift();
      if (head.type === 'frame') this.send(link.socket, head.frame);
      else this.finish(link.socket, head);
    }
    if (this.link.state === 'down' && this.isUnderWay) this.retry();
    else this.rearm();
  }

  private send(socket: WebSocket, frame: Float32Array): void {
    if (!this.sent) {
      this.watch.expect(this.now());
      this.sent = true;
      this.rearm();
    }
    socket.send(frame, this.onSent);
  }

  /** False also while the server's close is on its way here: what is sent then would vanish unnoticed. */
  private takes(socket: WebSocket): boolean {
    return socket.readyState === WebSocket.OPEN && socket.bufferedAmount < this.congestedBytes;
  }

  private awaitsAnswer(): boolean {
    return this.link.state === 'finishing' && !this.link.answered;
  }

  private finish(socket: WebSocket, end: UtteranceEnd): void {
    const { sampleRate, finalizePaddingMs } = this.server.options;
    const padding = Math.floor((sampleRate * finalizePaddingMs) / 1000);
    if (padding > 0) socket.send(new Float32Array(padding), this.onSent);
    socket.send(DONE, this.onSent);
    this.ask(socket);
    this.sent = false;
    this.link = { state: 'finishing', socket, dueMs: end.dueMs, answered: false };
  }

  /** Ends of utterances without audio are answered without the server, in their turn. */
  private answerEmpty(): void {
    while (!this.awaitsAnswer()) {
      const head = this.queue.head;
      if (head?.type !== 'end' || !head.isEmpty) break;
      this.queue.shift();
      this.emit([{ type: 'finalized' }]);
    }
    if (!this.isClosed) this.pump();
  }

  private connect(): void {
    const { context } = this.scope;
    const socket = openSocket(this.server.url, this.server.headers, {
      context,
      on: {
        opened: () => this.ifCurrent(socket, () => this.onOpen(socket)),
        text: (text) => this.ifCurrent(socket, () => this.onText(text)),
        alive: () => this.ifCurrent(socket, () => this.onAlive()),
        closed: (closing) => this.ifCurrent(socket, () => this.onClose(closing)),
      },
    });
    this.sent = false;
    this.watch.begin(this.now());
    this.link = { state: 'connecting', socket, dueMs: this.now() + CONNECT_TIMEOUT_MS };
  }

  /** Connects, now or when the pause after the last failure is over. */
  private retry(): void {
    if (this.link.state === 'down' && this.now() >= this.link.retryAtMs) this.connect();
    this.rearm();
  }

  private ifCurrent(socket: WebSocket, action: () => void): void {
    if (!this.isClosed && this.link.state !== 'down' && this.link.socket === socket) action();
  }

  private onOpen(socket: WebSocket): void {
    this.everConnected = true;
    this.failedConnects = 0;
    this.transcripts.reset();
    this.link = { state: 'open', socket };
    this.pump();
  }

  private onAlive(): void {
    this.watch.alive(this.now());
    this.rearm();
  }

  private ask(socket: WebSocket): void {
    this.watch.asked(this.now());
    socket.ping(undefined, undefined, () => undefined);
  }

  private onText(text: string): void {
    this.onAlive();
    const message = parseServerMessage(text);
    const { link } = this;
    if (message === undefined)
      this.fail({ kind: 'protocol', rule: 'a message is a result or the end marker' });
    else if (message.type === 'result') {
      if (link.state === 'finishing' && link.answered) return;
      const heard = this.transcripts.result(message, link.state === 'finishing');
      if (link.state === 'finishing' && message.isEof) {
        this.link = { ...link, answered: true };
        this.emit([...heard, ...this.lastWords()]);
        this.pumpUnlessClosed();
      } else this.emit(heard);
    } else if (link.state === 'finishing') {
      const last = link.answered ? [] : this.lastWords();
      this.transcripts.reset();
      this.link = { state: 'open', socket: link.socket };
      this.emit(last);
      this.pumpUnlessClosed();
    }
  }

  private lastWords(): SttEvent[] {
    return [...this.transcripts.take(true), { type: 'finalized' }];
  }

  private onClose({ code, error }: Closing): void {
    const { link } = this;
    if (link.state === 'connecting') {
      this.connectFailed(error);
      return;
    }
    const ended = link.state === 'finishing' && (link.answered || code === 1000);
    const lost = link.state === 'finishing' ? !ended : this.sent;
    if (lost || (error.kind === 'protocol' && !ended)) {
      this.fail(error);
      return;
    }
    const last = link.state === 'finishing' && !link.answered ? this.lastWords() : [];
    this.link = { state: 'down', retryAtMs: this.now() };
    // One flavour closes after each utterance: the next one finds a connection already there.
    if (ended && code === 1000) this.connect();
    this.emit(last);
    this.pumpUnlessClosed();
  }

  /** Between utterances a failed connect is nobody's loss yet; it is tried again when there is something to hear. */
  private connectFailed(error: StageError): void {
    if (!this.everConnected || this.isUnderWay) {
      this.fail(error);
      return;
    }
    const pauseMs = Math.min(FIRST_RETRY_MS * 2 ** this.failedConnects, LAST_RETRY_MS);
    this.failedConnects += 1;
    this.link = { state: 'down', retryAtMs: this.now() + pauseMs };
    this.pumpUnlessClosed();
  }

  private pumpUnlessClosed(): void {
    if (!this.isClosed) this.pump();
  }

  /** The earliest thing that is due; the session's one timer waits for it. */
  private rearm(): void {
    if (this.isClosed) return;
    const { link } = this;
    let dueMs = this.queue.firstEnd?.dueMs ?? Number.POSITIVE_INFINITY;
    if (link.state === 'connecting' || link.state === 'finishing') dueMs = Math.min(dueMs, link.dueMs);
    if (link.state === 'down' && this.isUnderWay) dueMs = Math.min(dueMs, link.retryAtMs);
    if (link.state === 'open') dueMs = Math.min(dueMs, this.watch.patienceEndsMs(this.sent));
    if (dueMs === Number.POSITIVE_INFINITY) this.deadline.clear();
    else this.deadline.setAt(dueMs);
  }

  private onDeadline(): void {
    const now = this.now();
    const { link } = this;
    if (link.state === 'connecting' && now >= link.dueMs) {
      link.socket.terminate();
      this.connectFailed({ kind: 'timeout', what: 'connect' });
    } else if (link.state === 'finishing' && now >= link.dueMs) {
      this.finishExpired(link);
    } else if (now >= (this.queue.firstEnd?.dueMs ?? Number.POSITIVE_INFINITY)) {
      // Its audio never reached the server: whoever owns the session still has it.
      if (this.isUnderWay) {
        this.fail({ kind: 'timeout', what: link.state === 'connecting' ? 'connect' : 'finalize' });
        return;
      }
      this.queue.dropUtterance();
      this.emit([{ type: 'finalized' }]);
    } else if (link.state === 'open' && now >= this.watch.patienceEndsMs(this.sent)) {
      if (this.watch.isAsked) {
        link.socket.terminate();
        this.fail({ kind: 'timeout', what: 'progress' });
        return;
      }
      this.ask(link.socket);
    }
    this.pumpUnlessClosed();
  }

  /** A server that lives has heard what it says; one that gave no sign since it was asked to finish may have heard nothing. */
  private finishExpired({ socket, answered }: Extract<Link, { state: 'finishing' }>): void {
    if (!answered && this.watch.isAsked) {
      this.fail({ kind: 'timeout', what: 'finalize' });
      return;
    }
    // What this connection still says belongs to the past; a new one cannot mix it into the next utterance.
    const last: SttEvent[] = answered
      ? []
      : [...this.transcripts.take(true), { type: 'finalized', isLate: true }];
    this.replaceSocket(socket);
    this.emit(last);
  }

  private replaceSocket(socket: WebSocket): void {
    socket.terminate();
    this.connect();
  }

  private emit(events: readonly SttEvent[]): void {
    for (const event of events) if (!this.isClosed) this.scope.sink(event);
  }

  private fail(error: StageError): void {
    this.emit([{ type: 'error', error }]);
    this.close();
  }
}
