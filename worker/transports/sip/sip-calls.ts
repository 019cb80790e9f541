/** The SIP calls of a worker, by number: opened as the supervisor offers them, and told what it has to say of each. */
import type { Socket } from 'node:dgram';
import { unreachable } from '../../../shared/base/assert.ts';
import type { SipFromWorker, SipOffer, SipToWorker } from '../../../shared/protocol/sip/calls.ts';
import type { CallTransport, SavedTransport, TransportEvents } from '../transport.ts';
import type { SipCallOptions } from './line.ts';
import { SipCall } from './sip-call.ts';

/** What the worker knows of a call that it makes. */
export interface SipSite extends Pick<SipCallOptions, 'scope'> {
  readonly events: TransportEvents;
  readonly saved?: SavedTransport | undefined;
}

export interface SipCallsOptions extends Pick<SipCallOptions, 'now' | 'unixMs' | 'random'> {
  readonly send: (message: SipFromWorker) => void;
  /**
   * Makes a call in a free slot, or goes on with one that another worker left. False where this worker cannot.
   * @throws what making it throws; nothing of it is left then.
   */
  readonly seat: (
    offer: Pick<SipOffer, 'offer' | 'resumeFrom'>,
    open: (site: SipSite) => CallTransport,
  ) => 'new' | 'resumed' | undefined;
  readonly failed: (error: unknown) => void;
  /** A call is gone. */
  readonly over: () => void;
}

export class SipCalls {
  readonly #options: SipCallsOptions;
  readonly #calls = new Map<number, { readonly call: SipCall; readonly scope: SipCallOptions['scope'] }>();

  constructor(options: SipCallsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#calls.size;
  }

  take(message: SipToWorker, socket: Socket | undefined): void {
    if (message.type === 'sip.offer') {
      this.#open(message, socket);
      return;
    }
    const known = this.#calls.get(message.offer);
    if (known === undefined) return;
    const { call, scope } = known;
    scope.bind(() => tell(call, message))();
  }

  #open(offer: SipOffer, socket: Socket | undefined): void {
    const { send, seat, failed } = this.#options;
    try {
      const seated = socket && seat(offer, (site) => this.#newCall(offer, { socket, site }));
      if (seated !== undefined) {
        send({ type: 'sip.taken', offer: offer.offer });
        const known = this.#calls.get(offer.offer);
        if (seated === 'new') known?.scope.bind(() => known.call.begin())();
        return;
      }
    } catch (error) {
      failed(error);
      this.#calls.delete(offer.offer);
    }
    socket?.close();
    send({ type: 'sip.declined', offer: offer.offer });
  }

  #newCall(offer: SipOffer, { socket, site }: { readonly socket: Socket; readonly site: SipSite }): SipCall {
    const { send, now, unixMs, random } = this.#options;
    const id = { offer: offer.offer };
    const call = new SipCall({
      ...{ offer, socket, now, unixMs, random, ...site },
      line: {
        accept: () => send({ type: 'sip.accept', ...id }),
        refuse: () => send({ type: 'sip.refuse', ...id }),
        hangUp: () => send({ type: 'sip.hangup', ...id }),
        over: () => {
          this.#calls.delete(offer.offer);
          send({ type: 'sip.over', ...id });
          this.#options.over();
        },
      },
    });
    this.#calls.set(offer.offer, { call, scope: site.scope });
    return call;
  }
}

function tell(call: SipCall, message: Exclude<SipToWorker, { type: 'sip.offer' }>): void {
  switch (message.type) {
    case 'sip.media':
      call.agreed(message.media);
      return;
    case 'sip.open':
      call.opened();
      return;
    case 'sip.digit':
      call.digit(message.digit);
      return;
    case 'sip.closed':
      call.closed(message.reason);
      return;
    default:
      unreachable(message);
  }
}
