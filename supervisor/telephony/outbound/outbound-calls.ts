/**
 * Calls that the service makes: who may be called and how often, the requests to carriers, and what becomes of each call. The numbers are
 * kept in memory as long as a call is under way, and told to nobody but the carrier.
 */
import { randomBytes } from 'node:crypto';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import type { OutboundSettings } from '../../../shared/telephony/variables.ts';
import { overridesKey } from '../../../shared/agents/overrides.ts';
import {
  directionKey,
  screeningKey,
  type AnsweredBy,
  type CarrierName,
  type CarrierOutcome,
} from '../../../shared/telephony/call-control.ts';
import type {
  MachineDetection,
  OutboundRequest,
  OutboundView,
} from '../../../shared/telephony/callback-api.ts';
import { mostOutbound, type OutboundLeft } from '../../../shared/telephony/takeover.ts';
import type { CallFacts } from '../../../shared/agents/choose.ts';
import { chosenKeys, readChosen } from '../../../shared/agents/chosen.ts';
import type { Clock, WallClock } from '../../../shared/runtime/clock.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import type { UnreachedCall } from '../../calls/unreached-call.ts';
import type { OutboundCarrier } from '../carrier.ts';
import {
  newOutboundCall,
  stepOutbound,
  wasUnreached,
  type OutboundCall,
  type OutboundEvent,
  type OutboundAction,
} from './outbound-call.ts';

const lookEveryMs = 5_000;
const minuteMs = 60_000;

export interface OutboundOptions {
  /** Absent: no calls are made. */
  readonly settings: OutboundSettings | undefined;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly log: Log;
  readonly carriers: () => ReadonlyMap<CarrierName, OutboundCarrier>;
  readonly counted: (carrier: CarrierName, end: string) => void;
  /** A call is over that no worker ever had; absent where no records are kept. */
  readonly unreached?: ((made: UnreachedCall) => void) | undefined;
  /** This process makes a call. */
  readonly begun: (id: string) => void;
  /** The call is on a stream of the agent. */
  readonly hasStream: (callId: string) => boolean;
  /** Of the agent that calls have where they name none. */
  readonly agentName: string;
  /** The agent of a call, as a text that travels with it; absent in a service of one. */
  readonly chosenAgent?: ((facts: CallFacts) => string | undefined) | undefined;
  /** Whether that agent's tenant may have a number called; absent: each may. */
  readonly mayCall?: ((chosen: string | undefined, number: string) => boolean) | undefined;
  /** Why that agent has no room for a call, which is kept where it has. */
  readonly fullAgent?: ((chosen: string | undefined) => object | undefined) | undefined;
  /** Streams may come to other hosts. */
  readonly isOfFleet: boolean;
}

/** `unsure`: another process may have made the call: of another host of the fleet, or the one before this. */
export type OutboundRefusal =
  | 'off'
  | 'not_allowed'
  | 'busy'
  | 'full'
  | 'agent_full'
  | 'rate_limited'
  | 'carrier'
  | 'voicemail'
  | 'detection'
  | 'key_reused'
  | 'refused'
  | 'unsure';

interface Entry {
  readonly call: OutboundCall;
  readonly request: OutboundRequest;
}

export class OutboundCalls {
  readonly #options: OutboundOptions;
  readonly #open = new Map<string, Entry>();
  readonly #over = new Map<string, OutboundView>();
  /** Ids of calls by the key that their request brought, with the request. */
  readonly #keys = new Map<string, { readonly id: string; readonly body: string }>();
  /** When the calls of the last minute were begun. */
  #begun: number[] = [];
  /** Requests to carriers that are under way. */
  #asking = 0;

  constructor(options: OutboundOptions) {
    this.#options = options;
  }

  /** Begins to watch the time. */
  open(): void {
    this.#options.clock.after(lookEveryMs, () => {
      for (const id of [...this.#open.keys()]) this.told(id, { type: 'time.passed' });
      this.open();
    });
  }

  /** Newest last. */
  get views(): readonly OutboundView[] {
    return [...this.#over.values(), ...[...this.#open.values()].map(({ call }) => viewOf(call))];
  }

  view(id: string): OutboundView | undefined {
    const entry = this.#open.get(id);
    return entry === undefined ? this.#over.get(id) : viewOf(entry.call);
  }

  /** Makes a call; with the `key` of an earlier request it is that one's call. Resolves when the carrier has answered. */
  async make(
    request: OutboundRequest,
    key: string | undefined,
  ): Promise<Result<OutboundView, OutboundRefusal>> {
    const body = JSON.stringify(request);
    const known = key === undefined ? undefined : this.#keys.get(key);
    if (known !== undefined) {
      const view = this.view(known.id);
      if (known.body !== body) return fail('key_reused');
      if (view === undefined) return fail('unsure');
      return view.end === 'refused' ? fail('refused') : ok(view);
    }
    const allowed = this.#judge(request);
    if (!allowed.ok) return allowed;
    const { carrier, settings } = allowed.value;
    const id = randomBytes(9).toString('base64url');
    this.#options.begun(id);
    if (key !== undefined) this.#remember(key, { id, body });
    const now = this.#options.wallClock.now();
    this.#begun.push(now);
    const { to, ring_s: ringS, voicemail } = request;
    const detection = detectionOf(request, carrier);
    const given = { id, carrier: carrier.name, hasMessage: voicemail !== undefined, detection, beganAt: now };
    // Telnyx says itself what it could not open.
    const isHeard = carrier.name !== 'carrier_a' || this.#options.isOfFleet;
    const call = newOutboundCall({ ...given, ringMs: ringS * 1000, isHeard });
    const entry: Entry = { call, request };
    this.#open.set(id, entry);
    const from = settings.from.reveal();
    const outcome = await this.#during(carrier.dial({ id, to, from, ringS, detection })).catch(
      () => ({ kind: 'unknown' }) as const,
    );
    this.#dialed(entry, { type: 'dialed', outcome });
    return outcome.kind === 'refused' ? fail('refused') : ok(viewOf(call));
  }

  #dialed(entry: Entry, event: OutboundEvent): void {
    const { id } = entry.call;
    if (this.#open.has(id)) this.told(id, event);
    else
      for (const action of stepOutbound(entry.call, event, this.#options.wallClock.now()))
        this.#perform(entry, action);
    if (this.#over.has(id)) this.#over.set(id, viewOf(entry.call));
  }

  #judge(
    request: OutboundRequest,
  ): Result<{ readonly carrier: OutboundCarrier; readonly settings: OutboundSettings }, OutboundRefusal> {
    const { settings, carriers, wallClock } = this.#options;
    const { to, carrier: wanted, voicemail } = request;
    if (settings === undefined || carriers().size === 0) return fail('off');
    const [only, ...others] = carriers().values();
    const carrier = wanted === undefined && others.length === 0 ? only : wanted && carriers().get(wanted);
    if (carrier === undefined) return fail('carrier');
    const detection = detectionOf(request, carrier);
    if (carrier.name === 'sip' && detection === 'carrier') return fail('detection');
    // Nobody would know when to say it.
    if (detection === 'off' && voicemail !== undefined) return fail('voicemail');
    if (!settings.allowed.some((prefix) => to.startsWith(prefix))) return fail('not_allowed');
    if (this.#options.mayCall?.(this.#chosenFor(request), to) === false) return fail('not_allowed');
    if ([...this.#open.values()].some(({ request }) => request.to === to)) return fail('busy');
    if (this.#open.size >= mostOutbound) return fail('full');
    const now = wallClock.now();
    this.#begun = this.#begun.filter((at) => now - at < minuteMs);
    if (this.#begun.length >= settings.perMinute) return fail('rate_limited');
    const full = this.#options.fullAgent?.(this.#chosenFor(request));
    return full === undefined ? ok({ carrier, settings }) : fail('agent_full');
  }

  #chosenFor(request: OutboundRequest): string | undefined {
    const { chosenAgent } = this.#options;
    return chosenAgent?.({ signed: request.agent, share: request.to }) ?? chosenAgent?.({});
  }

  #remember(key: string, made: { readonly id: string; readonly body: string }): void {
    this.#keys.set(key, made);
    for (const oldest of this.#keys.keys()) {
      if (this.#keys.size <= mostOutbound) return;
      this.#keys.delete(oldest);
    }
  }

  /** An operator wants it ended. False when there is no such call, or it is over. */
  hangUp(id: string): boolean {
    const isThere = this.#open.has(id);
    this.told(id, { type: 'hang_up' });
    return isThere;
  }

  /** The service stops: a person who picked up now would hear nobody. */
  leave(): void {
    for (const [id, { call }] of [...this.#open])
      if (['dialing', 'ringing', 'machine'].includes(call.phase)) this.told(id, { type: 'hang_up' });
  }

  /**
   * Another process serves from now on, and is told of these calls. Nothing is done about them here any more, but for those to which this
   * process listens. Calls by SIP stay with their dialogs; of them the keys alone are given.
   */
  give(): Omit<OutboundLeft, 'transfers'> {
    const given = [...this.#open.values()].filter(({ call }) => call.carrier !== 'sip');
    for (const { call } of given) if (!isHeardHere(call)) this.#open.delete(call.id);
    return {
      open: given.map(({ call: { end: _, ...call }, request }) => ({
        call: isHeardHere(call) ? { ...call, phase: 'person' } : call,
        request,
      })),
      over: [...this.#over.values()],
      keys: [...this.#keys].map(([key, made]) => ({ key, ...made })),
      begun: this.#begun,
    };
  }

  /** What the process before this one has given. */
  carry({ open, over, keys, begun }: Omit<OutboundLeft, 'transfers'>): void {
    for (const { call, request } of open)
      this.#open.set(call.id, { call: { answeredAt: undefined, ...call, end: undefined }, request });
    for (const view of over) this.#over.set(view.id, view);
    for (const { key, ...made } of keys) this.#remember(key, made);
    this.#begun.push(...begun);
  }

  /** Carriers are being asked. */
  get isBusy(): boolean {
    return this.#asking > 0;
  }

  async #during<Outcome>(asked: Promise<Outcome>): Promise<Outcome> {
    this.#asking += 1;
    return await asked.finally(() => (this.#asking -= 1));
  }

  streamBegins(callId: string): void {
    const id = this.#idOf(callId);
    if (id !== undefined) this.told(id, { type: 'streaming', call: callId });
  }

  /** The agent's stream of a call is over, and nobody else has the call: it has ended, whether the carrier's word of that comes or not. */
  streamOver(callId: string): void {
    const made = this.#open.get(this.#idOf(callId) ?? '');
    if (made?.call.phase === 'person')
      this.told(made.call.id, { type: 'ended', call: callId, reason: 'unknown' });
  }

  /** The agent's stream of a call does not open. True for a call that is made here: it is ended. */
  unheard(callId: string): boolean {
    const id = this.#idOf(callId);
    if (id !== undefined) this.told(id, { type: 'unheard' });
    return id !== undefined;
  }

  #idOf(callId: string): string | undefined {
    return [...this.#open.values()].find(({ call }) => call.call === callId)?.call.id;
  }

  /** Something is known of a call; what has to be done about it is done. */
  told(id: string, event: OutboundEvent): void {
    const entry = this.#open.get(id);
    for (const action of this.take(id, event)) if (entry !== undefined) this.#perform(entry, action);
  }

  /** The same, for a caller that performs the actions itself. */
  take(id: string, event: OutboundEvent): readonly OutboundAction[] {
    const entry = this.#open.get(id);
    if (entry === undefined) return [];
    const { call } = entry;
    const before = call.phase;
    const actions = stepOutbound(call, event, this.#options.wallClock.now());
    const { log, counted } = this.#options;
    if (call.phase !== before)
      log.info(
        { outbound: id, call: call.call, phase: call.phase, end: call.end },
        'an outbound call has moved',
      );
    if (before === 'person' && call.end === 'failed' && !call.isHeard)
      log.warn(
        { outbound: id, call: call.call },
        'the carrier has opened no stream for a call that was made',
      );
    if (call.phase === 'over') {
      counted(call.carrier, call.end ?? 'unknown');
      if (wasUnreached(call, before)) this.#tellUnreached(entry);
      this.#open.delete(id);
      this.#over.set(id, viewOf(call));
      const [oldest] = this.#over.keys();
      if (this.#over.size > mostOutbound && oldest !== undefined) this.#over.delete(oldest);
    }
    return actions;
  }

  #tellUnreached({ call, request }: Entry): void {
    const { agentName, unreached } = this.#options;
    const { id, carrier, beganAt, call: carrierCall, end = 'unknown' } = call;
    const { to, route } = request;
    const agent = readChosen(this.#chosenFor(request) ?? '')?.id ?? agentName;
    unreached?.({ id, carrier, beganAt, call: carrierCall, end, to, route, agent });
  }

  /** The service has listened to a call: what is said to a machine. */
  heard(id: string, event: OutboundEvent & { readonly type: AnsweredBy }): CarrierOutcome {
    const message = event.type === 'machine' ? this.request(id)?.voicemail : undefined;
    this.told(id, event);
    return { kind: 'ok', ...(message !== undefined && { message }) };
  }

  detection(id: string): MachineDetection | undefined {
    return this.#open.get(id)?.call.detection;
  }

  /** What the stream of a call is told. */
  parameters(id: string): Readonly<Record<string, string>> {
    const entry = this.#open.get(id);
    return entry === undefined ? {} : this.#parametersOf(entry);
  }

  #parametersOf(entry: Entry): Readonly<Record<string, string>> {
    const { request } = entry;
    const chosen = this.#chosenFor(request);
    return { ...parametersOf(entry), ...(chosen !== undefined && { [chosenKeys.parameter]: chosen }) };
  }

  /** What the server says of a call that it made, whatever came with its stream; nothing of any other. */
  signedOf(callId: string): Readonly<Record<string, string>> {
    const id = this.#idOf(callId);
    return id === undefined ? {} : this.signed(id);
  }

  /** The same, by the call's own id. */
  signed(id: string): Readonly<Record<string, string>> {
    const { overrides } = this.#open.get(id)?.request ?? {};
    return {
      [directionKey]: 'outbound',
      ...(overrides !== undefined && { [overridesKey]: JSON.stringify(overrides) }),
    };
  }

  /** What a call was asked for with. */
  request(id: string): OutboundRequest | undefined {
    return this.#open.get(id)?.request;
  }

  #perform({ call, request }: Entry, action: OutboundAction): void {
    const carrier = this.#options.carriers().get(call.carrier);
    const { id, call: callId } = call;
    const { voicemail = '', language } = request;
    let done: Promise<CarrierOutcome> | undefined;
    if (action === 'connect')
      done = carrier?.connect?.(callId, {
        id,
        parameters: this.#parametersOf({ call, request }),
        signed: this.signed(id),
      });
    else if (action === 'say') done = carrier?.say?.(callId, { id, text: voicemail, language });
    else done = carrier?.hangUp(callId, `out-${id}-end`);
    done &&= this.#during(done);
    // A person who answered is not left in silence.
    done?.then(
      ({ kind }) => {
        const isHeard = kind === 'ok' || (action === 'connect' && this.#options.hasStream(callId));
        if (!isHeard && action !== 'hang_up') this.told(id, { type: 'unheard' });
      },
      () => this.told(id, { type: 'unheard' }),
    );
  }
}

const parametersOf = ({
  call: { id, detection },
  request: { route, metadata },
}: Entry): Readonly<Record<string, string>> => ({
  ...metadata,
  ...(route !== undefined && { agent_route: route }),
  ...(detection === 'own' && { [screeningKey]: id }),
});

/** The agent of this process finds out who has answered, or leaves the message. */
const isHeardHere = ({ detection, phase }: Pick<OutboundCall, 'detection' | 'phase'>): boolean =>
  detection === 'own' && ['listening', 'machine', 'message'].includes(phase);

/** SIP has nobody who would find out. */
const detectionOf = (
  { machine_detection: asked }: OutboundRequest,
  { name }: Pick<OutboundCarrier, 'name'>,
): MachineDetection => asked ?? (name === 'sip' ? 'off' : 'carrier');

const viewOf = ({ id, carrier, phase, end, call }: OutboundCall): OutboundView => ({
  id,
  carrier,
  phase,
  ...(end !== undefined && { end }),
  ...(call !== '' && { call }),
});
