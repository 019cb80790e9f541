/**
 * Decides about every connection that asks for a call (docs/call-protocol.md, When there is no call): is the request well formed,
 * are the credentials fine, may this web page ask, is there room, may the address have another call, and only then is the token used. All that a
 * decision took is given back by one function, whatever becomes of the call. The order matters: a stranger learns nothing about load, and a token
 * that was refused for capacity stays unused.
 */
import { randomUUID } from 'node:crypto';
import { chosenKeys } from '../../shared/agents/chosen.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import { tokenAnswers, type TokenFault } from '../../shared/auth/token-fault.ts';
import { clientAddress } from '../../shared/net/client-address.ts';
import type { TransportKind } from '../../shared/protocol/ipc.ts';
import type { WallClock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { Seldom } from '../../shared/runtime/seldom.ts';
import type { SupervisorMetrics } from '../../shared/runtime/metrics.ts';
import type { Admission, AdmissionFacts, ConnectionPool } from '../admission/admission.ts';
import type { Release } from '../handover/open-offer.ts';
import { refusal, refusals, type Answer } from '../http/refusals.ts';
import { CarrierRefusals } from '../telephony/refusals.ts';
import type { Agents } from '../agents/agents.ts';
import type { CallLedger } from '../admission/call-ledger.ts';
import type { RequestHead } from '../admission/credentials.ts';
import type { CallIngress, IngressGate, GatePlace, AdmittedRequest } from './ingress.ts';
import type { TokenLedger } from '../admission/token-ledger.ts';
import type { TokenStore } from '../admission/token-store.ts';
import type { SharedAddresses } from '../fleet/shared-addresses.ts';

/** A request for an upgrade, as it came. */
export interface Arrival {
  /** Name of the listener. */
  readonly listener: string;
  /** What is wrong with its form; absent when nothing is. */
  readonly fault?: Answer;
  readonly method: string;
  readonly head: RequestHead;
  /** Address of the TCP peer. */
  readonly peer: string | undefined;
}

export type Decision =
  | { readonly kind: 'refused'; readonly answer: Answer }
  | {
      readonly kind: 'admitted';
      readonly transport: TransportKind;
      /** The request without its token. */
      readonly head: RequestHead;
      readonly signedMetadata: Readonly<Record<string, string>>;
      /** Gives everything back, and the token where it was not used; a second time does nothing. */
      readonly release: Release;
      /** Seconds after which the call is hung up. */
      readonly maxS?: number;
      /** A connection that is made after this decision is established. */
      readonly connected: () => void;
    };

export interface FrontDoorOptions {
  readonly settings: ServerSettings;
  /** How calls come in, by name of the listener. */
  readonly ingresses: ReadonlyMap<string, CallIngress>;
  readonly wallClock: WallClock;
  readonly metrics: SupervisorMetrics;
  readonly log: Pick<Log, 'warn'>;
  readonly admission: Admission;
  readonly callLedger: CallLedger;
  readonly facts: () => AdmissionFacts;
  readonly tokenLedger: TokenLedger;
  readonly tokenStore: TokenStore;
  /** Absent in a service of one agent. */
  readonly agents?: Pick<Agents, 'chosen' | 'full' | 'expect'> | undefined;
  /** What addresses do on all hosts together; absent where there is one host. */
  readonly addresses?: SharedAddresses | undefined;
}

/** A request that has passed its credentials and found the service open. */
interface Asked {
  readonly admitted: AdmittedRequest;
  readonly ingress: CallIngress;
  readonly address: string;
  /** The agent that was chosen, as metadata of the call; empty where that is left to its worker. */
  readonly chosen: Readonly<Record<string, string>>;
}

/** Listeners whose calls begin with `start` of the call protocol. */
const callProtocol: readonly string[] = ['websocket', 'page', 'webrtc_ws'];

type OfFleet = { readonly answer: Answer } | { readonly release: () => void };

/** A caller who was answered opens a stream within this time, or does not come. */
const onTheWayS = 10;

export class FrontDoor {
  readonly #options: FrontDoorOptions;
  /** Callers who were told to come and are on their way: when they are no longer expected, by listener. */
  readonly #expected = new Map<string, number[]>();
  /** Attempts that gates let through uncounted, as far as metrics tell of them. */
  readonly #untracked = new Map<IngressGate, number>();
  /** Pages that were refused and named. */
  readonly #pages: Seldom;
  readonly #carriers: CarrierRefusals;

  constructor(options: FrontDoorOptions) {
    this.#options = options;
    this.#pages = new Seldom(options.wallClock);
    this.#carriers = new CarrierRefusals(options);
  }

  /** Why a connection of this pool would be refused now, whoever asked; undefined when it would not. */
  #closedFor(pool: ConnectionPool, expected = 0): Answer | undefined {
    const { admission, callLedger } = this.#options;
    const facts = this.#options.facts();
    const closed = admission.refusal({ ...facts, sessions: facts.sessions + expected }, pool);
    if (closed !== undefined) return closed;
    const budget = callLedger.budgetRefusal();
    return budget && refusal('provider_budget', { retryAfterS: budget.retryAfterS });
  }

  /** Why the service is not ready: nobody would be let in, or no session token would be. */
  unready(): Answer | undefined {
    const { settings, tokenLedger } = this.#options;
    const takesSessions = settings.access.sessionSecrets.length > 0;
    const isFull = takesSessions && tokenLedger.isFull(this.#nowS());
    const closed = [...this.#options.ingresses.values()].map(({ pool }) => this.#closedFor(pool));
    const isOpen = closed.includes(undefined);
    return (isOpen ? undefined : closed[0]) ?? (isFull ? tokenAnswers.set_full : undefined);
  }

  /** Never rejects for anything that a client can send. */
  async decide(arrival: Arrival): Promise<Decision> {
    if (arrival.fault !== undefined) return this.#refuse(arrival.fault);
    const asked = this.#ask(arrival, { counts: true });
    if ('answer' in asked) {
      this.#nameOrigin(arrival, asked.answer);
      if (arrival.listener.startsWith('carrier_')) this.#carriers.tell(arrival.listener, asked.answer);
      return this.#refuse(asked.answer);
    }
    const { admitted, ingress } = asked;
    this.#expected.get(arrival.listener)?.shift();
    const maxS = ingress.enforcesMaxS === true ? Number(admitted.metadata['session.max_s']) : 0;
    const { pass } = admitted;
    const held = this.#take(asked);
    if (held === undefined) return this.#refuse(refusals.address_full);
    const { connected } = held;
    const elsewhere = await this.#takeOfFleet(asked);
    if ('answer' in elsewhere) {
      held.release();
      return this.#refuse(elsewhere.answer);
    }
    const release = (): void => {
      held.release();
      elsewhere.release();
    };
    let isLeft = false;
    const fault = pass === undefined ? undefined : await this.#use(pass);
    if (fault !== undefined) {
      release();
      return this.#refuse(tokenAnswers[fault]);
    }
    this.#options.agents?.expect(asked.chosen[chosenKeys.signed]);
    return {
      kind: 'admitted',
      transport: ingress.transport,
      head: admitted.rest(),
      signedMetadata: { ...admitted.metadata, ...asked.chosen },
      ...(maxS > 0 && { maxS }),
      release: (end) => {
        release();
        if (!isLeft && end?.isUnused === true && pass !== undefined) this.#giveBack(pass);
        isLeft = true;
      },
      connected,
    };
  }

  /** No call came of it for want of room. */
  #giveBack(pass: NonNullable<AdmittedRequest['pass']>): void {
    this.#options.metrics.tokens.inc({ outcome: 'given_back' });
    void this.#options.tokenStore.giveBack(pass);
  }

  /** Takes a place at the listener and what a call holds; undefined when the address has none left. */
  #take({ ingress, address }: Asked): GatePlace | undefined {
    const place = ingress.gate?.take(address);
    if (ingress.gate !== undefined && place === undefined) return undefined;
    const giveBack = this.#options.callLedger.take(address, ingress.pool.name);
    const release = (): void => {
      place?.release();
      giveBack?.();
    };
    if (giveBack !== undefined) return { release, connected: () => place?.connected() };
    release();
    return undefined;
  }

  /** Counts an offer for a call that runs; the answer when its address has made too many. */
  async offered(arrival: Arrival): Promise<Answer | undefined> {
    const gate = this.#options.ingresses.get(arrival.listener)?.gate;
    const address = this.#addressOf(arrival);
    const hurried = this.#hurried(gate, address) ?? (await this.#offeredToFleet(gate, address));
    if (hurried !== undefined) this.#options.metrics.refusals.inc({ reason: hurried.code });
    return hurried;
  }

  /** The answer to an address that has made too many attempts at a gate. */
  #hurried(gate: IngressGate | undefined, address: string): Answer | undefined {
    if (gate === undefined) return undefined;
    const answer = gate.asked(address);
    const untracked = gate.untracked();
    const fresh = untracked - (this.#untracked.get(gate) ?? 0);
    if (fresh > 0) this.#options.metrics.limits.inc({ limit: 'rate_table' }, fresh);
    this.#untracked.set(gate, untracked);
    return answer;
  }

  async #offeredToFleet(gate: IngressGate | undefined, address: string): Promise<Answer | undefined> {
    const offers = gate?.ofFleet.offers;
    if (offers === undefined) return undefined;
    const waitS = (await this.#options.addresses?.offer(address, offers.perMinute)) ?? 0;
    return waitS > 0 ? offers.tooMany(waitS) : undefined;
  }

  /** The same on all hosts together, where they share a store. */
  async #takeOfFleet({ ingress: { gate }, address }: Asked): Promise<OfFleet> {
    const { addresses, settings } = this.#options;
    if (addresses === undefined) return { release: () => undefined };
    const hurried = await this.#offeredToFleet(gate, address);
    if (hurried !== undefined) return { answer: hurried };
    const limits = [gate?.ofFleet, { kind: 'any', most: settings.access.maxCallsPerAddress }];
    const places = await Promise.all(
      limits.map(async (limit) =>
        limit === undefined || limit.most === 0
          ? () => undefined
          : await addresses.take(limit.kind, address, limit.most),
      ),
    );
    const release = (): void => {
      for (const leave of places) leave?.();
    };
    if (!places.includes(undefined)) return { release };
    release();
    return { answer: refusals.address_full };
  }

  /** Room for a call that its own listener has judged already: everything that it holds, or why there is none. */
  room(pool: ConnectionPool, address: string): { readonly release: () => void } | Answer {
    const closed = this.#closedFor(pool);
    const release = closed === undefined ? this.#options.callLedger.take(address, pool.name) : undefined;
    if (release !== undefined) return { release };
    const answer = closed ?? refusals.address_full;
    this.#options.metrics.refusals.inc({ reason: answer.code });
    return answer;
  }

  /**
   * Why a call of this listener that is still ringing cannot be taken; undefined when it can: then its stream is expected, and callers who
   * ring in the same moment are not promised its place.
   */
  closed(listener: string): Answer | undefined {
    const ingress = this.#options.ingresses.get(listener);
    const answer =
      // It came to a supervisor that is told of it by another one, and whose settings no longer ask for this listener.
      ingress === undefined ? refusals.listener_closed : this.#closedFor(ingress.pool, this.#onTheirWay());
    if (answer === undefined)
      this.#expected.set(listener, [...(this.#expected.get(listener) ?? []), this.#nowS() + onTheWayS]);
    else this.#options.metrics.refusals.inc({ reason: answer.code });
    return answer;
  }

  #onTheirWay(): number {
    let count = 0;
    for (const [listener, ends] of this.#expected) {
      const left = ends.filter((endS) => endS > this.#nowS());
      this.#expected.set(listener, left);
      count += left.length;
    }
    return count;
  }

  /** How an upgrade with this head would be refused now; undefined when it would not. Nothing is taken, used or counted. */
  look(arrival: Arrival): Answer | undefined {
    const asked = this.#ask(arrival, { counts: false });
    if ('answer' in asked) return asked.answer;
    return this.#options.callLedger.hasRoomFor(asked.address) ? undefined : refusals.address_full;
  }

  /** Everything that is decided before something is taken. */
  #ask(arrival: Arrival, { counts }: { readonly counts: boolean }): { readonly answer: Answer } | Asked {
    const { ingresses, tokenLedger } = this.#options;
    const ingress = ingresses.get(arrival.listener);
    if (ingress === undefined) return { answer: refusals.listener_closed };
    const admitted = ingress.admit(arrival.head, this.#nowS());
    if (!admitted.ok) return { answer: admitted.error };
    const { pass } = admitted.value;
    if (pass !== undefined && tokenLedger.isUsed(pass.sid, this.#nowS()))
      return { answer: tokenAnswers.reused };
    // Looked up late, where it is needed: a request that is refused before that is refused sooner.
    const hurried = counts ? this.#hurried(ingress.gate, this.#addressOf(arrival)) : undefined;
    const closed = hurried ?? this.#closedFor(ingress.pool) ?? ingress.gate?.crowded();
    if (closed !== undefined) return { answer: closed };
    const address = this.#addressOf(arrival);
    const chosen = this.#chosen(arrival, admitted.value);
    if (chosen === undefined) return { answer: refusals.unknown_agent };
    const full = this.#options.agents?.full(chosen[chosenKeys.signed]);
    if (full !== undefined) return { answer: full };
    return { admitted: admitted.value, ingress, address, chosen };
  }

  /** Undefined for a call that names an agent which is not there, and is refused. A carrier's call has its agent since it rang. */
  #chosen(
    { listener, head: { url } }: Arrival,
    { metadata }: AdmittedRequest,
  ): Readonly<Record<string, string>> | undefined {
    const { agents } = this.#options;
    if (agents === undefined || listener.startsWith('carrier_')) return {};
    const signed = metadata['session.agent'];
    const asked = new URLSearchParams(url.split('?')[1] ?? '').get('agent') ?? undefined;
    // The agent that a client of the call protocol asks for by `start` is not known yet.
    if (signed === undefined && asked === undefined && callProtocol.includes(listener)) return {};
    const chosen = agents.chosen({ signed, asked, share: metadata['session_id'] ?? randomUUID() });
    return chosen === undefined ? undefined : { [chosenKeys.signed]: chosen };
  }

  #addressOf({ peer, head: { headers } }: Arrival): string {
    const { trustedProxies, clientIpHeader: header } = this.#options.settings.access;
    return clientAddress({ peer, headers }, { trustedProxies, header });
  }

  async #use(pass: NonNullable<AdmittedRequest['pass']>): Promise<TokenFault | undefined> {
    const used = await this.#options.tokenStore.use(pass);
    const { metrics } = this.#options;
    metrics.tokens.inc({ outcome: used.ok ? 'used' : used.error });
    if (!used.ok && used.error === 'set_full') metrics.limits.inc({ limit: 'token_set' });
    return used.ok ? undefined : used.error;
  }

  /** Browsers hide from a page why it was refused, and so from the people who look after it. */
  #nameOrigin({ listener, head }: Arrival, { code, message }: Answer): void {
    const { origin } = head.headers;
    if (code !== 'origin_refused' && code !== 'host_refused') return;
    if (typeof origin !== 'string' || !this.#pages.isDue(origin)) return;
    this.#options.log.warn({ listener, origin: origin.slice(0, 200), why: message }, 'a page was refused');
  }

  #refuse(answer: Answer): Decision {
    this.#options.metrics.refusals.inc({ reason: answer.code });
    return { kind: 'refused', answer };
  }

  #nowS(): number {
    return Math.floor(this.#options.wallClock.now() / 1000);
  }
}
