/**
 * What becomes of a refusal of each provider on a real socket: stage, provider, host, status, the vendor's code and words, and
 * what to change reach the people who run the service; a key and what a caller said never do.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { loadAgentFile } from '../../shared/config/load.ts';
import { stageDefinitions } from '../../worker/host/definition.ts';
import type { Failure } from '../../worker/stages/failure-log.ts';
import { loadAdapters, openStages, ownStageServices } from '../../worker/stages/registry.ts';
import type { StageError } from '../../worker/stages/stage.ts';
import { newRefusingServer, type RefusingServer } from '../support/fakes/refusing-server.ts';
import { newStageContext } from '../support/core/stage-context.ts';

const key = 'canary-key-7f3e9b1d55aa';
const callerWords = 'Zeynep Arslan 4915112345678';

const defaults = {
  stt: 'provider = "stt_local_ws"\nstt_local_ws = { base_url = "ws://127.0.0.1:9" }',
  llm: 'provider = "chat_compatible"\nchat_compatible = { base_url = "http://127.0.0.1:9/v1", model = "m" }',
  tts: 'provider = "speech_compatible"\nspeech_compatible = { base_url = "http://127.0.0.1:9/v1", preset = "local_b" }',
};
type Stage = keyof typeof defaults;

/** Every provider: its stage, and its tables with the server's host in place of HOST. */
const providers: readonly (readonly [string, Stage, string])[] = [
  ['stt_local_ws', 'stt', 'stt_local_ws = { base_url = "ws://HOST" }'],
  ['stt_cloud_a', 'stt', 'stt_cloud_a = { base_url = "ws://HOST" }'],
  ['stt_cloud_b', 'stt', 'stt_cloud_b = { base_url = "ws://HOST" }'],
  ['stt_cloud_c', 'stt', 'stt_cloud_c = { base_url = "http://HOST" }'],
  ['stt_realtime_compat', 'stt', 'stt_realtime_compat = { base_url = "ws://HOST" }'],
  ['chat_compatible', 'llm', 'chat_compatible = { base_url = "http://HOST/v1", model = "m" }'],
  ['llm_responses', 'llm', 'llm_responses = { base_url = "http://HOST/v1", model = "m" }'],
  ['llm_messages', 'llm', 'llm_messages = { base_url = "http://HOST", model = "m" }'],
  ['llm_generate', 'llm', 'llm_generate = { base_url = "http://HOST", model = "m" }'],
  ['tts_cloud_a', 'tts', 'voice = "v"\ntts_cloud_a = { url = "ws://HOST/tts/websocket" }'],
  ['tts_cloud_b', 'tts', 'voice = "v"\ntts_cloud_b = { url = "ws://HOST" }'],
  ['tts_cloud_c', 'tts', 'tts_cloud_c = { url = "ws://HOST/v1/speak" }'],
];

interface Outcome {
  readonly failure: Failure | undefined;
  readonly error: StageError;
  readonly errorsMetric: string;
}

/** Uses the stage once, with a caller's words where it takes any, and tells what it failed with. */
async function fail(stage: Stage, table: string): Promise<Outcome> {
  const tables = { ...defaults, [stage]: table };
  const text = `[agent]\nname = "a"\nprompt = "p"\n[stt]\n${tables.stt}\n[llm]\n${tables.llm}\n[tts]\n${tables.tts}\n`;
  const { definition, problems } = loadAgentFile(text, {
    env: { KEY: key },
    readFile: () => undefined,
    readBytes: () => undefined,
    requireSecrets: true,
    leftOut: [],
  });
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const failures: Failure[] = [];
  const services = { ...ownStageServices(), failed: (failure: Failure) => void failures.push(failure) };
  const definitions = stageDefinitions(definition!);
  const stages = openStages(definitions, await loadAdapters(definitions), services);
  const context = newStageContext();
  const error = await new Promise<StageError>((resolve) => {
    const sink = (event: { readonly type: string; readonly error?: StageError }): void => {
      if (event.error !== undefined) resolve(event.error);
    };
    if (stage === 'llm') {
      stages.llm
        .open(context, {})
        .start({ messages: [{ role: 'user', text: callerWords }], tools: [] }, sink);
    } else if (stage === 'tts') {
      const session = stages.tts.open(context, sink);
      session.speak(1, `Hello ${callerWords}.`);
      session.speak(1, ' And goodbye.');
      session.flush(1);
    } else {
      const session = stages.stt.open(context, sink);
      session.audio(new Int16Array(1_600));
    }
  });
  context.end();
  const errorsMetric = await services.metrics.registry.getSingleMetricAsString('svc_provider_errors_total');
  await Promise.all([stages.stt.close(), stages.llm.close(), stages.tts.close()]);
  return { failure: failures[0], error, errorsMetric };
}

const stageTable = (provider: string, options: string, host: string): string => {
  const keyed = provider === 'stt_local_ws' ? '' : 'api_key_env = "KEY"\n';
  return `provider = "${provider}"\n${keyed}${options.replace('HOST', host)}`;
};

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
