/**
 * How a call gets its place in this worker: a free slot, a record of its own, a runner and a transport; new, or as another worker
 * left it. Nothing is left of a call that could not be made.
 */
import type { AgentRef } from '../shared/agents/version.ts';
import type { CallOffer } from '../shared/protocol/ipc.ts';
import type { SipOffer } from '../shared/sip/calls.ts';
import { systemClock } from '../shared/runtime/clock.ts';
import { machineMs } from '../shared/runtime/monotonic.ts';
import type { CallJournal } from './call/journal.ts';
import { CallRunner } from './call/runner.ts';
import type { WorkerServices } from './call/services.ts';
import type { CallHost } from './host/call-host.ts';
import type { FoundCall, LeftCalls } from './host/left-calls.ts';
import { carriedSetup } from './telephony/carried.ts';
import type { SipSite } from './sip/sip-calls.ts';
import type { CallTransport } from './transports/transport.ts';
import type { PeerPlace } from './webrtc/peer-calls.ts';
import { newPeerPlace } from './webrtc/peer-place.ts';

/** What of an offer decides how the call goes, however it came. */
type Terms = Pick<CallOffer, 'offer' | 'endsAtMs' | 'carried'>;

export interface Place {
  readonly slot: number;
  readonly journal: CallJournal | undefined;
  readonly over?: () => void;
  /** What another worker left of the call; absent where it is new. */
  readonly left?: FoundCall | undefined;
}

export interface PlacesOptions {
  readonly services: WorkerServices;
  readonly host: CallHost;
  readonly left: LeftCalls;
  /** The call of this offer has this agent. */
  readonly chose: (offer: number, agent: AgentRef) => void;
  /** Where the call of an offer takes its agent from. */
  readonly agentsOf: (offer: number) => WorkerServices['agents'];
  /** A call of this offer was refused for want of room. */
  readonly busy: (offer: number) => void;
}

export class Places {
  readonly #options: PlacesOptions;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** A slot for a call; undefined when none is free, or no more calls are taken. */
  free(resumeFrom: number | undefined): number | undefined {
    const { services, host } = this.#options;
    return services.takesCalls() ? host.freeSlot(resumeFrom) : undefined;
  }

  /** @throws what building the call throws; nothing of the call is left then. */
  serve(
    { endsAtMs, carried, offer }: Terms,
    place: Place,
    open: (runner: CallRunner) => CallTransport,
  ): CallRunner {
    const { services: worker, host, busy, chose, agentsOf } = this.#options;
    const services = { ...worker, agents: agentsOf(offer) };
    const { slot, journal, over, left } = place;
    const runner = new CallRunner({
      services,
      slot,
      journal,
      refine: (setup, { carriers }) => carriedSetup(setup, carried, carriers.telephony),
      ...(endsAtMs !== undefined && { endsAt: endsAtMs - machineMs() + systemClock.now() }),
      busy: () => busy(offer),
      keptAgent: carried?.agent,
      chose: ({ id, hash }) => chose(offer, { id, hash }),
      over: () => {
        host.remove(slot);
        over?.();
      },
    });
    try {
      if (left === undefined) journal?.opened();
      host.add(runner, slot);
      runner.attach(open(runner));
    } catch (error) {
      runner.scope.fault(error);
      throw error;
    }
    services.metrics.callsActive.set(host.count);
    return runner;
  }

  /** Goes on where the worker that is gone stood. */
  resume(runner: CallRunner, { slot, left, journal }: Place & { readonly left: FoundCall }): void {
    runner.scope.run(() => {
      if (left.call === undefined) runner.resumeOpening(left.setup, left.agent);
      else runner.resume(left.resumed(left.call));
    });
    // Only now is there nothing left that the old record could be needed for.
    journal?.opened();
    left.forget(slot);
  }

  /** A place for a WebRTC call, whose connection is made here. */
  peer(offer: CallOffer, over: () => void): PeerPlace | undefined {
    const { resumeFrom } = offer;
    const slot = this.free(resumeFrom);
    if (slot === undefined) return undefined;
    const left = resumeFrom === undefined ? undefined : this.#options.left.read(offer.offer, resumeFrom);
    let journal: CallJournal | undefined;
    const forget = (own: number): void => {
      journal?.opened();
      left?.forget(own);
    };
    return newPeerPlace(left && { ...left, forget }, slot, (open) => {
      journal = this.#options.left.journal(offer.offer, slot);
      return this.serve(offer, { slot, journal, over, left }, open);
    });
  }

  /** A SIP call, whose socket has come; undefined where there is no slot. */
  sip(
    { offer, resumeFrom }: Pick<SipOffer, 'offer' | 'resumeFrom'>,
    open: (site: SipSite) => CallTransport,
  ): 'new' | 'resumed' | undefined {
    const slot = this.free(resumeFrom);
    if (slot === undefined) return undefined;
    const left = resumeFrom === undefined ? undefined : this.#options.left.read(offer, resumeFrom);
    const journal = this.#options.left.journal(offer, slot);
    const runner = this.serve({ offer }, { slot, journal, left }, (one) =>
      open({ events: one, saved: left?.transport, scope: one.scope }),
    );
    if (left === undefined) return 'new';
    this.resume(runner, { slot, left, journal });
    return 'resumed';
  }
}
