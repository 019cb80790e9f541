/**
 * The shell of a WebSocket call: one upgraded `ws` socket on one side, the engine's contract on the other, the pure
 * machine of protocol.ts between them (spec 01, WebSocket call protocol).
 *
 * Invariant: socket events and `tick` step the machine and perform its actions before they return; `ended` is told to
 * the engine at the end of such an event, never from inside one of its own orders. Audio takes the short way in both
 * directions. This file must not decide what a message means, and owns no timer.
 */
import { isUtf8 } from 'node:buffer';
import type { RawData } from 'ws';
import type { Millis } from '../../../shared/base/units.ts';
import { FRAME_MS } from '../../../shared/base/units.ts';
import { decodeClientMessage } from '../../../shared/protocol/call.ts';
import type { ConversationEvent } from '../../core/told.ts';
import { conversationMessage } from '../conversation-message.ts';
import type { CallTransport, TransportEnd, TransportEvents } from '../transport.ts';
import type { CallSocket, ClosingCause } from './call-socket.ts';
import { FrameTail } from './frame-tail.ts';
import type { ConnectionJournal, WebSocketCallOptions } from './options.ts';
import { intakeCosts } from './allowance.ts';
import {
  audioFault,
  frameArrived,
  newWsCall,
  nextDeadline,
  resumedWsCall,
  savedWsCall,
} from './call-state.ts';
import type { WsAction, WsCallState, WsEvent } from './call-state.ts';
import { LateFrames, readBytes } from './late-frames.ts';
import { markFits, step } from './protocol.ts';

/** Serves one call on an upgraded socket. Its handlers are set before this returns. */
export function openWebSocketCall(
  ws: CallSocket,
  events: TransportEvents,
  options: WebSocketCallOptions,
): CallTransport {
  return new WebSocketCall(ws, events, options);
}

const AUDIO_FRAME = Object.freeze({ binary: true, compress: false, fin: true });

class WebSocketCall implements CallTransport {
  readonly #ws: CallSocket;
  readonly #events: TransportEvents;
  readonly #options: WebSocketCallOptions;
  readonly #state: WsCallState;
  /** Rate of the open call in Hz, 0 while there is none: the whole check of the hot path. */
  #openRate = 0;
  #deadline: Millis | undefined;
  #ended: TransportEnd | undefined;
  /** Audio that the engine did not take yet: a buffer and the range of it in use. */
  #held: Buffer | undefined;
  #heldStart = 0;
  #heldEnd = 0;
  #draining = false;
  readonly #late: LateFrames;
  /** Something was handed to the kernel since the last tick. */
  #outputMoved = false;
  readonly #journal: ConnectionJournal | undefined;
  readonly #tail: FrameTail;
  readonly #onFlushed = (error?: Error | null): void => {
    if (!error) this.#outputMoved = true;
    this.#noteWritten();
  };

  constructor(ws: CallSocket, events: TransportEvents, options: WebSocketCallOptions) {
    this.#ws = ws;
    this.#events = events;
    this.#options = options;
    this.#journal = options.journal;
    this.#tail = new FrameTail(options.journal);
    this.#tail.take(ws.earlyBytes);
    const settings = {
      ...options.limits,
      signedMetadata: options.signedMetadata,
      spareCallId: options.newCallId(),
      openedAt: options.now(),
    };
    const { saved } = options;
    this.#state =
      saved === undefined ? newWsCall(settings) : resumedWsCall(saved, { settings, now: options.now() });
    this.#openRate = this.#state.phase.name === 'open' ? this.#state.phase.start.sampleRate : 0;
    this.#deadline = nextDeadline(this.#state);
    const { allowance } = this.#state;
    this.#late = new LateFrames({ allowance, maxTextBytes: options.limits.maxControlBytes });
    ws.closingHook = options.bind((cause) => this.#onClosing(cause));
    ws.readHook = options.bind((chunk) => this.#onRead(chunk));
    ws.on(
      'message',
      options.bind((data, isBinary) => this.#onMessage(data, isBinary)),
    );
    ws.on(
      'ping',
      options.bind((data) => this.#onPing(data)),
    );
    ws.on(
      'pong',
      options.bind(() => this.#onPong()),
    );
    ws.on(
      'error',
      options.bind(() => this.#socketEvent({ type: 'framing.broken' })),
    );
    ws.on(
      'close',
      options.bind(() => this.#socketEvent({ type: 'socket.closed' })),
    );
    ws.on('close', () => options.socketClosed?.());
  }

  get bufferedBytes(): number {
    return this.#ws.bufferedAmount;
  }

  accept(): void {
    this.#step({ type: 'call.accepted' });
  }

  restart(): void {
    const { phase } = this.#state;
    if (phase.name === 'starting') this.#events.started(phase.start);
  }

  refuse(code: 'server_busy'): void {
    this.#step({ type: 'call.refused', code });
  }

  save(): { kind: string; json: string } {
    return savedWsCall(this.#state);
  }

  sendAudio(frame: Buffer, rate: number): void {
    if (this.#openRate === rate) {
      if (this.#journal !== undefined) this.#journal.isWriting = true;
      this.#ws.send(frame, AUDIO_FRAME, this.#onFlushed);
      this.#noteWritten();
    } else if (this.#openRate !== 0) this.#step({ type: 'output.mismatched' });
  }

  sendClear(epoch: number): void {
    this.#step({ type: 'output.cleared', epoch });
  }

  sendMark(id: string): boolean {
    const isOpen = this.#openRate !== 0;
    this.#step({ type: 'output.marked', id });
    return isOpen && markFits(id);
  }

  tell(event: ConversationEvent): void {
    const { phase } = this.#state;
    if (phase.name !== 'open' || phase.start.events.length === 0) return;
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
    if (this.#held !== undefined) this.#drainHeld(now);
    if (this.#state.outranAt !== undefined) this.#catchUp(now);
    if (this.#deadline !== undefined && now >= this.#deadline) this.#step({ type: 'time.passed' }, now);
    this.#tellEnd();
  }

  /** Bytes that the kernel has not taken would be gone with this process, perhaps in the middle of a frame. */
  #noteWritten(): void {
    if (this.#journal !== undefined) this.#journal.isWriting = this.#ws.bufferedAmount > 0;
  }

  // ---- From the socket -----------------------------------------------------------------------------------------------

  #onMessage(data: RawData, isBinary: boolean): void {
    const now = this.#options.now();
    if (!Buffer.isBuffer(data)) return;
    if (isBinary) this.#onAudio(data, now);
    else this.#onText(data, now);
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
    if (data.length > this.#state.settings.maxControlBytes) {
      this.#step({ type: 'frame.faulted', code: 'frame_too_large' }, now);
    } else if (isUtf8(data)) {
      this.#step({ type: 'message.received', message: decodeClientMessage(data.toString()) }, now);
    } else {
      this.#step({ type: 'frame.faulted', code: 'invalid_json' }, now);
    }
  }

  #onAudio(data: Buffer, now: Millis): void {
    if (!this.#late.charge(intakeCosts.audioFrame, now)) this.#step({ type: 'allowance.spent' }, now);
    const code = audioFault(this.#state, data.length);
    if (code !== undefined) {
      this.#step({ type: 'frame.faulted', code }, now);
      return;
    }
    if (data.length === 0 || this.#isOver()) return;
    if (this.#held === undefined && this.#events.audio(data)) return;
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
    this.#held ??= Buffer.allocUnsafe(this.#state.settings.maxAudioBytes + readBytes);
    if (this.#heldEnd + data.length > this.#held.length) {
      this.#step({ type: 'input.overflowed' }, now);
      return;
    }
    data.copy(this.#held, this.#heldEnd);
    this.#heldEnd += data.length;
    this.#step({ type: 'input.refused', moved: false }, now);
  }

  /** Offers held audio in frames of 20 ms, so that an engine with little room still gets on. */
  #drainHeld(now: Millis): void {
    const held = this.#held;
    const frameBytes = this.#frameBytes();
    if (held === undefined || frameBytes === 0 || this.#draining) return;
    const before = this.#heldStart;
    this.#draining = true;
    try {
      while (this.#heldStart < this.#heldEnd) {
        const end = Math.min(this.#heldStart + frameBytes, this.#heldEnd);
        if (!this.#events.audio(held.subarray(this.#heldStart, end))) break;
        this.#heldStart = end;
      }
    } finally {
      this.#draining = false;
    }
    if (this.#isOver()) return;
    if (this.#heldStart < this.#heldEnd) {
      this.#step({ type: 'input.refused', moved: this.#heldStart > before }, now);
    } else {
      this.#dropHeld();
      this.#step({ type: 'input.drained' }, now);
    }
  }

  #frameBytes(): number {
    const { phase } = this.#state;
    if (phase.name !== 'starting' && phase.name !== 'open') return 0;
    const samples = Math.floor((phase.start.sampleRate * FRAME_MS) / 1000);
    return phase.start.encoding === 'pcm16' ? samples * 2 : samples;
  }

  #dropHeld(): void {
    this.#held = undefined;
    this.#heldStart = 0;
    this.#heldEnd = 0;
  }

  // ---- The machine ---------------------------------------------------------------------------------------------------

  #watchOutput(now: Millis): void {
    const isBacklogged = this.#ws.bufferedAmount > 0;
    if (isBacklogged) this.#step({ type: 'output.backlogged', moved: this.#outputMoved }, now);
    else if (this.#state.outputStuckAt !== undefined) this.#step({ type: 'output.drained' }, now);
    this.#outputMoved = false;
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
        if (this.#journal !== undefined) this.#journal.isWriting = true;
        this.#ws.send(JSON.stringify(action.message), this.#onFlushed);
        this.#noteWritten();
        if (action.message.type === 'error') {
          this.#options.faultSent?.(action.message.code, action.message.fatal);
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
      case 'notify.ended':
        this.#dropHeld();
        this.#late.drop();
        this.#ended = action.reason;
        return;
    }
  }

  /** Told here and nowhere else, so that the engine never hears of its end from inside its own order. */
  #tellEnd(): void {
    const reason = this.#ended;
    if (reason === undefined) return;
    this.#ended = undefined;
    this.#events.ended(reason);
  }
}
