/** Connections to providers: shared, kept, and begun with the TLS session of the one before. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { newChatCompatible } from '../../worker/stages/llm/chat-compatible/adapter.ts';
import type { LlmEvent, SttStage, TtsStage } from '../../worker/stages/stage.ts';
import { newSttDeepgram } from '../../worker/stages/stt/deepgram/adapter.ts';
import { newSttLocalWs } from '../../worker/stages/stt/sherpa-onnx/adapter.ts';
import { newTtsCartesia } from '../../worker/stages/tts/cartesia/adapter.ts';
import { newTtsDeepgramAura } from '../../worker/stages/tts/deepgram/adapter.ts';
import { newSpeechCompatible } from '../../worker/stages/tts/speech-compatible/adapter.ts';
import { Observed } from '../support/process/observed.ts';
import { selfSigned } from '../support/self-signed.ts';
import { Events, newStageContext } from '../support/core/stage-context.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
/** Until what came over the sockets has been taken in. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A server behind TLS that notes for each connection whether it went on with a session. */
class SecureServer extends Observed {
  readonly resumed: boolean[] = [];
  requests = 0;
  /** Ends the connection with the answer. */
  closes = false;
  private readonly server: Server = createServer(selfSigned(), (request, response) => {
    request.resume();
    request.on('end', () => {
      this.requests += 1;
      if (this.closes) response.setHeader('connection', 'close');
      if (request.method === 'OPTIONS') response.writeHead(204).end();
      else {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(
          `data: ${JSON.stringify({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
        );
      }
      this.changed();
    });
  });
  private readonly sockets = new WebSocketServer({ noServer: true });

  constructor() {
    super();
    this.server.on('secureConnection', (socket: TLSSocket) => {
      this.resumed.push(socket.isSessionReused());
      socket.on('error', () => undefined);
      this.changed();
    });
    this.server.on('upgrade', (request, socket, head) => {
      this.sockets.handleUpgrade(request, socket, head, () => this.changed());
    });
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  start(): Promise<void> {
    return new Promise((resolve) => this.server.listen(0, '127.0.0.1', () => resolve()));
  }

  close(): Promise<void> {
    for (const socket of this.sockets.clients) socket.terminate();
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

const access = { apiKey: 'k', language: 'en', voice: 'v', sampleRate: 24_000 };

describe('connections to providers', () => {
  let server: SecureServer;
  const wasStrict = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];

  beforeEach(async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    server = new SecureServer();
    await server.start();
  });
  afterEach(async () => {
    if (wasStrict === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = wasStrict;
    await server.close();
  });

  const round = async (stage: ReturnType<typeof newChatCompatible>): Promise<void> => {
    const events = new Events<LlmEvent>();
    stage
      .open(newStageContext(), {})
      .start({ messages: [{ role: 'user', text: 'Hi' }], tools: [] }, events.sink);
    await events.seen('done');
    await settled();
  };
  const newModel = () => newChatCompatible({ baseUrl: `https://${server.host}/v1`, model: 'm' });

  it('of a pool are used again, one after the other, by all calls of a worker', async () => {
    const stage = newModel();
    for (let call = 0; call < 3; call += 1) await round(stage);
    expect([server.requests, server.resumed.length]).toEqual([3, 1]);
    await stage.close();
  });

  it('of a pool go on with the TLS session of the one before, also when memory was cleared in between', async () => {
    server.closes = true;
    const stage = newModel();
    for (let call = 0; call < 3; call += 1) {
      await round(stage);
      collectGarbage();
    }
    expect(server.resumed).toEqual([false, true, true]);
    await stage.close();
  });

  it('are ready before the first question of a call, where that saves time', async () => {
    const model = newModel();
    model.open(newStageContext(), {});
    await server.until(() => server.requests === 1);
    await settled();
    await round(model);
    expect(server.resumed).toEqual([false]);
    const voice = newSpeechCompatible({
      baseUrl: `https://${server.host}/v1`,
      apiKey: 'k',
      preset: 'generic',
      model: 'm',
      format: 'pcm',
      firstAudioTimeoutMs: 15_000,
      warmText: '',
      warmIntervalMs: 60_000,
    });
    const session = voice.open(newStageContext(), () => undefined);
    await server.until(() => server.requests === 3);
    expect(server.resumed.length).toBe(2);
    session.close();
    await Promise.all([model.close(), voice.close()]);
  });

  const sockets: readonly [string, (host: string) => SttStage | TtsStage][] = [
    [
      'stt_cloud_a',
      (host) =>
        newSttDeepgram({
          ...access,
          baseUrl: `wss://${host}`,
          model: 'm',
          endpointingMs: 0,
          smartFormat: true,
        }),
    ],
    [
      'stt_local_ws',
      (host) =>
        newSttLocalWs({
          baseUrl: `wss://${host}`,
          path: '/',
          sampleRate: 16_000,
          finalizeTimeoutMs: 1_500,
          finalizePaddingMs: 0,
        }),
    ],
    [
      'tts_cloud_a',
      (host) => newTtsCartesia({ ...access, url: `wss://${host}/tts`, model: 'm', maxBufferDelayMs: 0 }),
    ],
    ['tts_cloud_c', (host) => newTtsDeepgramAura({ ...access, url: `wss://${host}/v1/speak` })],
  ];

  it.each(sockets)(
    'of %s are opened before the first word, and go on with the session of another call',
    async (_name, newStage) => {
      const stage = newStage(server.host);
      for (let call = 1; call <= 2; call += 1) {
        const session = stage.open(newStageContext(), () => undefined);
        await server.until(() => server.resumed.length === call);
        // The ticket comes behind the handshake.
        await settled();
        session.close();
      }
      expect(server.resumed).toEqual([false, true]);
      await stage.close();
    },
  );
});
