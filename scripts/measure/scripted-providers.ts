/**
 * The provider servers of measurements, which answer by a script at a set pace: a streaming recogniser (the flavour that answers `Done`
 * with `Done!`), a chat server and a speech server.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';

export const stages = ['stt', 'llm', 'tts'] as const;
export type Stage = (typeof stages)[number];
export type Ports = Readonly<Record<Stage, number>>;

export interface Hearing {
  /** Of the whole utterance. */
  readonly text: string;
  readonly finalMs: number;
  /** How much later than set that was told. */
  readonly late?: (lateMs: number) => void;
  /** What is heard after so many messages of audio; undefined: nothing new. */
  readonly partial: (messages: number) => string | undefined;
  /** A message on its way; undefined: it is not sent. */
  readonly sends?: (message: string) => string | undefined;
}

export interface Reply {
  readonly type: string;
  readonly status?: number;
  readonly chunks: readonly (string | Buffer)[];
  readonly firstMs?: number;
  readonly everyMs?: number;
  /** How much later than set a chunk was sent. */
  readonly late?: (lateMs: number, chunk: number) => void;
}

type Body = Readonly<Record<string, unknown>>;

export interface Script {
  readonly stt: Hearing;
  /** Undefined: the request is not answered. */
  readonly llm: (body: Body) => Reply | undefined;
  readonly tts: (body: Body) => Reply | undefined;
  /** A new connection is cut at once. */
  readonly isCut?: (stage: Stage) => boolean;
}

/** Connections that came, requests that they brought, and those of them that were broken off, which closes the connection of HTTP/1.1. */
export interface Traffic {
  readonly connections: number;
  readonly requests: number;
  readonly brokenOff: number;
}

/** How long a connection without a request is kept. */
const keepAliveMs = 600_000;

export class ScriptedProviders {
  readonly #servers: Readonly<Record<Stage, Server>>;
  readonly #sockets: Readonly<Record<Stage, Set<Duplex>>> = {
    stt: new Set(),
    llm: new Set(),
    tts: new Set(),
  };

  #traffic = { connections: 0, requests: 0, brokenOff: 0 };

  constructor({ stt, llm, tts, isCut = () => false }: Script) {
    const recogniser = createServer((_request, response) => response.writeHead(404).end());
    new WebSocketServer({ server: recogniser, perMessageDeflate: false }).on('connection', (socket) =>
      hear(socket, stt),
    );
    const answering = (replyTo: Script['llm']): Server =>
      createServer((request, response) => {
        this.#traffic.requests += 1;
        response.once('close', () => {
          if (!response.writableFinished) this.#traffic.brokenOff += 1;
        });
        // A request that is not JSON did not come from the service.
        bodyOf(request).then(
          (body) => send(response, replyTo(body)),
          () => response.writeHead(400).end(),
        );
      });
    this.#servers = { stt: recogniser, llm: answering(llm), tts: answering(tts) };
    this.keepAliveMs = keepAliveMs;
    for (const stage of stages)
      this.#servers[stage].on('connection', (socket: Duplex) => {
        if (stage !== 'stt') this.#traffic.connections += 1;
        this.#sockets[stage].add(socket);
        socket.on('error', () => undefined);
        socket.once('close', () => this.#sockets[stage].delete(socket));
        if (isCut(stage)) socket.destroy();
      });
  }

  set keepAliveMs(ms: number) {
    for (const stage of stages) this.#servers[stage].keepAliveTimeout = ms;
  }

  /** Of LLM and TTS, since it was asked last. */
  takeTraffic(): Traffic {
    const traffic = this.#traffic;
    this.#traffic = { connections: 0, requests: 0, brokenOff: 0 };
    return traffic;
  }

  async start(): Promise<Ports> {
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

  /** Breaks the connections to a stage. */
  cut(stage: Stage): void {
    for (const socket of this.#sockets[stage]) socket.destroy();
  }

  close(): void {
    for (const stage of stages) {
      this.cut(stage);
      this.#servers[stage].close();
    }
  }
}

function hear(
  socket: WebSocket,
  { text, finalMs, late, partial, sends = (message) => message }: Hearing,
): void {
  let messages = 0;
  const say = (message: string): void => {
    const sent = sends(message);
    if (sent !== undefined && socket.readyState === socket.OPEN) socket.send(sent);
  };
  const tell = (words: string, isFinal: boolean): void => {
    const tokens = words === '' ? [] : words.split(' ').map((word) => ` ${word}`);
    const result = { text: tokens.join(''), tokens, timestamps: [], segment: 0, start_time: 0 };
    say(JSON.stringify({ ...result, is_final: isFinal, is_eof: isFinal }));
  };
  socket.on('error', () => socket.terminate());
  socket.on('message', (_data, isBinary) => {
    if (isBinary) {
      messages += 1;
      const heard = partial(messages);
      if (heard !== undefined) tell(heard, false);
      return;
    }
    messages = 0;
    const due = performance.now() + finalMs;
    setTimeout(() => {
      late?.(performance.now() - due);
      tell(text, true);
      say('Done!');
    }, finalMs);
  });
}

/** The stream of a chat server: one delta for each text. */
export function chatChunks(texts: readonly string[]): string[] {
  const delta = (content: object, finish: string | null): string => {
    const choices = [{ index: 0, delta: content, finish_reason: finish }];
    return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices })}\n\n`;
  };
  return [...texts.map((content) => delta({ content }, null)), `${delta({}, 'stop')}data: [DONE]\n\n`];
}

function send(response: ServerResponse, reply: Reply | undefined): void {
  if (reply === undefined) return;
  const { type, status = 200, chunks, firstMs = 0, everyMs = 0, late } = reply;
  response.writeHead(status, { 'content-type': type });
  response.flushHeaders();
  const startAt = performance.now() + firstMs;
  let next = 0;
  const step = (): void => {
    if (response.destroyed) return;
    late?.(performance.now() - (startAt + next * everyMs), next);
    const chunk = chunks[next];
    next += 1;
    if (chunk !== undefined) response.write(chunk);
    if (next >= chunks.length) response.end();
    else setTimeout(step, Math.max(0, startAt + next * everyMs - performance.now()));
  };
  setTimeout(step, firstMs);
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString()) as Body;
}

/** The part of an agent file that names them; `name` is model and voice. */
export const providerTables = (ports: Ports, name: string): string => `
[stt]
provider = "stt_local_ws"
[stt.stt_local_ws]
base_url = "ws://127.0.0.1:${ports.stt}"
[llm]
provider = "chat_compatible"
[llm.chat_compatible]
base_url = "http://127.0.0.1:${ports.llm}/v1"
model = "${name}"
[tts]
provider = "speech_compatible"
voice = "${name}"
[tts.speech_compatible]
base_url = "http://127.0.0.1:${ports.tts}/v1"
preset = "generic"
model = "${name}"
`;
