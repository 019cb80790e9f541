/**
 * What becomes of a refusal of each provider on a real socket: stage, provider, host, status, the vendor's code and words, and
 * what to change reach the people who run the service; a key and what a caller said never do.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { callerWords, fail, key, providers, stageTable } from '../support/core/failing-stage.ts';
import { newRefusingServer, type RefusingServer } from '../support/fakes/refusing-server.ts';

describe('a refusal', () => {
  let server: RefusingServer;
  beforeAll(async () => void (server = await newRefusingServer()));
  afterAll(() => server.close());

  it.each(providers)(
    'of %s with 401 names host, code and words, and the variable of the key',
    async (provider, stage, options) => {
      server.refusal = {
        status: 401,
        body: JSON.stringify({
          error: {
            code: 'invalid_api_key',
            message: `Invalid API key ${key} for ${callerWords}. The key is not valid.`,
          },
        }),
      };
      const { failure, error, errorsMetric } = await fail(stage, stageTable(provider, options, server.host));
      expect(error).toMatchObject({ kind: 'rejected', status: 401 });
      expect(failure).toMatchObject({
        stage,
        role: 'primary',
        provider,
        host: server.host,
        reason: 'rejected 401',
        status: 401,
        code: 'invalid_api_key',
      });
      // A vendor's words before a caller's first one cannot be a caller's; after it they are not shown.
      if (stage === 'llm') expect(failure?.text).toBeUndefined();
      else expect(failure?.text).toContain('The key is not valid.');
      if (provider !== 'stt_local_ws') expect(failure?.advice).toContain(`KEY (${stage}.api_key_env)`);
      expect(JSON.stringify([failure, error])).not.toContain('canary');
      expect(errorsMetric).toContain(`provider="${provider}",kind="rejected_client",status="401"} 1`);
      expect(errorsMetric).not.toMatch(/canary|127\.0\.0\.1|Zeynep/);
    },
  );

  it('of a model that is not there names the keys of the file', async () => {
    server.refusal = {
      status: 404,
      body: JSON.stringify({ error: { code: 'model_not_found', message: 'The model `m` does not exist.' } }),
    };
    const { failure } = await fail('llm', stageTable('chat_compatible', providers[5]![2], server.host));
    expect(failure).toMatchObject({ reason: 'rejected 404', code: 'model_not_found' });
    expect(failure?.advice).toContain('llm.chat_compatible.model and llm.chat_compatible.base_url');
  });

  it('of a text by a speech server keeps the code, and nothing of the text', async () => {
    server.refusal = {
      status: 400,
      body: JSON.stringify({
        detail: { error: 'invalid_voice', message: `No voice for: Hello ${callerWords}.` },
      }),
    };
    const options = 'speech_compatible = { base_url = "http://HOST/v1", preset = "local_b" }';
    const { failure } = await fail(
      'tts',
      `provider = "speech_compatible"\n${options.replace('HOST', server.host)}`,
    );
    expect(failure).toMatchObject({ reason: 'rejected 400', code: 'invalid_voice' });
    expect(failure?.advice).toContain('tts.voice');
    expect(JSON.stringify(failure)).not.toMatch(/Zeynep|Arslan|49151/);
  });

  it('stays one when the body never ends', async () => {
    const http = createServer((_request, response) => {
      response.writeHead(403, { 'content-type': 'application/json' });
      response.write('{"error":');
    });
    http.on('upgrade', (_request, socket) => socket.write('HTTP/1.1 403 No\r\nContent-Length: 99\r\n\r\n{'));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(http.address() as AddressInfo).port}`;
    // Side by side, as each waits for the rest of the body.
    await Promise.all(
      ['stt_cloud_a', 'stt_cloud_c', 'tts_cloud_a'].map(async (provider) => {
        const [, stage, options] = providers.find(([name]) => name === provider)!;
        const { failure } = await fail(stage, stageTable(provider, options, host));
        expect(failure).toMatchObject({ provider, reason: 'rejected 403' });
      }),
    );
    http.closeAllConnections();
    http.close();
  });
});

describe('words over an open connection', () => {
  let sockets: WebSocketServer;
  let host = '';
  let say: readonly [message: string | undefined, code: number, reason: string];
  beforeEach(async () => {
    sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await new Promise<void>((resolve) => sockets.once('listening', resolve));
    host = `127.0.0.1:${(sockets.address() as AddressInfo).port}`;
    sockets.on('connection', (socket) => {
      socket.once('message', () => {
        const [message, code, reason] = say;
        if (message !== undefined) socket.send(message);
        socket.close(code, reason);
      });
    });
  });
  afterEach(() => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
  });

  const close = `Unauthorized: key ${key} of ${callerWords}`;
  it.each([
    ['stt_cloud_a', { type: 'Error', err_code: 'BAD', description: close }, 'BAD'],
    [
      'tts_cloud_a',
      { type: 'error', status_code: 401, error_code: 'invalid_key', message: close },
      'invalid_key',
    ],
    ['tts_cloud_b', { error: 'unauthorized', message: close, code: 1008 }, '1008'],
    ['tts_cloud_c', { type: 'Error', code: 401, description: close }, undefined],
    ['tts_cloud_b', undefined, '1008'],
  ])('of %s keep the code, and neither the key nor a caller', async (provider, message, code) => {
    say = [
      message === undefined ? undefined : JSON.stringify(message),
      1008,
      message === undefined ? close : '',
    ];
    const [, stage, options] = providers.find(([name]) => name === provider)!;
    const { failure } = await fail(stage, stageTable(provider, options, host));
    expect(failure?.code).toBe(code);
    expect(failure?.text).toBeUndefined();
    expect(JSON.stringify(failure)).not.toMatch(/canary|Zeynep|Arslan|49151/);
  });
});
