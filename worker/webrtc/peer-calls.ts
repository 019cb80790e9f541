/**
 * All WebRTC calls of a worker: makes a call of an offer, answers it, and passes on what signaling says of it later. The library and the
 * codec are loaded where WebRTC is configured, and nowhere else.
 *
 * Invariant: each offer is answered, unanswered or declined exactly once, and is over exactly once after an answer.
 */
import { randomBytes, randomInt } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Millis } from '../../shared/base/units.ts';
import type {
  CallOffer,
  FromWorker,
  SignaledOffer,
  ToWorker,
  UnansweredReason,
  WebrtcSetup,
} from '../../shared/protocol/ipc.ts';
import { answerWith, readOffer, type SdpOffer } from '../../shared/webrtc/sdp.ts';
import { newOpus, type OpusRate } from '../media/opus/opus.ts';
import type { CallTransport, SavedTransport, TransportEvents } from '../transports/transport.ts';
import { connectTimeoutMs, heardRate, newPeerCall, savedStart, type PeerCallStart } from './call-machine.ts';
import { Peer, type PeerEvents, type PeerOptions } from './peer.ts';
import { PeerCall, type PeerCallOptions } from './peer-call.ts';
import type { ClientReport } from '../media/rtp/rtcp.ts';
import { CallWays, type WaysOptions } from './ways/call-ways.ts';
import { createSocket } from 'node:dgram';

/** A place for a call in its worker. */
export interface PeerPlace {
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
  /** Rate of agent audio that the encoder takes as it is. */
  readonly sampleRate: OpusRate;
  readonly now: () => Millis;
  readonly unixMs: () => Millis;
  readonly newCallId: () => string;
  /** A place for this offer's call; undefined where there is none. */
  readonly place: (offer: CallOffer) => PeerPlace | undefined;
  readonly send: (message: FromWorker) => void;
  readonly failed: (error: unknown, sentence: string) => void;
  readonly later: PeerOptions['later'];
  readonly after: WaysOptions['after'];
  /** What becomes of relays. */
  readonly relays: Pick<WaysOptions, 'failed' | 'noted'>;
  readonly reported: (report: ClientReport) => void;
  readonly measured: PeerCallOptions['measured'];
}

/** An offer that is being made a call. */
interface OfferedCall {
  readonly sdp: SdpOffer;
  readonly place: PeerPlace;
  readonly codec: PeerCallOptions['codec'];
  readonly ways: CallWays;
  /** Lets go of the codec and the ways, where no call took them. */
  readonly free: () => void;
}

/** A call that signaling knows, and what another connection for it needs. */
interface ServedCall {
  readonly call: PeerCall;
  readonly ssrc: number;
  readonly ways: CallWays;
  readonly bind: PeerSite['bind'];
  /** The connection that it has; what others tell is of no interest. */
  peer: Peer;
  /** Another one that the client has offered, which is not established yet. */
  pending: Peer | undefined;
  /** The newest offer for another one. */
  renewal: SignaledOffer | undefined;
}

/** Random parts of ICE credentials, which a stranger must not guess (RFC 8839, 5.4): whole groups of base64, which are ICE characters. */
const [ufragBytes, pwdBytes] = [9, 24];
/** The last word of a connection, its goodbye among it, leaves by a relay or TCP connection before that is closed. */
const lastWordMs = 300;

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
    const { decoder, encoder } = await newOpus({ heard: heardRate, spoken: options.sampleRate });
    decoder.free();
    encoder.free();
    return new PeerCalls(options, { library, port: await mediaPort(options.setup, options.worker) });
  }

  /** Calls that signaling still knows. */
  get count(): number {
    return this.#calls.size;
  }

  /** Answers an offer; the supervisor is told of a failure. */
  take(offer: CallOffer, signaled: SignaledOffer): void {
    const { sampleRate, failed } = this.#options;
    const opening = CallWays.open(this.#waysOptions, signaled);
    Promise.all([newOpus({ heard: heardRate, spoken: sampleRate }), opening])
      .then(([codec, ways]) => this.#answer(offer, { signaled, ways, codec }))
      .catch((error: unknown) => {
        void opening.then((ways) => ways?.close());
        failed(error, 'an offer could not be answered');
        this.#say({ type: 'call.unanswered', offer: offer.offer, reason: 'failed' });
      });
  }

  /** The client hung up by signaling. */
  hangUp(offer: number): void {
    this.#calls.get(offer)?.call.happened('signaling.ended');
  }

  /** The client has lost its connection: another one takes its place as soon as it is established, and until then nothing changes. */
  renew({ offer, renewal, signaled }: Extract<ToWorker, { type: 'call.renew' }>): void {
    const served = this.#calls.get(offer);
    const sdp = readOffer(signaled.sdp);
    if (served === undefined || !sdp.ok) {
      const reason = served === undefined ? 'failed' : 'bad_offer';
      this.#say({ type: 'call.unanswered', offer, renewal, reason });
      return;
    }
    const { ways, bind } = served;
    served.renewal = signaled;
    void ways.renew(signaled).then(
      bind((isReachable: boolean) => {
        // Over by now, or the client has offered anew, which is answered instead.
        if (this.#calls.get(offer) !== served || served.renewal !== signaled) return;
        const peer = isReachable ? this.#secondPeer(served, sdp.value) : undefined;
        if (peer !== undefined) {
          this.#await(served, peer, [signaled.clientIp, ...sdp.value.candidateIps]);
          const answer = answerWith(peer.answer, ways.candidates());
          this.#say({ type: 'call.answered', offer, renewal, sdp: answer });
        } else {
          const reason = isReachable ? 'bad_offer' : 'no_relay';
          this.#say({ type: 'call.unanswered', offer, renewal, reason });
        }
      }),
    );
  }

  #await(served: ServedCall, peer: Peer, ips: readonly (string | undefined)[]): void {
    const { call, ways, bind } = served;
    ways.permit(ips);
    served.pending?.close();
    served.pending = peer;
    this.#options.later(
      bind(() => this.#missed(served, peer)),
      connectTimeoutMs,
    );
    call.happened('peer.awaited');
  }

  /** More addresses of a client. */
  permit(offer: number, ips: readonly string[]): void {
    this.#calls.get(offer)?.ways.permit(ips);
  }

  /** A TCP connection of a client. */
  bring({ offer, way, head }: Extract<ToWorker, { type: 'call.way' }>, socket: Socket | undefined): void {
    const ways = this.#calls.get(offer)?.ways;
    const closed = (): void => this.#say({ type: 'call.way_closed', offer, way });
    if (socket !== undefined && ways !== undefined)
      ways.add(socket, { head: Buffer.from(head, 'base64'), closed });
    else {
      socket?.destroy();
      closed();
    }
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
    {
      signaled,
      codec,
      ways,
    }: { signaled: SignaledOffer; codec: OfferedCall['codec']; ways: CallWays | undefined },
  ): void {
    const free = (): void => {
      codec.decoder.free();
      codec.encoder.free();
      ways?.close();
    };
    const unanswered = (reason: UnansweredReason): void => {
      free();
      this.#say({ type: 'call.unanswered', offer: offer.offer, reason });
    };
    const read = readOffer(signaled.sdp);
    if (!read.ok || ways === undefined) {
      unanswered(read.ok ? 'no_relay' : 'bad_offer');
      return;
    }
    const place = this.#options.place(offer);
    if (place === undefined) {
      free();
      this.#say({ type: 'call.declined', offer: offer.offer });
      return;
    }
    ways.permit([signaled.clientIp, ...read.value.candidateIps]);
    this.#serve(offer, { sdp: read.value, place, codec, ways, free });
  }

  #serve(offer: CallOffer, { sdp, place, codec, ways, free }: OfferedCall): void {
    const ssrc = randomInt(1, 2 ** 32 - 1);
    let told: PeerEvents | undefined;
    const peer = this.#newPeer(sdp, ssrc, {
      connected: () => told?.connected(),
      left: () => told?.left(),
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
      place.serve((site) => {
        const call = this.#newCall(offer, { sdp, place, codec, site, ssrc });
        call.attach(peer);
        const bind: ServedCall['bind'] = (callback) => site.bind(callback);
        const fresh = { pending: undefined, renewal: undefined };
        const served: ServedCall = { call, ssrc, peer, ways, bind, ...fresh };
        told = eventsOf(served, { peer: () => peer, connected: () => call.happened('peer.connected') });
        this.#calls.set(offer.offer, served);
        return call;
      });
    } catch (error) {
      peer.close();
      ways.close();
      this.#options.failed(error, 'an offered call could not be built');
      this.over(offer.offer);
      return;
    }
    this.#say({ type: 'call.taken', offer: offer.offer });
    const sdpAnswer = answerWith(peer.answer, ways.candidates());
    this.#say({ type: 'call.answered', offer: offer.offer, sdp: sdpAnswer });
  }

  /** The call is over and holds nothing any more. */
  over(offer: number): void {
    const served = this.#calls.get(offer);
    served?.pending?.close();
    if (served !== undefined) this.#options.later(() => served.ways.close(), lastWordMs);
    this.#calls.delete(offer);
    this.#say({ type: 'call.over', offer });
  }

  #newCall(
    offer: CallOffer,
    {
      sdp,
      place,
      codec,
      site,
      ssrc,
    }: Pick<OfferedCall, 'sdp' | 'place' | 'codec'> & { site: PeerSite; ssrc: number },
  ): PeerCall {
    const { now, unixMs, reported, measured } = this.#options;
    const start = place.saved === undefined ? this.#start(offer) : savedStart(place.saved);
    return new PeerCall({
      codec,
      ssrc,
      now,
      unixMs,
      reported,
      measured,
      events: site.events,
      state: newPeerCall(start, { now: now(), isResumed: place.saved !== undefined }),
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
    const common = { sampleRate, inputRate: heardRate, encoding: 'pcm16', metadata } as const;
    return { callId: newCallId(), isOwnId: true, ...common };
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

  get #waysOptions(): WaysOptions {
    const { setup, now, after, relays } = this.#options;
    return { setup, now, after, port: this.#port, ...relays };
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
    left: bind(() => {
      if (isServing()) call.happened('peer.left');
    }),
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

/**
 * The one UDP port of a worker, on which all its WebRTC calls take media. Two processes that share a port lose packets to each other
 * without an error, so a port is asked for exclusively before the library gets it.
 *
 * Invariant: workers of one supervisor never try the same port, because each tries those that have its remainder; a port that a worker
 * of the supervisor before this one still holds is passed over.
 */

/** The ports of the workers, of those of the supervisor before this one, and two more such rows. */
const rows = 4;

/** A free port for worker `index`. Rejects when there is none. */
async function mediaPort({ udp, seats: workerRows }: WebrtcSetup, index: number): Promise<number> {
  if (udp.port === 0) {
    const port = await freePort(udp.host, 0);
    if (port !== undefined) return port;
  }
  for (let row = 0; row < rows && udp.port > 0; row += 1) {
    const port = udp.port + row * workerRows + index;
    if (port <= 65_535 && (await freePort(udp.host, port)) !== undefined) return port;
  }
  throw new Error('SVC_WEBRTC_UDP_ADDR: no port is free there for this worker');
}

/** The port if nobody else has it; any one where it is 0. */
function freePort(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    socket.once('error', () => {
      socket.close();
      resolve(undefined);
    });
    socket.bind({ address: host, port, exclusive: true }, () => {
      const bound = socket.address().port;
      socket.close(() => resolve(bound));
    });
  });
}
