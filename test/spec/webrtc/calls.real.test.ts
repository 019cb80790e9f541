/** WebRTC calls (docs/webrtc.md, A call) against the whole service, by a client that shares no code with it. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite, type Flite } from '../../../examples/demo/flite.ts';
import { answer } from '../../support/fakes/fake-chat.ts';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';
import { restarted, stopAll, stopped } from '../../support/process/succession.ts';
import { type CallerOptions, WeriftCaller } from '../../support/webrtc/werift-caller.ts';

let service: TestService;
let flite: Flite;
const callers: WeriftCaller[] = [];

beforeAll(async () => {
  flite = await loadFlite();
});

afterEach(async () => {
  for (const caller of callers.splice(0)) await caller.close();
  await stopAll(service);
});

async function start(options: TestServiceOptions = {}): Promise<void> {
  service = await TestService.start({ ...options, env: { SVC_WEBRTC_ADDR: '127.0.0.1:0', ...options.env } });
}

const whip = (): string => `http://${service.address('webrtc')}/whip`;

async function call(options: CallerOptions = {}): Promise<WeriftCaller> {
  const caller = new WeriftCaller(options);
  callers.push(caller);
  const response = await caller.call(whip());
  expect(response.status).toBe(201);
  await caller.connected();
  return caller;
}

/** Packets with sound in them, and not those of a pause. */
const audible = (caller: WeriftCaller): number =>
  caller.packets.filter(({ payload }) => payload.length > 20).length;

describe('a WebRTC call', () => {
  it('is greeted, understood and answered, and ends when the session URL is deleted', async () => {
    await start({ greeting: 'Hello there.' });
    const caller = await call();
    await caller.until(() => audible(caller) >= 20);
    service.providers.stt.utterances.push('what time is it');
    service.providers.llm.script.push(answer('It is noon.'));
    const voice = flite('What time is it?', { voice: 'slt', speed: 1 });
    await caller.say(voice);
    await caller.say(new Int16Array(32_000));
    // Earlier ones may be speculation on half of the question.
    await service.providers.llm.until(() =>
      service.providers.llm.requests.some(({ body }) =>
        JSON.stringify(body['messages']).includes('what time is it'),
      ),
    );
    const before = audible(caller);
    await caller.until(() => audible(caller) >= before + 20);
    expect((await caller.hangUp()).status).toBe(200);
    expect(await service.says('call ended')).toMatchObject({ end: 'hangup' });
    await service.readyWhen((body) => body['connections'] === 0);
    expect((await caller.hangUp()).status).toBe(404);
  });

  it('goes on with another worker when its client comes back to the session URL', async () => {
    await start({ greeting: 'One two three four five six seven. '.repeat(10), workers: 2 });
    const caller = await call();
    await caller.until(() => audible(caller) >= 20);
    const told = fetch(caller.sessionUrl, { headers: { Prefer: 'wait=25' } });
    process.kill(Number((await service.says('call started'))['pid']), 'SIGKILL');
    await service.says('the calls of a worker that is gone', (line) => line['takenUp'] === 1);
    const word = await told;
    expect([word.status, await word.json()]).toEqual([200, { connection: 'lost' }]);
    const again = new WeriftCaller();
    callers.push(again);
    expect((await again.call(caller.sessionUrl)).status).toBe(201);
    expect(again.sessionUrl).toBe(caller.sessionUrl);
    await again.connected();
    await service.says('call taken up');
    await again.until(() => audible(again) >= 20);
    const toldOfNothing = fetch(again.sessionUrl, { headers: { Prefer: 'wait=25' } });
    expect((await again.hangUp()).status).toBe(200);
    expect((await toldOfNothing).status).toBe(204);
    await service.says('call ended');
  });
});

describe('a WebRTC call from before a restart', () => {
  it('is told at its session URL that its worker died, and goes on with another one of the old supervisor', async () => {
    const greeting = 'One two three four five six seven. '.repeat(10);
    await start({ greeting, workers: 2, env: { SVC_DRAIN_TIMEOUT: '60s' } });
    const caller = await call();
    await caller.until(() => audible(caller) >= 20);
    const [old] = await restarted(service);
    const told = fetch(caller.sessionUrl, { headers: { Prefer: 'wait=25' } });
    process.kill(Number((await service.says('call started'))['pid']), 'SIGKILL');
    const word = await told;
    expect([word.status, await word.json()]).toEqual([200, { connection: 'lost' }]);
    const again = new WeriftCaller();
    callers.push(again);
    expect((await again.call(caller.sessionUrl)).status).toBe(201);
    await again.connected();
    await again.until(() => audible(again) >= 20);
    expect((await again.hangUp()).status).toBe(200);
    await stopped(service, old);
  });
});

describe('a WebRTC call whose client comes back while its worker lives', () => {
  it('goes on at the other connection, and that the first one closes is no end', async () => {
    await start({ greeting: 'One two three four five six seven. '.repeat(10) });
    const caller = await call();
    await caller.until(() => audible(caller) >= 20);
    const again = new WeriftCaller();
    callers.push(again);
    expect((await again.call(caller.sessionUrl)).status).toBe(201);
    expect(again.sessionUrl).toBe(caller.sessionUrl);
    await caller.close();
    await again.connected();
    await again.until(() => audible(again) >= 20);
    service.providers.stt.utterances.push('what time is it');
    service.providers.llm.script.push(answer('It is noon.'));
    await again.say(flite('What time is it?', { voice: 'slt', speed: 1 }));
    await again.say(new Int16Array(32_000));
    await service.providers.llm.until(() => service.providers.llm.requests.length > 0);
    expect((await again.hangUp()).status).toBe(200);
    expect(await service.says('call ended')).toMatchObject({ end: 'hangup' });
    await service.readyWhen((body) => body['connections'] === 0);
  });

  it('refuses an offer that is none, and goes on as it was', async () => {
    await start({ greeting: 'One two three four five six seven. '.repeat(10) });
    const caller = await call();
    const offer = { method: 'POST', headers: { 'Content-Type': 'application/sdp' }, body: 'v=0' };
    expect((await fetch(caller.sessionUrl, offer)).status).toBe(400);
    const before = audible(caller);
    await caller.until(() => audible(caller) >= before + 20);
    expect((await caller.hangUp()).status).toBe(200);
  });
});

describe('the data channel of a WebRTC call', () => {
  it('takes typed text and keys, tells the conversation, and says when the call is over', async () => {
    await start({ greeting: '' });
    service.providers.llm.script.push(answer('It is noon.'));
    const caller = await call({ talks: true });
    const types = (): unknown[] => caller.messages.map(({ type }) => type);
    const events = ['user.text', 'bot.text', 'turn.bot_ended'];
    await caller.tell({ type: 'start', version: 1, sample_rate: 16_000, events });
    await caller.until(() => types().includes('started'));
    await caller.tell({ type: 'nonsense' });
    await caller.until(() => types().includes('error'));
    await caller.tell({ type: 'text', text: 'What time is it?' });
    await caller.until(() => types().includes('turn.bot_ended'));
    expect(caller.messages).toContainEqual(
      expect.objectContaining({ type: 'user.text', text: 'What time is it?' }),
    );
    expect(new Set(types())).toEqual(new Set(['started', 'error', ...events]));
    expect(audible(caller)).toBeGreaterThan(10);
    await caller.tell({ type: 'stop' });
    await caller.until(() => types().at(-1) === 'stop');
    expect(await service.says('call ended')).toMatchObject({ end: 'hangup' });
  });
});

describe('WebRTC signaling', () => {
  it('answers each row of its tables', async () => {
    const token = 'static-token-of-a-test';
    await start({ env: { SVC_WEBRTC_TOKEN: token, SVC_WEBRTC_OFFERS_PER_MINUTE: '2' } });
    const Authorization = `Bearer ${token}`;
    const sdp = { 'Content-Type': 'application/sdp' };
    const ask = (
      method: string,
      headers: Record<string, string>,
      body?: string,
      path = '',
    ): Promise<Response> =>
      fetch(`${whip()}${path}`, { method, headers, ...(body !== undefined && { body }) });
    const preflight = await ask('OPTIONS', { Origin: `http://${service.address('webrtc')}` });
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH');
    expect(preflight.headers.get('access-control-allow-origin')).toContain('http://127.0.0.1');
    expect((await ask('POST', { Authorization, 'Content-Type': 'text/plain' }, 'x')).status).toBe(415);
    expect((await ask('POST', { Authorization, ...sdp }, 'x'.repeat(70_000))).status).toBe(413);
    expect((await ask('POST', sdp, 'v=0')).status).toBe(401);
    expect((await ask('POST', { ...sdp, Authorization: 'Bearer no' }, 'v=0')).status).toBe(403);
    const foreign = { Authorization, ...sdp, Origin: 'https://elsewhere.example' };
    expect((await ask('POST', foreign, 'v=0')).status).toBe(403);
    const malformed = await ask('POST', { Authorization, ...sdp }, 'v=0');
    expect([malformed.status, malformed.headers.get('cache-control')]).toEqual([400, 'no-store']);
    const caller = new WeriftCaller();
    callers.push(caller);
    expect((await caller.call(whip(), { headers: { Authorization } })).status).toBe(201);
    expect(caller.sessionUrl).toMatch(/\/whip\/sessions\/[\da-f]{32}$/);
    const hurried = await ask('POST', { Authorization, ...sdp }, 'v=0');
    expect([hurried.status, Number(hurried.headers.get('retry-after')) > 0]).toEqual([429, true]);
    await caller.connected();
    const patch = (body: string): Promise<Response> =>
      fetch(caller.sessionUrl, {
        method: 'PATCH',
        headers: { Authorization, 'Content-Type': 'application/trickle-ice-sdpfrag' },
        body,
      });
    expect((await patch('a=mid:0\r\n')).status).toBe(204);
    expect((await patch('a=ice-ufrag:Other\r\na=ice-pwd:0123456789012345678901\r\n')).status).toBe(422);
    expect((await fetch(caller.sessionUrl, { headers: { Authorization } })).status).toBe(204);
    expect((await ask('GET', {}, undefined, '/ice')).status).toBe(200);
    // With a static token alone the URL is not enough to hang up.
    const refused = [await caller.hangUp(), await caller.hangUp({ Authorization: 'Bearer other' })];
    expect(refused.map(({ status }) => status)).toEqual([401, 403]);
    expect(await Promise.all(refused.map((one) => one.json()))).toMatchObject([
      { code: 'token_missing' },
      { code: 'token_invalid' },
    ]);
    expect((await caller.hangUp({ Authorization })).status).toBe(200);
  });
});
