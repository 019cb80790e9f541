/**
 * Provider servers that answer every call in a way of its own, and can be told to fail: a recogniser that hears one sentence in
 * everything, a model whose reply follows from the context alone, a voice that speaks coded audio.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { ChatMessage } from './account.ts';
import { speechFor, wordText } from './coded-audio.ts';

export const stages = ['stt', 'llm', 'tts'] as const;
export type Stage = (typeof stages)[number];
/** `limit` answers 429, which only the model does. */
export type ProviderFault = 'stall' | 'reset' | 'garbage' | 'limit';

export interface ChaosProvidersOptions {
  /** A request to the model, before it is answered. */
  readonly asked: (call: number, messages: readonly ChatMessage[]) => void;
}

const pace = { sttFinalMs: 60, llmFirstMs: 120, llmDeltaMs: 15, ttsFirstMs: 100, ttsChunkEveryMs: 50 };
/** Four times as fast as it is played. */
const ttsChunkBytes = 24 * 200 * 2;
const heardText = 'please go on';
const sentenceWords = [4, 7, 6];
export const wordsPerReply = sentenceWords.reduce((sum, words) => sum + words, 0);

export class ChaosProviders {
  readonly #options: ChaosProvidersOptions;
  readonly #faults = new Map<Stage, ProviderFault>();
  readonly #servers: Readonly<Record<Stage, Server>>;
  readonly #sockets: Readonly<Record<Stage, Set<Duplex>>> = {
    stt: new Set(),
    llm: new Set(),
    tts: new Set(),
  };
  /** By context: a request that is sent again gets the same reply. */
  readonly #replies = new Map<string, number>();
  readonly #lastReply = new Map<number, number>();

  constructor(options: ChaosProvidersOptions) {
    this.#options = options;
    const stt = createServer((_request, response) => response.writeHead(404).end());
    new WebSocketServer({ server: stt, perMessageDeflate: false }).on('connection', (socket) =>
      this.#hear(socket),
    );
    this.#servers = {
      stt,
      llm: createServer((request, response) => this.#answer('llm', request, response)),
      tts: createServer((request, response) => this.#answer('tts', request, response)),
    };
    for (const stage of stages) {
      this.#servers[stage].keepAliveTimeout = 600_000;
      this.#servers[stage].on('connection', (socket: Duplex) => {
        this.#sockets[stage].add(socket);
        socket.on('error', () => undefined);
        socket.once('close', () => this.#sockets[stage].delete(socket));
        if (this.#faults.get(stage) === 'reset') socket.destroy();
      });
    }
  }

  async start(): Promise<Readonly<Record<Stage, number>>> {
    const listen = (server: Server): Promise<number> =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, () =>
          resolve((server.address() as AddressInfo).port),
        );
      });
    const { stt, llm, tts } = this.#servers;
    return { stt: await listen(stt), llm: await listen(llm), tts: await listen(tts) };
  }

  close(): void {
    for (const stage of stages) {
      for (const socket of this.#sockets[stage]) socket.destroy();
      this.#servers[stage].close();
    }
  }

  /** From now on the servers of a stage misbehave; `undefined` heals them. */
  setFault(stage: Stage, fault: ProviderFault | undefined): void {
    if (fault === undefined) this.#faults.delete(stage);
    else this.#faults.set(stage, fault);
    if (fault === 'reset') for (const socket of this.#sockets[stage]) socket.destroy();
  }

  #hear(socket: WebSocket): void {
    let messages = 0;
    const say = (text: string, isFinal: boolean): void => {
      const fault = this.#faults.get('stt');
      if (fault === 'stall' || socket.readyState !== socket.OPEN) return;
      const tokens = text.split(' ').map((word) => ` ${word}`);
      const result = { text: tokens.join(''), tokens, timestamps: [], segment: 0, start_time: 0 };
      socket.send(
        fault === 'garbage' ? '}{' : JSON.stringify({ ...result, is_final: isFinal, is_eof: isFinal }),
      );
      if (isFinal && fault === undefined) socket.send('Done!');
    };
    socket.on('error', () => socket.terminate());
    socket.on('message', (_data, isBinary) => {
      if (isBinary) {
        messages += 1;
        if (messages % 8 === 0) say(heardText, false);
        return;
      }
      messages = 0;
      setTimeout(() => say(heardText, true), pace.sttFinalMs);
    });
  }

  #answer(stage: 'llm' | 'tts', request: IncomingMessage, response: ServerResponse): void {
    const reply = (body: Record<string, unknown>): void => {
      if (stage === 'llm') this.#chat(response, body['messages'] as readonly ChatMessage[]);
      else this.#speak(response, String(body['input']));
    };
    bodyOf(request).then(reply, () => response.destroy());
  }

  #chat(response: ServerResponse, messages: readonly ChatMessage[]): void {
    const keys = /keys: (\d+)\*/.exec(
      messages.find(({ content }) => content.includes('keys: '))?.content ?? '',
    );
    const call = Number(keys?.[1] ?? 0);
    this.#options.asked(call, messages);
    if (this.#faults.get('llm') === 'limit') {
      const error = { message: 'Rate limit reached', type: 'requests', code: 'rate_limit_exceeded' };
      response.writeHead(429, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
      return;
    }
    if (this.#faults.get('llm') === 'stall') return;
    const chunks = this.#faults.get('llm') === 'garbage' ? ['data: }{\n\n'] : this.#reply(call, messages);
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    trickle(response, { chunks, firstMs: pace.llmFirstMs, everyMs: pace.llmDeltaMs });
  }

  #reply(call: number, messages: readonly ChatMessage[]): string[] {
    const key = `${call} ${createHash('sha1').update(JSON.stringify(messages)).digest('base64')}`;
    let reply = this.#replies.get(key);
    if (reply === undefined) {
      reply = (this.#lastReply.get(call) ?? 0) + 1;
      this.#lastReply.set(call, reply);
      this.#replies.set(key, reply);
    }
    const ends = new Set(
      sentenceWords.map((_, at) => sentenceWords.slice(0, at + 1).reduce((a, b) => a + b)),
    );
    const words = Array.from(
      { length: wordsPerReply },
      (_, word) => `${wordText(call, reply, word)}${ends.has(word + 1) ? '. ' : ' '}`,
    );
    const delta = (content: object, finish: string | null): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: content, finish_reason: finish }] })}\n\n`;
    return [...words.map((content) => delta({ content }, null)), `${delta({}, 'stop')}data: [DONE]\n\n`];
  }

  #speak(response: ServerResponse, text: string): void {
    const fault = this.#faults.get('tts');
    if (fault === 'stall') return;
    if (fault === 'garbage') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('}{');
      return;
    }
    const audio = speechFor(text);
    const chunks = Array.from({ length: Math.ceil(audio.length / ttsChunkBytes) }, (_, at) =>
      audio.subarray(at * ttsChunkBytes, (at + 1) * ttsChunkBytes),
    );
    response.writeHead(200, { 'content-type': 'audio/pcm' });
    trickle(response, { chunks, firstMs: pace.ttsFirstMs, everyMs: pace.ttsChunkEveryMs });
  }
}

function trickle(
  response: ServerResponse,
  what: { readonly chunks: readonly (string | Buffer)[]; readonly firstMs: number; readonly everyMs: number },
): void {
  response.flushHeaders();
  let next = 0;
  const send = (): void => {
    if (response.destroyed) return;
    const chunk = what.chunks[next];
    next += 1;
    if (chunk !== undefined) response.write(chunk);
    if (next >= what.chunks.length) response.end();
    else setTimeout(send, what.everyMs);
  };
  setTimeout(send, what.firstMs);
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
}

export function agentFile(ports: Readonly<Record<Stage, number>>): string {
  return `
[agent]
name = "chaos"
language = "en"
prompt = "You are in trouble."
[stt]
provider = "stt_local_ws"
[stt.stt_local_ws]
base_url = "ws://127.0.0.1:${ports.stt}"
[llm]
provider = "chat_compatible"
[llm.chat_compatible]
base_url = "http://127.0.0.1:${ports.llm}/v1"
model = "chaos"
[tts]
provider = "speech_compatible"
voice = "chaos"
[tts.speech_compatible]
base_url = "http://127.0.0.1:${ports.tts}/v1"
preset = "generic"
model = "chaos"
`;
}
