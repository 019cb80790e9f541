/**
 * One WebRTC client of the bench: an offer by WHIP, Opus that is encoded already, and what comes back. It goes on as the call page does: it waits
 * at its session URL for the word that the call has lost its worker, notices 0.8 s without a packet, and offers another connection there.
 *
 * Invariant: tracks are kept until the library has closed them, which crashes over one that was forgotten before.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import ndc, { type PeerConnection, type Track } from 'node-datachannel';
import type { Distribution } from '../report/statistics.ts';

/** Counted by all peers together. */
export interface PeerFindings {
  /** Between packets of one stretch of speech. */
  readonly gaps: Distribution;
  packets: number;
  lost: number;
}

export interface PeerOptions {
  /** Where offers are taken. */
  readonly url: string;
  readonly findings: () => PeerFindings;
  /** Told the payload of each packet of audio. */
  readonly heard?: (payload: Uint8Array, now: number) => void;
}

interface Connection {
  readonly peer: PeerConnection;
  readonly track: Track;
}

const payloadType = 111;
const frameTicks = 960;
/** The page's own rules (web/client/line). */
const silentMs = 800;
const waitS = 25;
const againMs = 250;
const connectLimitMs = 5_000;
const lookMs = 5;

const kept = new Set<Track>();

export class WebrtcPeer {
  readonly #options: PeerOptions;
  #connection: Connection | undefined;
  #session: string;
  #sequence = 0;
  #timestamp = 0;
  #last: { readonly at: number; readonly sequence: number; readonly timestamp: number } | undefined;
  #isMoving = false;
  #openedAt = 0;
  readonly #over = new AbortController();
  /** When anything came last. */
  heardAt = 0;
  /** From the last packet of one connection to the first of the next, at its longest. */
  longestSilenceMs = 0;
  moves = 0;

  constructor(options: PeerOptions) {
    this.#options = options;
    this.#session = options.url;
  }

  get isOpen(): boolean {
    return this.#connection !== undefined;
  }

  /** Resolves with the status of the answer once the connection stands; 0 where it does not. */
  async call(): Promise<number> {
    const peer = new ndc.PeerConnection('bench', { iceServers: [], disableAutoNegotiation: true });
    const media = new ndc.Audio('0', 'SendRecv');
    media.addOpusCodec(payloadType);
    media.addSSRC(1, 'bench', 'bench', 'bench');
    const track = peer.addTrack(media);
    const connection = { peer, track };
    kept.add(track);
    track.onClosed(() => kept.delete(track));
    track.onMessage((packet) => this.#hear(connection, packet));
    peer.setLocalDescription('offer');
    const status = await this.#offer(peer).catch(() => 0);
    const isOpen = status === 201 && (await stands(track));
    if (!isOpen) {
      close(connection);
      return status === 201 ? 0 : status;
    }
    const before = this.#connection;
    this.#connection = connection;
    this.#last = undefined;
    this.#openedAt = performance.now();
    if (before !== undefined) close(before);
    void this.#pollForLoss(connection);
    return status;
  }

  async #offer(peer: PeerConnection): Promise<number> {
    const response = await fetch(this.#session, {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp' },
      body: peer.localDescription()?.sdp ?? '',
      signal: AbortSignal.timeout(connectLimitMs),
    });
    const answer = await response.text();
    if (response.status !== 201) return response.status;
    this.#session = new URL(response.headers.get('location') ?? '', this.#session).href;
    peer.setRemoteDescription(answer, 'answer');
    return response.status;
  }

  send(payload: Uint8Array): void {
    const packet = Buffer.allocUnsafe(12 + payload.length);
    packet[0] = 0x80;
    packet[1] = payloadType;
    packet.writeUInt16BE(this.#sequence, 2);
    packet.writeUInt32BE(this.#timestamp, 4);
    packet.writeUInt32BE(1, 8);
    packet.set(payload, 12);
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#timestamp = (this.#timestamp + frameTicks) >>> 0;
    const track = this.#connection?.track;
    if (track?.isOpen() === true) track.sendMessageBinary(packet);
  }

  #hear(connection: Connection, packet: Buffer): void {
    // Reports are no audio, and what a connection says that was left is of no interest.
    if (packet.length < 12 || ((packet[1] ?? 0) & 0x7f) !== payloadType) return;
    if (this.#connection !== undefined && this.#connection !== connection) return;
    const now = performance.now();
    const findings = this.#options.findings();
    const next = { at: now, sequence: packet.readUInt16BE(2), timestamp: packet.readUInt32BE(4) };
    findings.packets += 1;
    this.#options.heard?.(Uint8Array.from(packet.subarray(12)), now);
    if (this.#last !== undefined) {
      const step = (next.sequence - this.#last.sequence) & 0xffff;
      findings.lost += Math.max(0, step - 1);
      const isNext = step === 1 && (next.timestamp - this.#last.timestamp) >>> 0 === frameTicks;
      // Frames of silence are small and may be late without anybody hearing it.
      if (isNext && packet.length > 12 + 20) findings.gaps.add(now - this.#last.at);
    }
    if (this.heardAt > 0) this.longestSilenceMs = Math.max(this.longestSilenceMs, now - this.heardAt);
    this.#last = next;
    this.heardAt = now;
  }

  async #pollForLoss(connection: Connection): Promise<void> {
    const request = { headers: { Prefer: `wait=${waitS}` }, signal: this.#over.signal };
    while (this.#connection === connection) {
      const status = await fetch(this.#session, request).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 200 && this.#connection === connection) this.#move();
      if (status !== 204) return;
    }
  }

  /** As the page: offers another connection once nothing has come for so long. */
  watch(now: number): void {
    if (this.#connection !== undefined && now - Math.max(this.heardAt, this.#openedAt) >= silentMs)
      this.#move();
  }

  #move(): void {
    if (this.#isMoving) return;
    this.#isMoving = true;
    this.moves += 1;
    void this.#comeBack().finally(() => (this.#isMoving = false));
  }

  async #comeBack(): Promise<void> {
    for (let tries = 0; tries < 40; tries += 1) {
      const status = await this.call();
      if (status === 201 || status === 404) return;
      await sleep(againMs);
    }
  }

  /** Resolves with whether the service says that it was a call. */
  async hangUp(): Promise<boolean> {
    const connection = this.#connection;
    this.#over.abort();
    this.#connection = undefined;
    const answer = await fetch(this.#session, { method: 'DELETE' }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (connection !== undefined) close(connection);
    return answer?.status === 200;
  }
}

async function stands(track: Track): Promise<boolean> {
  for (const until = performance.now() + connectLimitMs; performance.now() < until;) {
    if (track.isOpen()) return true;
    await sleep(lookMs);
  }
  return false;
}

function close({ peer, track }: Connection): void {
  track.close();
  peer.close();
}
