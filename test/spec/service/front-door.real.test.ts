/**
 * The rows of docs/call-protocol.md, When there is no call, the rule of docs/tokens.md, Behind a proxy, and settings of
 * docs/reference/server-settings.md: asked of the running service. Tokens have a file of their own beside this. 500 has no test here: no client can
 * provoke it.
 */
import { execFile } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { systemWallClock } from '../../../shared/runtime/clock.ts';
import {
  knock,
  refusalOf,
  requestText,
  type KnockAnswer,
  type KnockOptions,
} from '../../support/process/knock.ts';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';
import { craft, secret } from '../tokens/craft.ts';

let service: TestService | undefined;
let shared: TestService | undefined;
const open: KnockAnswer[] = [];

async function start(
  env: Readonly<Record<string, string>> = {},
  more: TestServiceOptions = {},
): Promise<TestService> {
  return (service = await TestService.start({ env, ...more }));
}

/** One service for all tests that ask nothing special of it and leave it as it was. */
const plain = async (): Promise<TestService> => (shared ??= await TestService.start());

async function ask(at: TestService, options: KnockOptions = {}): Promise<KnockAnswer> {
  const answer = await knock(at.port, options);
  open.push(answer);
  return answer;
}

/** Ends what is open and waits until its slots are free. */
async function hangUpAll(at: TestService): Promise<void> {
  for (const { socket } of open.splice(0)) socket.destroy();
  await at.readyWhen((body) => body['connections'] === 0);
}

afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.destroy();
  await service?.stop();
  service = undefined;
});
afterAll(() => shared?.stop());

describe('every answer before a call', () => {
  it('has a JSON body with code and message, and Cache-Control: no-store; the value is never in it', async () => {
    const at = await start({ SVC_WS_TOKEN: 'the-static-token' });
    const head = (bytes: number): string =>
      `GET / HTTP/1.1\r\nHost: x\r\ncanary: ${'c'.repeat(bytes)}\r\n\r\n`;
    const rows: readonly (readonly [number, string, KnockOptions])[] = [
      [400, 'bad_request', { raw: 'canary canary canary\r\n\r\n' }],
      [400, 'bad_request', { raw: 'GET / HTTP/1.1\r\nContent-Length: canary\r\n\r\n' }],
      [400, 'bad_upgrade', { headers: { Upgrade: 'canary' } }],
      [400, 'bad_upgrade', { headers: { 'Sec-WebSocket-Version': '8' } }],
      [400, 'bad_upgrade', { headers: { 'Sec-WebSocket-Key': 'canary' } }],
      [400, 'bad_upgrade', { raw: requestText('/', {}).replace('GET', 'POST') }],
      [401, 'token_missing', { target: '/canary' }],
      [403, 'token_invalid', { target: '/?token=canary' }],
      [413, 'token_too_large', { target: `/?token=${'c'.repeat(4097)}` }],
      [426, 'upgrade_required', { raw: 'GET /canary HTTP/1.1\r\nHost: x\r\n\r\n' }],
      [426, 'upgrade_required', { raw: 'GET /canary HTTP/1.0\r\n\r\n' }],
      [426, 'upgrade_required', { raw: 'GET / HTTP/1.1\r\nHost: x\r\nExpect: canary\r\n\r\n' }],
      [431, 'head_too_large', { raw: head(8_200) }],
    ];
    for (const [status, code, options] of rows) {
      const answer = await ask(at, options);
      expect([answer.status, JSON.parse(answer.body)]).toEqual([
        status,
        { code, message: expect.any(String) as string },
      ]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(answer.body).not.toContain('canary');
    }
    const taken = await ask(at, { headers: { Authorization: 'Bearer the-static-token' } });
    expect([taken.status, taken.headers.get('cache-control')]).toEqual([101, 'no-store']);
    for (const reason of ['token_missing', 'token_invalid', 'token_too_large'])
      expect(await at.metric(`svc_refusals_total{reason="${reason}"}`)).toBe(1);
    expect(await at.metric('svc_refusals_total{reason="bad_upgrade"}')).toBe(4);
    expect(await at.metric('svc_handovers_total{outcome="taken"}')).toBe(1);
  });

  it('a head of up to 8 KiB is read', async () => {
    const at = await plain();
    expect((await ask(at, { headers: { Padding: 'x'.repeat(7_800) } })).status).toBe(101);
  });

  it('the request path is not inspected on the generic listener', async () => {
    const at = await plain();
    for (const target of ['/', '/ws', '/any/where?x=1', '//', '/%zz', '*', 'http://elsewhere/x'])
      expect((await ask(at, { target })).status).toBe(101);
  });

  it('without authentication configured a token that nobody asked for does not matter', async () => {
    const at = await plain();
    expect((await ask(at, { target: '/?token=anything' })).status).toBe(101);
  });

  it('metrics count verified tokens by what became of them, and refusals by reason', async () => {
    const at = await start({ SVC_SESSION_SECRET: secret });
    const exp = Math.floor(systemWallClock.now() / 1000) + 60;
    const headers = { Authorization: `Bearer ${craft({ exp })}` };
    expect((await ask(at, { headers })).status).toBe(101);
    expect((await ask(at, { headers })).status).toBe(403);
    expect(await at.metric('svc_tokens_total{outcome="used"}')).toBe(1);
    expect(await at.metric('svc_refusals_total{reason="token_reused"}')).toBe(1);
    expect(await at.metric('svc_connections')).toBe(1);
    expect(await at.metric('svc_sessions')).toBe(0);
  });
});

describe('slow clients', () => {
  it('one that says nothing, a slow head and a half-open connection are cut off, on both ports', async () => {
    const at = await plain();
    const health = Number(at.address('health').split(':').at(-1));
    const halfOpen = async (port: number): Promise<KnockAnswer> => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      socket.end('GET / HTTP/1.1\r\nHost');
      return new Promise((resolve) => {
        socket.resume();
        socket.on('close', () => resolve({ status: 0, headers: new Map(), body: '', socket }));
      });
    };
    const answers = await Promise.all(
      [at.port, health].flatMap((port) => [
        knock(port, { raw: '' }),
        knock(port, { raw: 'GET / HTTP/1.1\r\nHost: ' }),
        halfOpen(port),
      ]),
    );
    for (const [silent, slow] of [answers.slice(0, 3), answers.slice(3)]) {
      expect(refusalOf(slow!)).toEqual([408, 'head_too_slow', undefined]);
      expect([0, 408]).toContain(silent!.status);
    }
    expect((await ask(at)).status).toBe(101);
  });

  it('one that sends its head at once finds room among thousands that are silent', async () => {
    const at = await plain();
    const silent: Socket[] = [];
    let cut = 0;
    for (let wave = 0; wave < 10; wave += 1) {
      const sockets = Array.from({ length: 300 }, () => connect({ port: at.port, host: '127.0.0.1' }));
      silent.push(...sockets);
      for (const socket of sockets)
        // A connection that was cut off for its silence alone would have been told so.
        socket
          .resume()
          .on('close', () => (cut += socket.bytesRead === 0 ? 1 : 0))
          .on('error', () => undefined);
      await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    }
    expect((await ask(at)).status).toBe(101);
    await at.readyWhen(() => cut >= 3_000 - 1_024);
    for (const socket of silent) socket.destroy();
  });
});

describe('429 calls per address exceeded', () => {
  const limited = { SVC_WS_MAX_CALLS_PER_IP: '2' };
  const forwarded = (from: string): KnockOptions => ({ headers: { 'X-Forwarded-For': from } });

  it('counts the addresses of peers; another address has its own calls; the end of a call gives its place back', async () => {
    const at = await start(limited);
    expect((await ask(at)).status).toBe(101);
    const second = await ask(at);
    expect(second.status).toBe(101);
    expect(refusalOf(await ask(at))).toEqual([429, 'address_full', '1']);
    expect((await ask(at, { from: '127.0.0.2' })).status).toBe(101);
    second.socket.destroy();
    await at.readyWhen((body) => body['connections'] === 2);
    expect((await ask(at)).status).toBe(101);
    expect(await at.metric('svc_refusals_total{reason="address_full"}')).toBe(1);
  });

  it('without trusted proxies a forwarding header changes nothing', async () => {
    const at = await start(limited);
    await ask(at, forwarded('203.0.113.1'));
    await ask(at, forwarded('203.0.113.2'));
    expect((await ask(at, forwarded('203.0.113.3'))).status).toBe(429);
  });

  it('behind a trusted proxy the last hop that is not a trusted proxy counts, IPv6 by /64', async () => {
    const at = await start({ ...limited, SVC_TRUSTED_PROXIES: '127.0.0.1/32,10.0.0.0/8' });
    const statuses: number[] = [];
    for (const hops of [
      '203.0.113.1',
      'spoofed, 203.0.113.1, 10.1.1.1',
      '203.0.113.9, 203.0.113.1',
      '203.0.113.2',
      '2001:db8:0:1::1',
      '2001:db8:0:1:ffff::2',
      '2001:db8:0:1::3',
      '2001:db8:0:2::1',
    ])
      statuses.push((await ask(at, forwarded(hops))).status);
    expect(statuses).toEqual([101, 101, 429, 101, 101, 101, 429, 101]);
    // A peer that is no trusted proxy is not believed.
    const untrusted = { ...forwarded('203.0.113.50'), from: '127.0.0.2' };
    await ask(at, untrusted);
    await ask(at, { ...forwarded('203.0.113.51'), from: '127.0.0.2' });
    expect((await ask(at, untrusted)).status).toBe(429);
  });

  it.each([
    ['forwarded', 'Forwarded', (address: string) => `for=192.0.2.9, for="${address}"`],
    ['x-real-ip', 'X-Real-IP', (address: string) => address],
  ])('SVC_CLIENT_IP_HEADER=%s reads that one header', async (choice, name, value) => {
    const env = {
      SVC_WS_MAX_CALLS_PER_IP: '1',
      SVC_TRUSTED_PROXIES: '127.0.0.0/8',
      SVC_CLIENT_IP_HEADER: choice,
    };
    const at = await start(env);
    const from = (address: string, other: string): KnockOptions => ({
      headers: { [name]: value(address), 'X-Forwarded-For': other },
    });
    expect((await ask(at, from('203.0.113.1', '192.0.2.1'))).status).toBe(101);
    expect((await ask(at, from('203.0.113.1', '192.0.2.2'))).status).toBe(429);
    expect((await ask(at, from('203.0.113.2', '192.0.2.1'))).status).toBe(101);
  });
});

describe('503 provider budget exhausted, with a longer Retry-After', () => {
  const counts = {
    sessions: expect.any(Number) as number,
    connections: expect.any(Number) as number,
    max_sessions: expect.any(Number) as number,
    workers: 1,
  };

  it('sessions of a provider: refused until a call has ended; /readyz says so with counts only', async () => {
    const at = await start({ SVC_PROVIDER_LIMITS: 'chat_compatible:sessions=1' });
    expect((await ask(at)).status).toBe(101);
    expect(refusalOf(await ask(at))).toEqual([503, 'provider_budget', '5']);
    const ready = await at.get('/readyz');
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { ready: 0, provider_budget: 1, ...counts, connections: 1 },
    ]);
    expect((await at.get('/healthz')).status).toBe(200);
    expect(await at.metric('svc_refusals_total{reason="provider_budget"}')).toBe(1);
    await hangUpAll(at);
    expect((await at.get('/readyz')).status).toBe(200);
    expect((await ask(at)).status).toBe(101);
  });

  it('requests per minute of a provider: what calls really sent counts, and the running call goes on', async () => {
    const at = await start({ SVC_PROVIDER_LIMITS: 'chat_compatible:rpm=1' });
    const call = await at.call();
    call.sendDtmf('#');
    await at.readyWhen((body) => body['provider_budget'] === 1);
    const refused = await ask(at);
    expect(refusalOf(refused).slice(0, 2)).toEqual([503, 'provider_budget']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    const { llm } = at.providers;
    await llm.until(() => llm.requests.length === 1);
    expect(await call.next((event) => event.type === 'audio')).toMatchObject({ type: 'audio' });
    expect(await call.hangUp()).toEqual({ code: 1000, reason: 'ended' });
  });
});

describe('fail closed', () => {
  /** Everything that a service said that could not start. */
  async function refusedStart(env: Readonly<Record<string, string>>): Promise<string> {
    service = await TestService.launch({ env });
    expect(await service.ended).toEqual({ code: 1, signal: null });
    return JSON.stringify([service.text, service.log]);
  }
  const warnings = (at: TestService): string[] =>
    at.log.filter(({ level }) => level === 40).map(({ msg }) => msg);

  it.each([
    [
      'off loopback without authentication',
      { SVC_WS_ADDR: '0.0.0.0:0' },
      /SVC_WS_ADDR.*SVC_SESSION_SECRET or SVC_WS_TOKEN.*SVC_INSECURE_LISTENERS/,
    ],
    ['on every address of IPv6', { SVC_WS_ADDR: '[::]:0' }, /SVC_WS_ADDR/],
    ['with a secret under 32 bytes', { SVC_SESSION_SECRET: 'short-canary' }, /SVC_SESSION_SECRET.*32 bytes/],
    [
      'with a previous secret under 32 bytes',
      { SVC_SESSION_SECRET: secret, SVC_SESSION_SECRET_PREV: 'short-canary' },
      /SVC_SESSION_SECRET_PREV.*32 bytes/,
    ],
    [
      'with a previous secret alone',
      { SVC_SESSION_SECRET_PREV: secret },
      /SVC_SESSION_SECRET_PREV.*SVC_SESSION_SECRET/,
    ],
    ['with an empty static token', { SVC_WS_TOKEN: '' }, /SVC_WS_TOKEN/],
    ['with proxies that are no networks', { SVC_TRUSTED_PROXIES: 'canary' }, /SVC_TRUSTED_PROXIES/],
    ['with a header that is none of the three', { SVC_CLIENT_IP_HEADER: 'canary' }, /SVC_CLIENT_IP_HEADER/],
    ['with limits of an unknown provider', { SVC_PROVIDER_LIMITS: 'canary:rpm=1' }, /SVC_PROVIDER_LIMITS/],
    [
      'for media by TCP at an address that is none',
      { SVC_WEBRTC_TCP_ADDR: 'canary' },
      /SVC_WEBRTC_TCP_ADDR.*host:port/,
    ],
    ['with a store that is no Redis', { SVC_TOKEN_STORE_URL: 'http://canary/' }, /SVC_TOKEN_STORE_URL/],
  ])('the start %s is refused with status 1, by name and never by value', async (_, env, said) => {
    const text = await refusedStart(env);
    expect(text).toMatch(said);
    expect(text).not.toContain('canary');
  });

  it.each([
    ['SVC_SESSION_SECRET', secret],
    ['SVC_WS_TOKEN', 'a-static-token'],
  ])('off loopback the listener starts with %s, and asks for it', async (name, value) => {
    const at = await start({ SVC_WS_ADDR: '0.0.0.0:0', [name]: value });
    expect((await ask(at)).status).toBe(401);
  });

  it('SVC_INSECURE_LISTENERS=1 starts it anyway, with one warning for the exposed listener', async () => {
    const at = await start({ SVC_WS_ADDR: '0.0.0.0:0', SVC_INSECURE_LISTENERS: '1' });
    expect(warnings(at).filter((text) => text.includes('SVC_INSECURE_LISTENERS'))).toHaveLength(1);
    expect((await ask(at)).status).toBe(101);
  });

  it('loopback needs nothing and warns of nothing', async () => {
    const at = await start({ SVC_SMART_TURN_MODEL: 'off' });
    expect(warnings(at)).toEqual([]);
  });

  it('warns of each static token in use', async () => {
    const at = await start({ SVC_WS_TOKEN: 'canary-1', SVC_METRICS_TOKEN: 'canary-2' });
    for (const name of ['SVC_WS_TOKEN', 'SVC_METRICS_TOKEN'])
      expect(warnings(at).filter((text) => text.startsWith(name))).toHaveLength(1);
    expect(warnings(at).join()).not.toContain('canary');
  });
});

describe('the command config', () => {
  const cli = fileURLToPath(new URL('../../../dist/supervisor/cli.js', import.meta.url));
  const run = (env: Record<string, string>): Promise<{ stdout: string }> =>
    promisify(execFile)(process.execPath, [cli, 'config'], { env });

  it('prints what is in force, secrets as set or unset, and warns of unknown names with the nearest', async () => {
    const { stdout } = await run({
      SVC_AGENT_FILE: 'agent.toml',
      SVC_SESSION_SECRET: `canary-${secret}`,
      SVC_TOKEN_STORE_URL: 'redis://:canary@127.0.0.1/1',
      SVC_MAX_SESSIONS: '7',
      SVC_WS_TOKN: 'canary',
    });
    expect(stdout).toMatch(/^SVC_SESSION_SECRET +set$/m);
    expect(stdout).toMatch(/^SVC_SESSION_SECRET_PREV +unset$/m);
    expect(stdout).toMatch(/^SVC_TOKEN_STORE_URL +set$/m);
    expect(stdout).toMatch(/^SVC_WS_TOKEN +unset$/m);
    expect(stdout).toMatch(/^SVC_MAX_SESSIONS +7$/m);
    expect(stdout).toMatch(/^SVC_CLIENT_IP_HEADER +x-forwarded-for \(default\)$/m);
    expect(stdout).toMatch(/^warning: SVC_WS_TOKN.*SVC_WS_TOKEN/m);
    expect(stdout).not.toContain('canary');
  });

  it('ends with status 1 when the service would not start', async () => {
    const outcome = (await run({ SVC_MAX_SESSIONS: '0' }).catch((error: unknown) => error)) as {
      code: number;
      stdout: string;
    };
    expect(outcome.code).toBe(1);
    expect(outcome.stdout).toMatch(/^error: .*SVC_MAX_SESSIONS/m);
  });
});
