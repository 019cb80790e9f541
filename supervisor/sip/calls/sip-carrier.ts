/**
 * SIP as a carrier: calls that the service makes through its trunk, and what a call asks of its peer (docs/sip.md, Calls out). The numbers that
 * may be called, and how often, are judged before (supervisor/telephony/outbound). Room and a socket for audio are there before anybody rings.
 */
import { lookup } from 'node:dns/promises';
import type { SipTrunk } from '../../../shared/sip/trunk.ts';
import type { CarrierOutcome } from '../../../shared/telephony/call-control.ts';
import { broughtMetadata } from '../../../shared/protocol/call.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { startReceiving, stopReceiving } from '../../../shared/runtime/reading.ts';
import type {
  Carrier,
  ColdOutcome,
  ColdTransfer,
  Dial,
  MadeOutcome,
  OutboundCarrier,
} from '../../telephony/carrier.ts';
import type { OutboundEnd, OutboundEvent } from '../../telephony/outbound/outbound-call.ts';
import { hostText } from '../../../shared/sip/agent/client-transaction.ts';
import type {
  AgentAction,
  AgentEvent,
  Flow,
  PeerOutcome,
  SipAccount,
} from '../../../shared/sip/agent/state.ts';
import type { HeaderPair, Source } from '../../../shared/sip/message/write.ts';
import { madeMetadata } from './metadata.ts';
import type { OwnCalls, Room } from './own-calls.ts';
import type { RtpPorts, RtpSocket } from './rtp-ports.ts';

export interface SipCarrierOptions {
  /** Absent: no calls are made. */
  readonly trunk: SipTrunk | undefined;
  readonly refers: boolean;
  readonly family: 0 | 4 | 6;
  readonly log: Log;
  readonly calls: OwnCalls;
  readonly ports: RtpPorts;
  /** A call was refused because none is free. */
  readonly noPort: () => void;
  /** Where the audio of a call that came this way is bound. */
  readonly mediaHost: (flow: Flow) => string;
  readonly showsNumbers: boolean;
  readonly newToken: () => string;
  readonly room: (address: string) => Room;
  readonly wayTo: (
    at: Source,
    to: { readonly protocol: Flow['protocol']; readonly name: string },
  ) => Promise<Flow | undefined>;
  readonly step: (event: AgentEvent) => void;
  /** What becomes of a call that the service makes. */
  readonly told: (dial: string, event: OutboundEvent) => void;
}

type Waiting = (outcome: CarrierOutcome) => void;

/** A call that is made, until nothing of it is left. */
interface Made {
  readonly dial: string;
  readonly callId: string;
  readonly to: string;
  readonly from: string;
  readonly rtp: RtpSocket;
  readonly release: () => void;
  /** Once it is answered. */
  answered: Pick<Extract<AgentAction, { type: 'dial.answered' }>, 'call' | 'media' | 'mayRefer'> | undefined;
  isBegun: boolean;
}

export class SipCarrier implements Carrier, OutboundCarrier {
  readonly name = 'sip';
  readonly capabilities;
  readonly #options: SipCarrierOptions;
  readonly #made = new Map<string, Made>();
  /** Commands that wait for what a peer makes of a REFER, or of keys, by call. */
  readonly #referring = new Map<number, Waiting>();
  readonly #pressing = new Map<number, Waiting>();
  #way: Flow | undefined;
  /** Where the trunk is, as its name was understood so far. */
  readonly #trunkAt = new Set<string>();

  constructor(options: SipCarrierOptions) {
    this.#options = options;
    this.capabilities = { transfer: options.refers, warm: false, keys: true };
  }

  get canDial(): boolean {
    return this.#options.trunk !== undefined;
  }

  /** Nobody can have what is answered from now on. */
  giveUp(): void {
    for (const { dial, answered } of [...this.#made.values()])
      if (answered === undefined) this.#options.step({ type: 'dial.given-up', dial });
  }

  closed(connection: number): void {
    if (this.#way?.connection === connection) this.#way = undefined;
  }

  /** Calls may come from the trunk before one has gone to it. */
  async learnTrunk(): Promise<void> {
    const { trunk, family } = this.#options;
    if (trunk === undefined) return;
    // A name that leads nowhere yet is looked up again for the first call that is made.
    const found = await lookup(trunk.host, { family, all: true }).catch(() => []);
    for (const { address } of found) this.#trunkAt.add(address);
  }

  isTrunk(address: string): boolean {
    return this.#trunkAt.has(address);
  }

  /** The account that a caller from there may ask for: the trunk's. */
  accountAt(address: string): SipAccount | undefined {
    const { trunk } = this.#options;
    return trunk !== undefined && this.isTrunk(address) ? accountOf(trunk) : undefined;
  }

  /** The trunk is asked over one connection for as long as that is there. */
  async #findWay({ host, port, transport }: SipTrunk): Promise<Flow | undefined> {
    if (transport !== 'UDP' && this.#way !== undefined) return this.#way;
    const { wayTo, family } = this.#options;
    const found = await lookup(host, { family }).catch(() => undefined);
    if (found === undefined) return undefined;
    this.#trunkAt.add(found.address);
    this.#way = await wayTo({ address: found.address, port }, { protocol: transport, name: host });
    return this.#way;
  }

  async dial({ id, to, from, ringS }: Dial): Promise<MadeOutcome> {
    const { trunk, room, ports, mediaHost, newToken, step, log, noPort } = this.#options;
    const flow = trunk && (await this.#findWay(trunk));
    if (trunk === undefined || flow === undefined) {
      log.warn({ outbound: id, trunk: trunk?.host }, 'the SIP trunk cannot be reached');
      return { kind: 'refused', code: 'unavailable' };
    }
    const given = room(flow.source.address);
    if (!('release' in given)) return { kind: 'refused', code: 'unavailable' };
    const rtp = await ports.take(mediaHost(flow)).catch(() => undefined);
    if (rtp === undefined) {
      given.release();
      noPort();
      return { kind: 'refused', code: 'unavailable' };
    }
    // Sound that is played before the answer is not for the agent to hear, and must not wait for it.
    rtp.socket.on('message', () => undefined);
    startReceiving(rtp.socket);
    const callId = newToken();
    const made = { dial: id, callId, to, from, rtp, release: given.release };
    this.#made.set(id, { ...made, answered: undefined, isBegun: false });
    const { address, port } = { ...flow.local, port: rtp.port };
    step({
      type: 'call.dialed',
      dial: id,
      callId,
      flow,
      account: accountOf(trunk),
      ringMs: ringS * 1000,
      ...addressesOf(trunk, { to, from }),
      local: { address, port },
    });
    return { kind: 'ok', id: callId };
  }

  // ---- what became of it ----

  answered({ dial, call, media, mayRefer }: Extract<AgentAction, { type: 'dial.answered' }>): void {
    const made = this.#made.get(dial);
    if (made === undefined) return;
    stopReceiving(made.rtp.socket);
    made.rtp.socket.removeAllListeners('message');
    made.answered = { call, media, mayRefer };
    this.#options.told(dial, { type: 'answered', call: made.callId });
    // Nobody remembers who wanted it.
    if (!made.isBegun) this.#options.step({ type: 'call.hung-up', call });
  }

  ended({ dial, why }: Extract<AgentAction, { type: 'dial.ended' }>): void {
    const made = this.#made.get(dial);
    if (made === undefined) return;
    const reason = endOf(why);
    // A call that nobody answers is no fault; a trunk that lets nobody be called is for the operator to see.
    const level = reason === 'failed' ? 'warn' : 'info';
    this.#options.log[level]({ outbound: dial, why }, 'a call by SIP was not answered');
    this.#forget(made);
    this.#options.told(dial, { type: 'ended', call: made.callId, reason });
  }

  /** A call is over; whether this side has made it. */
  callEnded(call: number): void {
    for (const waiting of [this.#referring, this.#pressing]) settle(waiting, call, { kind: 'unknown' });
    const made = [...this.#made.values()].find(({ answered }) => answered?.call === call);
    if (made === undefined) return;
    this.#forget(made);
    this.#options.told(made.dial, { type: 'ended', call: made.callId, reason: 'failed' });
  }

  /** What it held is given back; once it is begun, by the worker that has it. */
  #forget({ dial, isBegun, rtp, release }: Made): void {
    this.#made.delete(dial);
    if (isBegun) return;
    rtp.close();
    release();
  }

  connect(
    callId: string,
    { id, parameters, signed }: Parameters<NonNullable<OutboundCarrier['connect']>>[1],
  ): Promise<CarrierOutcome> {
    const made = this.#made.get(id);
    if (made?.callId !== callId || made.answered === undefined) return refusal('rejected');
    made.isBegun = true;
    const { rtp, release, to, from } = made;
    const { call, media, mayRefer } = made.answered;
    const own = madeMetadata({ callId, from, to, mayRefer, shows: this.#options.showsNumbers });
    const metadata = { ...broughtMetadata(parameters), ...signed, ...own };
    this.#options.calls.begin({ call, media, rtp, release, callId, metadata });
    return Promise.resolve({ kind: 'ok' });
  }

  // ---- what calls want ----

  hangUp(callId: string): Promise<CarrierOutcome> {
    const { step, calls } = this.#options;
    const made = [...this.#made.values()].find((one) => one.callId === callId);
    const call = made?.answered?.call ?? calls.named(callId)?.id;
    if (call !== undefined) step({ type: 'call.hung-up', call });
    else if (made !== undefined) step({ type: 'dial.given-up', dial: made.dial });
    else return refusal('rejected');
    return Promise.resolve({ kind: 'ok' });
  }

  transfer(callId: string, { to }: ColdTransfer): Promise<ColdOutcome> {
    const call = this.#options.calls.named(callId)?.id;
    if (call === undefined) return refusal('rejected');
    return this.#wait(this.#referring, { type: 'call.refer', call, user: to });
  }

  pressKeys(callId: string, { digits }: { readonly digits: string }): Promise<CarrierOutcome> {
    const call = this.#options.calls.named(callId)?.id;
    if (call === undefined) return refusal('rejected');
    return this.#wait(this.#pressing, { type: 'call.press', call, keys: digits });
  }

  #wait(
    waiting: Map<number, Waiting>,
    event: Extract<AgentEvent, { type: 'call.refer' | 'call.press' }>,
  ): ReturnType<typeof refusal> | Promise<CarrierOutcome> {
    if (waiting.has(event.call)) return refusal('unavailable');
    return new Promise((resolve) => {
      waiting.set(event.call, resolve);
      this.#options.step(event);
    });
  }

  referred(call: number, outcome: PeerOutcome): void {
    settle(this.#referring, call, outcomeOf(outcome));
  }

  pressed(call: number, outcome: PeerOutcome): void {
    settle(this.#pressing, call, outcomeOf(outcome));
  }
}

function settle(waiting: Map<number, Waiting>, call: number, outcome: CarrierOutcome): void {
  const tell = waiting.get(call);
  waiting.delete(call);
  tell?.(outcome);
}

const outcomeOf = (outcome: PeerOutcome): CarrierOutcome =>
  outcome === 'ok' || outcome === 'unknown' ? { kind: outcome } : { kind: 'refused', code: outcome };

const refusal = (
  code: Exclude<PeerOutcome, 'ok' | 'unknown'>,
): Promise<Extract<CarrierOutcome, { kind: 'refused' }>> => Promise.resolve({ kind: 'refused', code });

export const accountOf = ({
  signsInAs,
  password,
}: Pick<SipTrunk, 'signsInAs' | 'password'>): SipAccount | undefined =>
  password && { user: signsInAs, password: password.reveal() };

/** With an account of its own the trunk knows the caller by that; the number is said beside it (RFC 3325). */
function addressesOf(
  { user, host, port, hasPort }: SipTrunk,
  { to, from }: Pick<Dial, 'to' | 'from'>,
): { readonly target: string; readonly from: string; readonly headers: readonly HeaderPair[] } {
  const at = `${hostText(host)}${hasPort ? `:${port}` : ''}`;
  return {
    target: `sip:${to}@${at}`,
    from: `<sip:${user === '' ? from : user}@${at}>`,
    headers: user === '' ? [] : [['P-Preferred-Identity', `<sip:${from}@${at}>`]],
  };
}

function endOf(why: Extract<AgentAction, { type: 'dial.ended' }>['why']): OutboundEnd {
  if (why === 'ours') return 'canceled';
  if (why === 'rang' || why === 408 || why === 480 || why === 487) return 'no_answer';
  return why === 486 || why === 600 || why === 603 ? 'busy' : 'failed';
}
