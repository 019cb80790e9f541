/**
 * A WHIP client on werift, an implementation of WebRTC that shares no code with the service's: it offers, sends Opus, and keeps what it
 * hears. Answers are events; nothing is waited for by time.
 */
import { createDecoder, createEncoder } from 'libopus-wasm';
import {
  MediaStreamTrack,
  type RTCDataChannel,
  RTCPeerConnection,
  RTCRtpCodecParameters,
  RtpHeader,
  RtpPacket,
} from 'werift';
import { Observed } from '../process/observed.ts';

const rate = 16_000;
const frameSamples = rate / 50;

export interface CallerOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly direction?: 'sendrecv' | 'sendonly' | 'recvonly';
  /** Opens the data channel of the call beside the audio. */
  readonly talks?: boolean;
  /** What the client is given in place of the answer, where a network lies between. */
  readonly reroute?: (answer: string) => string;
}

export class WeriftCaller extends Observed {
  readonly #connection: RTCPeerConnection;
  readonly #track = new MediaStreamTrack({ kind: 'audio' });
  /** Packets of the agent, in the order in which they came. */
  readonly packets: RtpPacket[] = [];
  /** When each of them came. */
  readonly arrivals: number[] = [];
  readonly states: string[] = [];
  /** Messages of the data channel, in the order in which they came. */
  readonly messages: Record<string, unknown>[] = [];
  readonly #channel: RTCDataChannel | undefined;
  answer: Response | undefined;
  answerSdp = '';
  sessionUrl = '';
  #sequence = 100;
  #timestamp = 1_000;

  constructor({ direction = 'sendrecv', talks = false }: CallerOptions = {}) {
    super();
    this.#connection = new RTCPeerConnection({
      codecs: {
        audio: [
          new RTCRtpCodecParameters({
            mimeType: 'audio/opus',
            clockRate: 48_000,
            channels: 2,
            payloadType: 111,
          }),
        ],
      },
      iceAdditionalHostAddresses: ['127.0.0.1'],
      iceServers: [],
    });
    this.#connection.connectionStateChange.subscribe((state) => {
      this.states.push(state);
      this.changed();
    });
    const transceiver = this.#connection.addTransceiver(this.#track, { direction });
    transceiver.onTrack.subscribe((track) => {
      track.onReceiveRtp.subscribe((packet) => {
        this.packets.push(packet);
        this.arrivals.push(performance.now());
        this.changed();
      });
    });
    if (!talks) return;
    this.#channel = this.#connection.createDataChannel('svc');
    this.#channel.stateChanged.subscribe(() => this.changed());
    this.#channel.onMessage.subscribe((message) => {
      this.messages.push(JSON.parse(String(message)) as Record<string, unknown>);
      this.changed();
    });
  }

  /** Says something on the data channel once it is open. */
  async tell(message: Readonly<Record<string, unknown>>): Promise<void> {
    await this.until(() => this.#channel?.readyState === 'open');
    this.#channel?.send(JSON.stringify(message));
  }

  /** Makes an offer with all its candidates. */
  async offer(): Promise<string> {
    await this.#connection.setLocalDescription(await this.#connection.createOffer());
    return this.#connection.localDescription?.sdp ?? '';
  }

  /** Offers a call; resolves with the answer, which is taken when it is one. */
  async call(url: string, { headers, reroute = (sdp) => sdp }: CallerOptions = {}): Promise<Response> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp', ...headers },
      body: await this.offer(),
    });
    this.answer = response;
    if (response.status !== 201) return response;
    this.sessionUrl = new URL(response.headers.get('Location') ?? '', url).href;
    this.answerSdp = reroute(await response.text());
    await this.#connection.setRemoteDescription({ type: 'answer', sdp: this.answerSdp });
    return response;
  }

  connected(): Promise<void> {
    return this.until(() => this.#connection.connectionState === 'connected');
  }

  ended(): Promise<void> {
    return this.until(() => ['closed', 'failed', 'disconnected'].includes(this.#connection.connectionState));
  }

  /** Sends 16 kHz PCM16 as Opus, in real time, frame by frame, until it is told to stop. */
  async say(pcm: Int16Array, stop?: AbortSignal): Promise<void> {
    const encoder = await createEncoder({ sampleRate: rate, channels: 1, fec: true, packetLossPercent: 5 });
    const startedAt = performance.now();
    for (let at = 0; at + frameSamples <= pcm.length && stop?.aborted !== true; at += frameSamples) {
      this.send(encoder.encode(pcm.subarray(at, at + frameSamples)));
      // By the clock: a sender that is late all the time sounds like a network that becomes slower and slower.
      const nextAt = startedAt + ((at + frameSamples) * 1_000) / rate;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, nextAt - performance.now())));
    }
    encoder.free();
  }

  send(payload: Uint8Array): void {
    const header = new RtpHeader({
      ...{ payloadType: 111, sequenceNumber: this.#sequence, timestamp: this.#timestamp },
      ssrc: 77,
    });
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#timestamp += 960;
    this.#track.writeRtp(new RtpPacket(header, Buffer.from(payload)));
  }

  /** What was heard, decoded at 16 kHz. */
  async heard(): Promise<Int16Array> {
    const decoder = await createDecoder({ sampleRate: rate, channels: 1 });
    const parts = this.packets.map(({ payload }) => decoder.decode(payload));
    decoder.free();
    const all = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  async hangUp(headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(this.sessionUrl, { method: 'DELETE', headers });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
