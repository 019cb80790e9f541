/** The SIP calls of a worker, by number: opened as the supervisor offers them, and told what it has to say of each. */
import type { Socket } from 'node:dgram';
import { unreachable } from '../../shared/base/assert.ts';
import { sipCodecRate, type SipFromWorker, type SipOffer, type SipToWorker } from '../../shared/sip/calls.ts';
import { freeOpus, newOpus, type Opus, type OpusRate } from '../media/opus/opus.ts';
import type { CallTransport, SavedTransport, TransportEvents } from '../transports/transport.ts';
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
  readonly place: (
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

  /** Calls whose codec is opened, and what was said of them meanwhile. */
  readonly #opening = new Map<number, Exclude<SipToWorker, SipOffer>[]>();

  constructor(options: SipCallsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#calls.size + this.#opening.size;
  }

  take(message: SipToWorker, socket: Socket | undefined): void {
    if (message.type === 'sip.offer') {
      if (message.media.codec === 'opus') void this.#openOpus(message, socket);
      else this.#open(message, socket);
      return;
    }
    const isEarly = this.#opening.get(message.offer)?.push(message) !== undefined;
    if (isEarly) return;
    const known = this.#calls.get(message.offer);
    if (known === undefined) return;
    const { call, scope } = known;
    scope.bind(() => tell(call, message))();
  }

  async #openOpus(offer: SipOffer, socket: Socket | undefined): Promise<void> {
    const said: Exclude<SipToWorker, SipOffer>[] = [];
    this.#opening.set(offer.offer, said);
    const rate = sipCodecRate('opus') as OpusRate;
    const opus = await newOpus({ heard: rate, spoken: rate }).catch((error: unknown) => {
      this.#options.failed(error);
      return undefined;
    });
    this.#opening.delete(offer.offer);
    if (opus === undefined) this.#decline(offer, socket);
    else this.#open(offer, socket, opus);
    for (const message of said) this.take(message, undefined);
    if (!this.#calls.has(offer.offer)) this.#options.over();
  }

  #open(offer: SipOffer, socket: Socket | undefined, opus?: Opus): void {
    const { send, place, failed } = this.#options;
    try {
      const outcome = socket && place(offer, (site) => this.#newCall(offer, { socket, site, opus }));
      if (outcome !== undefined) {
        send({ type: 'sip.taken', offer: offer.offer });
        const known = this.#calls.get(offer.offer);
        if (outcome === 'new') known?.scope.bind(() => known.call.begin())();
        return;
      }
    } catch (error) {
      failed(error);
      this.#calls.delete(offer.offer);
    }
    if (opus !== undefined) freeOpus(opus);
    this.#decline(offer, socket);
  }

  #decline({ offer }: SipOffer, socket: Socket | undefined): void {
    socket?.close();
    this.#options.send({ type: 'sip.declined', offer });
  }

  #newCall(
    offer: SipOffer,
    { socket, site, opus }: Pick<SipCallOptions, 'socket' | 'opus'> & { readonly site: SipSite },
  ): SipCall {
    const { send, now, unixMs, random } = this.#options;
    const id = { offer: offer.offer };
    const call = new SipCall({
      offer,
      socket,
      now,
      unixMs,
      random,
      opus,
      ...site,
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
