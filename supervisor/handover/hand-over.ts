/**
 * Connections on their way to workers, and the calls that came of them. Every connection has an owner at any instant: this
 * process keeps a duplicate of the socket, until the worker confirms in its own words or, where calls are recorded, until
 * the call is over, and can give it to another worker. Each offer gives back exactly one call slot.
 */
import type { Socket } from 'node:net';
import type { AgentRef } from '../../shared/agents/version.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { LeftConnection } from '../../shared/protocol/call-record.ts';
import type { CallOffer, SignaledOffer, UnansweredReason, TransportKind } from '../../shared/protocol/ipc.ts';
import { startReading } from '../../shared/runtime/reading.ts';
import { refuseUpgrade } from '../http/answer.ts';
import { refusal } from '../http/refusals.ts';
import {
  isUnconfirmed,
  mostDeaths,
  rescueMs,
  type OfferSignals,
  type OfferState,
  type OpenOffer,
  type Release,
  type Renewal,
} from './open-offer.ts';
import { validRecord, type LeftRecord } from './left-records.ts';
import { waitingOf, waitsForOneOf, workerFor } from './worker-for.ts';

/** A client that is told of the end of its call has this long to read it. */
const cutGraceMs = 1_000;
const noWorkerCame = refusal('no_worker', {
  message: 'no worker can take the call',
  retryAfterS: undefined,
});

/** A client of a signaled call that lost its worker may come back within this time. */
const comeBackMs = 30_000;

export type HandOverOutcome = 'taken' | 'moved' | 'lost' | 'resumed' | 'cut' | 'blamed';

/** What becomes of a call whose worker is gone. */
type Outcome = LeftConnection | 'moved' | 'over' | 'blamed';

export interface HandOverOptions {
  readonly clock: Clock;
  readonly readyWorkers: () => readonly number[];
  readonly offer: (worker: number, message: CallOffer, socket: Socket | undefined) => boolean;
  /** A worker was sent calls to take up, and no more of them follow for now. */
  readonly allGiven: (worker: number) => void;
  /** Calls may be taken up by another worker: duplicates are kept until a call is over. */
  readonly keepsCalls: boolean;
  readonly records: {
    /** What a dead worker left, by number of the connection. */
    readonly leftBy: (worker: number) => ReadonlyMap<number, LeftRecord>;
    /** Nobody will read this connection's record: its slot is free for the next worker in that row. */
    readonly forget: (slot: number, offer: number) => void;
  };
  /** The service stops: dead workers are not replaced. */
  readonly isStopping: () => boolean;
  readonly counted: (outcome: HandOverOutcome) => void;
}

export class HandOver {
  readonly #options: HandOverOptions;
  readonly #offers = new Map<number, OpenOffer>();
  /** Workers that were sent calls to take up and were not told yet that these are all. */
  readonly #givenTo = new Set<number>();
  /** Connections whose clients are being told of their end. */
  readonly #told = new Set<Socket>();
  #lastOffer = 0;
  #lastRenewal = 0;
  #waiting = 0;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /** Connections that no worker has confirmed yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** How long the oldest connection has waited for a worker's confirmation; 0 when none waits. */
  oldestWaitMs(): Millis {
    if (this.#waiting === 0) return 0;
    // Offers are kept in the order in which they came.
    for (const offer of this.#offers.values())
      if (isUnconfirmed(offer.state)) return this.#options.clock.now() - offer.givenAt;
    return 0;
  }

  /**
   * Clients are being told that their call is over. Would this process leave now, a byte from one of them that it has not read would
   * reset the connection, and what the client was told would be lost. Lasts a second at most.
   */
  get isTelling(): boolean {
    return this.#told.size > 0;
  }

  /** Calls on their way from a worker that is gone to another one. */
  get moving(): number {
    let count = 0;
    for (const { state, message } of this.#offers.values())
      if (state.phase !== 'taken' && message.resumeFrom !== undefined) count += 1;
    return count;
  }

  /** Connections that are calls or on their way to be. */
  get open(): number {
    return this.#offers.size;
  }

  /** Gives a connection away. Its reading has been stopped, and it has a call slot. */
  give(socket: Socket, request: Omit<CallOffer, 'type' | 'offer'>, release: Release): void {
    // Without a listener a reset of our duplicate would end the process; the worker sees it on its own one.
    socket.on('error', () => undefined);
    this.#give({ socket, signals: undefined }, request, release);
  }

  /** Has a worker answer an offer. Returns its number. */
  giveOffer(request: Omit<CallOffer, 'type' | 'offer'>, release: Release, signals: OfferSignals): number {
    return this.#give({ socket: undefined, signals }, request, release);
  }

  /**
   * The client of a call is back with another offer. `placed`: its worker is gone, and another one takes the call up. A worker: it has
   * the call and is to make another connection for it. Undefined: there is nothing to go on with now.
   */
  comeBack(
    id: number,
    offered: SignaledOffer,
    signals: OfferSignals,
  ): 'placed' | { readonly worker: number; readonly renewal: number } | undefined {
    const offer = this.#offers.get(id);
    if (offer?.state.phase === 'taken' && offer.signals !== undefined) {
      offer.renewal?.signals.unanswered('overtaken');
      this.#lastRenewal += 1;
      offer.renewal = { number: this.#lastRenewal, offered, signals };
      return { worker: offer.state.worker, renewal: this.#lastRenewal };
    }
    if (offer?.state.phase !== 'left') return undefined;
    offer.message = { ...offer.message, signaled: offered };
    offer.signals = signals;
    offer.isAnswered = false;
    offer.declinedBy.clear();
    offer.state = { phase: 'waiting', since: this.#options.clock.now() };
    this.#waiting += 1;
    this.#place(offer);
    return 'placed';
  }

  /** The worker of a signaled call is gone, and its client has to come back. */
  isAwaited(id: number): boolean {
    const phase = this.#offers.get(id)?.state.phase;
    return phase !== undefined && phase !== 'taken';
  }

  /** The worker that serves a signaled call; undefined while none does. */
  workerOf(id: number): number | undefined {
    const state = this.#offers.get(id)?.state;
    return state?.phase === 'taken' || state?.phase === 'offered' ? state.worker : undefined;
  }

  answered(id: number, sdp: string, renewal?: number): void {
    const offer = this.#offers.get(id);
    if (offer?.signals === undefined || isOvertaken(offer.renewal, renewal)) return;
    if (offer.renewal !== undefined) {
      offer.signals = offer.renewal.signals;
      offer.renewal = undefined;
    } else if (offer.isAnswered) return;
    offer.isAnswered = true;
    offer.signals.answered(sdp);
  }

  unanswered(id: number, reason: UnansweredReason, renewal?: number): void {
    const offer = this.#offers.get(id);
    if (isOvertaken(offer?.renewal, renewal)) return;
    if (offer?.renewal !== undefined) {
      // The call itself goes on.
      offer.renewal.signals.unanswered(reason);
      offer.renewal = undefined;
      return;
    }
    if (offer?.signals === undefined || offer.isAnswered) return;
    offer.isAnswered = true;
    offer.signals.unanswered(reason);
    this.#forget(id);
  }

  connected(id: number): void {
    this.#offers.get(id)?.signals?.connected();
  }

  wayClosed(id: number, way: number): void {
    this.#offers.get(id)?.signals?.wayClosed(way);
  }

  #give(
    { socket, signals }: Pick<OpenOffer, 'socket' | 'signals'>,
    request: Omit<CallOffer, 'type' | 'offer'>,
    release: Release,
  ): number {
    this.#lastOffer += 1;
    const message: CallOffer = { type: 'call.offer', offer: this.#lastOffer, ...request };
    const givenAt = this.#options.clock.now();
    const state: OfferState = { phase: 'waiting', since: givenAt };
    const declinedBy = new Set<number>();
    const fresh = { isAnswered: false, renewal: undefined, isUnused: false, deaths: 0 };
    const offer: OpenOffer = { message, givenAt, socket, signals, declinedBy, release, state, ...fresh };
    this.#offers.set(message.offer, offer);
    this.#waiting += 1;
    this.#place(offer);
    return message.offer;
  }

  taken(id: number): void {
    const offer = this.#offers.get(id);
    if (offer?.state.phase !== 'offered') return;
    offer.state = { phase: 'taken', worker: offer.state.worker };
    this.#waiting -= 1;
    if (!this.#options.keepsCalls) offer.socket?.destroy();
    this.#options.counted('taken');
    if (offer.message.resumeFrom !== undefined) this.#placeNext();
  }

  /** The call runs on this version of an agent. */
  hasAgent(id: number, agent: AgentRef): void {
    const offer = this.#offers.get(id);
    if (offer !== undefined) offer.agent = agent;
  }

  agentOf(id: number): AgentRef | undefined {
    return this.#offers.get(id)?.agent;
  }

  /** The versions of agents that calls have. */
  get agents(): readonly AgentRef[] {
    return [...this.#offers.values()].flatMap(({ agent }) => agent ?? []);
  }

  /** Its worker has no room for it, and tells its client. */
  busy(id: number): void {
    const offer = this.#offers.get(id);
    if (offer !== undefined) offer.isUnused = true;
  }

  declined(id: number): void {
    const offer = this.#offers.get(id);
    if (offer?.state.phase !== 'offered') return;
    offer.declinedBy.add(offer.state.worker);
    this.#offerAgain(offer);
    this.#placeNext();
  }

  /** The call is over and its socket closed. */
  over(id: number): void {
    this.#forget(id);
    this.#placeNext();
  }

  /**
   * A worker is gone. Its calls are taken up by others where it left enough of them, and are over where it did not; what it
   * never began goes to another. The one for which it worked when it hung or crashed (`during`) is ended at the second time: taken up again and
   * again it would be the end of one worker after another. Returns how many of each there were.
   */
  workerGone(worker: number, during?: number): Record<Outcome, number> {
    const outcomes = { open: 0, writable: 0, torn: 0, begun: 0, moved: 0, over: 0, blamed: 0 };
    const { records } = this.#options;
    const found = records.leftBy(worker);
    for (const [id, offer] of this.#offers) {
      if (!('worker' in offer.state) || offer.state.worker !== worker) continue;
      const left = validRecord(found.get(id), offer.message.resumeFrom);
      if (id === during && (offer.deaths += 1) >= mostDeaths) {
        outcomes.blamed += 1;
        this.#cut(id, offer, { connection: left?.connection ?? 'torn', outcome: 'blamed' });
        continue;
      }
      if (offer.signals !== undefined) {
        outcomes[this.#leaveSignaled(id, offer, left)] += 1;
        continue;
      }
      outcomes[left?.connection ?? (offer.state.phase === 'taken' ? 'over' : 'moved')] += 1;
      if (left?.connection === 'open' && !this.#isEnd) this.#takeUp(offer, left.slot);
      else if (left !== undefined) this.#cut(id, offer, { connection: left.connection, outcome: 'cut' });
      else if (offer.state.phase === 'taken') this.#forget(id);
      else this.#offerAgain(offer);
    }
    this.#placeNext();
    for (const [id, { slot }] of found)
      if (this.#offers.get(id)?.message.resumeFrom !== slot) records.forget(slot, id);
    if (this.#isEnd)
      for (const [id, offer] of this.#offers) if (offer.state.phase === 'waiting') this.#lose(id, offer);
    return outcomes;
  }

  /** A signaled call has lost its worker: one without an answer goes to another, one with an answer waits for its client. */
  #leaveSignaled(id: number, offer: OpenOffer, left: LeftRecord | undefined): 'open' | 'moved' | 'over' {
    offer.signals?.waysLost();
    if (!offer.isAnswered) {
      if (offer.state.phase === 'taken') this.#waiting += 1;
      this.#offerAgain(offer);
      return 'moved';
    }
    if (left?.connection !== 'open' || this.#options.isStopping()) {
      this.#forget(id);
      return 'over';
    }
    if (offer.state.phase === 'offered') this.#waiting -= 1;
    offer.message = { ...offer.message, resumeFrom: left.slot };
    offer.state = { phase: 'left', since: this.#options.clock.now() };
    this.#options.counted('resumed');
    const { renewal } = offer;
    offer.renewal = undefined;
    // Its client noticed before we did, and waits already.
    if (renewal !== undefined) this.comeBack(id, renewal.offered, renewal.signals);
    return 'open';
  }

  /** The service stops and its last worker is gone. */
  get #isEnd(): boolean {
    return this.#options.isStopping() && this.#options.readyWorkers().length === 0;
  }

  #takeUp(offer: OpenOffer, slot: number): void {
    if (offer.state.phase === 'taken') this.#waiting += 1;
    const { offer: id, resumeFrom } = offer.message;
    // The worker before the one that is gone, when that one died in the middle of taking the call up.
    if (resumeFrom !== undefined && resumeFrom !== slot) this.#options.records.forget(resumeFrom, id);
    offer.message = { ...offer.message, resumeFrom: slot };
    offer.state = { phase: 'waiting', since: this.#options.clock.now() };
    this.#options.counted('resumed');
  }

  /** Nobody can or shall go on where this connection stands. The client is told so when a frame of ours can still be told from others. */
  #cut(
    id: number,
    offer: OpenOffer,
    { connection, outcome }: { connection: LeftConnection; outcome: 'cut' | 'blamed' },
  ): void {
    this.#options.counted(outcome);
    this.#sayGoodbye(offer, connection);
    this.#forget(id, { keepSocket: true });
  }

  #sayGoodbye({ socket, message }: OpenOffer, connection: LeftConnection): void {
    const { transport } = message;
    if (socket === undefined || transport === 'webrtc') return;
    if (connection === 'torn' || connection === 'begun') socket.end();
    else socket.end(endMessages[transport][this.#isEnd ? 'shutdown' : 'failed']);
    // A socket that is closed over bytes that nobody read resets the connection, and the client loses what was sent last.
    startReading(socket);
    socket.resume();
    this.#waitUntilRead(socket);
  }

  #waitUntilRead(socket: Socket): void {
    this.#told.add(socket);
    socket.once('close', () => this.#told.delete(socket));
    this.#options.clock.after(cutGraceMs, () => {
      socket.destroy();
      // One that was closed before does not say so again.
      this.#told.delete(socket);
    });
  }

  /** Places what waits for a worker, and gives up on what waited too long. */
  retry(): void {
    const now = this.#options.clock.now();
    this.#placeNext();
    const ready = this.#options.readyWorkers();
    for (const [id, offer] of this.#offers) {
      if (offer.state.phase === 'left' && now - offer.state.since >= comeBackMs) this.#forget(id);
      if (offer.state.phase !== 'waiting' || waitsForOneOf(offer, ready)) continue;
      if (now - offer.state.since >= rescueMs) this.#lose(id, offer);
    }
  }

  /** Gives workers what waits, longest first: where workers die faster than they take calls up, every call has its turn. */
  #placeNext(): void {
    if (this.#waiting > 0) {
      let hasRoom = true;
      for (const offer of waitingOf(this.#offers.values())) {
        const needsRoom = offer.message.resumeFrom !== undefined && offer.declinedBy.size === 0;
        if (hasRoom || !needsRoom) this.#place(offer);
        if (needsRoom && offer.state.phase === 'waiting') hasRoom = false;
      }
    }
    this.#tellGiven();
  }

  #offerAgain(offer: OpenOffer): void {
    offer.state = { phase: 'waiting', since: this.#options.clock.now() };
    this.#options.counted('moved');
  }

  #place(offer: OpenOffer): void {
    const worker = workerFor(offer, this.#offers.values(), this.#options.readyWorkers());
    if (worker !== undefined && this.#options.offer(worker, offer.message, offer.socket)) {
      offer.state = { phase: 'offered', worker };
      if (offer.message.resumeFrom !== undefined) this.#givenTo.add(worker);
    }
  }

  /** A worker that was sent calls to take up reads none of them before it knows that no more follow. */
  #tellGiven(): void {
    if (this.#givenTo.size === 0) return;
    const ready = this.#options.readyWorkers();
    for (const offer of this.#offers.values()) if (waitsForOneOf(offer, ready)) return;
    for (const worker of this.#givenTo) this.#options.allGiven(worker);
    this.#givenTo.clear();
  }

  #lose(id: number, offer: OpenOffer): void {
    this.#options.counted('lost');
    // Only a connection of which nothing was begun waits without a record, and only one that can be gone on with waits with one.
    const { socket, message } = offer;
    offer.isUnused = message.resumeFrom === undefined;
    if (socket === undefined) {
      if (!offer.isAnswered) offer.signals?.unanswered('no_worker');
      offer.isAnswered = true;
    } else if (message.resumeFrom === undefined) {
      refuseUpgrade(socket, noWorkerCame);
      this.#waitUntilRead(socket);
    } else {
      this.#sayGoodbye(offer, 'open');
    }
    this.#forget(id, { keepSocket: true });
  }

  #forget(id: number, { keepSocket } = { keepSocket: false }): void {
    const offer = this.#offers.get(id);
    if (offer === undefined) return;
    this.#offers.delete(id);
    if (isUnconfirmed(offer.state)) this.#waiting -= 1;
    if (!keepSocket) offer.socket?.destroy();
    const { resumeFrom } = offer.message;
    if (resumeFrom !== undefined) this.#options.records.forget(resumeFrom, id);
    offer.release({ isUnused: offer.isUnused });
    offer.renewal?.signals.unanswered('failed');
    if (!offer.isAnswered) offer.signals?.unanswered('failed');
    offer.signals?.over();
  }
}

/** An answer with a number is one to the renewal of that number. */
const isOvertaken = (newest: Renewal | undefined, answered: number | undefined): boolean =>
  answered !== undefined && newest?.number !== answered;

/**
 * What the supervisor says to a client whose worker is gone and whose call nobody can go on with, by transport. It writes from a
 * place where a message of ours can be told from the one before it, and says as little as the protocol allows.
 */
interface EndMessage {
  /** The call ends because of a fault. */
  readonly failed: Buffer;
  /** The service stops. */
  readonly shutdown: Buffer;
}

const finalFrame = (opcode: 1 | 8, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x80 | opcode, body.length]), body]);

/** A close frame of WebSocket (RFC 6455, 5.5.1). */
const closeFrame = (code: number): Buffer => finalFrame(8, Buffer.from([code >> 8, code & 0xff]));

/** A shutdown is `stop`, then 1001 (docs/call-protocol.md, Messages). A fault is told by 1011 alone. */
const websocket: EndMessage = {
  failed: closeFrame(1011),
  shutdown: Buffer.concat([
    finalFrame(1, Buffer.from('{"type":"stop","reason":"shutdown"}')),
    closeFrame(1001),
  ]),
};

/** Protocols without a word for an end: a carrier goes on behind the stream once the socket is closed. */
const stream: EndMessage = { failed: closeFrame(1011), shutdown: closeFrame(1001) };

/** What comes by an offer has no socket on which something could be said. */
const endMessages: Readonly<Record<Exclude<TransportKind, 'webrtc'>, EndMessage>> = {
  websocket,
  carrier_a: stream,
  carrier_b: stream,
  rtvi: stream,
};
