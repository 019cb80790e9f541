/**
 * SIP beside the listeners of the service, in builds that have it and where the settings ask for it. Everything that it needs of the
 * service is passed in here; where there is no SIP, every call of this file does nothing.
 */
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Server } from 'node:net';
import type { CallFacts } from '../../shared/agents/choose.ts';
import type { AgentRef } from '../../shared/agents/version.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { FromWorker } from '../../shared/protocol/ipc.ts';
import { sipOffersFrom, type SipFromWorker } from '../../shared/sip/calls.ts';
import type { SipRelayed, SipToSuccessor } from '../../shared/sip/takeover.ts';
import type { Mailboxes } from '../../shared/protocol/mailbox.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { SupervisorMetrics } from '../../shared/runtime/metrics.ts';
import type { Children } from '../children/children.ts';
import type { LeftRecord } from '../handover/left-records.ts';
import { CannotListen } from '../listeners/ports.ts';
import type { ListeningFeature, SuccessorLink } from '../restart/takeover.ts';
import type { IncomingCalls } from '../listeners/incoming-calls.ts';
import type { SipService } from './sip-service.ts';
import type { SipAsCarrier } from '../telephony/carrier.ts';
import type { OutboundEvent } from '../telephony/outbound/outbound-call.ts';

/** Set by the bundler; absent when the sources run as they are. */
declare const BUILD_SIP: boolean | undefined;

export interface SipFeatureOptions {
  readonly settings: ServerSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: SupervisorMetrics;
  readonly boxes: Mailboxes;
  readonly records: {
    readonly leftBy: (worker: number) => ReadonlyMap<number, LeftRecord>;
    readonly forget: (slot: number, offer: number) => void;
  };
  readonly children: Children;
  readonly room: IncomingCalls['room'];
  readonly readyWorkers: () => readonly number[];
  /** The agent of a call, as a text that travels with it; absent in a service of one. */
  readonly chosenAgent?: ((facts: CallFacts) => string | undefined) | undefined;
  /** Why that agent has no room for a call, which is kept where it has. */
  readonly fullAgent?:
    ((chosen: string | undefined) => { readonly retryAfterS?: number | undefined } | undefined) | undefined;
  /** What becomes of a call that the service makes. */
  readonly told: (dial: string, event: OutboundEvent) => void;
}

export class SipFeature implements ListeningFeature {
  readonly #options: SipFeatureOptions;
  #service: SipService | undefined;
  #sayBefore: ((message: SipRelayed) => void) | undefined;

  constructor(options: SipFeatureOptions) {
    this.#options = options;
  }

  /** Loads it, without a socket. */
  async prepare(): Promise<void> {
    const { sip: settings, maxSessions, telephony } = this.#options.settings;
    if (settings === undefined) return;
    // The bundler leaves the import out where the constant is false; behind a return it would not.
    const sip = typeof BUILD_SIP === 'undefined' || BUILD_SIP ? await import('./sip-service.ts') : undefined;
    if (sip === undefined) return;
    const { clock, log, metrics, boxes, records, children, readyWorkers, told } = this.#options;
    const pool = { name: 'sip', most: maxSessions };
    this.#service = new sip.SipService({
      settings,
      clock,
      log,
      readyWorkers,
      told,
      showsNumbers: !telephony.redactsNumbers,
      chosenAgent: this.#options.chosenAgent,
      fullAgent: this.#options.fullAgent,
      load: (worker) => boxes.workerStatus(worker).calls,
      offer: (worker, message, socket) => children.offer(worker, message, socket),
      send: (worker, message) => void children.send(worker, message),
      allGiven: (worker) => void children.send(worker, { type: 'calls.given' }),
      records: { leftBy: (worker) => slotsOf(records.leftBy(worker)), forget: records.forget },
      isStopping: () => children.table.course === 'closed',
      isClosed: () => children.table.course !== 'serving',
      room: (address) => {
        const room = this.#options.room(pool, address);
        if ('release' in room) return room;
        return { status: room.status === 429 ? 486 : 503, retryAfterS: room.retryAfterS };
      },
      counted: (what) => {
        if ('refused' in what) metrics.refusals.inc({ reason: `sip_${what.refused}` });
        else if ('limit' in what) metrics.limits.inc(what);
        else if ('registered' in what) metrics.sipRegistered.set(Number(what.registered));
        else metrics.handovers.inc({ outcome: 'taken' });
      },
    });
    if (this.#sayBefore !== undefined) this.#service.takeover.follow(this.#sayBefore);
  }

  /** Binds what no other process has given. Rejects when an address cannot be bound. */
  async bind(): Promise<void> {
    try {
      await this.#service?.bind();
    } catch (error) {
      const isUnset = this.#options.settings.sip?.addr === undefined;
      throw new CannotListen(isUnset ? 'SVC_SIP_TLS_ADDR' : 'SVC_SIP_ADDR', error);
    }
  }

  // ---- a restart ----

  give(successor: SuccessorLink): void {
    this.#service?.takeover.give(successor);
  }

  leave(): void {
    this.#service?.takeover.leave();
  }

  takeBack(): void {
    this.#service?.takeover.takeBack();
  }

  successorSaid(message: SipRelayed): void {
    this.#service?.takeover.successorSaid(message);
  }

  follow(say: (message: SipRelayed) => void): void {
    this.#sayBefore = say;
  }

  takeListener(name: string, given: Server): boolean {
    if (name !== 'sip' && name !== 'sips') return false;
    if (this.#service === undefined) given.close();
    else this.#service.takeover.takeListener(name, given);
    return true;
  }

  takeSocket(given: DatagramSocket): void {
    if (this.#service === undefined) given.close();
    else this.#service.takeover.takeSocket(given);
  }

  predecessorSaid(message: SipToSuccessor): void {
    this.#service?.takeover.predecessorSaid(message);
  }

  predecessorGone(): void {
    this.#service?.takeover.predecessorGone();
  }

  // ---- workers ----

  /** The versions of agents that calls have. */
  get agents(): readonly AgentRef[] {
    return this.#service?.agents ?? [];
  }

  agentOf(offer: number): AgentRef | undefined {
    return this.#service?.agentOf(offer);
  }

  hasAgent(offer: number, agent: AgentRef): void {
    this.#service?.hasAgent(offer, agent);
  }

  /** Something is still to be said to peers before the process ends. */
  get isBusy(): boolean {
    return this.#service?.isBusy === true;
  }

  /** SIP as a carrier; undefined where there is none. */
  get carrier(): SipAsCarrier | undefined {
    return this.#service?.carrier;
  }

  /** True where the message was about a SIP call. */
  take(worker: number, message: FromWorker): message is SipFromWorker {
    const isOurs = message.type.startsWith('sip.');
    if (isOurs) this.#service?.take(worker, message as SipFromWorker);
    return isOurs;
  }

  /** Looks after the calls of a worker that is gone: before the connections' hand-over, which shares the records. */
  workerGone(worker: number, during: number | undefined): void {
    this.#service?.workerGone(worker, during);
  }

  retry(): void {
    this.#service?.retry();
  }

  close(): void {
    this.#service?.close();
  }
}

const slotsOf = (records: ReadonlyMap<number, LeftRecord>): ReadonlyMap<number, number> =>
  new Map(
    [...records]
      .filter(([offer, { connection }]) => offer >= sipOffersFrom && connection === 'open')
      .map(([offer, { slot }]) => [offer, slot]),
  );

/** The records of connections alone. */
export const connectionsOnly = (
  leftBy: (worker: number) => ReadonlyMap<number, LeftRecord>,
): ((worker: number) => ReadonlyMap<number, LeftRecord>) => {
  return (worker) => new Map([...leftBy(worker)].filter(([offer]) => offer < sipOffersFrom));
};
