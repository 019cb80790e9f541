/**
 * SIP at work in the supervisor: sockets and connections on one side, the pure agent in the middle, workers on the other. It awaits
 * nothing but the binding of sockets, and has one timer. No audio passes here.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { unreachable } from '../../shared/base/assert.ts';
import type { SipRegistration } from '../../shared/config/server/sip/registration.ts';
import type { SipSettings } from '../../shared/config/server/sip/variables.ts';
import type { HostPort } from '../../shared/net/address.ts';
import {
  sipCodecs,
  type SipFromWorker,
  type SipOffer,
  type SipToWorker,
} from '../../shared/protocol/sip/calls.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import { newGate } from './access/gate.ts';
import { step, waitsForTime } from './agent/agent.ts';
import { newAgent, type AgentAction, type AgentEvent, type AgentState } from './agent/state.ts';
import { callMetadata } from './calls/metadata.ts';
import { Placement, type PlacementOptions } from './calls/placement.ts';
import { RtpPorts, type RtpSocket } from './calls/rtp-ports.ts';
import { Registrar } from './registration/registrar.ts';
import { Neighbours } from './takeover/neighbours.ts';
import type { Incoming } from './takeover/relay.ts';
import { SipTakeover } from './takeover/takeover.ts';
import { Doors } from './wire/doors.ts';

/** Timers of transactions are looked at so often. */
const lookEveryMs = 50;
/** A call that is not answered by then rings. */
const ringAfterMs = 300;
/** Requests and answers that are remembered at the same time: half a minute of far more calls than one machine takes. */
const mostTransactions = 20_000;

/** Whether there is room for a call: everything that it holds until it is given back, or how it is refused. */
export type Room =
  { readonly release: () => void } | { readonly status: number; readonly retryAfterS?: number | undefined };

export interface SipServiceOptions extends Pick<
  PlacementOptions,
  'readyWorkers' | 'load' | 'send' | 'allGiven' | 'isStopping' | 'records'
> {
  readonly settings: SipSettings;
  /** Numbers of callers are passed on. */
  readonly showsNumbers: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly room: (address: string) => Room;
  /** No new calls are taken now. */
  readonly isClosed: () => boolean;
  readonly offer: (worker: number, message: SipOffer, socket: RtpSocket['socket']) => boolean;
  readonly counted: (
    what: { readonly refused: string } | { readonly answered: true } | { readonly registered: boolean },
  ) => void;
}

/** A call that was let in. */
interface OwnCall {
  readonly release: () => void;
  readonly offeredAt: number;
  offer: number | undefined;
  rings: boolean;
  /** The peer's side is over; what is left is the worker's. */
  isOver: boolean;
}

export class SipService {
  readonly #options: SipServiceOptions;
  readonly #agent: AgentState;
  readonly #placement: Placement;
  readonly #ports: RtpPorts;
  readonly #doors: Doors;
  readonly #registrar: Registrar | undefined;
  readonly #neighbours: Neighbours;
  /** What of it changes hands in a restart. */
  readonly takeover: SipTakeover;
  readonly #calls = new Map<number, OwnCall>();
  #isTicking = false;
  #isOpen = false;

  constructor(options: SipServiceOptions) {
    this.#options = options;
    const { settings, clock } = options;
    this.#registrar = settings.register && this.#newRegistrar(settings.register);
    const isRegistrar = (address: string): boolean => this.#registrar?.isThere(address) === true;
    const gate = newGate(settings, (why) => options.counted({ refused: why }), isRegistrar);
    this.#agent = newAgent({
      gate,
      rules: { srtp: settings.srtp, codecs: sipCodecs },
      newToken,
      newKey: (bytes) => randomBytes(bytes).toString('base64'),
      newSessionId: () => randomInt(1, 2 ** 31),
      isClosed: options.isClosed,
      mostTransactions,
    });
    this.#ports = new RtpPorts(settings.rtpPorts);
    this.#placement = new Placement({
      ...options,
      now: () => clock.now(),
      offer: (worker, message, rtp) => options.offer(worker, message, rtp.socket),
      lost: (call) => this.#lost(call),
    });
    this.#neighbours = new Neighbours({
      state: this.#agent,
      received: (incoming, from) => this.#take(incoming, from),
      failed: (connection) => this.#step({ type: 'flow.failed', connection }),
      send: (connection, bytes) => this.#doors.send(connection, bytes),
    });
    this.#doors = new Doors({
      ...{ settings, clock, log: options.log },
      received: (parsed, flow, size) => this.#take({ parsed, flow, size }),
      closed: (connection) => {
        this.#neighbours.closed(connection);
        this.#registrar?.closed(connection);
        this.#step({ type: 'flow.failed', connection });
      },
      isNeeded: (connection) => {
        for (const { flow } of this.#agent.calls.values()) if (flow.connection === connection) return true;
        return this.#neighbours.needs(connection) || this.#registrar?.needs(connection) === true;
      },
      late: () => options.counted({ refused: 'handshake' }),
    });
    this.takeover = new SipTakeover({
      ...{ clock, gate, ports: this.#ports, doors: this.#doors, neighbours: this.#neighbours },
      left: () => this.#registrar?.stop(),
    });
  }

  /** Binds everything that no other process has given. Rejects when an address cannot be bound. */
  async bind(): Promise<void> {
    await this.#doors.bind();
    this.#isOpen = true;
    this.#arm();
  }

  #newRegistrar(account: SipRegistration): Registrar {
    const { clock, log, settings, counted } = this.#options;
    const host = (account.transport === 'TLS' ? settings.tls?.addr : settings.addr)?.host ?? '';
    return new Registrar({
      ...{ account, log, newToken, chance: () => randomInt(2 ** 32) / 2 ** 32, now: () => clock.now() },
      // What listens on an address of one family reaches no peer of the other.
      family: host.includes(':') ? 0 : 4,
      wayTo: (at, to) => this.#doors.wayTo(at, to),
      send: (flow, bytes) => this.#send({ flow, to: flow.source, bytes }),
      isRegistered: (registered) => counted({ registered }),
    });
  }

  /** Something is still to be said to peers. */
  get isBusy(): boolean {
    return this.#registrar?.isBusy === true;
  }

  close(): void {
    this.#doors.close();
  }

  /** Calls that a worker has or is to have. */
  get calls(): number {
    return this.#placement.count;
  }

  // ---- peers ----

  #take(incoming: Incoming, from?: 'before' | 'after' | 'held'): void {
    const { parsed, flow, size } = incoming;
    try {
      if (this.#registrar?.takes(parsed.message) === true || this.#neighbours.takes(incoming, from)) return;
      const { message, fault } = parsed;
      this.#step({ type: 'message.received', message, fault, flow, size });
    } catch (error) {
      // A message that finds a fault of ours must not end the calls of everybody else.
      this.#options.log.error(errorFields(error), 'a SIP message could not be served');
    }
  }

  // ---- the agent ----

  #step(event: AgentEvent): void {
    const actions = step(this.#agent, event, this.#options.clock.now());
    for (const action of actions) this.#perform(action);
    this.#arm();
  }

  #perform(action: AgentAction): void {
    switch (action.type) {
      case 'send':
        this.#send(action);
        return;
      case 'call.offered':
        this.#offered(action);
        return;
      case 'call.opened':
        this.#change(action.call, (offer) => ({ type: 'sip.open', offer }), { isOpen: true });
        return;
      case 'call.agreed':
        this.#change(action.call, (offer) => ({ type: 'sip.media', offer, media: action.media }), {
          media: action.media,
        });
        return;
      case 'call.digit': {
        const offer = this.#calls.get(action.call)?.offer;
        if (offer !== undefined)
          this.#placement.tell(offer, { type: 'sip.digit', offer, digit: action.digit });
        return;
      }
      case 'call.ended':
        this.#ended(action.call, action.reason);
        return;
      default:
        unreachable(action);
    }
  }

  #send({ flow, to, bytes, orAt }: Omit<Extract<AgentAction, { type: 'send' }>, 'type'>): void {
    if (flow.protocol === 'UDP') {
      this.#doors.datagram(bytes, to);
      return;
    }
    const isSent = this.#doors.send(flow.connection, bytes) || this.#neighbours.send(flow.connection, bytes);
    if (!isSent && orAt !== undefined) this.#doors.call(orAt, { protocol: flow.protocol, bytes });
  }

  #offered({ call, invite, flow, media }: Extract<AgentAction, { type: 'call.offered' }>): void {
    const room = this.#options.room(flow.source.address);
    if (!('release' in room)) {
      this.#options.counted({ refused: 'room' });
      this.#step({ type: 'call.refused', call, ...room });
      return;
    }
    const own: OwnCall = {
      release: room.release,
      offeredAt: this.#options.clock.now(),
      offer: undefined,
      rings: false,
      isOver: false,
    };
    this.#calls.set(call, own);
    this.#ports.take(this.#mediaHost()).then(
      (rtp) => {
        if (rtp === undefined || own.isOver) {
          rtp?.close();
          this.#options.log.warn('no port of SVC_SIP_RTP_PORTS is free');
          this.#step({ type: 'call.refused', call, status: 503, retryAfterS: 5 });
          return;
        }
        // Until the peer that was asked to choose has chosen, the first codec holds.
        const first = media ?? { codec: 'PCMU' as const, payloadType: 0, sends: false, receives: true };
        const metadata = callMetadata(invite, { shows: this.#options.showsNumbers });
        own.offer = this.#placement.give(call, rtp, { ...metadata, media: first, isOpen: false });
      },
      (error: unknown) => {
        this.#options.log.error(errorFields(error), 'a call could not be placed');
        this.#step({ type: 'call.refused', call, status: 500 });
      },
    );
  }

  /** Audio goes where signalling goes, unless that is a translation's outer side. */
  #mediaHost(): string {
    const { addr, tls } = this.#options.settings;
    const host = (addr ?? tls?.addr ?? anyAddress).host;
    return host === 'localhost' ? '127.0.0.1' : host;
  }

  /** Tells the worker, and whoever has the call after it. */
  #change(
    call: number,
    message: (offer: number) => SipToWorker,
    kept: Partial<Pick<SipOffer, 'media' | 'isOpen'>>,
  ): void {
    const offer = this.#calls.get(call)?.offer;
    const placed = offer === undefined ? undefined : this.#placement.callOf(offer);
    if (offer === undefined || placed === undefined) return;
    placed.message = { ...placed.message, ...kept };
    this.#placement.tell(offer, message(offer));
  }

  #ended(call: number, reason: Extract<AgentAction, { type: 'call.ended' }>['reason']): void {
    const own = this.#calls.get(call);
    if (own === undefined) return;
    own.isOver = true;
    const { offer } = own;
    if (offer !== undefined && this.#placement.isHeld(offer)) {
      const how = reason === 'lost' ? 'disconnected' : 'hangup';
      this.#placement.tell(offer, { type: 'sip.closed', offer, reason: how });
      return;
    }
    if (offer !== undefined) this.#placement.forget(offer);
    this.#gone(call);
  }

  #gone(call: number): void {
    const own = this.#calls.get(call);
    this.#calls.delete(call);
    own?.release();
  }

  /** No worker can go on. */
  #lost(call: number): void {
    const own = this.#calls.get(call);
    if (own === undefined) return;
    own.offer = undefined;
    this.#step({ type: 'call.refused', call, status: 503, retryAfterS: 5 });
    this.#step({ type: 'call.hung-up', call });
    this.#gone(call);
  }

  // ---- workers ----

  take(worker: number, message: SipFromWorker): void {
    const placed = this.#placement.callOf(message.offer);
    if (placed === undefined) return;
    const { call } = placed;
    switch (message.type) {
      case 'sip.taken':
      case 'sip.declined':
        this.#placement.take(worker, message);
        // It was over before the worker had it.
        if (this.#calls.get(call)?.isOver === true)
          this.#placement.tell(message.offer, { type: 'sip.closed', offer: message.offer, reason: 'hangup' });
        return;
      case 'sip.accept':
        this.#accept(call, placed.rtp);
        return;
      case 'sip.refuse':
        this.#step({ type: 'call.refused', call, status: 503, retryAfterS: 1 });
        return;
      case 'sip.hangup':
        this.#step({ type: 'call.hung-up', call });
        return;
      case 'sip.over':
        this.#placement.forget(message.offer);
        // A worker whose call broke inside says no more than this.
        this.#step({ type: 'call.hung-up', call });
        this.#gone(call);
        return;
      default:
        unreachable(message);
    }
  }

  #accept(call: number, rtp: RtpSocket): void {
    const flow = this.#agent.calls.get(call)?.flow;
    if (flow === undefined) return;
    this.#options.counted({ answered: true });
    this.#step({ type: 'call.accepted', call, local: { address: flow.local.address, port: rtp.port } });
  }

  workerGone(worker: number): void {
    const { takenUp, over } = this.#placement.workerGone(worker);
    if (takenUp + over > 0)
      this.#options.log.warn({ worker, takenUp, over }, 'the SIP calls of a worker that is gone');
  }

  /** Something may be possible that was not. */
  retry(): void {
    this.#placement.retry();
  }

  // ---- time ----

  #arm(): void {
    if (this.#isTicking || (!waitsForTime(this.#agent) && this.#registrar === undefined)) return;
    this.#isTicking = true;
    this.#options.clock.after(lookEveryMs, () => {
      this.#isTicking = false;
      this.#ring();
      this.#register();
      this.#step({ type: 'time.passed' });
    });
  }

  /** Calls are asked for once somebody can have them, and no more once the service stops. */
  #register(): void {
    const { isClosed, readyWorkers } = this.#options;
    if (isClosed()) this.#registrar?.leave();
    else if (!this.#isOpen || readyWorkers().length === 0) return;
    this.#registrar?.look();
  }

  #ring(): void {
    const now = this.#options.clock.now();
    for (const [call, own] of this.#calls) {
      if (own.rings || now - own.offeredAt < ringAfterMs) continue;
      own.rings = true;
      this.#step({ type: 'call.rings', call });
    }
  }
}

const newToken = (): string => randomBytes(9).toString('base64url').replaceAll(/[-_]/g, 'x');

const anyAddress: HostPort = { host: '0.0.0.0', port: 0 };
