/** Origins (docs/tokens.md, Web pages without a token): which web pages open calls, asked of the running service. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemWallClock } from '../../../shared/runtime/clock.ts';
import { knock } from '../../support/process/knock.ts';
import { TestService } from '../../support/process/service.ts';
import { craft, secret } from '../tokens/craft.ts';

let service: TestService;

/** Status, and the code of a refusal. */
async function ask(headers: Record<string, string>): Promise<readonly unknown[]> {
  const { status, body, headers: answered, socket } = await knock(service.port, { headers });
  socket.destroy();
  expect(answered.get('cache-control')).toBe('no-store');
  return status === 101 ? [101] : [status, (JSON.parse(body) as { code: string }).code];
}

const taken = [101];
const origin = [403, 'origin_refused'];
const host = [403, 'host_refused'];

function serving(env: Readonly<Record<string, string>>): void {
  beforeAll(async () => {
    service = await TestService.start({ env });
  });
  afterAll(() => service.stop());
}

describe('on a loopback address without credentials', () => {
  serving({});

  it.each([
    ['no page', {}, taken],
    ['a page of another site', { Origin: 'https://site.example' }, origin],
    ['a page of another port of this machine', { Origin: 'http://localhost:8088' }, origin],
    ['a page without an origin of its own', { Origin: 'null' }, origin],
    ['a page of the host that is asked', { Origin: 'http://127.0.0.1:8080', Host: '127.0.0.1:8080' }, taken],
    [
      'a page of the host that is asked, whatever its port',
      { Origin: 'http://localhost', Host: 'LOCALHOST:80' },
      taken,
    ],
    ['the same name on another port', { Origin: 'http://127.0.0.1:9', Host: '127.0.0.1:8080' }, origin],
    [
      'a site that has its name lead here',
      { Origin: 'http://site.example:8080', Host: 'site.example:8080' },
      host,
    ],
    ['no page, by a name of elsewhere', { Host: 'site.example:8080' }, host],
    ['no page, by a name that only begins as this machine', { Host: 'localhost.site.example' }, host],
    ['no page, by an address', { Host: '192.0.2.7:8080' }, taken],
    ['no page, by an address of IPv6', { Host: '[::1]:8080' }, taken],
    ['no page, by a name below localhost', { Host: 'voice.localhost:8080' }, taken],
  ])('%s', async (_, headers, outcome) => {
    expect(await ask(headers)).toEqual(outcome);
  });

  it('names the page of another site in the log, once', async () => {
    await ask({ Origin: 'https://mine.example' });
    await ask({ Origin: 'https://mine.example' });
    expect(await ask({ Origin: 'https://last.example' })).toEqual(origin);
    await service.says('a page was refused', (line) => line['origin'] === 'https://last.example');
    const told = service.log.filter((line) => line['origin'] === 'https://mine.example');
    expect(told).toEqual([expect.objectContaining({ msg: 'a page was refused', listener: 'websocket' })]);
  });

  it('counts those that it refused', async () => {
    const before = await service.metric('svc_refusals_total{reason="origin_refused"}');
    await ask({ Origin: 'https://site.example' });
    expect(await service.metric('svc_refusals_total{reason="origin_refused"}')).toBe(before + 1);
  });
});

describe('with SVC_WS_ORIGINS', () => {
  serving({ SVC_WS_ORIGINS: 'https://app.example,http://localhost:8088' });

  it('its pages are let in, on their own host too, and others are not', async () => {
    expect(await ask({ Origin: 'https://app.example' })).toEqual(taken);
    expect(await ask({ Origin: 'https://app.example', Host: 'app.example' })).toEqual(taken);
    expect(await ask({ Origin: 'http://localhost:8088' })).toEqual(taken);
    expect(await ask({ Origin: 'http://app.example' })).toEqual(origin);
    expect(await ask({ Origin: 'https://app.example.site' })).toEqual(origin);
    expect(await ask({ Origin: 'https://site.example' })).toEqual(origin);
  });
});

describe('with SVC_WS_ORIGINS=*', () => {
  serving({ SVC_WS_ORIGINS: '*' });

  it('the rule is off', async () => {
    expect(await ask({ Origin: 'https://site.example', Host: 'site.example' })).toEqual(taken);
    expect(await ask({ Origin: 'null' })).toEqual(taken);
  });
});

describe('where calls need a token', () => {
  const bearer = (): Record<string, string> => ({
    Authorization: `Bearer ${craft({ exp: Math.floor(systemWallClock.now() / 1000) + 60 })}`,
  });

  describe('and nothing else is said', () => {
    serving({ SVC_SESSION_SECRET: secret });

    it('the token decides', async () => {
      expect(await ask({ ...bearer(), Origin: 'https://site.example', Host: 'site.example' })).toEqual(taken);
    });
  });

  describe('with SVC_WS_ORIGINS', () => {
    serving({ SVC_SESSION_SECRET: secret, SVC_WS_ORIGINS: 'https://app.example' });

    it('the list counts as well, behind the token, which stays unused', async () => {
      const token = bearer();
      expect(await ask({ Origin: 'https://site.example' })).toEqual([401, 'token_missing']);
      expect(await ask({ ...token, Origin: 'https://site.example', Host: 'voice.example' })).toEqual(origin);
      expect(await ask({ ...token, Origin: 'https://app.example', Host: 'voice.example' })).toEqual(taken);
    });
  });
});
