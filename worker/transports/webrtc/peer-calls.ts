/**
 * All WebRTC calls of a worker: makes a call of an offer, answers it, and passes on what signaling says of it later. The library and the
 * codec are loaded where WebRTC is configured, and nowhere else.
 *
 * Invariant: each offer is answered, unanswered or declined exactly once, and is over exactly once after an answer.
 */
import { randomBytes, randomInt } from 'node:crypto';
import type { Millis } from '../../../shared/base/units.ts';
import type { CallOffer, FromWorker, SignaledOffer, WebrtcSetup } from '../../../shared/protocol/ipc.ts';
import {
  answerWith,
  readOffer,
  type AnswerCandidate,
  type SdpOffer,
} from '../../../shared/protocol/webrtc/sdp.ts';
import { newOpus, type OpusRate } from '../../media/opus/opus.ts';
import type { CallTransport, SavedTransport, TransportEvents } from '../transport.ts';
import { connectTimeoutMs, newPeerCall, savedStart, type PeerCallStart } from './call-machine.ts';
import { mediaPort } from './media-port.ts';
import { Peer, type PeerEvents, type PeerOptions } from './peer.ts';
import { PeerCall, type PeerCallOptions } from './peer-call.ts';
import type { ClientReport } from '../../media/rtp/rtcp.ts';

/** A place for a call in its worker. */
export interface PeerSeat {
  /** What the transport of the call before left, where the call goes on. */
  readonly saved: SavedTransport | undefined;
  /** Makes the call with its transport. @throws what building it throws; nothing is left then. */
  readonly serve: (open: (site: PeerSite) => CallTransport) => void;
}

/** What a transport is given beside its engine. */
export interface PeerSite {
  readonly events: TransportEvents;
  /** Wraps a callback into the call's scope. */
  readonly bind: <A extends readonly unknown[]>(callback: (...args: A) => void) => (...args: A) => void;
  /** The connection is established: a call that another worker had goes on now. */
  readonly connected: () => void;
}

export interface PeerCallsOptions {
  readonly setup: WebrtcSetup;
  readonly worker: number;
  /** Rate of bot audio that the encoder takes as it is. */
  readonly sampleRate: OpusRate;
  readonly now: () => Millis;
  readonly unixMs: () => Millis;
  readonly newCallId: () => string;
  /** A place for this offer's call; undefined where there is none. */
  readonly seat: (offer: CallOffer) => PeerSeat | undefined;
  readonly send: (message: FromWorker) => void;
  readonly failed: (error: unknown, sentence: string) => void;
  readonly later: PeerOptions['later'];
  readonly reported: (report: ClientReport) => void;
  readonly measured: PeerCallOptions['measured'];
}

/** An offer that is being made a call. */
interface OfferedCall {
  readonly sdp: SdpOffer;
  readonly seat: PeerSeat;
  readonly codec: PeerCallOptions['codec'];
  /** Lets go of the codec, where no call took it. */
  readonly free: () => void;
}

/** A call that signaling knows, and what another connection for it needs. */
interface ServedCall {
  readonly call: PeerCall;
  readonly ssrc: number;
  readonly bind: PeerSite['bind'];
  /** The connection that it has; what others tell is of no interest. */
  peer: Peer;
  /** Another one that the client has offered, which is not established yet. */
  pending: Peer | undefined;
}

/** Random parts of ICE credentials, which a stranger must not guess (RFC 8839, 5.4): whole groups of base64, which are ICE characters. */
const [ufragBytes, pwdBytes] = [9, 24];

export class PeerCalls {
  readonly #options: PeerCallsOptions;
  readonly #library: typeof import('node-datachannel');
  readonly #port: number;
  readonly #calls = new Map<number, ServedCall>();

  private constructor(
    options: PeerCallsOptions,
    loaded: { readonly library: typeof import('node-datachannel'); readonly port: number },
  ) {
    this.#options = options;
    this.#library = loaded.library;
    this.#port = loaded.port;
  }

  /** Rejects where no port is free, or the library is not installed. */
  static async open(options: PeerCallsOptions): Promise<PeerCalls> {
    const library = await import('node-datachannel');
    // Loaded before the first caller waits for it.
    const { decoder, encoder } = await newOpus({ heard: options.sampleRate, spoken: options.sampleRate });
    decoder.free();
    encoder.free();
    return new PeerCalls(options, { library, port: await mediaPort(options.setup, options.worker) });
  }

  /** Calls that signaling still knows. */
  get count(): number {
    return this.#calls.size;
  }

  /** Answers an offer; what goes wrong is told to the supervisor. */
  take(offer: CallOffer, signaled: SignaledOffer): void {
    const { sampleRate, failed } = this.#options;
    newOpus({ heard: sampleRate, spoken: sampleRate })
      .then((codec) => this.#answer(offer, { signaled, codec }))
      .catch((error: unknown) => {
        failed(error, 'an offer could not be answered');
        this.#say({ type: 'call.unanswered', offer: offer.offer, reason: 'failed' });
      });
  }

  /** The client hung up by signaling. */
  hangUp(offer: number): void {
    this.#calls.get(offer)?.call.happened('signaling.ended');
  }

  /** The client has lost its connection: another one takes its place as soon as it is established, and until then nothing changes. */
  renew(offer: number, text: string): void {
    const served = this.#calls.get(offer);
    const sdp = readOffer(text);
    const peer = served !== undefined && sdp.ok ? this.#secondPeer(served, sdp.value) : undefined;
    if (served === undefined || peer === undefined) {
      const reason = served === undefined ? 'failed' : 'bad_offer';
      this.#say({ type: 'call.unanswered', offer, reason });
      return;
    }
    const { call } = served;
    served.pending?.close();
    served.pending = peer;
    this.#options.later(
      served.bind(() => this.#missed(served, peer)),
      connectTimeoutMs,
    );
    call.happened('peer.awaited');
    this.#say({ type: 'call.answered', offer, sdp: answerWith(peer.answer, this.#candidates()) });
  }

  #missed(served: ServedCall, peer: Peer): void {
    if (served.pending !== peer) return;
    served.pending = undefined;
    peer.close();
    served.call.happened('peer.missed');
  }

  #secondPeer(served: ServedCall, sdp: SdpOffer): Peer | undefined {
    const connected = (): void => {
      if (peer === undefined || served.pending !== peer) return;
      served.pending = undefined;
      served.peer = peer;
      served.call.moveTo(peer, sdp.audio);
    };
    const events = eventsOf(served, { peer: () => peer, connected });
    const peer: Peer | undefined = this.#newPeer(sdp, served.ssrc, events);
    return peer;
  }

  /** Undefined where the library does not take the offer: it takes none that contradicts itself, and repeats in its words what a stranger sent. */
  #newPeer(sdp: SdpOffer, ssrc: number, events: PeerEvents): Peer | undefined {
    try {
      return new Peer(this.#peerOptions(sdp, ssrc), events);
    } catch (error) {
      if (error instanceof Error) return undefined;
      throw error;
    }
  }

  #answer(
    offer: CallOffer,
    { signaled, codec }: { signaled: SignaledOffer; codec: OfferedCall['codec'] },
  ): void {
    const free = (): void => {
      codec.decoder.free();
      codec.encoder.free();
    };
    const read = readOffer(signaled.sdp);
    const seat = read.ok ? this.#options.seat(offer) : undefined;
    if (!read.ok || seat === undefined) {
      free();
      this.#say(
        read.ok
          ? { type: 'call.declined', offer: offer.offer }
          : { type: 'call.unanswered', offer: offer.offer, reason: 'bad_offer' },
      );
      return;
    }
    this.#serve(offer, { sdp: read.value, seat, codec, free });
  }

  #serve(offer: CallOffer, { sdp, seat, codec, free }: OfferedCall): void {
    const ssrc = randomInt(1, 2 ** 32 - 1);
    let told: PeerEvents | undefined;
    const peer = this.#newPeer(sdp, ssrc, {
      connected: () => told?.connected(),
      closed: () => told?.closed(),
      packet: (packet) => told?.packet(packet),
      text: (text) => told?.text(text),
    });
    if (peer === undefined) {
      free();
      this.#say({ type: 'call.unanswered', offer: offer.offer, reason: 'bad_offer' });
      return;
    }
    try {
      seat.serve((site) => {
        const call = this.#newCall(offer, { sdp, seat, codec, site, ssrc });
        call.attach(peer);
        const bind: ServedCall['bind'] = (callback) => site.bind(callback);
        const served: ServedCall = { call, ssrc, peer, bind, pending: undefined };
        told = eventsOf(served, { peer: () => peer, connected: () => call.happened('peer.connected') });
        this.#calls.set(offer.offer, served);
        return call;
      });
    } catch (error) {
      peer.close();
      this.#options.failed(error, 'an offered call could not be built');
      this.over(offer.offer);
      return;
    }
    this.#say({ type: 'call.taken', offer: offer.offer });
    const sdpAnswer = answerWith(peer.answer, this.#candidates());
    this.#say({ type: 'call.answered', offer: offer.offer, sdp: sdpAnswer });
  }

  /** The call is over and holds nothing any more. */
  over(offer: number): void {
    this.#calls.get(offer)?.pending?.close();
    this.#calls.delete(offer);
    this.#say({ type: 'call.over', offer });
  }

  #newCall(
    offer: CallOffer,
    { sdp, seat, codec, site, ssrc }: Omit<OfferedCall, 'free'> & { site: PeerSite; ssrc: number },
  ): PeerCall {
    const { now, unixMs, reported, measured } = this.#options;
    const start = seat.saved === undefined ? this.#start(offer) : savedStart(seat.saved);
    return new PeerCall({
      ...{ codec, ssrc, now, unixMs, reported, measured, events: site.events },
      state: newPeerCall(start, { now: now(), isResumed: seat.saved !== undefined }),
      media: sdp.audio,
      firstSequence: randomInt(0, 2 ** 15),
      firstTimestamp: randomInt(0, 2 ** 31),
      connected: () => {
        this.#say({ type: 'call.connected', offer: offer.offer });
        site.connected();
      },
    });
  }

  #start({ signedMetadata }: CallOffer): PeerCallStart {
    const { sampleRate, newCallId } = this.#options;
    const metadata = { sample_rate: String(sampleRate), ...signedMetadata };
    return { callId: newCallId(), sampleRate, encoding: 'pcm16', metadata };
  }

  #peerOptions(offer: SdpOffer, ssrc: number): PeerOptions {
    const { host } = this.#options.setup.udp;
    const own = {
      ufrag: randomBytes(ufragBytes).toString('base64'),
      pwd: randomBytes(pwdBytes).toString('base64'),
    };
    const { later } = this.#options;
    return { library: this.#library, offer, ssrc, own, bind: { host, port: this.#port }, later };
  }

  #candidates(): AnswerCandidate[] {
    const { udp, candidateIps } = this.#options.setup;
    const ips = candidateIps.length > 0 ? candidateIps : [udp.host];
    return ips.map((ip) => ({ transport: 'udp', type: 'host', ip, port: this.#port }));
  }

  #say(message: FromWorker): void {
    this.#options.send(message);
  }
}

/** What a connection tells, as long as it is the one that the call has. */
function eventsOf(
  served: ServedCall,
  { peer, connected }: { peer: () => Peer | undefined; connected: () => void },
): PeerEvents {
  const { call, bind } = served;
  const isServing = (): boolean => served.peer === peer();
  return {
    connected: bind(connected),
    closed: bind(() => {
      if (isServing()) call.happened('peer.closed');
    }),
    packet: bind((packet: Buffer) => {
      if (isServing()) call.packet(packet);
    }),
    text: bind((text: string) => {
      if (isServing()) call.text(text);
    }),
  };
}
