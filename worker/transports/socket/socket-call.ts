/**
 * The shell of a call on a WebSocket: one upgraded `ws` socket on one side, the engine's contract on the other, between them the pure
 * machine of call-machine.ts and the dialect in which the client speaks.
 *
 * Invariant: socket events and `tick` step the machine and perform its actions before they return; `ended` is told to
 * the engine at the end of such an event, never from inside one of its own orders. Audio takes the short way in both
 * directions. This file must not decide what a message means, and owns no timer.
 */
import { isUtf8 } from 'node:buffer';
import type { RawData } from 'ws';
import type { CallRefusal } from '../../../shared/protocol/call.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { ConversationEvent } from '../../core/told.ts';
import { conversationMessage } from '../conversation-message.ts';
import type { CallTransport, TransportEnd, TransportEvents } from '../transport.ts';
import type { CallSocket, ClosingCause } from './call-socket.ts';
import { FrameTail } from './frame-tail.ts';
import { ClockMarks } from './clock-marks.ts';
import type { Heard, NewDialect, Outgoing, SocketDialect } from './dialect.ts';
import { FrameWriter } from './frame-writer.ts';
import type { OpenSocketCall, SocketCallOptions } from './options.ts';
import { intakeCosts } from './allowance.ts';
import {
  audioFault,
  frameArrived,
  frameBytes,
  newWsCall,
  nextDeadline,
  resumedWsCall,
  savedParts,
  savedWsCall,
  type WsAction,
  type WsCallState,
  type WsEvent,
} from './call-state.ts';
import { LateFrames, readBytes } from './late-frames.ts';
import { markFits, step } from './call-machine.ts';

/**
 * Caller audio that the engine did not take yet: bounded, and offered again in frames of 20 ms, so that an engine with little room still gets
 * on.
 */
class HeldAudio {
  readonly #most: number;
  /** A buffer and the range of it in use. */
  #held: Buffer | undefined;
  #start = 0;
  #end = 0;
  #draining = false;

  /** `maxAudioBytes`: the largest frame. Beside one of them there is room for what one read brings. */
  constructor({ maxAudioBytes }: { readonly maxAudioBytes: number }) {
    this.#most = maxAudioBytes + readBytes;
  }

  get isEmpty(): boolean {
    return this.#held === undefined;
  }

  /** Keeps a copy. False when there is no room. */
  add(data: Buffer): boolean {
    this.#held ??= Buffer.allocUnsafe(this.#most);
    if (this.#end + data.length > this.#held.length) return false;
    data.copy(this.#held, this.#end);
    this.#end += data.length;
    return true;
  }

  /** Offers frames until one is not taken. `moved`: some was. Undefined while an offer is being made already, or nothing is held. */
  drain(
    frameBytes: number,
    take: (frame: Buffer) => boolean,
  ): { readonly isOver: boolean; readonly moved: boolean } | undefined {
    const held = this.#held;
    if (held === undefined || frameBytes === 0 || this.#draining) return undefined;
    const before = this.#start;
    this.#draining = true;
    try {
      while (this.#start < this.#end) {
        const end = Math.min(this.#start + frameBytes, this.#end);
        if (!take(held.subarray(this.#start, end))) break;
        this.#start = end;
      }
    } finally {
      this.#draining = false;
    }
    return { isOver: this.#start >= this.#end, moved: this.#start > before };
  }

  drop(): void {
    this.#held = undefined;
    this.#start = 0;
    this.#end = 0;
  }
}

/** Serves calls of a dialect on upgraded sockets. The handlers are set before a call is returned. */
export const openSocketCalls =
  (newDialect: NewDialect): OpenSocketCall =>
  (ws, events, options) =>
    new SocketCall(ws, { events, options, newDialect });

class SocketCall implements CallTransport {
  readonly #ws: CallSocket;
  readonly #events: TransportEvents;
  readonly #options: SocketCallOptions;
  readonly #state: WsCallState;
  readonly #dialect: SocketDialect;
  /** Rate of the open call in Hz, 0 while there is none: the whole check of the hot path. */
  #openRate = 0;
  #deadline: Millis | undefined;
  #ended: TransportEnd | undefined;
  readonly #held: HeldAudio;
  readonly #late: LateFrames;
  readonly #writer: FrameWriter;
  readonly #tail: FrameTail;
  readonly sendMessage: CallTransport['sendMessage'];
  /** What a client has played that does not tell. */
  readonly #clockMarks: ClockMarks | undefined;

  constructor(
    ws: CallSocket,
    given: {
      readonly events: TransportEvents;
      readonly options: SocketCallOptions;
      readonly newDialect: NewDialect;
    },
  ) {
    const { events, options } = given;
    this.#ws = ws;
    this.#events = events;
    this.#options = options;
    this.#writer = new FrameWriter(ws, options.journal);
    const settings = {
      ...options.limits,
      signedMetadata: options.signedMetadata,
      spareCallId: options.newCallId(),
      openedAt: options.now(),
    };
    const { saved, signedMetadata } = options;
    this.#dialect = given.newDialect({
      signedMetadata,
      complained: (complaint) => options.complained?.(complaint),
      ...(options.wallNow !== undefined && { wallNow: () => options.wallNow?.() ?? 0 }),
      ...(saved !== undefined && { saved: savedParts(saved.json).dialect }),
    });
    const { kind: dialect, playout, audioComesAs } = this.#dialect;
    const { maxAudioBytes, maxControlBytes } = options.limits;
    this.#tail = new FrameTail(options.journal, audioComesAs === 'packed' ? 'all' : 'text');
    this.#tail.take(ws.earlyBytes, saved !== undefined);
    if (this.#dialect.writeMessage !== undefined)
      this.sendMessage = (message) => {
        if (this.#openRate !== 0) this.#send(this.#dialect.writeMessage?.(message));
      };
    this.#clockMarks = playout === undefined ? undefined : new ClockMarks(playout);
    this.#state =
      saved === undefined
        ? newWsCall(settings)
        : resumedWsCall(saved, { settings, now: options.now(), dialect });
    this.#openRate = this.#state.phase.name === 'open' ? this.#state.phase.start.sampleRate : 0;
    this.#deadline = nextDeadline(this.#state);
    this.#held = new HeldAudio(options.limits);
    this.#late = new LateFrames({
      allowance: this.#state.allowance,
      maxTextBytes: audioComesAs === 'packed' ? Math.max(maxAudioBytes, maxControlBytes) : maxControlBytes,
      textCost: audioComesAs === 'binary' ? intakeCosts.control : intakeCosts.audioFrame,
    });
    listenTo(ws, options, {
      closing: (cause) => this.#onClosing(cause),
      read: (chunk) => this.#onRead(chunk),
      message: (data, isBinary) => this.#onMessage(data, isBinary),
      ping: (data) => this.#onPing(data),
      pong: () => this.#onPong(),
      broken: () => this.#socketEvent({ type: 'framing.broken' }),
      closed: () => this.#socketEvent({ type: 'socket.closed' }),
    });
  }

  get bufferedBytes(): number {
    return this.#writer.bufferedBytes;
  }

  get leadMs(): Millis {
    return this.#dialect.leadMs ?? 0;
  }

  accept(): void {
    this.#step({ type: 'call.accepted' });
  }

  restart(): void {
    const { phase } = this.#state;
    if (phase.name === 'starting') this.#events.started(phase.start);
  }

  refuse(code: CallRefusal): void {
    this.#step({ type: 'call.refused', code });
  }

  save(): { kind: string; json: string } {
    return savedWsCall(this.#state, this.#dialect);
  }

  sendAudio(frame: Buffer, rate: number): void {
    if (this.#openRate === rate) {
      this.#send(this.#dialect.writeAudio(frame));
      this.#clockMarks?.sent(this.#options.now());
    } else if (this.#openRate !== 0) this.#step({ type: 'output.mismatched' });
  }

  /** Clients that take in less than they are sent get none: it would only make the voice late. */
  sendBackdrop(frame: Buffer, rate: number): void {
    if (this.#openRate === rate && this.#writer.bufferedBytes === 0)
      this.#send(this.#dialect.writeAudio(frame));
  }

  sendClear(epoch: number): void {
    this.#clockMarks?.clear();
    this.#step({ type: 'output.cleared', epoch });
  }

  sendMark(id: string): boolean {
    const isOpen = this.#openRate !== 0;
    if (isOpen) this.#clockMarks?.add(id);
    this.#step({ type: 'output.marked', id });
    return isOpen && markFits(id);
  }

  tell(event: ConversationEvent): void {
    const { phase } = this.#state;
    if (phase.name !== 'open') return;
    if (this.#dialect.tell !== undefined) this.#writer.sendAll(this.#dialect.tell(event));
    if (phase.start.events.length === 0) return;
    const message = conversationMessage(event);
    if (message !== undefined) this.#step({ type: 'conversation.told', message });
  }

  end(reason: 'ended' | 'shutdown'): void {
    this.#step({ type: 'call.ended', reason });
  }

  fail(): void {
    this.#step({ type: 'call.failed' });
  }

  inputTaken(): void {
    this.#drainHeld(this.#options.now());
  }

  tick(now: Millis): void {
    if (this.#state.phase.name === 'closed') return;
    this.#watchOutput(now);
    if (!this.#held.isEmpty) this.#drainHeld(now);
    if (this.#state.outranAt !== undefined) this.#catchUp(now);
    if (this.#deadline !== undefined && now >= this.#deadline) this.#step({ type: 'time.passed' }, now);
    if (this.#openRate !== 0) this.#playedUntil(now);
    this.#tellEnd();
  }

  /** What a client has played by now that does not tell. */
  #playedUntil(now: Millis): void {
    const marks = this.#clockMarks;
    for (let id = marks?.next(now); id !== undefined; id = marks?.next(now)) this.#events.markPlayed(id);
    if (this.#dialect.due !== undefined) this.#writer.sendAll(this.#dialect.due(now));
  }

  // ---- From the socket -----------------------------------------------------------------------------------------------

  #onMessage(data: RawData, isBinary: boolean): void {
    const now = this.#options.now();
    if (!Buffer.isBuffer(data)) return;
    if (!isBinary) {
      this.#dialect.textCame?.();
      this.#onText(data, now);
    } else if (this.#dialect.unpack !== undefined) this.#onPacked(data, now);
    else this.#onBinary(data, now);
    this.#tellEnd();
  }

  #onRead(chunk: Buffer): void {
    const now = this.#options.now();
    if (this.#tail.take(chunk)) frameArrived(this.#state, now);
    if (!this.#late.charge(chunk.length * intakeCosts.byte, now))
      this.#step({ type: 'allowance.spent' }, now);
  }

  #onPing(data: Buffer): void {
    const now = this.#options.now();
    if (this.#late.ping(data, now)) this.#ws.pong(data);
    else this.#step({ type: 'allowance.spent' }, now);
  }

  #onPong(): void {
    const now = this.#options.now();
    if (!this.#late.charge(intakeCosts.control, now)) this.#step({ type: 'allowance.spent' }, now);
  }

  #onText(data: Buffer, now: Millis): void {
    if (this.#isOver()) return;
    const when = this.#late.text(data, now);
    if (when === 'now') this.#takeText(data, now);
    else this.#step({ type: when === 'later' ? 'allowance.spent' : 'input.overflowed' }, now);
  }

  /** Looks at what waited, as far as the client's credit goes, and reads on when that is all. */
  #catchUp(now: Millis): void {
    for (let text = this.#late.nextText(now); text !== undefined; text = this.#late.nextText(now)) {
      this.#takeText(text, now);
      if (this.#isOver()) return;
    }
    const ping = this.#late.nextPing(now);
    if (ping !== undefined) this.#ws.pong(ping);
    if (this.#late.isOver(now)) this.#step({ type: 'allowance.filled' }, now);
  }

  #takeText(data: Buffer, now: Millis): void {
    this.#tail.handling();
    const text = isUtf8(data) ? data.toString() : undefined;
    const audio = text === undefined ? undefined : this.#dialect.hearAudio?.(text);
    if (audio !== undefined) this.#onHeard(audio, now);
    else this.#takeMessage(text, data.length, now);
    this.#tail.handled();
  }

  #takeMessage(text: string | undefined, bytes: number, now: Millis): void {
    // Where it may have been audio it was let in for the price of that.
    const isCheap = this.#dialect.hearAudio !== undefined;
    if (isCheap && !this.#late.charge(intakeCosts.control - intakeCosts.audioFrame, now))
      this.#step({ type: 'allowance.spent' }, now);
    if (bytes > this.#state.settings.maxControlBytes)
      this.#step({ type: 'frame.faulted', code: 'frame_too_large' }, now);
    else if (text === undefined) this.#step({ type: 'frame.faulted', code: 'invalid_json' }, now);
    else this.#onHeard(this.#dialect.hear(text), now);
  }

  #onHeard(heard: Heard, now: Millis): void {
    if (heard.type === 'message') this.#step({ type: 'message.received', message: heard.message }, now);
    else if (heard.type === 'audio') this.#onAudio(heard.bytes, now);
    else if (heard.type === 'answer' && !this.#isOver()) this.#writer.send(heard.frame);
    else if (heard.type === 'to-agent' && !this.#isOver()) {
      if (this.#openRate === 0 || !this.#events.messaged(heard.message)) this.#writer.send(heard.unheard);
    } else if (heard.type === 'several') for (const one of heard.all) this.#onHeard(one, now);
  }

  #onPacked(data: Buffer, now: Millis): void {
    const unpacked = this.#dialect.unpack?.(data);
    if (unpacked?.type === 'text') {
      this.#onText(unpacked.bytes, now);
      return;
    }
    if (!this.#late.charge(intakeCosts.audioFrame, now)) this.#step({ type: 'allowance.spent' }, now);
    if (unpacked?.type === 'broken') this.#step({ type: 'framing.broken' }, now);
    else if (unpacked !== undefined) this.#onHeard(unpacked, now);
    this.#tail.handled();
  }

  #onBinary(data: Buffer, now: Millis): void {
    if (!this.#late.charge(intakeCosts.audioFrame, now)) this.#step({ type: 'allowance.spent' }, now);
    if (this.#dialect.audioComesAs === 'binary') this.#onAudio(data, now);
    else this.#step({ type: 'message.received', message: { type: 'unknown' } }, now);
  }

  #onAudio(data: Buffer, now: Millis): void {
    const code = audioFault(this.#state, data.length);
    if (code !== undefined) {
      this.#step({ type: 'frame.faulted', code }, now);
      return;
    }
    if (data.length === 0 || this.#isOver()) return;
    if (this.#held.isEmpty && this.#events.audio(data)) return;
    if (!this.#isOver()) this.#hold(data, now);
  }

  #onClosing(cause: ClosingCause): void {
    if (cause === 'too-large') this.#step({ type: 'frame.faulted', code: 'frame_too_large' });
    else if (cause === 'close-frame') this.#step({ type: 'close.received' });
    else this.#step({ type: 'framing.broken' });
    this.#tellEnd();
  }

  #socketEvent(event: WsEvent): void {
    this.#step(event);
    this.#tellEnd();
  }

  // ---- Refused audio -------------------------------------------------------------------------------------------------

  #hold(data: Buffer, now: Millis): void {
    if (this.#held.add(data)) this.#step({ type: 'input.refused', moved: false }, now);
    else this.#step({ type: 'input.overflowed' }, now);
  }

  #drainHeld(now: Millis): void {
    const drained = this.#held.drain(frameBytes(this.#state), (frame) => this.#events.audio(frame));
    if (drained === undefined || this.#isOver()) return;
    if (drained.isOver) {
      this.#held.drop();
      this.#step({ type: 'input.drained' }, now);
    } else {
      this.#step({ type: 'input.refused', moved: drained.moved }, now);
    }
  }

  // ---- The machine ---------------------------------------------------------------------------------------------------

  #watchOutput(now: Millis): void {
    const moved = this.#writer.takeMoved();
    if (this.#writer.bufferedBytes > 0) this.#step({ type: 'output.backlogged', moved }, now);
    else if (this.#state.outputStuckAt !== undefined) this.#step({ type: 'output.drained' }, now);
  }

  #isOver(): boolean {
    return this.#state.phase.name === 'closing' || this.#state.phase.name === 'closed';
  }

  #step(event: WsEvent, now: Millis = this.#options.now()): void {
    const actions = step(this.#state, event, now);
    const { phase } = this.#state;
    this.#openRate = phase.name === 'open' ? phase.start.sampleRate : 0;
    this.#deadline = nextDeadline(this.#state);
    for (const action of actions) this.#perform(action);
  }

  #perform(action: WsAction): void {
    switch (action.type) {
      case 'send':
        this.#send(this.#dialect.write(action.message));
        if (action.message.type === 'error') {
          const { code, fatal, message } = action.message;
          this.#options.faultSent?.(code, fatal, message);
        }
        return;
      case 'close':
        this.#ws.closeWith(action.code);
        return;
      case 'terminate':
        this.#ws.terminate();
        return;
      case 'ping':
        this.#ws.ping();
        return;
      case 'reading.pause':
        this.#ws.pause();
        return;
      case 'reading.resume':
        this.#ws.resume();
        return;
      case 'notify.started':
        this.#events.started(action.start);
        return;
      case 'notify.dtmf':
        this.#events.dtmf(action.digit);
        return;
      case 'notify.mark':
        this.#events.markPlayed(action.id);
        return;
      case 'notify.typed':
        this.#events.typed(action.typed);
        return;
      case 'notify.ended':
        this.#held.drop();
        this.#late.drop();
        this.#ended = action.reason;
        return;
    }
  }

  #send(frame: Outgoing | undefined): void {
    if (frame !== undefined) this.#writer.send(frame);
  }

  /** Told here and nowhere else, so that the engine never hears of its end from inside its own order. */
  #tellEnd(): void {
    const reason = this.#ended;
    if (reason === undefined) return;
    this.#ended = undefined;
    this.#events.ended(reason);
  }
}

/** The events of a call's socket, each led into the scope of the call. */
interface SocketHandlers {
  readonly closing: (cause: ClosingCause) => void;
  readonly read: (chunk: Buffer) => void;
  readonly message: (data: RawData, isBinary: boolean) => void;
  readonly ping: (data: Buffer) => void;
  readonly pong: () => void;
  readonly broken: () => void;
  readonly closed: () => void;
}

function listenTo(
  ws: CallSocket,
  { bind, socketClosed }: Pick<SocketCallOptions, 'bind' | 'socketClosed'>,
  handlers: SocketHandlers,
): void {
  ws.closingHook = bind(handlers.closing);
  ws.readHook = bind(handlers.read);
  ws.on('message', bind(handlers.message));
  ws.on('ping', bind(handlers.ping));
  ws.on('pong', bind(handlers.pong));
  ws.on('error', bind(handlers.broken));
  ws.on('close', bind(handlers.closed));
  ws.on('close', () => socketClosed?.());
}
