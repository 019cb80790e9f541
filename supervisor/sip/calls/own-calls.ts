/**
 * The calls that were let in or made, on their way between the agent, which knows peers, and the workers: each with its room, its socket
 * for audio, and the worker that has it.
 */
import type { CallFacts } from '../../../shared/agents/choose.ts';
import type { AgentRef } from '../../../shared/agents/version.ts';
import { unreachable } from '../../../shared/base/assert.ts';
import type { Millis } from '../../../shared/base/units.ts';
import { screeningKey } from '../../../shared/telephony/call-control.ts';
import type { SipMedia, SipFromWorker, SipOffer, SipToWorker } from '../../../shared/sip/calls.ts';
import { errorFields, type Log } from '../../../shared/runtime/log.ts';
import type { AgentAction, AgentEvent, AgentState, Flow, SipCall } from '../../../shared/sip/agent/state.ts';
import { calledBy, callMetadata } from './metadata.ts';
import { Placement, type PlacementOptions } from './placement.ts';
import type { RtpPorts, RtpSocket } from './rtp-ports.ts';

/** A call that is not answered by then rings. */
const ringAfterMs = 300;

/** Whether there is room for a call: everything that it holds until it is given back, or how it is refused. */
export type Room =
  { readonly release: () => void } | { readonly status: number; readonly retryAfterS?: number | undefined };

export interface OwnCallsOptions extends Omit<PlacementOptions, 'offer' | 'lost'> {
  readonly log: Log;
  readonly agent: Pick<AgentState, 'calls'>;
  readonly ports: RtpPorts;
  /** A call was refused because none is free. */
  readonly noPort: () => void;
  /** The agent of a call, as a text that travels with it; absent in a service of one. */
  readonly chosenAgent?: ((facts: CallFacts) => string | undefined) | undefined;
  /** Why that agent has no room for the call; undefined where it has. */
  readonly fullAgent?:
    ((chosen: string | undefined) => { readonly retryAfterS?: number | undefined } | undefined) | undefined;
  /** Numbers of callers are passed on. */
  readonly showsNumbers: boolean;
  /** Where the audio of a call that came this way is bound. */
  readonly mediaHost: (flow: Flow) => string;
  readonly room: (address: string) => Room;
  readonly offer: (worker: number, message: SipOffer, socket: RtpSocket['socket']) => boolean;
  readonly step: (event: AgentEvent) => void;
  readonly counted: (what: { readonly refused: string } | { readonly answered: true }) => void;
}

/** A call that was let in. */
interface OwnCall {
  readonly release: () => void;
  readonly offeredAt: number;
  /** As the call is named to its engine. */
  readonly name: string;
  offer: number | undefined;
  rings: boolean;
  /** The peer's side is over; what is left is the worker's. */
  isOver: boolean;
}

/** What a call that this side has made is begun with. */
export interface Begun {
  readonly call: number;
  readonly rtp: RtpSocket;
  readonly release: () => void;
  readonly media: SipMedia;
  readonly callId: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export class OwnCalls {
  readonly #options: OwnCallsOptions;
  readonly #placement: Placement;
  readonly #calls = new Map<number, OwnCall>();

  constructor(options: OwnCallsOptions) {
    this.#options = options;
    this.#placement = new Placement({
      ...options,
      offer: (worker, message, rtp) => options.offer(worker, message, rtp.socket),
      lost: (call) => this.#lost(call),
    });
  }

  /** The call with this name; undefined where there is none, or more than one. */
  named(name: string): SipCall | undefined {
    const [found, ...others] = [...this.#calls].filter(([, own]) => own.name === name && !own.isOver);
    return found === undefined || others.length > 0 ? undefined : this.#options.agent.calls.get(found[0]);
  }

  agentOf(offer: number): AgentRef | undefined {
    return this.#placement.callOf(offer)?.agent;
  }

  /** The call runs on this version of an agent. */
  hasAgent(offer: number, agent: AgentRef): void {
    const placed = this.#placement.callOf(offer);
    if (placed !== undefined) placed.agent = agent;
  }

  /** The versions of agents that calls have. */
  get agents(): readonly AgentRef[] {
    return this.#placement.agents;
  }

  // ---- the agent ----

  offered({ call, invite, flow, media }: Extract<AgentAction, { type: 'call.offered' }>): void {
    const { room, counted, step, ports, mediaHost, noPort, log, agent, now, showsNumbers } = this.#options;
    const chosen = this.#options.chosenAgent?.(calledBy(invite, flow.source.address));
    const full = this.#options.fullAgent?.(chosen);
    const given = full === undefined ? room(flow.source.address) : { status: 503, ...full };
    if (!('release' in given)) {
      counted({ refused: 'room' });
      step({ type: 'call.refused', call, ...given });
      return;
    }
    const named = callMetadata(invite, {
      shows: showsNumbers,
      mayRefer: agent.calls.get(call)?.mayAsk.refer === true,
      chosen,
    });
    const own = newOwn(given.release, named.callId, now());
    this.#calls.set(call, own);
    ports.take(mediaHost(flow)).then(
      (rtp) => {
        if (rtp === undefined || own.isOver) {
          if (rtp === undefined) noPort();
          else rtp.close();
          step({ type: 'call.refused', call, status: 503, retryAfterS: 5 });
          return;
        }
        // Until the peer that was asked to choose has chosen, the first codec holds.
        const first = media ?? { codec: 'PCMU' as const, payloadType: 0, sends: false, receives: true };
        own.offer = this.#placement.give(call, rtp, { ...named, media: first, isOpen: false });
      },
      (error: unknown) => {
        log.error(errorFields(error), 'a call could not be placed');
        step({ type: 'call.refused', call, status: 500 });
      },
    );
  }

  /** Somebody has answered a call of this side. */
  begin({ call, rtp, release, ...message }: Begun): void {
    const own = newOwn(release, message.callId, this.#options.now());
    own.rings = true;
    this.#calls.set(call, own);
    own.offer = this.#placement.give(call, rtp, { ...message, isOpen: false });
    // A peer that is listened to hears that the line is there.
    if (message.metadata[screeningKey] !== undefined) this.opened(call);
  }

  opened(call: number): void {
    this.#change(call, (offer) => ({ type: 'sip.open', offer }), { isOpen: true });
  }

  agreed(call: number, media: SipMedia): void {
    this.#change(call, (offer) => ({ type: 'sip.media', offer, media }), { media });
  }

  digit(call: number, digit: string): void {
    const offer = this.#calls.get(call)?.offer;
    if (offer !== undefined) this.#placement.tell(offer, { type: 'sip.digit', offer, digit });
  }

  /** Tells the worker, and the one that has the call after it. */
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

  ended(call: number, reason: Extract<AgentAction, { type: 'call.ended' }>['reason']): void {
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
    this.#options.step({ type: 'call.refused', call, status: 503, retryAfterS: 5 });
    this.#options.step({ type: 'call.hung-up', call });
    this.#gone(call);
  }

  // ---- workers ----

  take(worker: number, message: SipFromWorker): void {
    const placed = this.#placement.callOf(message.offer);
    if (placed === undefined) return;
    const { call } = placed;
    const { step } = this.#options;
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
        step({ type: 'call.refused', call, status: 503, retryAfterS: 1 });
        return;
      case 'sip.hangup':
        step({ type: 'call.hung-up', call });
        return;
      case 'sip.over':
        this.#placement.forget(message.offer);
        // A worker whose call broke inside says no more than this.
        step({ type: 'call.hung-up', call });
        this.#gone(call);
        return;
      default:
        unreachable(message);
    }
  }

  #accept(call: number, rtp: RtpSocket): void {
    const flow = this.#options.agent.calls.get(call)?.flow;
    if (flow === undefined) return;
    this.#options.counted({ answered: true });
    const local = { address: flow.local.address, port: rtp.port };
    this.#options.step({ type: 'call.accepted', call, local });
  }

  workerGone(worker: number, during?: number): void {
    const outcomes = this.#placement.workerGone(worker, during);
    if (Object.values(outcomes).some((count) => count > 0))
      this.#options.log.warn({ worker, ...outcomes }, 'the SIP calls of a worker that is gone');
  }

  /** Something may be possible that was not. */
  retry(): void {
    this.#placement.retry();
  }

  /** Calls that wait for their answer ring by and by. */
  ring(): void {
    const now = this.#options.now();
    for (const [call, own] of this.#calls) {
      if (own.rings || now - own.offeredAt < ringAfterMs) continue;
      own.rings = true;
      this.#options.step({ type: 'call.rings', call });
    }
  }
}

const newOwn = (release: () => void, name: string, offeredAt: Millis): OwnCall => ({
  release,
  name,
  offeredAt,
  offer: undefined,
  rings: false,
  isOver: false,
});
