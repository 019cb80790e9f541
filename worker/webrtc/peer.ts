/**
 * One peer connection of the WebRTC library: an offer becomes an answer, RTP and RTCP go both ways as they are, and text where the client
 * opened a data channel.
 *
 * Invariant: after `close` nothing is told and nothing sent. Tracks are kept until the library says that they are closed, because
 * it crashes over one that was forgotten before; the library's own cleaning up is never called for the same reason.
 */
import type { DataChannel, PeerConnection, Track } from 'node-datachannel';
import type { Millis } from '../../shared/base/units.ts';
import type { IceCredentials, SdpOffer } from '../../shared/webrtc/sdp.ts';

type Library = typeof import('node-datachannel');

export interface PeerEvents {
  /** ICE and DTLS have finished. */
  readonly connected: () => void;
  /** The client closed the connection. */
  readonly left: () => void;
  /** It broke. */
  readonly closed: () => void;
  /** RTP or RTCP; the buffer belongs to the function that is told. */
  readonly packet: (packet: Buffer) => void;
  /** A message of the data channel. */
  readonly text: (text: string) => void;
}

export interface PeerOptions {
  readonly library: Library;
  readonly offer: SdpOffer;
  readonly own: IceCredentials;
  /** Of what is sent. */
  readonly ssrc: number;
  /** Where all connections of this process take media. */
  readonly bind: { readonly host: string; readonly port: number };
  readonly later: (run: () => void, afterMs: Millis) => void;
}

/** Tracks and channels that the library has not let go of yet. */
const kept = new Set<Track | DataChannel>();
/** The data channel of the call; a client may open others, which nobody reads. */
const channelLabel = 'svc';
/** More has not left for a client that takes nothing: events that are told then are lost. */
const mostUnsentBytes = 256 * 1024;
/** A last word on the data channel is on its way after so long. */
const lastWordMs = 150;

/** A client that closes its connection says so by DTLS, while ICE still finds it. */
const isWayLost = (connection: PeerConnection): boolean =>
  ['disconnected', 'failed'].includes(connection.iceState());

export class Peer {
  readonly #connection: PeerConnection;
  readonly #track: Track;
  /** As the library wrote it; its candidates say nothing to a client. */
  readonly answer: string;
  readonly #later: PeerOptions['later'];
  #channel: DataChannel | undefined;
  #isClosed = false;

  /** @throws Error where the library does not take the offer. */
  constructor({ library, offer, own, ssrc, bind, later }: PeerOptions, events: PeerEvents) {
    this.#later = later;
    const connection = new library.PeerConnection('call', {
      iceServers: [],
      bindAddress: bind.host,
      enableIceUdpMux: true,
      portRangeBegin: bind.port,
      portRangeEnd: bind.port,
      disableAutoNegotiation: true,
      maxMessageSize: 64 * 1024,
    });
    this.#connection = connection;
    connection.onStateChange((state) => {
      if (this.#isClosed) return;
      if (state === 'connected') events.connected();
      else if (state === 'failed' || isWayLost(connection)) events.closed();
      else if (state === 'disconnected' || state === 'closed') events.left();
    });
    connection.onDataChannel((channel) => this.#meet(channel, events));
    try {
      connection.setRemoteDescription(offer.withoutCandidates, 'offer');
      this.#track = connection.addTrack(this.#media(library, offer, ssrc));
      this.#listen(events);
      connection.setLocalDescription('answer', { iceUfrag: own.ufrag, icePwd: own.pwd });
      this.answer = connection.localDescription()?.sdp ?? '';
    } catch (error) {
      this.#isClosed = true;
      connection.close();
      throw error;
    }
  }

  #media(library: Library, { audio }: SdpOffer, ssrc: number): InstanceType<Library['Audio']> {
    const direction = audio.hears ? (audio.speaks ? 'SendRecv' : 'SendOnly') : 'RecvOnly';
    const media = new library.Audio(audio.mid, direction);
    media.addOpusCodec(audio.opus, 'minptime=10;useinbandfec=1;stereo=0');
    if (audio.telephoneEvent !== undefined)
      media.addAudioCodec(
        audio.telephoneEvent.payloadType,
        `telephone-event/${audio.telephoneEvent.clockRate}`,
      );
    const name = ssrc.toString(16);
    if (audio.hears) media.addSSRC(ssrc, name, 'voice', `voice-${name}`);
    return media;
  }

  #listen(events: PeerEvents): void {
    const track = this.#track;
    kept.add(track);
    track.onClosed(() => {
      kept.delete(track);
      if (this.#isClosed) return;
      if (isWayLost(this.#connection)) events.closed();
      else events.left();
    });
    track.onMessage((packet) => {
      if (!this.#isClosed) events.packet(packet);
    });
  }

  #meet(channel: DataChannel, events: PeerEvents): void {
    if (this.#isClosed || this.#channel !== undefined || channel.getLabel() !== channelLabel) {
      channel.close();
      return;
    }
    kept.add(channel);
    this.#channel = channel;
    channel.onClosed(() => kept.delete(channel));
    channel.onMessage((message) => {
      if (!this.#isClosed && typeof message === 'string') events.text(message);
    });
  }

  /** Says something on the data channel, where there is one. */
  say(text: string): void {
    const channel = this.#channel;
    if (this.#isClosed || channel?.isOpen() !== true || channel.bufferedAmount() > mostUnsentBytes) return;
    try {
      channel.sendMessage(text);
    } catch (error) {
      // As with packets: it has ended a moment ago.
      if (!(error instanceof Error)) throw error;
    }
  }

  /** False where it could not be sent; the packet is lost then. */
  send(packet: Buffer): boolean {
    if (this.#isClosed || !this.#track.isOpen()) return false;
    try {
      return this.#track.sendMessageBinary(packet);
    } catch (error) {
      // The library throws where the connection has ended a moment ago; that it has is told by its state.
      if (error instanceof Error) return false;
      throw error;
    }
  }

  /** Nothing is told or sent from here on. Words that were said last still leave. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#channel === undefined) this.#closeNow();
    else this.#later(() => this.#closeNow(), lastWordMs);
  }

  #closeNow(): void {
    this.#channel?.close();
    this.#track.close();
    this.#connection.close();
  }
}
