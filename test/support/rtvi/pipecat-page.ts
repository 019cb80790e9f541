/**
 * A page with one of Pipecat's own clients on it, unmodified, in Chromium: what it says into its microphone comes from the test, and what
 * it is given to play is kept.
 *
 * Invariant: nothing between the client and the service is ours. The client's default way to devices asks the internet for its code,
 * so the other one that it ships is used (`WavMediaManager`).
 */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { clientModules } from '../webrtc/clients/installed.ts';

/** Packages of one generation, by the names under which they are installed. */
export interface PipecatPackages {
  readonly client: string;
  readonly transport: string;
}

const playedRate = 24_000;

/** The page's own script; `window.bot` is what the test drives. */
const script = `
  import { PipecatClient } from '@pipecat-ai/client-js';
  import { WebSocketTransport, WavMediaManager } from 'the-transport';

  const microphone = new AudioContext();
  const speech = microphone.createMediaStreamDestination();
  navigator.mediaDevices.getUserMedia = async () => {
    await microphone.resume();
    return speech.stream.clone();
  };

  const events = [];
  const media = new WavMediaManager(512, 16000);
  const played = [];
  const play = media.bufferBotAudio.bind(media);
  media.bufferBotAudio = (data, id) => {
    played.push(new Int16Array(data instanceof ArrayBuffer ? data.slice(0) : data));
    return play(data, id);
  };
  const names = ['Connected', 'Disconnected', 'BotReady', 'UserStartedSpeaking', 'UserStoppedSpeaking', 'UserTranscript', 'BotTranscript',
    'BotOutput', 'BotLlmStarted', 'BotLlmText', 'BotLlmStopped', 'BotTtsStarted', 'BotTtsText', 'BotTtsStopped',
    'BotStartedSpeaking', 'BotStoppedSpeaking', 'Metrics', 'ServerMessage', 'MessageError', 'Error',
    'LLMFunctionCallStarted', 'LLMFunctionCallInProgress', 'LLMFunctionCallStopped'];
  const callbacks = Object.fromEntries(names.map((name) => ['on' + name, (data) => events.push({ name, data, played: played.length })]));
  const transport = new WebSocketTransport({ mediaManager: media, recorderSampleRate: 16000 });
  // The first version has no option for it.
  if (transport._mediaManager !== media) {
    transport._mediaManager = media;
    media.setUserAudioCallback(transport.handleUserAudioStream.bind(transport));
  }
  const client = new PipecatClient({ transport, enableMic: true, enableCam: false, callbacks });

  window.bot = {
    events,
    client,
    state: () => transport.state,
    connect: (address) => client.connect({ ws_url: address }).then((ready) => ready ?? true),
    /** Says PCM16 of 16 kHz, and resolves when it was said. */
    say: (base64) => new Promise((resolve) => {
      const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
      const pcm = new Int16Array(bytes.buffer);
      const buffer = microphone.createBuffer(1, pcm.length, 16000);
      buffer.getChannelData(0).set(Float32Array.from(pcm, (sample) => sample / 32768));
      const source = microphone.createBufferSource();
      source.buffer = buffer;
      source.connect(speech);
      source.onended = resolve;
      source.start();
    }),
    playedChunks: () => played.length,
    /** What it was given to play from one chunk to another, as base64. */
    played: (from, to) => {
      const bytes = played.slice(from, to).flatMap((chunk) => [...new Uint8Array(chunk.buffer)]);
      let text = '';
      for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.slice(at, at + 8192));
      return btoa(text);
    },
  };
`;

export interface PipecatEvent {
  readonly name: string;
  readonly data: unknown;
  /** Chunks of audio that had come by then. */
  readonly played: number;
}

export class PipecatPage {
  readonly page: Page;
  readonly #server: Server;

  private constructor(page: Page, server: Server) {
    this.page = page;
    this.#server = server;
  }

  static async open(page: Page, packages: PipecatPackages): Promise<PipecatPage> {
    const { outputFiles } = await build({
      stdin: { contents: script, resolveDir: process.cwd() },
      alias: { '@pipecat-ai/client-js': packages.client, 'the-transport': packages.transport },
      nodePaths: [clientModules],
      bundle: true,
      write: false,
      format: 'esm',
      logLevel: 'error',
      define: { global: 'window', 'process.env.NODE_ENV': '"production"' },
    });
    const body = outputFiles[0]?.text ?? '';
    const server = createServer((request, response) => {
      const isScript = request.url === '/bot.js';
      response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? body : '<!doctype html><script type="module" src="/bot.js"></script>');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction('window.bot !== undefined');
    return new PipecatPage(page, server);
  }

  /** Resolves with what `bot-ready` said. */
  connect(address: string): Promise<unknown> {
    return this.page.evaluate(`window.bot.connect(${JSON.stringify(address)})`);
  }

  events(): Promise<PipecatEvent[]> {
    return this.page.evaluate('window.bot.events');
  }

  /** Waits for an event that fits, behind the first `from` of them; resolves with how many there were then. */
  async until(
    name: string,
    { from = 0, fits = '() => true' }: { from?: number; fits?: string } = {},
  ): Promise<number> {
    const found = `window.bot.events.findIndex((event, at) => at >= ${from} && event.name === '${name}' && (${fits})(event.data))`;
    await this.page.waitForFunction(`${found} >= 0`, undefined, { timeout: 60_000, polling: 50 });
    return Number(await this.page.evaluate(found)) + 1;
  }

  say(pcm: Int16Array): Promise<void> {
    const base64 = Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength).toString('base64');
    return this.page.evaluate(`window.bot.say(${JSON.stringify(base64)})`);
  }

  playedChunks(): Promise<number> {
    return this.page.evaluate('window.bot.playedChunks()');
  }

  /** What it was given to play, from one chunk to another. */
  async played(from: number, to?: number): Promise<{ readonly pcm: Int16Array; readonly rate: number }> {
    const base64 = await this.page.evaluate<string>(`window.bot.played(${from}, ${to})`);
    const bytes = Buffer.from(base64, 'base64');
    const pcm = Int16Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(at * 2));
    return { pcm, rate: playedRate };
  }

  /** Runs an expression with the client at hand. */
  run<T>(expression: string): Promise<T> {
    return this.page.evaluate<T>(`((client) => ${expression})(window.bot.client)`);
  }

  async close(): Promise<void> {
    await this.page.close();
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
