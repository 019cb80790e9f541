/** The call page as the running service serves it: files, tokens, calls on its own port, reasons, and a restart. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { CallClient } from '../../../cli/commands/call/caller.ts';
import { knock, refusalOf, type KnockAnswer } from '../../support/process/knock.ts';
import { TestService } from '../../support/process/service.ts';
import { isAlive, restarted, stopAll, stopped } from '../../support/process/succession.ts';
import { secret } from '../tokens/craft.ts';

let service: TestService;
const open: KnockAnswer[] = [];

afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.destroy();
  await stopAll(service);
});

async function start(env: Readonly<Record<string, string>> = {}): Promise<string> {
  service = await TestService.start({ env: { SVC_PAGE_ADDR: '127.0.0.1:0', ...env } });
  return `http://${service.address('page')}`;
}

const portOf = (): number => Number(service.address('page').split(':').at(-1));

/** Status and body of a request that no browser would let a test make. */
async function raw(request: string): Promise<readonly [number, string]> {
  const { status, body } = await knock(portOf(), { raw: `${request}\r\nConnection: close\r\n\r\n` });
  return [status, body];
}

async function tokenOf(page: string): Promise<string> {
  const answer = await fetch(`${page}/token`, { method: 'POST' });
  return String(((await answer.json()) as { token: unknown }).token);
}

const codeOf = async (answer: Response): Promise<readonly [number, unknown]> => [
  answer.status,
  ((await answer.json()) as { code?: unknown }).code,
];

const bearing = (token: string): { headers: { Authorization: string } } => ({
  headers: { Authorization: `Bearer ${token}` },
});

const callAt = (page: string, token?: string): Promise<CallClient> =>
  CallClient.connect({
    url: `${page.replace('http', 'ws')}/ws`,
    clock: systemClock,
    sampleRate: 16_000,
    encoding: 'pcm16',
    ...(token !== undefined && { token }),
  });

describe('the page', () => {
  it('is served with its policy and the name of the agent, uncached, and nothing else is', async () => {
    const page = await start();
    const index = await fetch(`${page}/?x=1`);
    expect([index.status, index.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await index.text()).toContain('<title>Voice agent</title>');
    for (const path of ['/', '/app.js', '/config.json', '/nothing', '/ws']) {
      const { headers } = await fetch(`${page}${path}`);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; .*connect-src 'self'; .*frame-ancestors 'none'$/,
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      // A page of another site has to find out that its call was refused and the service is not down.
      expect(headers.get('cross-origin-resource-policy')).toBe(
        path === '/ws' ? 'cross-origin' : 'same-origin',
      );
    }
    for (const path of ['/widget.js', '/worklets.js']) {
      const { headers } = await fetch(`${page}${path}`);
      expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
      expect(headers.get('access-control-allow-origin')).toBe('*');
    }
    expect(await (await fetch(`${page}/config.json`)).json()).toEqual({
      agent: 'test',
      token: null,
      whip: null,
    });
    for (const path of ['/app.js', '/worklets.js', '/style.css', '/icon.svg', '/favicon.ico'])
      expect((await fetch(`${page}${path}`)).status).toBe(200);
    for (const path of [
      '/../package.json',
      '/%2e%2e/package.json',
      '/app.js/../x',
      '//etc/passwd',
      '/constructor',
    ])
      expect((await raw(`GET ${path} HTTP/1.1\r\nHost: x`))[0]).toBe(404);
    expect(await codeOf(await fetch(page, { method: 'POST' }))).toEqual([405, 'method_not_allowed']);
    expect(await codeOf(await fetch(`${page}/token`, { method: 'POST' }))).toEqual([
      405,
      'method_not_allowed',
    ]);
  });

  it('takes calls at /ws like the WebSocket listener, counted by the same limits', async () => {
    const page = await start({ SVC_MAX_SESSIONS: '1' });
    expect((await fetch(`${page}/ws`)).status).toBe(426);
    const call = await callAt(page);
    expect(refusalOf(await knock(service.port))).toEqual([503, 'sessions_full', '1']);
    expect(refusalOf(await knock(portOf(), { target: '/ws' }))).toEqual([503, 'sessions_full', '1']);
    const asked = await fetch(`${page}/ws`);
    expect(asked.headers.get('retry-after')).toBe('1');
    expect(await codeOf(asked)).toEqual([503, 'sessions_full']);
    expect((await call.hangUp()).code).toBe(1000);
    expect(refusalOf(await knock(portOf(), { target: '/elsewhere' })).slice(0, 2)).toEqual([
      404,
      'not_found',
    ]);
  });

  it('gives a token for each call, and says what a token is worth without using it', async () => {
    const page = await start({ SVC_SESSION_SECRET: secret });
    expect(await (await fetch(`${page}/config.json`)).json()).toEqual({
      agent: 'test',
      token: 'token',
      whip: null,
    });
    expect(await codeOf(await fetch(`${page}/ws`))).toEqual([401, 'token_missing']);
    expect(await codeOf(await fetch(`${page}/ws`, bearing('nonsense')))).toEqual([403, 'token_invalid']);
    const token = await tokenOf(page);
    expect((await fetch(`${page}/ws`, bearing(token))).status).toBe(426);
    const call = await callAt(page, token);
    expect(await codeOf(await fetch(`${page}/ws`, bearing(token)))).toEqual([403, 'token_reused']);
    expect((await call.hangUp()).code).toBe(1000);
    expect(await codeOf(await fetch(`${page}/token`))).toEqual([405, 'method_not_allowed']);
    const [status, body] = await raw('POST /token HTTP/1.1\r\nHost: voice.example\r\nContent-Length: 0');
    expect([status, body]).toEqual([403, expect.stringContaining('tokens_closed')]);
    expect(service.log.some((line) => JSON.stringify(line).includes(token))).toBe(false);
  });

  it('offers WebRTC off loopback, too, where the operator lets callers in without a token', async () => {
    const env = { SVC_PAGE_ADDR: '0.0.0.0:0', SVC_WEBRTC_ADDR: '127.0.0.1:0' };
    await start({ ...env, SVC_INSECURE_LISTENERS: '1' });
    const config = await fetch(`http://127.0.0.1:${portOf()}/config.json`);
    expect(await config.json()).toEqual({ agent: 'test', token: null, whip: 'whip' });
  });

  it('is pointed at the endpoint of a backend, and then gives no token itself', async () => {
    const tokenUrl = 'https://backend.example:8443/calls/token';
    const page = await start({ SVC_SESSION_SECRET: secret, SVC_PAGE_TOKEN_URL: tokenUrl });
    const config = await fetch(`${page}/config.json`);
    expect(await config.json()).toEqual({ agent: 'test', token: tokenUrl, whip: null });
    expect(config.headers.get('content-security-policy')).toContain(
      "connect-src 'self' https://backend.example:8443;",
    );
    expect((await fetch(`${page}/token`, { method: 'POST' })).status).toBe(405);
  });

  it('off loopback starts only with credentials and an endpoint of somebody else', async () => {
    service = await TestService.launch({
      env: { SVC_PAGE_ADDR: '0.0.0.0:0', SVC_SESSION_SECRET: secret },
    });
    expect(await service.ended).toEqual({ code: 1, signal: null });
    expect(service.text.join()).toMatch(/^SVC_PAGE_ADDR .*SVC_PAGE_TOKEN_URL.*SVC_INSECURE_LISTENERS/);
  });
});

describe('a restart', () => {
  it('hands the page over with its address: no request is refused, and its calls go on', async () => {
    const page = await start({ SVC_SESSION_SECRET: secret, SVC_DRAIN_TIMEOUT: '60s' });
    const call = await callAt(page, await tokenOf(page));
    let isOver = false;
    const answers: number[] = [];
    const asking = (async () => {
      while (!isOver) answers.push((await fetch(`${page}/config.json`)).status);
    })();
    // A connection that the old supervisor has accepted, with half of a request. Another one where the restart outlasts its 5 s.
    let half: Socket;
    const answered = (async () => {
      for (;;) {
        half = connect({ port: portOf(), host: '127.0.0.1' });
        half.write(`GET /config.json HTTP/1.1\r\nHost: x\r\n${isOver ? '\r\n' : ''}`);
        const [answer] = (await once(half, 'data')) as [Buffer];
        half.destroy();
        if (!answer.toString().startsWith('HTTP/1.1 408 ')) return answer.toString();
      }
    })();
    const [old, fresh] = await restarted(service);
    isOver = true;
    await asking;
    expect(new Set(answers)).toEqual(new Set([200]));
    expect(service.address('page')).toBe(new URL(page).host);
    half!.write('\r\n');
    expect(await answered).toMatch(/^HTTP\/1\.1 200 /);

    const next = await callAt(page, await tokenOf(page));
    expect((await next.hangUp()).code).toBe(1000);
    expect((await call.hangUp()).code).toBe(1000);
    await stopped(service, old);
    expect([isAlive(fresh), (await fetch(page)).status]).toEqual([true, 200]);
  });
});
