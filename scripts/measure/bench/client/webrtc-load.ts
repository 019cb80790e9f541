/** Many WebRTC clients for the bench, and one clock that sends everybody's packets, each at a moment of its own within 20 ms. */
import { createEncoder } from 'libopus-wasm';
import { Distribution, type Summary } from '../report/statistics.ts';
import type { Voices } from './speech.ts';
import { WebrtcPeer, type PeerFindings } from './webrtc-peer.ts';
import { setTimeout as sleep } from 'node:timers/promises';

const rate = 16_000;
const frameMs = 20;
const tickMs = 4;
const phases = frameMs / tickMs;
/** A stalled process sends at most this many ticks at once. */
const catchUpTicks = 25;
/** Of speech and of silence, by turns: what was said is answered meanwhile. */
const stretchFrames = 250;

const newFindings = (): PeerFindings => ({ gaps: new Distribution(), packets: 0, lost: 0 });

export interface WebrtcHeard {
  readonly open: number;
  readonly packets: number;
  readonly lost: number;
  readonly gaps: Summary;
  /** How late this process's own clock ran: the part of the gaps that is not the service's. */
  readonly ticker: Summary;
}

export class WebrtcLoad {
  readonly #url: string;
  readonly #clips: readonly (readonly Uint8Array[])[];
  readonly #silence: Uint8Array;
  readonly peers: WebrtcPeer[] = [];
  readonly setups = new Distribution();
  /** Answers to offers by status; 0 stands for a connection that was not established. */
  readonly answers: Record<number, number> = {};
  #findings = newFindings();
  #ticker = new Distribution();
  #isOver = false;

  private constructor(url: string, clips: readonly (readonly Uint8Array[])[], silence: Uint8Array) {
    this.#url = url;
    this.#clips = clips;
    this.#silence = silence;
  }

  static async open(url: string, voices: Voices): Promise<WebrtcLoad> {
    const encoder = await createEncoder({ sampleRate: rate, channels: 1 });
    const encode = (bytes: Buffer): Uint8Array =>
      Uint8Array.from(encoder.encode(new Int16Array(Uint8Array.from(bytes).buffer)));
    const clips = voices.clips.map((clip) => clip.map(encode));
    const silence = encode(Buffer.alloc((rate / 1000) * frameMs * 2));
    encoder.free();
    const load = new WebrtcLoad(url, clips, silence);
    load.#run();
    return load;
  }

  /** Calls at a rate; resolves when all are connected, or were refused. */
  async call(calls: number, perSecond: number): Promise<void> {
    const startedAt = performance.now();
    const asked: Promise<void>[] = [];
    for (let index = 0; index < calls; index += 1) {
      await sleep(Math.max(0, startedAt + (index * 1000) / perSecond - performance.now()));
      asked.push(this.#callOnce());
    }
    await Promise.all(asked);
  }

  async #callOnce(): Promise<void> {
    const peer = new WebrtcPeer({ url: this.#url, findings: () => this.#findings });
    const askedAt = performance.now();
    const status = await peer.call();
    this.answers[status] = (this.answers[status] ?? 0) + 1;
    if (status !== 201) return;
    this.setups.add(performance.now() - askedAt);
    this.peers.push(peer);
  }

  /** Calls of a second or so, several at a time, each hung up. Resolves with how many were calls from beginning to end. */
  async shortCalls(count: number, parallel: number, lastsMs: number): Promise<number> {
    let [left, whole] = [count, 0];
    const one = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const peer = new WebrtcPeer({ url: this.#url, findings: () => this.#findings });
        const status = await peer.call();
        this.answers[status] = (this.answers[status] ?? 0) + 1;
        if (status !== 201) continue;
        this.peers.push(peer);
        await sleep(lastsMs);
        this.peers.splice(this.peers.indexOf(peer), 1);
        if (await peer.hangUp()) whole += 1;
      }
    };
    await Promise.all(Array.from({ length: parallel }, one));
    return whole;
  }

  #run(): void {
    const origin = performance.now();
    let index = 0;
    const onTick = (): void => {
      const now = performance.now();
      this.#ticker.add(now - (origin + index * tickMs));
      const target = Math.floor((now - origin) / tickMs);
      for (index = Math.max(index, target - catchUpTicks); index <= target; index += 1)
        for (let at = index % phases; at < this.peers.length; at += phases) this.#sendOf(at, index, now);
      if (!this.#isOver) setTimeout(onTick, Math.max(0, origin + index * tickMs - performance.now()));
    };
    onTick();
  }

  #sendOf(call: number, tick: number, now: number): void {
    const peer = this.peers[call];
    const at = Math.floor(tick / phases) + call * 37;
    const clip = this.#clips[(call + Math.floor(at / (2 * stretchFrames))) % this.#clips.length] ?? [];
    peer?.send(clip[at % (2 * stretchFrames)] ?? this.#silence);
    peer?.watch(now);
  }

  /** Forgets what was heard so far. */
  begin(): void {
    this.#findings = newFindings();
    this.#ticker = new Distribution();
    for (const peer of this.peers) Object.assign(peer, { longestSilenceMs: 0, moves: 0 });
  }

  /** What was heard since. */
  end(): WebrtcHeard {
    const { gaps, packets, lost } = this.#findings;
    const open = this.peers.filter((peer) => peer.isOpen).length;
    return { open, packets, lost, gaps: gaps.summary(), ticker: this.#ticker.summary() };
  }

  /** Resolves with how many the service knew. */
  async hangUp(): Promise<number> {
    const outcomes = await Promise.all(this.peers.splice(0).map((peer) => peer.hangUp()));
    return outcomes.filter((isWhole) => isWhole).length;
  }

  close(): void {
    this.#isOver = true;
  }
}
