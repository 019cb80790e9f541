/**
 * SIP at work in the supervisor: sockets and connections on one side, the pure agent in the middle, workers on the other. It awaits
 * nothing but the binding of sockets, and has one timer. No audio passes here.
 */
import { randomBytes, randomInt } from 'node:crypto';
import type { AgentRef } from '../../shared/agents/version.ts';
import { unreachable } from '../../shared/base/assert.ts';
import type { SipRegistration } from '../../shared/sip/registration.ts';
import type { SipSettings } from '../../shared/sip/variables.ts';
import type { HostPort } from '../../shared/net/address.ts';
import { parseIp } from '../../shared/net/cidr.ts';
import { sipCodecs, type SipFromWorker } from '../../shared/sip/calls.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { LimitName } from '../../shared/runtime/metrics.ts';
import { Seldom } from '../../shared/runtime/seldom.ts';
import { newGate, type GateRefusal } from './access/gate.ts';
import { step as stepAgent, waitsForTime } from '../../shared/sip/agent/agent.ts';
import {
  newAgent,
  type AgentAction,
  type AgentEvent,
  type AgentState,
  type SipAccount,
  type Flow,
} from '../../shared/sip/agent/state.ts';
import { OwnCalls, type OwnCallsOptions } from './calls/own-calls.ts';
import { RtpPorts } from './calls/rtp-ports.ts';
import { accountOf, SipCarrier, type SipCarrierOptions } from './calls/sip-carrier.ts';
import { Registrar } from './registration/registrar.ts';
import { OtherSupervisors } from './takeover/other-supervisors.ts';
import type { Incoming } from './takeover/relay.ts';
import { SipTakeover } from './takeover/takeover.ts';
import { SipSockets } from './wire/sockets.ts';

/** Timers of transactions are looked at so often. */
const lookEveryMs = 50;
/** Requests and answers that are remembered at the same time: half a minute of far more calls than one machine takes. */
const mostTransactions = 20_000;

export interface SipServiceOptions extends Pick<
  OwnCallsOptions,
  | 'readyWorkers'
  | 'load'
  | 'send'
  | 'allGiven'
  | 'isStopping'
  | 'records'
  | 'room'
  | 'offer'
  | 'showsNumbers'
  | 'chosenAgent'
  | 'fullAgent'
> {
  readonly settings: SipSettings;
  readonly clock: Clock;
  readonly log: Log;
  /** No new calls are taken now. */
  readonly isClosed: () => boolean;
  /** What becomes of a call that the service makes. */
  readonly told: SipCarrierOptions['told'];
  readonly counted: (
    what:
      | { readonly refused: string }
      | { readonly answered: true }
      | { readonly registered: boolean }
      | { readonly limit: Extract<LimitName, `sip_${string}` | 'restart_requests'> },
  ) => void;
}

export class SipService {
  readonly #options: SipServiceOptions;
  readonly #agent: AgentState;
  readonly #calls: OwnCalls;
  readonly #ports: RtpPorts;
  /** Calls that are made, and what calls ask of their peers. */
  readonly carrier: SipCarrier;
  readonly #sockets: SipSockets;
  readonly #registrar: Registrar | undefined;
  readonly #others: OtherSupervisors;
  /** What of it changes hands in a restart. */
  readonly takeover: SipTakeover;
  readonly #strangers: Seldom;
  readonly #refusals: Seldom;
  #isTicking = false;
  #isOpen = false;

  constructor(options: SipServiceOptions) {
    this.#options = options;
    this.#strangers = new Seldom(options.clock);
    this.#refusals = new Seldom(options.clock);
    const { settings, clock } = options;
    this.#registrar = settings.register && this.#newRegistrar(settings.register);
    const gate = newGate(settings, (refusal) => this.#denied(refusal), {
      isRegistrar: (address) => this.#registrar?.isThere(address) === true,
      isTrunk: (address) => this.carrier.isTrunk(address),
    });
    this.#agent = newAgent({
      gate,
      accountAt: (address) => this.#accountAt(address),
      rules: { srtp: settings.srtp, codecs: sipCodecs },
      newToken,
      newKey: (bytes) => randomBytes(bytes).toString('base64'),
      newSessionId: () => randomInt(1, 2 ** 31),
      isClosed: options.isClosed,
      mostTransactions,
    });
    this.#ports = new RtpPorts(settings.rtpPorts);
    const mediaHost = (flow: Flow): string => this.#mediaHost(flow);
    const step = (event: AgentEvent): void => this.#step(event);
    const shared = { ports: this.#ports, mediaHost, step, noPort: () => this.#noPort() };
    this.#calls = new OwnCalls({ ...options, ...shared, agent: this.#agent, now: () => clock.now() });
    this.carrier = new SipCarrier({
      ...options,
      ...shared,
      calls: this.#calls,
      newToken,
      trunk: settings.trunk,
      refers: settings.refers,
      family: this.#familyOf(settings.trunk?.transport),
      wayTo: (at, to) => this.#sockets.wayTo(at, to),
    });
    this.#others = new OtherSupervisors({
      state: this.#agent,
      received: (incoming, from) => this.#take(incoming, from),
      failed: (connection) => this.#step({ type: 'flow.failed', connection }),
      full: () => options.counted({ limit: 'restart_requests' }),
      send: (connection, bytes) => this.#sockets.send(connection, bytes),
    });
    this.#sockets = new SipSockets({
      settings,
      clock,
      log: options.log,
      received: (parsed, flow, size) => this.#take({ parsed, flow, size }),
      closed: (connection) => {
        this.#others.closed(connection);
        this.#registrar?.closed(connection);
        this.carrier.closed(connection);
        this.#step({ type: 'flow.failed', connection });
      },
      isNeeded: (connection) => {
        for (const { flow } of this.#agent.calls.values()) if (flow.connection === connection) return true;
        return this.#others.needs(connection) || this.#registrar?.needs(connection) === true;
      },
      late: () => options.counted({ refused: 'handshake' }),
      full: () => options.counted({ limit: 'sip_connections' }),
    });
    this.takeover = new SipTakeover({
      clock,
      gate,
      ports: this.#ports,
      sockets: this.#sockets,
      others: this.#others,
      left: () => this.#registrar?.stop(),
    });
  }

  /** Binds everything that no other process has given. Rejects when an address cannot be bound. */
  async bind(): Promise<void> {
    await this.#sockets.bind();
    void this.carrier.learnTrunk();
    this.#isOpen = true;
    this.#arm();
  }

  #noPort(): void {
    this.#options.log.warn('no port of SVC_SIP_RTP_PORTS is free');
    this.#options.counted({ limit: 'sip_rtp_ports' });
  }

  /** A trunk that is not let in shows its own side a number at best; scanners are not to fill the log. */
  #denied({ reason, address, why }: GateRefusal): void {
    this.#options.counted({ refused: reason });
    if (why !== undefined && this.#strangers.isDue(`${reason} ${address}`))
      this.#options.log.warn({ address, why }, 'a SIP peer was refused');
  }

  /** Each source and cause once. Of 401 and 403 the gate tells what there is to know. */
  #refused({ address, method, status, isCut }: Extract<AgentAction, { type: 'request.refused' }>): void {
    const { log, counted } = this.#options;
    if (isCut) counted({ limit: 'sip_answers' });
    if (isCut && this.#refusals.isDue(`cut ${address}`))
      log.warn({ address }, 'answers to a SIP peer are cut short');
    const isTold = status === 401 || status === 403;
    if (!isTold && this.#refusals.isDue(`${status} ${method} ${address}`))
      log.info({ address, method: method.slice(0, 32), status }, 'a SIP request was refused');
  }

  #newRegistrar(account: SipRegistration): Registrar {
    const { clock, log, counted } = this.#options;
    return new Registrar({
      account,
      log,
      newToken,
      chance: () => randomInt(2 ** 32) / 2 ** 32,
      now: () => clock.now(),
      family: this.#familyOf(account.transport),
      wayTo: (at, to) => this.#sockets.wayTo(at, to),
      send: (flow, bytes) => this.#send({ flow, to: flow.source, bytes }),
      isRegistered: (registered) => counted({ registered }),
    });
  }

  /** A PBX may want requests within a call of its own signed, as it wants the registration. */
  #accountAt(address: string): SipAccount | undefined {
    const { register } = this.#options.settings;
    if (register !== undefined && this.#registrar?.isThere(address) === true) return accountOf(register);
    return this.carrier.accountAt(address);
  }

  /** What listens on an address of one family reaches no peer of the other. */
  #familyOf(transport: SipRegistration['transport'] = 'UDP'): 0 | 4 {
    const { tls, addr } = this.#options.settings;
    const host = (transport === 'TLS' ? tls?.addr : addr)?.host ?? '';
    return host.includes(':') ? 0 : 4;
  }

  /** Something is still to be said to peers. */
  get isBusy(): boolean {
    return this.#registrar?.isBusy === true;
  }

  close(): void {
    this.#sockets.close();
  }

  // ---- peers ----

  #take(incoming: Incoming, from?: 'before' | 'after' | 'held'): void {
    const { parsed, flow, size } = incoming;
    try {
      if (this.#registrar?.takes(parsed.message) === true || this.#others.takes(incoming, from)) return;
      const { message, fault } = parsed;
      this.#step({ type: 'message.received', message, fault, flow, size });
    } catch (error) {
      // A message that finds a fault of ours must not end the calls of everybody else.
      this.#options.log.error(errorFields(error), 'a SIP message could not be served');
    }
  }

  // ---- the agent ----

  #step(event: AgentEvent): void {
    const actions = stepAgent(this.#agent, event, this.#options.clock.now());
    for (const action of actions) this.#perform(action);
    this.#arm();
  }

  #perform(action: AgentAction): void {
    switch (action.type) {
      case 'send':
        this.#send(action);
        return;
      case 'request.refused':
        this.#refused(action);
        return;
      case 'agent.full':
        this.#options.counted({ limit: 'sip_transactions' });
        return;
      case 'call.offered':
        this.#calls.offered(action);
        return;
      case 'call.unmet': {
        const { callId: call, offers } = action;
        this.#options.log.warn({ call, offers }, 'a call by SIP was refused for what it offers');
        return;
      }
      case 'call.opened':
        this.#calls.opened(action.call);
        return;
      case 'call.agreed':
        this.#calls.agreed(action.call, action.media);
        return;
      case 'call.digit':
        this.#calls.digit(action.call, action.digit);
        return;
      case 'call.ended':
        this.#calls.ended(action.call, action.reason);
        this.carrier.callEnded(action.call);
        return;
      case 'dial.answered':
        this.carrier.answered(action);
        return;
      case 'dial.ended':
        this.carrier.ended(action);
        return;
      case 'call.referred':
        this.carrier.referred(action.call, action.outcome);
        return;
      case 'call.pressed':
        this.carrier.pressed(action.call, action.outcome);
        return;
      default:
        unreachable(action);
    }
  }

  #send({ flow, to, bytes, orAt }: Omit<Extract<AgentAction, { type: 'send' }>, 'type'>): void {
    if (flow.protocol === 'UDP') {
      this.#sockets.datagram(bytes, to);
      return;
    }
    const isSent = this.#sockets.send(flow.connection, bytes) || this.#others.send(flow.connection, bytes);
    if (!isSent && orAt !== undefined) this.#sockets.call(orAt, { protocol: flow.protocol, bytes });
  }

  /** Audio goes where signalling goes, unless that is a translation's outer side; of all addresses, those of the family that is told. */
  #mediaHost({ protocol, local }: Flow): string {
    const { addr, tls } = this.#options.settings;
    const { host } = (protocol === 'TLS' ? tls?.addr : addr) ?? anyAddress;
    if (parseIp(host)?.every((byte) => byte === 0) === true)
      return local.address.includes(':') ? '::' : '0.0.0.0';
    return host === 'localhost' ? '127.0.0.1' : host;
  }

  // ---- workers ----

  /** The versions of agents that calls have. */
  get agents(): OwnCalls['agents'] {
    return this.#calls.agents;
  }

  agentOf(offer: number): AgentRef | undefined {
    return this.#calls.agentOf(offer);
  }

  hasAgent(offer: number, agent: AgentRef): void {
    this.#calls.hasAgent(offer, agent);
  }

  take(worker: number, message: SipFromWorker): void {
    this.#calls.take(worker, message);
  }

  /** `during`: the call for which it worked when it hung or crashed. */
  workerGone(worker: number, during?: number): void {
    this.#calls.workerGone(worker, during);
  }

  /** Something may be possible that was not. */
  retry(): void {
    this.#calls.retry();
  }

  // ---- time ----

  #arm(): void {
    if (this.#isTicking || (!waitsForTime(this.#agent) && this.#registrar === undefined)) return;
    this.#isTicking = true;
    this.#options.clock.after(lookEveryMs, () => {
      this.#isTicking = false;
      this.#calls.ring();
      this.#register();
      this.#step({ type: 'time.passed' });
    });
  }

  /**
   * Calls are asked for once somebody can have them, and no more once the service stops. Calls that this process makes ring through a restart:
   * its workers are there for as long as it has calls.
   */
  #register(): void {
    const { isClosed, readyWorkers } = this.#options;
    if (isClosed()) {
      this.#registrar?.leave();
      if (!this.#others.isFollowed) this.carrier.giveUp();
    } else if (!this.#isOpen || readyWorkers().length === 0) return;
    this.#registrar?.look();
  }
}

const newToken = (): string => randomBytes(9).toString('base64url').replaceAll(/[-_]/g, 'x');

const anyAddress: HostPort = { host: '0.0.0.0', port: 0 };
