/**
 * The provider servers of a run, in a process of their own: a streaming recogniser (the flavour that answers `Done` with
 * `Done!`), a chat server and a speech server. They answer the same thing at a set pace, and measure how well they keep it.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { answer, pace, wordMs, wordsOf } from './client/script.ts';
import { Distribution, type Summary } from './report/statistics.ts';

export interface ProvidersReady {
  readonly type: 'ready';
  readonly stt: number;
  readonly llm: number;
  readonly tts: number;
}

export interface ProvidersResult {
  readonly type: 'result';
  /** How much later than set the three answered. */
  readonly overMs: Summary;
  readonly rounds: number;
}

const speechRate = 24_000;
const heardText = 'please book a table for two people tonight';
/** A partial result for every so many messages of 100 ms. */
const partialEvery = 5;

let over = new Distribution();
let rounds = 0;

/** Calls back after a set time and notes how much longer it took. */
function later(delayMs: number, action: () => void): void {
  const due = performance.now() + delayMs;
  setTimeout(() => {
    over.add(performance.now() - due);
    action();
  }, delayMs);
}

function hear(socket: WebSocket): void {
  const words = heardText.split(' ');
  let messages = 0;
  const say = (text: string, isFinal: boolean): void => {
    const tokens = text === '' ? [] : text.split(' ').map((word) => ` ${word}`);
    const result = { text: tokens.join(''), tokens, timestamps: [], segment: 0, start_time: 0 };
    if (socket.readyState === socket.OPEN)
      socket.send(JSON.stringify({ ...result, is_final: isFinal, is_eof: isFinal }));
  };
  socket.on('error', () => socket.terminate());
  socket.on('message', (_data, isBinary) => {
    if (isBinary) {
      messages += 1;
      if (messages % partialEvery === 0)
        say(words.slice(0, Math.max(1, messages / partialEvery)).join(' '), false);
      return;
    }
    later(pace.sttFinalMs, () => {
      say(heardText, true);
      if (socket.readyState === socket.OPEN) socket.send('Done!');
      messages = 0;
    });
  });
}

const sse = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;

function chunk(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return sse({ id: 'c1', object: 'chat.completion.chunk', created: 0, model: 'bench', choices });
}

function chat(response: ServerResponse): void {
  rounds += 1;
  const words = answer.split(' ').map((word) => `${word} `);
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
  const startAt = performance.now() + pace.llmFirstMs;
  let next = 0;
  const send = (): void => {
    if (response.destroyed) return;
    over.add(performance.now() - (startAt + next * pace.llmDeltaMs));
    response.write(chunk({ content: words[next] }, null));
    next += 1;
    if (next === words.length) response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
    else setTimeout(send, Math.max(0, startAt + next * pace.llmDeltaMs - performance.now()));
  };
  setTimeout(send, pace.llmFirstMs);
}

/** Something with the shape of speech: cheap to make, not silent. */
const sound = Buffer.from(
  Int16Array.from({ length: (speechRate * pace.ttsChunkMs) / 1000 }, (_, i) =>
    Math.round(6000 * Math.sin(i / 9) * Math.sin(i / 480)),
  ).buffer,
);

function speak(response: ServerResponse, text: string): void {
  let left = Math.round((wordsOf(text) * wordMs * speechRate) / 1000) * 2;
  response.writeHead(200, { 'content-type': 'audio/pcm' });
  response.flushHeaders();
  const send = (): void => {
    if (response.destroyed) return;
    response.write(sound.subarray(0, left));
    left -= Math.min(left, sound.length);
    if (left === 0) response.end();
    else setTimeout(send, pace.ttsChunkEveryMs);
  };
  later(pace.ttsFirstMs, send);
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
}

/** A request that is not JSON is refused; it did not come from the service. */
function answered(
  request: IncomingMessage,
  response: ServerResponse,
  reply: (body: Record<string, unknown>) => void,
): void {
  bodyOf(request).then(reply, () => response.writeHead(400).end());
}

/** How long a connection without a request is kept. */
const keepAliveMs = 600_000;
/** For runs that look at what is left when nothing goes on. */
const shortKeepAliveMs = 3_000;

function listen(server: Server): Promise<number> {
  server.keepAliveTimeout = keepAliveMs;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, () =>
      resolve((server.address() as AddressInfo).port),
    );
  });
}

const stt = createServer((_request, response) => response.writeHead(404).end());
new WebSocketServer({ server: stt, perMessageDeflate: false }).on('connection', hear);
const llm = createServer((request, response) => answered(request, response, () => chat(response)));
const tts = createServer((request, response) =>
  answered(request, response, (body) => speak(response, String(body['input']))),
);

process.on('message', (order: string) => {
  if (order === 'begin') {
    over = new Distribution();
    rounds = 0;
  } else if (order === 'keep nothing') {
    for (const server of [stt, llm, tts]) server.keepAliveTimeout = shortKeepAliveMs;
  } else process.send?.({ type: 'result', overMs: over.summary(), rounds } satisfies ProvidersResult);
});
process.on('disconnect', () => process.exit(0));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);

process.send?.({
  type: 'ready',
  stt: await listen(stt),
  llm: await listen(llm),
  tts: await listen(tts),
} satisfies ProvidersReady);
