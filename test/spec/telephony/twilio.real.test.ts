/** Telephone calls of Twilio against the whole service: the webhook, the stream, and what the caller says, hears and presses. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite, type Flite } from '../../../examples/demo/flite.ts';
import { answer } from '../../support/fakes/fake-chat.ts';
import {
  carrierEnv,
  FakeStream,
  postVoice,
  publicUrl,
  streamUrlOf,
} from '../../support/fakes/fake-twilio.ts';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';
import { restarted, stopAll } from '../../support/process/succession.ts';

let service: TestService;
let shared: TestService | undefined;
let flite: Flite;
const streams: FakeStream[] = [];
const longAnswer = 'This goes on and on for quite a while, as some answers do. '.repeat(12);

beforeAll(async () => {
  flite = await loadFlite();
});

afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  if (service !== shared) await stopAll(service);
});
afterAll(() => shared?.stop());

async function start(options: TestServiceOptions = {}): Promise<void> {
  service = await TestService.start({ ...options, env: { ...carrierEnv, ...options.env } });
}

/** One service for all tests that ask nothing special of it; each has a call of its own. */
async function plain(): Promise<void> {
  service = shared ??= await TestService.start({ env: carrierEnv });
}

const address = (): string => service.address('carrier_a');

/** The address that the webhook gives for the stream of a call. */
async function streamUrl(callSid: string, query = ''): Promise<string> {
  const response = await postVoice(address(), callSid, { query });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/xml']);
  return streamUrlOf(await response.text());
}

async function connect(options: ConstructorParameters<typeof FakeStream>[1]): Promise<FakeStream> {
  const stream = new FakeStream(address(), options);
  streams.push(stream);
  await stream.until(() => stream.status !== 0);
  return stream;
}

/** A telephone call that has begun. */
async function call(callSid = 'CA0001'): Promise<FakeStream> {
  const stream = await connect({ callSid, url: await streamUrl(callSid) });
  stream.begin({ agent_route: 'sales' });
  return stream;
}

const heard = (stream: FakeStream, frames: number): Promise<void> =>
  stream.until(() => stream.of('media').length >= frames);

describe('a telephone call of carrier A', () => {
  it('is greeted, understood and answered in mu-law, and ends when the caller hangs up', async () => {
    await start({ greeting: 'Hello there.' });
    const stream = await call();
    await heard(stream, 20);
    expect(stream.of('media').every((message) => message['streamSid'] === 'MZ0001')).toBe(true);
    service.providers.stt.utterances.push('what time is it');
    service.providers.llm.script.push(answer('It is noon.'));
    await stream.until(() => stream.pieces > 0);
    await stream.say(flite('What time is it?', { voice: 'slt', speed: 1 }));
    await service.providers.llm.until(() => service.providers.llm.requests.length > 0);
    const [request] = service.providers.llm.requests;
    expect(JSON.stringify(request?.body['messages'])).toContain('what time is it');
    const frames = stream.of('media').length;
    await heard(stream, frames + 20);
    stream.stop();
    await stream.until(() => stream.closeCode !== undefined);
    const ended = await service.says('call ended');
    expect(ended).toMatchObject({ call: 'CA0001', end: 'hangup' });
    await service.readyWhen((body) => body['connections'] === 0);
  });

  it('is interrupted: clear goes out, and the marks that come back at once count for nothing', async () => {
    await start({ greeting: longAnswer });
    const stream = await call();
    await heard(stream, 60);
    service.providers.stt.utterances.push('please stop that');
    service.providers.llm.script.push(answer('All right.'));
    void stream.say(flite('Please stop that now, I have heard enough.', { voice: 'slt', speed: 1 }));
    await stream.until(() => stream.of('clear').length > 0);
    await service.providers.llm.until(() => service.providers.llm.requests.length > 0);
    const messages = service.providers.llm.requests[0]?.body['messages'] as {
      role: string;
      content: string;
    }[];
    const said = messages.find(({ role }) => role === 'assistant')?.content ?? '';
    expect(said.length).toBeLessThan(longAnswer.length / 2);
  });

  it('hears keys', async () => {
    await start({ greeting: '' });
    const stream = await call();
    service.providers.llm.script.push(answer('Thank you.'));
    for (const digit of '42#') stream.press(digit);
    await service.providers.llm.until(() => service.providers.llm.requests.length > 0);
    expect(JSON.stringify(service.providers.llm.requests[0]?.body['messages'])).toContain(
      'pressed the keys: 42',
    );
  });

  it('outlives its worker: the voice goes on in the same stream', async () => {
    await start({ greeting: longAnswer, workers: 2 });
    const stream = await call();
    await heard(stream, 50);
    const { pid } = await service.says('call started');
    // Not in answer to a frame: a worker that dies in the very moment of a write leaves a connection that cannot go on.
    await service.readiness();
    process.kill(Number(pid), 'SIGKILL');
    expect((await service.says('the calls of a worker that is gone'))['takenUp']).toBe(1);
    const frames = stream.of('media').length;
    await heard(stream, frames + 50);
    expect(stream.closeCode).toBeUndefined();
  });

  it('goes on over a restart of the service, and new ones come in', async () => {
    await start({ greeting: longAnswer, env: { SVC_DRAIN_TIMEOUT: '60s' } });
    const stream = await call();
    await heard(stream, 20);
    await restarted(service);
    const frames = stream.of('media').length;
    await heard(stream, frames + 50);
    const second = await call('CA0002');
    await heard(second, 20);
  });
});

describe('what is not a call of carrier A', () => {
  it('a segment opens one call: the second is refused', async () => {
    await plain();
    const url = await streamUrl('CA0011');
    expect((await connect({ callSid: 'CA0011', url })).status).toBe(101);
    expect((await connect({ callSid: 'CA0011', url })).status).toBe(403);
  });

  it.each([
    ['a bad signature', { signature: 'AAAA' }, 403],
    ['an address that was made for nobody', { url: `${publicUrl}/abc.CA0001.x` }, 403],
    ['the address without a segment', { url: publicUrl }, 403],
  ])('%s is refused', async (_, wrong, status) => {
    await plain();
    const url = await streamUrl('CA0001');
    expect((await connect({ callSid: 'CA0001', url, ...wrong })).status).toBe(status);
  });

  it('a start for another call than the address was made for ends the stream', async () => {
    await plain();
    const stream = await connect({ callSid: 'CA0021', url: await streamUrl('CA0021') });
    stream.begin({}, 'CA0022');
    await stream.until(() => stream.closeCode !== undefined);
    expect(stream.closeCode).toBe(1008);
    expect(await service.says('the stream of a telephone call was closed')).toMatchObject({
      fault: 'start.callSid must be the call that this address was made for',
    });
  });

  it('a binary frame, broken JSON, media of another stream, 1 MiB and a flood hurt no other call', async () => {
    await start({ greeting: longAnswer });
    const good = await call('CA0009');
    const media = (streamSid: string): string =>
      JSON.stringify({ event: 'media', streamSid, media: { track: 'inbound', payload: '////' } });
    const bad: readonly (readonly [readonly (string | Buffer)[], number | undefined])[] = [
      [['{"event":'], 1002],
      [[Buffer.alloc(10)], undefined],
      [[media('MZ9999')], undefined],
      [['x'.repeat(1_048_576)], 1009],
      [Array.from({ length: 5_000 }, () => media('MZ0001')), undefined],
    ];
    for (const [index, [frames, code]] of bad.entries()) {
      const stream = await call(`CA100${index}`);
      await heard(stream, 2);
      for (const frame of frames) stream.sendRaw(frame);
      if (code === undefined) await heard(stream, stream.of('media').length + 10);
      else await stream.until(() => stream.closeCode === code);
      stream.close();
    }
    await heard(good, good.of('media').length + 20);
  });

  it('the webhook refuses what the carrier did not sign, and other methods and paths', async () => {
    await plain();
    expect((await postVoice(address(), 'CA0001', { signature: 'AAAA' })).status).toBe(403);
    expect((await postVoice(address(), '../..')).status).toBe(400);
    await service.says('a carrier was refused', (line) => line['code'] === 'bad_signature');
    const got = await fetch(`http://${address()}/carrier_a/voice`);
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await fetch(`http://${address()}/`, { method: 'POST' })).status).toBe(404);
    const large = await fetch(`http://${address()}/carrier_a/voice`, {
      method: 'POST',
      body: 'x'.repeat(100_000),
    });
    expect(large.status).toBe(413);
  });

  it('no number, token, secret or signature stands in a log line', async () => {
    await start({ env: { SVC_LOG_LEVEL: 'trace' }, greeting: 'Hello.' });
    const stream = await call();
    await heard(stream, 5);
    stream.stop();
    await service.says('call ended');
    const text = service.text.join('\n');
    for (const secret of ['5550100001', '5550100002', carrierEnv.SVC_CARRIER_A_AUTH_TOKEN, 's'.repeat(32)])
      expect(text).not.toContain(secret);
  });
});
