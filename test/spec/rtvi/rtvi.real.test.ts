/** RTVI calls against the whole service: greeting, typed text in its three ways, an end, a worker's death, and who may call. */
import { afterEach, describe, expect, it } from 'vitest';
import { mintSessionToken } from '../../../shared/auth/mint.ts';
import { answer } from '../../support/fakes/fake-chat.ts';
import { accepting, RawAgent } from '../../support/raw-agent.ts';
import { FakeRtvi } from '../../support/rtvi/fake-rtvi.ts';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';
import { stopAll } from '../../support/process/succession.ts';

let service: TestService;
const clients: FakeRtvi[] = [];
const longAnswer = 'This goes on and on for quite a while, as some answers do. '.repeat(12);
const secret = 's'.repeat(32);

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await stopAll(service);
});

async function start(options: TestServiceOptions = {}): Promise<void> {
  service = await TestService.start({ ...options, env: { SVC_RTVI_ADDR: '127.0.0.1:0', ...options.env } });
}

async function connect(query = '', headers: Readonly<Record<string, string>> = {}): Promise<FakeRtvi> {
  const client = new FakeRtvi(`ws://${service.address('rtvi')}/${query}`, headers);
  clients.push(client);
  await client.until(() => client.status !== 0);
  return client;
}

async function call(): Promise<FakeRtvi> {
  const client = await connect();
  client.send('client-ready', { version: '2.1.0' });
  await client.until(() => client.of('bot-ready').length === 1);
  return client;
}

const lastRequest = (): string => JSON.stringify(service.providers.llm.requests.at(-1)?.body['messages']);

describe('a call by RTVI', () => {
  it('is greeted at 24 kHz, answers typed text aloud, and ends by disconnect-bot', async () => {
    await start({ greeting: 'Hello there.' });
    const client = await call();
    await client.until(() => client.of('bot-stopped-speaking').length === 1);
    expect(new Set(client.audio.map(({ sampleRate }) => sampleRate))).toEqual(new Set([24_000]));
    service.providers.llm.script.push(answer('It is noon.'));
    const frames = client.audio.length;
    client.send('send-text', { content: 'What time is it?' });
    await client.until(() => client.of('bot-stopped-speaking').length === 2);
    expect(lastRequest()).toContain('What time is it?');
    expect(client.audio.length).toBeGreaterThan(frames);
    const completed = client.of('bot-output').filter(({ spoken_status }) => spoken_status === 'completed');
    expect(completed.map(({ text }) => text)).toEqual(['Hello there.', 'It is noon.']);
    client.send('disconnect-bot', {});
    await client.until(() => client.closeCode === 1000);
    expect(await service.says('call ended')).toMatchObject({ end: 'hangup' });
  });

  it('answers as text alone where that is asked, and remembers what is not to be answered', async () => {
    await start({ greeting: '' });
    const client = await call();
    client.send('send-text', { content: 'I am Ann.', options: { run_immediately: false } });
    service.providers.llm.script.push(answer('Hello Ann.'), answer('Still Ann.'));
    client.send('send-text', { content: 'Who am I?', options: { audio_response: false } });
    await client.until(() => client.of('bot-llm-stopped').length === 1);
    expect(lastRequest()).toContain('I am Ann.');
    client.send('send-text', { content: 'And now?', options: { audio_response: false } });
    await client.until(() => client.of('bot-llm-stopped').length === 2);
    // What was only read is part of the conversation, and nothing of it was spoken.
    expect(lastRequest()).toContain('Hello Ann.');
    expect([client.audio.length, client.of('bot-started-speaking').length]).toEqual([0, 0]);
  });

  it('outlives its worker: the voice goes on in the same connection', async () => {
    await start({ greeting: longAnswer, workers: 2 });
    const client = await call();
    await client.until(() => client.audio.length > 50);
    const { pid } = await service.says('call started');
    await service.readiness();
    process.kill(Number(pid), 'SIGKILL');
    expect((await service.says('the calls of a worker that is gone'))['takenUp']).toBe(1);
    const frames = client.audio.length;
    await client.until(() => client.audio.length > frames + 50);
    expect([client.closeCode, client.of('bot-started-speaking').length]).toEqual([undefined, 1]);
  });
});

describe('a call by RTVI in text frames', () => {
  it('is greeted, answers typed text aloud, hears audio, and ends by disconnect-bot', async () => {
    await start({ greeting: 'Hello there.' });
    const client = new FakeRtvi(`ws://${service.address('rtvi')}/`, {}, { isText: true });
    clients.push(client);
    await client.until(() => client.status !== 0);
    client.send('client-ready', { version: '2.2.0' });
    await client.until(() => client.of('bot-stopped-speaking').length === 1);
    // As Pipecat's evals put the texts of an answer together.
    expect([client.of('bot-llm-started').length, client.of('bot-llm-stopped').length]).toEqual([1, 1]);
    const [audio] = client.of('bot-tts-audio');
    expect(audio).toMatchObject({ sample_rate: 24_000, num_channels: 1 });
    expect(Buffer.from(String(audio?.['audio']), 'base64')).toHaveLength(960);
    service.providers.llm.script.push(answer('It is noon.'));
    client.send('send-text', { content: 'What time is it?' });
    await client.until(() => client.of('bot-stopped-speaking').length === 2);
    expect(lastRequest()).toContain('What time is it?');
    client.send('disconnect-bot', {});
    await client.until(() => client.closeCode === 1000);
    expect(client.unreadable).toBe(0);
  });

  it('outlives its worker, and is spoken to in text frames by the next one', async () => {
    await start({ greeting: longAnswer, workers: 2 });
    const client = new FakeRtvi(`ws://${service.address('rtvi')}/`, {}, { isText: true });
    clients.push(client);
    await client.until(() => client.status !== 0);
    client.send('client-ready', { version: '2.2.0' });
    await client.until(() => client.of('bot-tts-audio').length > 50);
    const { pid } = await service.says('call started');
    await service.readiness();
    process.kill(Number(pid), 'SIGKILL');
    expect((await service.says('the calls of a worker that is gone'))['takenUp']).toBe(1);
    const frames = client.of('bot-tts-audio').length;
    await client.until(() => client.of('bot-tts-audio').length > frames + 50);
    expect([client.closeCode, client.unreadable]).toEqual([undefined, 0]);
  });
});

describe('messages between a page and its agent process', () => {
  it('a client-message reaches the agent, its answer the page, and a message of the agent as well', async () => {
    const agent = await RawAgent.start((event, session) => {
      accepting()(event, session);
      if (event.type !== 'client.message') return;
      const { name, message_id: answers, data } = event;
      session.send({ type: 'client.send', data: { was: data }, answers, name });
      session.send({ type: 'client.send', data: ['for all'] });
    });
    await start({ greeting: '', env: { SVC_AGENT_URL: agent.url } });
    const client = await call();
    client.send('client-message', { t: 'cart', d: { items: 1 } });
    await client.until(() => client.of('server-message').length === 1);
    expect(client.of('server-response')).toEqual([{ t: 'cart', d: { was: { items: 1 } } }]);
    expect(client.of('server-message')).toEqual([['for all']]);
    await agent.close();
  });

  it('without an agent the page is told that nobody takes it', async () => {
    await start({ greeting: '' });
    const client = await call();
    client.send('client-message', { t: 'cart' });
    await client.until(() => client.of('error-response').length === 1);
  });
});

describe('who may call', () => {
  it.each([
    ['no token', '', 401],
    ['a token of another listener', () => tokenFor('svc-ws'), 403],
    ['its own token', () => tokenFor('svc-rtvi'), 101],
    ['the static token', '?token=static-token-of-rtvi', 101],
  ])('%s', async (_, query, status) => {
    await start({ env: { SVC_SESSION_SECRET: secret, SVC_RTVI_TOKEN: 'static-token-of-rtvi' } });
    expect((await connect(typeof query === 'string' ? query : query())).status).toBe(status);
  });

  it('a page of another origin may not, unless it is named', async () => {
    await start({ env: { SVC_RTVI_ORIGINS: 'https://app.example' } });
    expect((await connect('', { Origin: 'https://evil.example' })).status).toBe(403);
    expect((await connect('', { Origin: 'https://app.example' })).status).toBe(101);
  });
});

function tokenFor(aud: 'svc-ws' | 'svc-rtvi'): string {
  const token = mintSessionToken(
    { aud, ttlS: 60, sid: `sid-${aud}` },
    { secret, nowS: Math.floor(Date.now() / 1000) },
  );
  if (!token.ok) throw new Error(token.error);
  return `?token=${token.value}`;
}
