/** Calls that come by an offer, as a listener and the workers speak of them to the hand-over. */
import type { Socket } from 'node:net';
import type { CallOffer, FromWorker, SignaledOffer, ToWorker } from '../../shared/protocol/ipc.ts';
import type { HandOver } from './hand-over.ts';
import type { OfferSignals, Release } from './open-offer.ts';

/** What a listener can do with a call that comes by an offer. */
export interface SignaledCalls {
  /** Has a worker answer; returns the number of the call. `release` gives the call's slot back. */
  readonly give: (
    request: Omit<CallOffer, 'type' | 'offer'>,
    release: Release,
    signals: OfferSignals,
  ) => number;
  /** The client is back, after its worker or its own network was lost. False when there is nothing to go on with. */
  readonly comeBack: (id: number, offered: SignaledOffer, signals: OfferSignals) => boolean;
  /** The call has lost its worker: its client is asked to come back. */
  readonly isAwaited: (id: number) => boolean;
  /** More addresses of the client. */
  readonly candidates: (id: number, ips: readonly string[]) => void;
  /** Brings a TCP connection of the client to its call, with what was read of it. False when no worker has the call. */
  readonly bring: (
    id: number,
    socket: Socket,
    read: { readonly way: number; readonly head: Buffer },
  ) => boolean;
  /** The client hangs up by signaling. */
  readonly hangUp: (id: number) => void;
}

/** The part that sends messages to workers, and sockets with them, which are theirs then. */
interface Workers {
  send(worker: number, message: ToWorker, socket?: Socket): boolean;
}

export const newSignaledCalls = (handOver: HandOver, workers: Workers): SignaledCalls => ({
  give: (request, release, signals) => handOver.giveOffer(request, release, signals),
  comeBack: (id, offered, signals) => {
    const back = handOver.comeBack(id, offered, signals);
    if (typeof back === 'object')
      workers.send(back.worker, { type: 'call.renew', offer: id, renewal: back.renewal, signaled: offered });
    return back !== undefined;
  },
  isAwaited: (id) => handOver.isAwaited(id),
  candidates: (id, ips) => {
    const worker = handOver.workerOf(id);
    if (worker !== undefined) workers.send(worker, { type: 'call.candidates', offer: id, ips });
  },
  bring: (id, socket, { way, head }) => {
    const worker = handOver.workerOf(id);
    if (worker === undefined) return false;
    return workers.send(worker, { type: 'call.way', offer: id, way, head: head.toString('base64') }, socket);
  },
  hangUp: (id) => {
    const worker = handOver.workerOf(id);
    if (worker === undefined) handOver.over(id);
    else workers.send(worker, { type: 'call.hangup', offer: id });
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
    case 'call.busy':
      handOver.busy(message.offer);
      return true;
    case 'call.over':
      handOver.over(message.offer);
      return true;
    case 'call.answered':
      handOver.answered(message.offer, message.sdp, message.renewal);
      return true;
    case 'call.unanswered':
      handOver.unanswered(message.offer, message.reason, message.renewal);
      return true;
    case 'call.way_closed':
      handOver.wayClosed(message.offer, message.way);
      return true;
    case 'call.connected':
      handOver.connected(message.offer);
      return true;
    default:
      return false;
  }
}
