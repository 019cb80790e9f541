/** Telephone calls of Telnyx against the whole service: webhooks, streams, transfers and keys. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answer, sayAndCall } from '../../support/fakes/fake-chat.ts';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';
import { restarted, stopAll } from '../../support/process/succession.ts';
import { FakeBStream, FakeTelnyx, streamToken } from '../../support/telephony/fake-telnyx.ts';

let service: TestService;
let carrier: FakeTelnyx;
const callId = 'v3:abc_DEF-123';
const turn = '[telephony.destinations]\nbilling = "+15550100077"\n';

beforeEach(async () => {
  carrier = await new FakeTelnyx().start();
});

afterEach(async () => {
  await stopAll(service);
  await carrier.close();
});

async function start(options: TestServiceOptions = {}): Promise<void> {
  service = await TestService.start({ turn, ...options, env: { ...carrier.env, ...options.env } });
  carrier.listener = service.address('carrier_b');
}

/** A call that came in and is answered by the service. */
async function call(): Promise<FakeBStream> {
  const incoming = { call_control_id: callId, direction: 'incoming', state: 'parked', from: '+15550100001' };
  expect(await carrier.tell('call.initiated', incoming, { query: '?agent_route=sales' })).toBe(200);
  await carrier.until(() => carrier.streams.length > 0);
  const stream = carrier.streams.at(-1);
  if (stream === undefined) throw new Error('no stream');
  await stream.until(() => stream.status !== 0);
  expect(stream.status).toBe(101);
  return stream;
}

describe('a telephone call of carrier B', () => {
  it('is answered and streamed by the service, heard in order, and hung up when the agent ends it', async () => {
    await start({ greeting: 'Hello there.' });
    const stream = await call();
    await stream.until(() => stream.of('media').length > 20 && stream.pieces > 0);
    expect(carrier.of('streaming_start')[0]?.fields).toMatchObject({
      stream_bidirectional_mode: 'rtp',
      stream_bidirectional_codec: 'PCMU',
      stream_auth_token: streamToken,
      custom_parameters: [{ name: 'agent_route', value: 'sales' }],
    });
    service.providers.llm.script.push(sayAndCall('Goodbye.', 'end_call', {}));
    for (const code of [100003, 100005]) stream.send({ event: 'error', payload: { code } });
    for (const digit of '42#') stream.press(digit);
    await service.providers.llm.until(() => service.providers.llm.requests.length > 0);
    expect(JSON.stringify(service.providers.llm.requests[0]?.body['messages'])).toContain('keys: 42');
    await carrier.until(() => carrier.of('hangup').length > 0);
    expect(carrier.of('hangup')[0]?.path).toBe(`/calls/${encodeURIComponent(callId)}/actions/hangup`);
    expect(service.log.map((line) => JSON.stringify(line)).join()).not.toContain('5550100001');
    const complaints = service.log.filter(({ msg }) => msg === 'a carrier reports an error of its stream');
    expect(complaints).toMatchObject([{ call: callId, code: '100003' }]);
  });

  it('is told of to the new process after a restart, over a connection that the carrier has kept open', async () => {
    await start();
    await call();
    const [, fresh] = await restarted(service);
    const incoming = { call_control_id: 'v3:later', direction: 'incoming', state: 'parked' };
    expect(await carrier.tell('call.initiated', incoming)).toBe(200);
    const asked = await service.says('the carrier was asked', ({ call: id }) => id === 'v3:later');
    expect(asked['pid']).toBe(fresh);
  });

  it('is transferred: code 90045 stops the stream and repeats the command once with the suffix r1', async () => {
    await start();
    carrier.refusals.set('transfer', [{ status: 422, code: '90045' }]);
    const stream = await call();
    service.providers.llm.script.push(sayAndCall('One moment.', 'transfer_call', { destination: 'billing' }));
    for (const digit of '1#') stream.press(digit);
    await service.says('the carrier was asked', (line) => line['command'] === 'transfer');
    const [first, second] = carrier.of('transfer').map(({ fields }) => fields);
    expect(first).toMatchObject({ to: '+15550100077', timeout_secs: 30 });
    expect(second?.['command_id']).toBe(`${String(first?.['command_id'])}r1`);
    expect(carrier.of('streaming_stop').length).toBe(1);
    await service.says('call ended');
    // The caller is somebody else's: the end of the stream hangs nobody up.
    await service.readyWhen((body) => body['connections'] === 0);
    expect(carrier.of('hangup').length).toBe(0);
  });

  it('presses keys by the API, in upper case, for 250 ms each, and goes on', async () => {
    await start();
    const stream = await call();
    service.providers.llm.script.push(sayAndCall('', 'send_dtmf', { digits: '1wd#' }), answer('Done.'));
    for (const digit of '1#') stream.press(digit);
    await service.providers.llm.until(() => service.providers.llm.requests.length > 1);
    expect(carrier.of('send_dtmf')[0]?.fields).toMatchObject({ digits: '1wD#', duration_millis: 250 });
    expect(JSON.stringify(service.providers.llm.requests[1]?.body['messages'])).toContain('sent');
    expect(stream.closeCode).toBeUndefined();
  });
});

describe('a caller whom carrier B has answered and who gets no stream', () => {
  it('is hung up, whether the carrier refuses the stream or cannot open it', async () => {
    await start();
    carrier.refusals.set('streaming_start', [{ status: 422, code: '90015' }]);
    await carrier.tell('call.initiated', { call_control_id: callId, direction: 'incoming' });
    await carrier.until(() => carrier.of('hangup').length > 0);
    await carrier.tell('streaming.failed', { call_control_id: 'v3:other' });
    await carrier.until(() => carrier.of('hangup').length > 1);
    expect(carrier.of('hangup').map(({ path }) => decodeURIComponent(path))).toEqual([
      `/calls/${callId}/actions/hangup`,
      '/calls/v3:other/actions/hangup',
    ]);
  });
});

describe('a service that stops', () => {
  it('goes only when the callers whom it has are hung up, whose carrier would keep them in silence', async () => {
    await start({ greeting: 'Hello there.' });
    const stream = await call();
    await stream.until(() => stream.of('media').length > 0);
    carrier.refusals.set('hangup', [{ status: 503, code: '10016' }]);
    service.signal('SIGTERM');
    await service.ended;
    const asked = carrier.of('hangup').map(({ fields }) => fields['command_id']);
    expect(asked.length).toBe(2);
    expect(new Set(asked).size).toBe(1);
    expect(service.said('the carrier was asked')).toMatchObject({ command: 'hangup', outcome: 'ok' });
  });
});

describe('what is not a call of carrier B', () => {
  it('webhooks without its signature, or of other minutes, are refused; one that comes twice is one', async () => {
    await start();
    const incoming = { call_control_id: callId, direction: 'incoming' };
    const nowS = Math.floor(Date.now() / 1000);
    const bad = Buffer.alloc(64).toString('base64');
    expect(await carrier.tell('call.initiated', incoming, { signature: bad })).toBe(403);
    await service.says('a carrier was refused', (line) => line['code'] === 'bad_signature');
    expect(await carrier.tell('call.initiated', incoming, { atS: nowS - 400 })).toBe(403);
    expect(await carrier.tell('call.initiated', incoming, { atS: nowS + 400 })).toBe(403);
    expect(await carrier.tell('call.initiated', incoming, { id: 'same' })).toBe(200);
    expect(await carrier.tell('call.initiated', incoming, { id: 'same' })).toBe(200);
    await carrier.until(() => carrier.streams.length > 0);
    expect(carrier.of('answer').length).toBe(1);
  });

  it('streams with another token, on another path, or on a path that was used, are refused', async () => {
    await start();
    await call();
    const { pathname: path } = new URL(String(carrier.of('streaming_start')[0]?.fields['stream_url']));
    const refused: readonly (readonly [string, string])[] = [
      [path, 'another-token'],
      ['/carrier_b/stream/abc.def.ghi', streamToken],
      ['/carrier_b/stream', streamToken],
      [path, streamToken],
    ];
    for (const [where, token] of refused) {
      const stream = new FakeBStream(carrier.listener, { path: where, token, callId });
      carrier.streams.push(stream);
      await stream.until(() => stream.status !== 0);
      expect(stream.status).toBe(403);
    }
  });

  it('a binary frame, broken JSON, media of another stream, 1 MiB and a flood hurt no other call', async () => {
    await start({ greeting: 'This goes on and on for quite a while, as some answers do. '.repeat(12) });
    const good = await call();
    await good.until(() => good.of('media').length > 2);
    const media = (id: string, chunk = '1'): string =>
      JSON.stringify({ event: 'media', stream_id: id, media: { track: 'inbound', chunk, payload: '////' } });
    const bad: readonly (readonly [readonly (string | Buffer)[], number | undefined])[] = [
      [['{"event":'], 1002],
      [[Buffer.alloc(10)], undefined],
      [[media('stream-9')], undefined],
      [['x'.repeat(1_048_576)], 1009],
      [Array.from({ length: 5_000 }, (_, chunk) => media('stream-1', String(chunk + 10))), undefined],
    ];
    for (const [index, [frames, code]] of bad.entries()) {
      const id = `v3:bad-${index}`;
      const before = carrier.streams.length;
      await carrier.tell('call.initiated', { call_control_id: id, direction: 'incoming' });
      await carrier.until(() => carrier.streams.length > before);
      const stream = carrier.streams.at(-1);
      await stream?.until(() => stream.of('media').length > 2);
      for (const frame of frames) stream?.sendRaw(frame);
      const heard = stream?.of('media').length ?? 0;
      if (code === undefined) await stream?.until(() => stream.of('media').length > heard + 10);
      else await stream?.until(() => stream.closeCode === code);
      stream?.close();
    }
    const heard = good.of('media').length;
    await good.until(() => good.of('media').length > heard + 20);
    expect(good.closeCode).toBeUndefined();
  });
});
