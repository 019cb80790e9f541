/**
 * A page in Chromium that calls by WHIP over a bad network, asks one question, and keeps what came out of the browser's own jitter buffer.
 * Requests go through the server of the page, which leads the media of each call over a relay of its own.
 */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { LossyRelay, type LossyOptions } from './lossy-relay.ts';

const rate = 16_000;

const script = `
  const context = new AudioContext({ sampleRate: ${rate} });
  const worklet = \`registerProcessor('keep', class extends AudioWorkletProcessor {
    process([[samples]]) { if (samples) this.port.postMessage(samples.slice()); return true; }
  })\`;
  const ready = context.audioWorklet.addModule(URL.createObjectURL(new Blob([worklet], { type: 'text/javascript' })));
  const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  window.ask = async (seed, base64) => {
    await ready;
    await context.resume();
    const connection = new RTCPeerConnection();
    const speech = context.createMediaStreamDestination();
    const [chunks, events] = [[], []];
    let wake = () => undefined;
    const length = () => chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const until = async (fits) => { while (!fits()) await new Promise((resolve) => (wake = resolve)); };
    const seen = (type, from = 0) => events.findIndex((event, at) => at >= from && event.type === type);
    connection.addTransceiver(speech.stream.getAudioTracks()[0], { direction: 'sendrecv' });
    connection.ontrack = ({ track }) => {
      const stream = new MediaStream([track]);
      // Without an element nothing comes out of a track.
      Object.assign(new Audio(), { srcObject: stream, muted: true }).play();
      const keep = new AudioWorkletNode(context, 'keep');
      keep.port.onmessage = ({ data }) => chunks.push(data);
      context.createMediaStreamSource(stream).connect(keep);
    };
    const channel = connection.createDataChannel('svc');
    channel.onopen = () => channel.send(JSON.stringify({ type: 'start', version: 1, sample_rate: 24000,
      events: ['user.text', 'bot.text', 'turn.bot_started', 'turn.bot_ended'] }));
    channel.onmessage = ({ data }) => { events.push({ ...JSON.parse(data), at: length() }); wake(); };
    connection.onconnectionstatechange = () => wake();
    await connection.setLocalDescription(await connection.createOffer());
    const askedAt = performance.now();
    const answer = await fetch('/whip?seed=' + seed, { method: 'POST', body: connection.localDescription.sdp });
    const session = answer.headers.get('X-Session');
    await connection.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
    await until(() => connection.connectionState === 'connected');
    const connectMs = performance.now() - askedAt;

    await until(() => seen('turn.bot_ended') >= 0);
    const greeted = seen('turn.bot_ended') + 1;
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const pcm = Float32Array.from(new Int16Array(bytes.buffer), (sample) => sample / 32768);
    const buffer = context.createBuffer(1, pcm.length, ${rate});
    buffer.getChannelData(0).set(pcm);
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(speech);
    source.start();
    await until(() => seen('turn.bot_ended', greeted) >= 0);
    await later(700);
    const stats = [...(await connection.getStats()).values()];
    const inbound = stats.find(({ type }) => type === 'inbound-rtp');
    const outbound = stats.find(({ type }) => type === 'remote-inbound-rtp');
    await fetch('/over?session=' + encodeURIComponent(session), { method: 'POST' });
    connection.close();
    const whole = new Float32Array(length());
    let at = 0;
    for (const chunk of chunks) { whole.set(chunk, at); at += chunk.length; }
    const kept = new Uint8Array(Int16Array.from(whole, (sample) => Math.max(-1, Math.min(1, sample)) * 32767).buffer);
    let text = '';
    for (let i = 0; i < kept.length; i += 8192) text += String.fromCharCode(...kept.subarray(i, i + 8192));
    const from = events[seen('user.text', greeted)]?.at ?? 0;
    return { connectMs, from, events, audio: btoa(text), stats: {
      received: inbound.packetsReceived, lost: inbound.packetsLost, discarded: inbound.packetsDiscarded,
      copies: inbound.fecPacketsReceived, unusedCopies: inbound.fecPacketsDiscarded,
      concealed: inbound.concealedSamples / inbound.totalSamplesReceived,
      silent: inbound.silentConcealedSamples / inbound.totalSamplesReceived,
      bufferMs: 1000 * inbound.jitterBufferDelay / inbound.jitterBufferEmittedCount,
      wayOutLost: outbound?.fractionLost, roundTrip: outbound?.roundTripTime,
    } };
  };
`;

interface Asked {
  readonly connectMs: number;
  readonly from: number;
  readonly events: readonly { readonly type: string; readonly text?: string }[];
  readonly audio: string;
  readonly stats: Readonly<Record<string, number>>;
}

/** What became of one question. */
export interface LossyCall {
  readonly connectMs: number;
  readonly understood: string;
  /** What the agent wrote, and what came of it. */
  readonly greeting: { readonly text: string; readonly pcm: Int16Array };
  readonly answer: { readonly text: string; readonly pcm: Int16Array };
  /** As the browser counts; shares of samples, and milliseconds. */
  readonly stats: Readonly<Record<string, number>>;
}

export class LossyPage {
  static readonly rate = rate;
  readonly #page: Page;
  readonly #whip: string;
  readonly #line: Omit<LossyOptions, 'seed'>;
  readonly #server: Server;
  readonly #relays: LossyRelay[] = [];

  private constructor(page: Page, whip: string, line: Omit<LossyOptions, 'seed'>) {
    this.#page = page;
    this.#whip = whip;
    this.#line = line;
    this.#server = createServer((request, response) => {
      void this.#answer(new URL(request.url ?? '/', whip), request).then(
        ({ body, type, session }) => {
          response.setHeader('Content-Type', type);
          if (session !== undefined) response.setHeader('X-Session', session);
          response.end(body);
        },
        () => response.writeHead(500).end(),
      );
    });
  }

  static async open(page: Page, whip: string, line: Omit<LossyOptions, 'seed'>): Promise<LossyPage> {
    const lossy = new LossyPage(page, whip, line);
    lossy.#server.listen(0, '127.0.0.1');
    await once(lossy.#server, 'listening');
    await page.goto(`http://127.0.0.1:${(lossy.#server.address() as AddressInfo).port}/`);
    await page.waitForFunction('window.ask !== undefined');
    return lossy;
  }

  async #answer(
    url: URL,
    request: AsyncIterable<Buffer>,
  ): Promise<{ readonly body: string; readonly type: string; readonly session?: string }> {
    const type = 'text/html';
    if (url.pathname === '/over') {
      await fetch(url.searchParams.get('session') ?? '', { method: 'DELETE' });
      return { body: '', type };
    }
    if (url.pathname !== '/whip') return { body: `<!doctype html><script>${script}</script>`, type };
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const offer = Buffer.concat(parts);
    const headers = { 'Content-Type': 'application/sdp' };
    const response = await fetch(this.#whip, { method: 'POST', headers, body: offer });
    if (response.status !== 201) throw new Error(`the service answered ${response.status}`);
    const seed = Number(url.searchParams.get('seed'));
    const relay = await LossyRelay.between(await response.text(), { ...this.#line, seed });
    this.#relays.push(relay);
    const session = new URL(response.headers.get('Location') ?? '', this.#whip).href;
    return { body: relay.answer, type: 'application/sdp', session };
  }

  /** Calls, waits for the greeting, says 16 kHz PCM16 and waits for the answer. */
  async ask(seed: number, question: Int16Array): Promise<LossyCall> {
    const base64 = Buffer.from(question.buffer, question.byteOffset, question.byteLength).toString('base64');
    const asked = await this.#page.evaluate<Asked>(`window.ask(${seed}, ${JSON.stringify(base64)})`);
    const bytes = Buffer.from(asked.audio, 'base64');
    const pcm = Int16Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(at * 2));
    const found = asked.events.findIndex(({ type }) => type === 'user.text');
    const split = found < 0 ? asked.events.length : found;
    const written = (events: Asked['events']): string =>
      events.flatMap(({ type, text = '' }) => (type === 'bot.text' ? [text] : [])).join('');
    return {
      connectMs: asked.connectMs,
      understood: asked.events[split]?.text ?? '',
      greeting: { text: written(asked.events.slice(0, split)), pcm: pcm.subarray(0, asked.from) },
      answer: { text: written(asked.events.slice(split)), pcm: pcm.subarray(asked.from) },
      stats: asked.stats,
    };
  }

  close(): void {
    for (const relay of this.#relays) relay.close();
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
