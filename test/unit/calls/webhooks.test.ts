/** Webhooks against receivers of every kind: written with the standard's own package, slow, down, redirecting, lying. */
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { callEvents, endpointId, webhookId } from '../../../shared/calls/webhooks/events.ts';
import { afterAttempt, retryAfterMs, waits } from '../../../records/webhooks/schedule.ts';
import { signatureOf } from '../../../records/webhooks/webhooks.ts';
import { Webhooks, type Endpoint, type WebhookNews } from '../../../records/webhooks/webhooks.ts';
import { shownSecret, webhookKey } from '../../../shared/calls/webhooks/secret.ts';
import { answer, Receiver } from '../../support/calls/receiver.ts';
import { newVirtualClock, type VirtualClock } from '../../support/core/virtual-clock.ts';
import { Observed } from '../../support/process/observed.ts';

const vectorSecret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const secret = shownSecret(Buffer.alloc(32, 7));
const oldSecret = shownSecret(Buffer.alloc(24, 9));

/** What happened, and how to wait for it. */
class News extends Observed {
  readonly all: WebhookNews[] = [];
  readonly told = (news: WebhookNews): void => {
    this.all.push(news);
    this.changed();
  };

  count(type: WebhookNews['type']): number {
    return this.all.filter((one) => one.type === type).length;
  }
}

let dir: string;
let clock: VirtualClock;
let news: News;
let receiver: Receiver;
let url: string;
let open: Webhooks[];
let mostWaiting: number;

/** The standard's package asks the real clock. */
const wallClock = { now: () => begun + clock.now() };
const begun = Date.now();

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'svc-webhooks-'));
  clock = newVirtualClock();
  news = new News();
  open = [];
  mostWaiting = 100;
  receiver = new Receiver();
  url = await receiver.listen();
});

afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  await receiver.close();
  rmSync(dir, { recursive: true, force: true });
});

const endpoint = (given: Partial<Endpoint> = {}): Endpoint => ({
  agent: 'desk',
  url,
  secrets: [secret],
  events: callEvents,
  allowPrivate: true,
  ...given,
});

function newWebhooks(...endpoints: readonly Endpoint[]): Webhooks {
  const all = endpoints.length === 0 ? [endpoint()] : endpoints;
  const made = new Webhooks({
    dir,
    endpointsOf: ({ name }) => all.filter(({ agent }) => agent === name),
    clock,
    wallClock,
    random: () => 0,
    told: news.told,
    mostWaiting,
  });
  open.push(made);
  return made;
}

/** Lets time go on when the attempts before are over. */
async function tick(ms = 0): Promise<void> {
  await Promise.all(open.map((one) => one.settled()));
  clock.advance(ms);
}

/** Lets time go on in steps in which no request is late, because answers come in real time. */
async function pass(webhooks: Webhooks, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5_000) {
    clock.advance(5_000);
    await webhooks.settled();
  }
}

const ended = (call: string) =>
  ({
    agent: { name: 'desk' },
    call,
    type: 'call.ended',
    body: `{"type":"call.ended","data":{"call":"${call}"}}`,
  }) as const;

const waitingFiles = (): string[] => readdirSync(join(dir, 'waiting'));

describe('a signature', () => {
  it('is that of the standard', () => {
    const key = webhookKey(vectorSecret);
    const body = '{"type":"call.ended","data":{"n":1}}';
    expect(
      signatureOf({ id: 'msg_test_1', timestamp: 1_700_000_000, body }, key === undefined ? [] : [key]),
    ).toBe('v1,+C01B1jVaAEn66ric5ZU69ehvApF2rCiDBq316hkZHg=');
  });

  it('is taken by the standard package, by the present secret and by the one before', async () => {
    const webhooks = newWebhooks(endpoint({ secrets: [secret, oldSecret] }));
    webhooks.tell({ ...ended('a'), body: '{"type":"call.ended","data":{"name":"Zoë \\u0000 😀"}}' });
    clock.advance(0);
    await news.until(() => news.count('delivered') === 1);
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    for (const one of [secret, oldSecret])
      expect(new Webhook(one).verify(body, headers as Record<string, string>)).toMatchObject({
        type: 'call.ended',
      });
    expect(() => new Webhook(vectorSecret).verify(body, headers as Record<string, string>)).toThrow();
    expect(headers['content-type']).toBe('application/json');
  });

  it.each(['', 'whsec_', 'whsec_c2hvcnQ=', `whsec_${Buffer.alloc(65).toString('base64')}`, 'no base64!'])(
    'has no key from %j',
    (text) => expect(webhookKey(text)).toBeUndefined(),
  );
});

describe('the id of an event', () => {
  it('is the same for the same event, and another for any other', () => {
    expect(webhookId('a', 'call.ended')).toBe(webhookId('a', 'call.ended'));
    const ids = ['a', 'b'].flatMap((call) => callEvents.map((event) => webhookId(call, event)));
    expect(new Set(ids).size).toBe(8);
    for (const id of ids) expect(id).toMatch(/^msg_[0-9a-f]{32}$/);
  });
});

describe('the schedule', () => {
  const made = { now: 1_000_000, chance: 0 };
  const status = (code: number, retryAfter?: string) =>
    ({ kind: 'status', status: code, retryAfter }) as const;

  it('is that of the standard, and ends after 75 hours', () => {
    const total = waits.reduce((sum, wait) => sum + wait, 0);
    expect(total).toBe(((75 * 60 + 35) * 60 + 5) * 1000);
    expect(afterAttempt({ ...made, attempts: 1 }, status(500))).toEqual({ type: 'again', at: 1_005_000 });
    expect(afterAttempt({ ...made, attempts: 10 }, status(500))).toEqual({ type: 'given_up' });
    expect(afterAttempt({ ...made, attempts: 2, chance: 1 }, status(500))).toEqual({
      type: 'again',
      at: 1_330_000,
    });
  });

  it.each([301, 302, 307, 400, 401, 404, 500])('tries again after %i', (code) => {
    expect(afterAttempt({ ...made, attempts: 1 }, status(code))).toEqual({ type: 'again', at: 1_005_000 });
  });

  it('is over after 410 and after any 2xx', () => {
    expect(afterAttempt({ ...made, attempts: 1 }, status(410))).toEqual({ type: 'disabled' });
    for (const code of [200, 201, 204, 299])
      expect(afterAttempt({ ...made, attempts: 1 }, status(code))).toEqual({ type: 'delivered' });
  });

  it.each([429, 502, 503, 504])('leaves the endpoint alone after %i for as long as it asks', (code) => {
    expect(afterAttempt({ ...made, attempts: 1 }, status(code, '120'))).toEqual({
      type: 'again',
      at: 1_120_000,
      pauseUntil: 1_120_000,
    });
    expect(afterAttempt({ ...made, attempts: 2 }, status(code))).toEqual({
      type: 'again',
      at: 1_300_000,
      pauseUntil: 1_005_000,
    });
  });

  it.each([
    ['0', 0],
    [' 7 ', 7_000],
    ['Thu, 01 Jan 1970 00:20:00 GMT', 200_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['99999999', 24 * 3_600_000],
    ['soon', undefined],
    ['-5', undefined],
    ['2026', 2_026_000],
    ['', undefined],
    ['1e9', undefined],
    ['Thursday, 01-Jan-70 00:20:00 GMT', 200_000],
    ['Thu Jan  1 00:20:00 1970', 200_000],
  ])('reads retry-after %j, wherever the host stands', (text, expected) => {
    vi.stubEnv('TZ', 'America/New_York');
    expect(retryAfterMs(text, 1_000_000)).toBe(expected);
    vi.unstubAllEnvs();
  });
});

describe('a receiver', () => {
  it('that is down for an hour gets each event once', async () => {
    receiver.reply = answer(500);
    const webhooks = newWebhooks();
    for (const call of ['a', 'b', 'c']) webhooks.tell(ended(call));
    await pass(webhooks, 3_600_000);
    expect(news.count('again')).toBe(12);
    const tries = receiver.received.length;
    receiver.reply = answer(204);
    await pass(webhooks, 3 * 3_600_000);
    expect(news.count('delivered')).toBe(3);
    const after = receiver.received.slice(tries).map(({ headers }) => headers['webhook-id']);
    expect(after.toSorted()).toEqual(['a', 'b', 'c'].map((call) => webhookId(call, 'call.ended')).toSorted());
    expect(waitingFiles()).toEqual([]);
  });

  it('that is slow is asked again under the same id, and not two times at once', async () => {
    receiver.reply = () => undefined;
    newWebhooks().tell(ended('a'));
    await tick();
    await receiver.until(() => receiver.received.length === 1);
    clock.advance(14_000);
    expect(news.all).toEqual([]);
    receiver.reply = answer(200);
    clock.advance(1_000);
    await news.until(() => news.count('again') === 1);
    expect(news.all[0]).toMatchObject({ answer: { kind: 'trouble', trouble: 'timeout' } });
    await tick(5_000);
    await news.until(() => news.count('delivered') === 1);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(ids).toEqual([webhookId('a', 'call.ended'), webhookId('a', 'call.ended')]);
  });

  it('that sends elsewhere is not followed', async () => {
    const other = new Receiver();
    const elsewhere = await other.listen();
    receiver.reply = answer(307, { location: elsewhere });
    newWebhooks().tell(ended('a'));
    await tick();
    await news.until(() => news.count('again') === 1);
    expect(other.received).toEqual([]);
    await other.close();
  });

  it.each([
    ['promises more than it sends', { 'content-length': '1000000' }],
    ['sends more than it promises', { 'content-length': '1' }],
    ['sends without end', {}],
  ])('that %s has the event', async (_, headers) => {
    receiver.reply = (response) => {
      response.socket?.write(
        `HTTP/1.1 200 OK\r\n${Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}\r\nxxxxxxxxxxxx`,
      );
    };
    const webhooks = newWebhooks();
    for (const call of ['a', 'b', 'c']) webhooks.tell(ended(call));
    await tick();
    await news.until(() => news.count('delivered') === 3);
    expect(receiver.received.length).toBe(3);
    expect(news.count('again')).toBe(0);
  });

  it('that answers no HTTP is asked again', async () => {
    receiver.reply = (response) => void response.socket?.end('no HTTP at all\r\n\r\n');
    newWebhooks().tell(ended('a'));
    await tick();
    await news.until(() => news.count('again') === 1);
    expect(news.all[0]).toMatchObject({ answer: { trouble: 'unreachable' } });
  });

  it('that answers 410 gets nothing any more, also after a restart, until it is enabled', async () => {
    receiver.reply = answer(410);
    const webhooks = newWebhooks();
    webhooks.tell(ended('a'));
    await tick();
    await news.until(() => news.count('disabled') === 1);
    webhooks.tell(ended('b'));
    await webhooks.close();
    const next = newWebhooks();
    next.tell(ended('c'));
    await tick(100_000);
    expect(receiver.received.length).toBe(1);
    expect(readdirSync(join(dir, 'failed')).length).toBe(1);
    rmSync(join(dir, 'disabled', endpointId(endpoint())));
    next.tell(ended('d'));
    receiver.reply = answer(204);
    await tick();
    await news.until(() => news.count('delivered') === 1);
  });

  it('that has too much to do gets no other event meanwhile', async () => {
    receiver.reply = answer(429, { 'retry-after': '60' });
    const webhooks = newWebhooks();
    webhooks.tell(ended('a'));
    await tick();
    await news.until(() => news.count('again') === 1);
    receiver.reply = answer(204);
    webhooks.tell(ended('b'));
    await tick(50_000);
    expect(receiver.received.length).toBe(1);
    await tick(12_000);
    await news.until(() => news.count('delivered') === 2);
  });

  it('at a private address is refused, by its name as well, unless it is allowed', async () => {
    const port = new URL(url).port;
    const webhooks = newWebhooks(
      ...[
        url,
        `http://localhost:${port}/named`,
        `http://[::1]:${port}/six`,
        `http://2130706433:${port}/number`,
      ].map((one) => endpoint({ url: one, allowPrivate: false })),
    );
    webhooks.tell(ended('a'));
    await tick();
    await news.until(() => news.count('again') === 4);
    for (const one of news.all) expect(one).toMatchObject({ answer: { trouble: 'private_address' } });
    expect(receiver.received).toEqual([]);
  });

  it('gets the events that it asked for, beside others of the same agent', async () => {
    const other = new Receiver();
    const alarm = await other.listen();
    const webhooks = newWebhooks(
      endpoint(),
      endpoint({ url: alarm, events: ['call.failed'], secrets: [oldSecret] }),
    );
    webhooks.tell(ended('a'));
    webhooks.tell({ ...ended('a'), agent: { name: 'another' } });
    webhooks.tell({ ...ended('a'), type: 'call.failed', body: '{"type":"call.failed"}' });
    await tick();
    await news.until(() => news.count('delivered') === 3);
    expect(receiver.received.length).toBe(2);
    const [{ headers, body } = { headers: {}, body: '' }] = other.received;
    expect(other.received.length).toBe(1);
    expect(new Webhook(oldSecret).verify(body, headers as Record<string, string>)).toEqual({
      type: 'call.failed',
    });
    await other.close();
  });

  it('is sent to by four requests at a time, at most', async () => {
    const held: ServerResponse[] = [];
    receiver.reply = (response) => void held.push(response);
    const webhooks = newWebhooks();
    for (let call = 0; call < 9; call += 1) webhooks.tell(ended(String(call)));
    clock.advance(10_000);
    await receiver.until(() => held.length === 4);
    expect(receiver.received.length).toBe(4);
    receiver.reply = answer(200);
    for (const response of held) response.writeHead(200).end();
    await news.until(() => news.count('delivered') === 4);
    await tick(2_000);
    await news.until(() => news.count('delivered') === 8);
    await tick(2_000);
    await news.until(() => news.count('delivered') === 9);
  });
});

describe('what waits', () => {
  it('is sent by the next process, under the same id and by the same schedule', async () => {
    receiver.reply = answer(500);
    const first = newWebhooks();
    first.tell(ended('a'));
    await tick();
    await news.until(() => news.count('again') === 1);
    await first.close();
    receiver.reply = answer(204);
    newWebhooks();
    await tick(4_000);
    expect(receiver.received.length).toBe(1);
    await tick(1_500);
    await news.until(() => news.count('delivered') === 1);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('is sent by one process of several, and by the other when that is gone', async () => {
    receiver.reply = answer(500);
    const first = newWebhooks();
    const second = newWebhooks();
    second.tell(ended('a'));
    await tick(2_000);
    await news.until(() => news.count('again') === 1);
    expect(receiver.received.length).toBe(1);
    await first.close();
    receiver.reply = answer(204);
    await tick(8_000);
    await news.until(() => news.count('delivered') === 1);
  });

  it('is given up after the last attempt, and tried all over again when it is put back', async () => {
    receiver.reply = answer(500);
    newWebhooks().tell(ended('a'));
    for (let attempt = 1; attempt <= waits.length; attempt += 1) {
      await tick(waits[attempt - 1] ?? 0);
      // On a busy machine a request may be given up before it is received.
      await news.until(() => news.all.length >= attempt);
    }
    expect(news.count('given_up')).toBe(1);
    const [name = ''] = readdirSync(join(dir, 'failed'));
    expect(waitingFiles()).toEqual([]);
    renameSync(join(dir, 'failed', name), join(dir, 'waiting', name));
    receiver.reply = answer(204);
    await tick(2_000);
    await news.until(() => news.count('delivered') === 1);
  });

  it('is one event when it is told twice', async () => {
    receiver.reply = answer(500);
    const webhooks = newWebhooks();
    webhooks.tell(ended('a'));
    webhooks.tell(ended('a'));
    await tick();
    await news.until(() => news.count('again') === 1);
    webhooks.tell(ended('a'));
    expect(waitingFiles().length).toBe(1);
    expect(receiver.received.length).toBe(1);
  });

  it('is given up where its endpoint is in no agent file any more', async () => {
    receiver.reply = answer(500);
    const first = newWebhooks();
    first.tell(ended('a'));
    await tick();
    await news.until(() => news.count('again') === 1);
    await first.close();
    const next = newWebhooks(endpoint({ url: `${url}/other` }));
    for (const wait of waits.slice(1)) {
      await tick(wait + 2_000);
      await next.settled();
    }
    await news.until(() => news.count('given_up') === 1);
    expect(receiver.received.length).toBe(1);
  });

  it('is not sent without a signature', async () => {
    const webhooks = newWebhooks(endpoint({ secrets: [] }));
    webhooks.tell(ended('a'));
    await tick();
    await news.until(() => news.count('again') === 1);
    expect(receiver.received).toEqual([]);
    expect(news.all).toMatchObject([{ event: { last: { answer: 'no_secret' } } }]);
  });

  it('is bounded: the oldest is given up', () => {
    mostWaiting = 3;
    const webhooks = newWebhooks();
    for (const call of ['first', 'b', 'c', 'd']) webhooks.tell(ended(call));
    expect(waitingFiles().length).toBe(3);
    expect(news.all).toMatchObject([{ type: 'crowded_out', event: { call: 'first' } }]);
  });
});
