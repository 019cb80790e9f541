/**
 * The rows of docs/tokens.md, Form, Presenting tokens, Answers and Single use, asked of the running service: what each
 * token is answered, and that nothing of it is seen anywhere. The rules of a payload one by one are tested beside this, on
 * the verifier itself; so is what of a token reaches the call's metadata, because no part of the service shows that yet.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemWallClock } from '../../../shared/runtime/clock.ts';
import { knock, refusalOf, type KnockAnswer, type KnockOptions } from '../../support/process/knock.ts';
import { TestService } from '../../support/process/service.ts';
import { startFrame } from '../../process/raw-caller.ts';
import { craft as craftAt, craftRaw, previousSecret, secret } from '../tokens/craft.ts';

const nowS = (): number => Math.floor(systemWallClock.now() / 1000);
let last = 0;
/** A fresh token, valid for a minute. */
const craft = (claims: Record<string, unknown> = {}, options?: { key?: string }): string =>
  craftAt({ exp: nowS() + 60, sid: `sid-${(last += 1)}`, ...claims }, options);
const bearer = (token: string): KnockOptions => ({ headers: { Authorization: `Bearer ${token}` } });

let service: TestService;
const ask = (options: KnockOptions): Promise<KnockAnswer> => knock(service.port, options);
/** The status of an upgrade; a call that came about is ended. */
async function statusOf(options: KnockOptions): Promise<number> {
  const { status, socket } = await ask(options);
  socket.destroy();
  return status;
}

describe('with session secrets in force', () => {
  beforeAll(async () => {
    service = await TestService.start({
      env: { SVC_SESSION_SECRET: secret, SVC_SESSION_SECRET_PREV: previousSecret },
    });
  });
  afterAll(() => service.stop());

  it.each([
    ['401 missing token', {}, [401, 'token_missing', undefined]],
    ['401 missing token, an empty one', { target: '/?token=' }, [401, 'token_missing', undefined]],
    [
      '401 token lifetime over 24 hours ahead',
      bearer(craft({ exp: nowS() + 90_000 })),
      [401, 'token_lifetime_too_long', undefined],
    ],
    ['403 invalid token: no token at all', bearer('canary'), [403, 'token_invalid', undefined]],
    [
      '403 invalid token: another secret',
      bearer(craft({}, { key: 'another-secret-of-at-least-32-bytes!' })),
      [403, 'token_invalid', undefined],
    ],
    [
      '403 invalid token: a float',
      bearer(craftRaw(`{"aud":"svc-ws","exp":1e99,"sid":"x"}`)),
      [403, 'token_invalid', undefined],
    ],
    ['403 expired token', bearer(craft({ exp: nowS() - 31 })), [403, 'token_expired', undefined]],
    [
      '403 token before its nbf',
      bearer(craft({ nbf: nowS() + 50 })),
      [403, 'token_not_yet_valid', undefined],
    ],
    [
      '403 wrong-audience token',
      bearer(craft({ aud: 'svc-webrtc' })),
      [403, 'token_wrong_audience', undefined],
    ],
    [
      '403 different tokens in one request',
      { target: `/?token=${craft()}`, ...bearer(craft()) },
      [403, 'token_invalid', undefined],
    ],
    ['413 token over 4 KiB', bearer('x'.repeat(4097)), [413, 'token_too_large', undefined]],
  ])('%s', async (_, options, refusal) => {
    const answer = await ask(options);
    expect(refusalOf(answer)).toEqual(refusal);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('www-authenticate')).toBe(answer.status === 401 ? 'Bearer' : undefined);
  });

  it('says the words of the specification about a lifetime that is too long', async () => {
    const { body } = await ask(bearer(craft({ exp: nowS() + 90_000 })));
    expect(JSON.parse(body)).toMatchObject({ message: 'token lifetime too long' });
  });

  it('every wrong signature gives the same answer, to the byte', async () => {
    const answers = await Promise.all(
      [
        craft({}, { key: 'x'.repeat(32) }),
        craft({ aud: 'svc-rtvi', exp: 1 }, { key: 'y'.repeat(32) }),
        'v1.e30.AA',
      ].map((token) => ask(bearer(token))),
    );
    expect(
      new Set(answers.map(({ status, headers, body }) => JSON.stringify([status, [...headers], body]))).size,
    ).toBe(1);
  });

  it.each([
    ['Authorization: Bearer', (token: string): KnockOptions => bearer(token)],
    ['?token=', (token: string): KnockOptions => ({ target: `/any/where?a=1&token=${token}` })],
    [
      'the subprotocol svc-token.<token>',
      (token: string): KnockOptions => ({ headers: { 'Sec-WebSocket-Protocol': `svc-token.${token}` } }),
    ],
  ])('a token opens one call by %s, and the second time is 403 reused', async (_, present) => {
    const options = present(craft());
    const first = await ask(options);
    expect([first.status, first.headers.get('cache-control')]).toEqual([101, 'no-store']);
    first.socket.destroy();
    expect(refusalOf(await ask(options))).toEqual([403, 'token_reused', undefined]);
  });

  it('a browser that offers svc and svc-token.<token> gets svc, and the token is never echoed', async () => {
    for (const order of [(token: string) => `svc, ${token}`, (token: string) => `${token}, svc`]) {
      const token = craft();
      const answer = await ask({ headers: { 'Sec-WebSocket-Protocol': order(`svc-token.${token}`) } });
      expect([answer.status, answer.headers.get('sec-websocket-protocol')]).toEqual([101, 'svc']);
      expect(JSON.stringify([...answer.headers])).not.toContain(token.slice(0, 20));
      answer.socket.destroy();
    }
  });

  it('a token entry alone selects no subprotocol', async () => {
    const answer = await ask({ headers: { 'Sec-WebSocket-Protocol': `svc-token.${craft()}` } });
    expect([answer.status, answer.headers.has('sec-websocket-protocol')]).toEqual([101, false]);
    answer.socket.destroy();
  });

  it('rotation: tokens of the current and of the previous secret both open calls', async () => {
    expect(await statusOf(bearer(craft({}, { key: secret })))).toBe(101);
    expect(await statusOf(bearer(craft({}, { key: previousSecret })))).toBe(101);
  });

  it('a session id is single use whichever secret signed it', async () => {
    const sid = 'one-id-two-secrets';
    expect(await statusOf(bearer(craft({ sid }, { key: secret })))).toBe(101);
    expect(refusalOf(await ask(bearer(craft({ sid }, { key: previousSecret }))))[1]).toBe('token_reused');
  });

  it('30 seconds of skew are allowed on both sides', async () => {
    expect(await statusOf(bearer(craft({ exp: nowS() - 25 })))).toBe(101);
    expect(await statusOf(bearer(craft({ nbf: nowS() + 25 })))).toBe(101);
  });

  it('of 100 simultaneous presentations of a token one opens a call', async () => {
    const token = bearer(craft());
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(token)));
    for (const { socket } of answers) socket.destroy();
    expect(answers.filter(({ status }) => status === 101)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(99);
  });

  it('a request that is no upgrade does not use its token', async () => {
    const token = craft();
    const headers = { ...bearer(token).headers, 'Sec-WebSocket-Version': '12' };
    expect(refusalOf(await ask({ headers }))).toEqual([400, 'bad_upgrade', undefined]);
    expect(await statusOf(bearer(token))).toBe(101);
  });

  it('a token whose call is then refused by the call protocol is used', async () => {
    const token = bearer(craft());
    const { status, socket } = await ask(token);
    expect(status).toBe(101);
    socket.end(Buffer.from([0xff, 0xff, 0xff]));
    await service.readyWhen((body) => body['connections'] === 0);
    expect(refusalOf(await ask(token))[1]).toBe('token_reused');
  });
});

describe('a token refused for capacity', () => {
  const full = { SVC_SESSION_SECRET: secret, SVC_WS_MAX_CALLS: '1' };

  it.each([
    ['server full', full, [503, 'calls_full', '1']],
    [
      'a per-address limit',
      { SVC_SESSION_SECRET: secret, SVC_WS_MAX_CALLS_PER_IP: '1' },
      [429, 'address_full', '1'],
    ],
  ])('by %s stays unused and opens a call later', async (_, env, refusal) => {
    service = await TestService.start({ env });
    const first = await ask(bearer(craft()));
    const token = bearer(craft());
    expect(refusalOf(await ask(token))).toEqual(refusal);
    expect(refusalOf(await ask(token))).toEqual(refusal);
    first.socket.destroy();
    await service.readyWhen((body) => body['connections'] === 0);
    const second = await ask(token);
    expect(second.status).toBe(101);
    second.socket.destroy();
    await service.readyWhen((body) => body['connections'] === 0);
    expect(refusalOf(await ask(token))[1]).toBe('token_reused');
    await service.stop();
  });

  it('by server_busy at its start stays unused, and opens a call later', async () => {
    service = await TestService.start({ env: { SVC_SESSION_SECRET: secret, SVC_MAX_SESSIONS: '1' } });
    const tokens = [bearer(craft()), bearer(craft())];
    const waiting = await Promise.all(tokens.map((token) => ask(token)));
    const told = waiting.map(({ socket }) => {
      socket.write(startFrame());
      return new Promise<string>((resolve) => {
        let text = '';
        socket.on('data', (bytes) => {
          text += bytes.toString('latin1');
          const word = /"type":"started"|server_busy/.exec(text)?.[0];
          if (word !== undefined) resolve(word);
        });
      });
    });
    const busy = (await Promise.all(told)).indexOf('server_busy');
    for (const { socket } of waiting) socket.destroy();
    await service.readyWhen((body) => body['connections'] === 0 && body['sessions'] === 0);
    const again = await ask(tokens[busy] ?? {});
    expect(again.status).toBe(101);
    expect(refusalOf(await ask(tokens[1 - busy] ?? {}))[1]).toBe('token_reused');
    again.socket.destroy();
    await service.readyWhen((body) => body['connections'] === 0);
    // A connection that never said `start` had its room.
    expect(refusalOf(await ask(tokens[busy] ?? {}))[1]).toBe('token_reused');
    await service.stop();
  });

  it('a stranger learns nothing of it: wrong and missing tokens are told first', async () => {
    service = await TestService.start({ env: full });
    const first = await ask(bearer(craft()));
    expect(await statusOf({})).toBe(401);
    expect(await statusOf(bearer(craft({}, { key: 'x'.repeat(32) })))).toBe(403);
    expect(await statusOf(bearer(craft()))).toBe(503);
    first.socket.destroy();
    await service.stop();
  });
});

describe('what is secret', () => {
  it('stands in no log line, no metric and no body: secrets, tokens, session ids, metadata', async () => {
    const marks = {
      SVC_SESSION_SECRET: `canary-${secret}`,
      SVC_WS_TOKEN: 'canary-static',
      SVC_METRICS_TOKEN: 'canary-metrics',
    };
    service = await TestService.start({
      env: {
        ...marks,
        SVC_LOG_LEVEL: 'trace',
        SVC_MAX_SESSIONS: '2',
        SVC_PROVIDER_LIMITS: 'stt_local_ws:sessions=50',
      },
    });
    const key = marks.SVC_SESSION_SECRET;
    const claims = { sid: 'canary-sid', agent: 'canary-agent', meta: { plan: 'canary-value' } };
    const token = craft(claims, { key });
    const call = await service.call({ token, metadata: { 'own-key': 'canary-own-value' } });
    const other = await service.call({ token: 'canary-static' });
    const refused = craft({ ...claims, sid: 'canary-sid-2' }, { key });
    const bodies: string[] = [];
    for (const options of [
      bearer(token),
      bearer(refused),
      { target: `/?token=${refused}x` },
      { target: '/canary-path?canary=1' },
      { headers: { 'Sec-WebSocket-Protocol': `svc, svc-token.${craft({ exp: 1 }, { key })}` } },
      { raw: `GET /canary HTTP/1.1\r\ncanary: ${'canary'.repeat(2_000)}\r\n\r\n` },
      { raw: 'canary canary canary\r\n\r\n' },
    ])
      bodies.push(JSON.stringify({ ...(await ask(options)), socket: undefined }));
    await Promise.all([call.hangUp(), other.hangUp()]);
    for (const path of ['/metrics', '/readyz', '/healthz'])
      bodies.push(await (await service.get(path, { authorization: 'Bearer canary-metrics' })).text());
    await service.stop();
    const everything = JSON.stringify([service.log, service.text, bodies]);
    expect(everything).toContain('svc_refusals_total');
    expect(everything).toContain('call ended');
    // The log names what came with a call, and never says what it was.
    for (const key of ['session.meta.plan', 'own-key']) expect(everything).toContain(key);
    const parts = [token, refused].flatMap((text) => text.split('.').slice(1));
    for (const secretText of ['canary', ...parts]) expect(everything).not.toContain(secretText);
  });
});

describe('the command token', () => {
  const cli = fileURLToPath(new URL('../../../dist/supervisor/cli.js', import.meta.url));
  const run = async (env: Record<string, string>, ...args: string[]): Promise<string> =>
    (await promisify(execFile)(process.execPath, [cli, 'token', ...args], { env })).stdout;

  it('mint makes a token that opens one call; inspect tells what it says; the secret is not shown', async () => {
    service = await TestService.start({ env: { SVC_SESSION_SECRET: secret } });
    const env = { SVC_SESSION_SECRET: secret };
    const token = (await run(env, 'mint', '--aud', 'svc-ws', '--ttl', '60', '--meta', 'who=me')).trim();
    const told = await run(env, 'inspect', token);
    expect(told).toMatch(/aud: "svc-ws"[^]*meta "who": "me"[^]*signature: SVC_SESSION_SECRET\n[^]*s left/);
    expect(told).not.toContain(secret);
    expect(await statusOf(bearer(token))).toBe(101);
    expect(await statusOf(bearer(token))).toBe(403);
    await service.stop();
  });

  it('refuses with status 1 and never repeats what it was given', async () => {
    const broken = run({ SVC_SESSION_SECRET: 'short-canary' }, 'mint', '--aud', 'svc-ws');
    const outcome = (await broken.catch((error: unknown) => error)) as {
      code: number;
      stdout: string;
      stderr: string;
    };
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain('32 bytes');
    expect(outcome.stdout + outcome.stderr).not.toContain('canary');
  });
});
