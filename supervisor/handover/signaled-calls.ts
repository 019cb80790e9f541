/** Calls that come by an offer, as a listener and the workers speak of them to the hand-over. */
import type { CallOffer, FromWorker, ToWorker } from '../../shared/protocol/ipc.ts';
import type { HandOver } from './hand-over.ts';
import type { OfferSignals } from './open-offer.ts';

/** What a listener can do with a call that comes by an offer. */
export interface SignaledCalls {
  /** Has a worker answer; returns the number of the call. `release` gives the call's slot back. */
  readonly give: (
    request: Omit<CallOffer, 'type' | 'offer'>,
    release: () => void,
    signals: OfferSignals,
  ) => number;
  /** The client is back, after its worker or its own network was lost. False when there is nothing to go on with. */
  readonly comeBack: (id: number, sdp: string, signals: OfferSignals) => boolean;
  /** The client hangs up by signaling. */
  readonly hangUp: (id: number) => void;
}

export const newSignaledCalls = (
  handOver: HandOver,
  send: (worker: number, message: ToWorker) => void,
): SignaledCalls => ({
  give: (request, release, signals) => handOver.giveOffer(request, release, signals),
  comeBack: (id, sdp, signals) => {
    const way = handOver.comeBack(id, sdp, signals);
    if (typeof way === 'number') send(way, { type: 'call.renew', offer: id, sdp });
    return way !== undefined;
  },
  hangUp: (id) => {
    const worker = handOver.workerOf(id);
    if (worker === undefined) handOver.over(id);
    else send(worker, { type: 'call.hangup', offer: id });
  },
});

/** What a worker says of a call. False when it speaks of something else. */
export function tellHandOver(handOver: HandOver, message: FromWorker): boolean {
  switch (message.type) {
    case 'call.taken':
      handOver.taken(message.offer);
      return true;
    case 'call.declined':
      handOver.declined(message.offer);
      return true;
    case 'call.over':
      handOver.over(message.offer);
      return true;
    case 'call.answered':
      handOver.answered(message.offer, message.sdp);
      return true;
    case 'call.unanswered':
      handOver.unanswered(message.offer, message.reason);
      return true;
    case 'call.connected':
      handOver.connected(message.offer);
      return true;
    default:
      return false;
  }
}
