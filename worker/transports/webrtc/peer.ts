/**
 * One peer connection of the WebRTC library: an offer becomes an answer, and RTP and RTCP go both ways as they are.
 *
 * Invariant: after `close` nothing is told and nothing sent. Tracks are kept until the library says that they are closed, because
 * it crashes over one that was forgotten before; the library's own cleaning up is never called for the same reason.
 */
import type { PeerConnection, Track } from 'node-datachannel';
import type { IceCredentials, SdpOffer } from '../../../shared/protocol/webrtc/sdp.ts';

type Library = typeof import('node-datachannel');

export interface PeerEvents {
  /** ICE and DTLS have finished. */
  readonly connected: () => void;
  /** The client closed the connection, or it broke. */
  readonly closed: () => void;
  /** RTP or RTCP; the buffer belongs to whoever is told. */
  readonly packet: (packet: Buffer) => void;
}

export interface PeerOptions {
  readonly library: Library;
  readonly offer: SdpOffer;
  readonly own: IceCredentials;
  /** Of what is sent. */
  readonly ssrc: number;
  /** Where all connections of this process take media. */
  readonly bind: { readonly host: string; readonly port: number };
}

/** Tracks that the library has not let go of yet. */
const keptTracks = new Set<Track>();

export class Peer {
  readonly #connection: PeerConnection;
  readonly #track: Track;
  /** As the library wrote it; its candidates say nothing to a client. */
  readonly answer: string;
  #isClosed = false;

  /** @throws Error where the library does not take the offer. */
  constructor({ library, offer, own, ssrc, bind }: PeerOptions, events: PeerEvents) {
    const connection = new library.PeerConnection('call', {
      iceServers: [],
      bindAddress: bind.host,
      enableIceUdpMux: true,
      portRangeBegin: bind.port,
      portRangeEnd: bind.port,
      disableAutoNegotiation: true,
    });
    this.#connection = connection;
    connection.onStateChange((state) => {
      if (this.#isClosed) return;
      if (state === 'connected') events.connected();
      else if (state === 'disconnected' || state === 'failed' || state === 'closed') events.closed();
    });
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
    keptTracks.add(track);
    track.onClosed(() => {
      keptTracks.delete(track);
      if (!this.#isClosed) events.closed();
    });
    track.onMessage((packet) => {
      if (!this.#isClosed) events.packet(packet);
    });
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

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#track.close();
    this.#connection.close();
  }
}
