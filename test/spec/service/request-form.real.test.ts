/**
 * The form of requests, asked of the running service: HTTP as RFC 9112 wants it, upgrades as RFC 6455 wants them, and heads that a
 * token makes too large (docs/tokens.md, Answers: 413). Faults of the form are told before anything is taken or used.
 */
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemWallClock } from '../../../shared/runtime/clock.ts';
import { knock, requestText, type KnockAnswer, type KnockOptions } from '../../support/process/knock.ts';
import { TestService } from '../../support/process/service.ts';
import { craft, secret } from '../tokens/craft.ts';

let service: TestService;
const open: KnockAnswer[] = [];

beforeAll(async () => {
  service = await TestService.start({ env: { SVC_SESSION_SECRET: secret } });
});
afterAll(() => service.stop());
afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.destroy();
  await service.readyWhen((body) => body['connections'] === 0);
});

let last = 0;
const freshToken = (): string =>
  craft({ exp: Math.floor(systemWallClock.now() / 1000) + 60, sid: `form-${(last += 1)}` });

async function ask(options: KnockOptions, port = service.port): Promise<KnockAnswer> {
  const answer = await knock(port, options);
  open.push(answer);
  return answer;
}

/** Status and code of a refusal, which has the form of every refusal of ours. */
function refusal({ status, headers, body }: KnockAnswer): readonly unknown[] {
  expect(headers.get('content-type')).toBe('application/json');
  expect(headers.get('cache-control')).toBe('no-store');
  const { code, ...rest } = JSON.parse(body) as { code: string };
  expect(rest).toEqual({ message: expect.any(String) as string });
  return [status, code];
}

/** An upgrade with a token, changed. */
const upgrade = (token: string, change: (text: string) => string): KnockOptions => ({
  raw: change(requestText('/', { Authorization: `Bearer ${token}` })),
});
const badRequest = [400, 'bad_request'];
const badUpgrade = [400, 'bad_upgrade'];

describe('an upgrade of the wrong form does not use its token', () => {
  it.each([
    ['HTTP/1.0', badUpgrade, (text: string) => text.replace('HTTP/1.1', 'HTTP/1.0')],
    ['without Host', badRequest, (text: string) => text.replace(/Host: .*\r\n/, '')],
    ['with an empty Host', badRequest, (text: string) => text.replace(/Host: .*/, 'Host:')],
    ['with a Host that is none', badRequest, (text: string) => text.replace(/Host: .*/, 'Host: a b')],
    ['with Host twice', badRequest, (text: string) => text.replace(/(Host: .*\r\n)/, '$1$1')],
    ['with another Host', badRequest, (text: string) => text.replace(/(Host: .*\r\n)/, '$1hOST: other\r\n')],
    ['to h2c', badUpgrade, (text: string) => text.replace('Upgrade: websocket', 'Upgrade: h2c')],
    ['with a subprotocol twice', badUpgrade, protocols('svc, svc')],
    ['with a subprotocol of two words', badUpgrade, protocols('a b')],
    ['with a subprotocol in quotes', badUpgrade, protocols('"x"')],
    ['with subprotocols in two lines, the same', badUpgrade, protocols('svc\r\nSec-WebSocket-Protocol: svc')],
    ['with a subprotocol beside its token', badUpgrade, protocols('svc-token.x, svc, (x)')],
  ])('%s', async (_, outcome, change) => {
    const token = freshToken();
    expect(refusal(await ask(upgrade(token, change)))).toEqual(outcome);
    expect((await ask(upgrade(token, (text) => text))).status).toBe(101);
  });

  it.each(['8', '14', '13, 8', ''])(
    'of version "%s", and the answer names the one that is right',
    async (version) => {
      const token = freshToken();
      const answer = await ask(upgrade(token, (text) => text.replace(/Version: 13/, `Version: ${version}`)));
      expect([...refusal(answer), answer.headers.get('sec-websocket-version')]).toEqual([
        ...badUpgrade,
        '13',
      ]);
      expect((await ask(upgrade(token, (text) => text))).status).toBe(101);
    },
  );

  function protocols(value: string): (text: string) => string {
    return (text) => text.replace('\r\n\r\n', `\r\nSec-WebSocket-Protocol: ${value}\r\n\r\n`);
  }
});

describe('an upgrade of the right form', () => {
  it.each(['websocket, h2c', 'h2c, WebSocket'])('may offer others beside: Upgrade: %s', async (value) => {
    const answer = await ask(
      upgrade(freshToken(), (text) => text.replace('Upgrade: websocket', `Upgrade: ${value}`)),
    );
    expect([answer.status, answer.headers.get('upgrade')]).toEqual([101, 'websocket']);
  });

  it('has one Authorization line: two different ones are refused whatever they hold, twice the same is one', async () => {
    const token = freshToken();
    const twice = (second: string): KnockOptions =>
      upgrade(token, (text) => text.replace('\r\n\r\n', `\r\nAuthorization: ${second}\r\n\r\n`));
    const invalid = [403, 'token_invalid'];
    expect(refusal(await ask(twice(`Bearer ${freshToken()}`)))).toEqual(invalid);
    expect(refusal(await ask(twice('Basic dTpw')))).toEqual(invalid);
    expect((await ask(twice(`Bearer ${token}`))).status).toBe(101);
  });
});

describe('CONNECT', () => {
  it.each(['websocket', 'health'] as const)('is answered by the %s listener', async (listener) => {
    const port = Number(service.address(listener).split(':').at(-1));
    const answer = await ask({ raw: 'CONNECT example:1 HTTP/1.1\r\nHost: example:1\r\n\r\n' }, port);
    expect([...refusal(answer), answer.headers.get('allow')]).toEqual([405, 'method_not_allowed', 'GET']);
  });
});

describe('requests behind one another on a connection', () => {
  /** Everything that comes back, until the server closes. */
  const exchange = (...packets: readonly string[]): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ port: service.port, host: '127.0.0.1' });
      let text = '';
      for (const packet of packets) socket.write(packet);
      socket.on('data', (bytes) => (text += bytes.toString('latin1')));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
  const plain = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

  it('the first is answered and the connection ends: an upgrade behind it opens no call and uses no token', async () => {
    const token = freshToken();
    const { raw } = upgrade(token, (text) => text);
    for (const packets of [[`${plain}${String(raw)}`], [plain, String(raw)], [`${plain}${plain}`]]) {
      const text = await exchange(...packets);
      expect(text.match(/^HTTP.*/gm)).toEqual(['HTTP/1.1 426 Upgrade Required']);
    }
    expect((await ask({ raw: String(raw) })).status).toBe(101);
  });
});

describe('413 token over 4 KiB', () => {
  const ways: readonly (readonly [string, (token: string) => KnockOptions])[] = [
    ['Authorization', (token) => ({ headers: { Authorization: `Bearer ${token}` } })],
    ['?token=', (token) => ({ target: `/?a=1&token=${token}` })],
    ['a subprotocol', (token) => ({ headers: { 'Sec-WebSocket-Protocol': `svc, svc-token.${token}` } })],
  ];

  it.each(ways)('in %s, also where it alone makes the head too large', async (_, present) => {
    for (const length of [4_097, 7_000, 8_192, 9_000, 60_000])
      expect(refusal(await ask(present('x'.repeat(length))))).toEqual([413, 'token_too_large']);
  });

  it('a head that something else makes too large is 431, on both listeners', async () => {
    const headers = { Authorization: `Bearer ${freshToken()}`, Padding: 'x'.repeat(8_192) };
    expect(refusal(await ask({ headers }))).toEqual([431, 'head_too_large']);
    expect(refusal(await ask({ headers: { ...headers, Padding: 'x'.repeat(80_000) } }))).toEqual([
      431,
      'head_too_large',
    ]);
    const health = Number(service.address('health').split(':').at(-1));
    const raw = `GET /healthz HTTP/1.1\r\nHost: localhost\r\nPadding: ${headers.Padding}\r\n\r\n`;
    expect(refusal(await ask({ raw }, health))).toEqual([431, 'head_too_large']);
  });
});
