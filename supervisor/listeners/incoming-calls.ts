/**
 * Everything about connections before they belong to a worker: the listeners, who is let in, what calls hold, and the change
 * of hands from the supervisor before this one and to the one after it (decision 0017). Every upgrade is judged exactly once,
 * by the process that serves at that moment.
 */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { CallOffer } from '../../shared/protocol/ipc.ts';
import { systemWallClock, type Clock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { SupervisorMetrics } from '../../shared/runtime/metrics.ts';
import type { Agents } from '../agents/agents.ts';
import type { Admission, AdmissionFacts, ConnectionPool } from '../admission/admission.ts';
import { refusals, type Answer } from '../http/refusals.ts';
import { CallLedger } from '../admission/call-ledger.ts';
import { callIngresses, wantedListeners } from './all.ts';
import { FrontDoor, type Arrival, type Decision } from './front-door.ts';
import type { HealthOptions } from '../service/health.ts';
import { judge, type Arrived } from './listeners.ts';
import type { Release } from '../handover/open-offer.ts';
import type { SignaledCalls } from '../handover/signaled-calls.ts';
import { PageTokens } from './page-tokens.ts';
import { Ports } from './ports.ts';
import type { Priorities } from '../children/priorities.ts';
import type { ListeningFeature } from '../restart/takeover.ts';
import { Predecessor, type ParentChannel } from '../restart/predecessor.ts';
import { RedisSet } from '../admission/redis-set.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { Succession } from '../restart/succession.ts';
import { isSaga } from '../telephony/saga-store.ts';
import type { FleetTelephony } from '../telephony/fleet-telephony.ts';
import { Successor, type Launch } from '../restart/successor.ts';
import { TokenLedger } from '../admission/token-ledger.ts';
import { TokenStore } from '../admission/token-store.ts';
import { SignalingTakeover } from '../webrtc/takeover.ts';

export interface IncomingCallsOptions {
  readonly settings: ServerSettings;
  readonly agentName: string;
  /** Absent in a service of one agent. */
  readonly agents?: Agents | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: SupervisorMetrics;
  readonly admission: Admission;
  /** Providers of the agent's stages, by canonical name; what calls asked of them has been reported by then. */
  readonly providers: () => readonly string[];
  readonly facts: () => AdmissionFacts;
  readonly health: Pick<
    HealthOptions,
    'unready' | 'counts' | 'renderMetrics' | 'live' | 'monitor' | 'history'
  >;
  readonly telephony: FleetTelephony;
  /** What is shared with other hosts; undefined where nothing is. */
  readonly fleet: Fleet | undefined;
  readonly sip: ListeningFeature;
  /** A connection that was let in. */
  readonly accepted: (socket: Socket, request: Omit<CallOffer, 'type' | 'offer'>, release: Release) => void;
  /** Calls that come by an offer. */
  readonly signaled: SignaledCalls;
  /** Something that calls hold became free. */
  readonly released: () => void;
  /** The number of calls at the supervisor before this one has changed. */
  readonly carriedChanged: () => void;
  /** How a supervisor that is to take over is started. */
  readonly launch: Launch;
  readonly priorities: Priorities;
  /** Present where this supervisor is to take over from the one that started it. */
  readonly parent: ParentChannel | undefined;
  /** New calls are taken: neither starting nor stopping. */
  readonly isServing: () => boolean;
  /** This supervisor serves: its children are ready and its listeners are open. */
  readonly serves: () => void;
  /** It was to take over and cannot. */
  readonly cannotTake: () => void;
  /** Another supervisor serves now. */
  readonly left: (successorPid: number) => void;
  /** The supervisor after this one stops. */
  readonly successorStops: () => void;
  /** The drain of this supervisor should be over now. */
  readonly hurry: () => void;
}

export class IncomingCalls {
  readonly callLedger: CallLedger;
  readonly #options: IncomingCallsOptions;
  readonly #tokens = new TokenLedger();
  readonly #frontDoor: FrontDoor;
  readonly #ports: Ports;
  readonly #sessionUrls: SignalingTakeover;
  readonly #succession: Succession;
  readonly #predecessor: Predecessor | undefined;

  constructor(options: IncomingCallsOptions) {
    this.#options = options;
    const { settings, clock, log, admission, providers, released, carriedChanged, parent } = options;
    const full = (): void => options.metrics.limits.inc({ limit: 'restart_requests' });
    this.#sessionUrls = new SignalingTakeover({ full });
    this.callLedger = new CallLedger({
      clock,
      admission,
      providerLimits: settings.providerLimits,
      providers,
      maxCallsPerAddress: settings.access.maxCallsPerAddress,
      released,
      carriedChanged,
    });
    this.#frontDoor = this.#newFrontDoor();
    const arrived = (one: Arrived): void => this.#succession.arrived(one);
    this.#ports = new Ports({
      listeners: wantedListeners(settings),
      context: {
        settings,
        wallClock: systemWallClock,
        agentName: options.agentName,
        agents: options.agents,
        pageTokens: this.#newPageTokens(),
        arrived,
        look: (arrival) => this.#frontDoor.look(arrival),
        // Another process judges what this one has answered, where the listeners have changed hands.
        closed: (listener) =>
          this.isService && !this.#succession.isBusy ? this.#frontDoor.closed(listener) : undefined,
        decide: (arrival) => this.#decide(arrival),
        offered: (arrival) => this.#frontDoor.offered(arrival),
        signaled: options.signaled,
        takeover: this.#sessionUrls,
        log,
        telephony: options.telephony,
        health: options.health,
      },
      log,
      now: () => clock.now(),
    });
    this.#succession = this.#newSuccession();
    this.#predecessor = parent && this.#newPredecessor(parent, arrived);
  }

  /** The page's own endpoint for tokens, where calls need one and nobody else gives them. */
  #newPageTokens(): PageTokens | undefined {
    const { settings, clock } = this.#options;
    const isOwn = settings.access.sessionSecrets.length > 0 && settings.page?.tokenUrl === undefined;
    return isOwn
      ? new PageTokens({ settings, clock, wallClock: systemWallClock, newId: randomUUID })
      : undefined;
  }

  #newFrontDoor(): FrontDoor {
    const { settings, log, metrics, admission, facts, fleet } = this.#options;
    return new FrontDoor({
      settings,
      ingresses: callIngresses(settings),
      wallClock: systemWallClock,
      metrics,
      log,
      admission,
      callLedger: this.callLedger,
      facts,
      tokenLedger: this.#tokens,
      tokenStore: new TokenStore({
        ledger: this.#tokens,
        wallClock: systemWallClock,
        log,
        ...(fleet !== undefined && { shared: new RedisSet(fleet.line) }),
      }),
      addresses: fleet?.addresses,
      agents: this.#options.agents,
    });
  }

  #newSuccession(): Succession {
    const { settings, clock, log, launch, priorities, agents, accepted, left, successorStops, hurry } =
      this.#options;
    return new Succession({
      clock,
      log,
      timeoutMs: settings.restartTimeoutMs,
      callLedger: this.callLedger,
      tokens: this.#tokens,
      start: (events) => new Successor(launch, priorities, events),
      listeners: () => this.#ports.servers,
      sip: this.#options.sip,
      sessionUrls: this.#sessionUrls,
      agents: agents && (() => agents.give()),
      agentUse: agents && (() => agents.giveUse()),
      outbound: () => {
        const { outbound, warm } = this.#options.telephony.own;
        return { ...outbound.give(), transfers: [...warm.give()] };
      },
      judge: (arrived) =>
        judge(arrived, {
          decide: (arrival) => this.#frontDoor.decide(arrival),
          accepted,
          failed: (error) => log.error(errorFields(error), 'a connection could not be judged'),
        }),
      leave: (successorPid) => {
        this.#ports.leave();
        left(successorPid);
      },
      stops: () => {
        this.#predecessor?.stops();
        successorStops();
      },
      hurry: () => {
        this.#predecessor?.hurry();
        hurry();
      },
    });
  }

  #newPredecessor(channel: ParentChannel, arrived: (one: Arrived) => void): Predecessor {
    const { log, agents, isServing, serves, cannotTake } = this.#options;
    return new Predecessor({
      channel,
      callLedger: this.callLedger,
      tokens: this.#tokens,
      isServing,
      open: (name, given) => this.#ports.take(name, given),
      sip: this.#options.sip,
      sessionUrls: this.#sessionUrls,
      agents: agents && ((left) => agents.inherit(left)),
      agentUse: agents && ((use, how) => agents.inheritUse(use, how)),
      outbound: (left) => {
        const { outbound, warm } = this.#options.telephony.own;
        outbound.carry(left);
        warm.carry(left.transfers.filter(isSaga));
      },
      bindRest: () => this.#bind(),
      arrived,
      took: ({ alone }) => {
        if (alone) log.warn('the supervisor that this one was to take over from is gone; this one serves');
        serves();
      },
      failed: (reason) => {
        log.fatal({ reason }, 'the service cannot take over');
        cannotTake();
      },
    });
  }

  /** An HTTP request cannot change hands as an upgrade does; while another supervisor takes over, its client asks again. */
  async #decide(arrival: Arrival): Promise<Decision> {
    if (this.isService && !this.#succession.isBusy) return this.#frontDoor.decide(arrival);
    return { kind: 'refused', answer: refusals.restarting };
  }

  /** Binds the listeners, unless they come from the supervisor before this one. Rejects when an address cannot be bound. */
  async open(): Promise<void> {
    await this.#options.sip.prepare();
    if (this.#predecessor === undefined) await this.#bind();
  }

  async #bind(): Promise<void> {
    await this.#ports.bind();
    await this.#options.sip.bind();
  }

  /** The children are ready. */
  prepared(): void {
    if (this.#predecessor === undefined) this.#options.serves();
    else this.#predecessor.prepared();
  }

  /** Says why this supervisor cannot serve to the one that it was to take over from, if there is one. */
  tellPredecessor(problem: string, told: () => void): void {
    if (this.#predecessor === undefined) told();
    else this.#predecessor.tell(problem, told);
  }

  /** Why calls cannot come in now; undefined when they can. */
  unready(): Answer | undefined {
    return this.#frontDoor.unready();
  }

  /** Whether the listeners are this supervisor's. */
  get isThere(): boolean {
    return this.#predecessor?.hasTaken !== false;
  }

  /** Another supervisor serves in place of this one. */
  get isSucceeded(): boolean {
    return this.#succession.isOver;
  }

  /** This supervisor is the service: nobody serves before it or after it. */
  get isService(): boolean {
    return this.isThere && !this.isSucceeded;
  }

  /** Room for a call that no connection of ours brings, or how it is refused. */
  room(pool: ConnectionPool, address: string): { readonly release: () => void } | Answer {
    return this.#frontDoor.room(pool, address);
  }

  /** Starts a supervisor that takes over. An obstacle says why there can be none now. */
  restart(obstacle: string | undefined): void {
    this.#succession.ask(obstacle);
  }

  /** The service was told to stop; `again` when it had been before. */
  stop({ again }: { readonly again: boolean }): void {
    this.#succession.stop();
    if (this.isService) this.#options.telephony.own.outbound.leave();
    if (this.#predecessor?.isGone !== false) return;
    if (again) this.#predecessor.hurry();
    else this.#predecessor.stops();
  }

  /** No call is left, nor a connection that may yet become one, nor a caller on hold. */
  get isEmpty(): boolean {
    return this.callLedger.own === 0 && !this.#options.telephony.own.warm.isNeeded;
  }

  /** Connections go through this process to the one after it, or the one before it still has calls. */
  get isNeeded(): boolean {
    const isFollowed = this.#predecessor?.hasTaken === true && !this.#predecessor.isGone;
    const { sip, telephony } = this.#options;
    const { own } = telephony;
    const isAsking = sip.isBusy || own.isBusy || own.outbound.isBusy || own.warm.isBusy;
    return this.#succession.isBusy || this.#ports.isLingering || isFollowed || isAsking;
  }

  close(): void {
    if (!this.isSucceeded) this.#ports.close();
  }
}
