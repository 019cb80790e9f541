/** Warm transfers (docs/telephony.md) on calls of Twilio against the whole service, with its worker and the service killed on the way. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answer, sayAndCall } from '../../../support/fakes/fake-chat.ts';
import { carrierEnv, FakeStream, postVoice, sign, streamUrlOf } from '../../../support/fakes/fake-twilio.ts';
import { FakeTwilioApi } from '../../../support/telephony/fake-twilio-api.ts';
import { TestService, type TestServiceOptions } from '../../../support/process/service.ts';
import { stopAll } from '../../../support/process/succession.ts';

let service: TestService;
let api: FakeTwilioApi;
let stateDir: string;
const streams: FakeStream[] = [];
const secret = 'o'.repeat(32);
const turn = `
[telephony]
warm_transfer = true
caller_id = "+15550100002"
[telephony.destinations]
billing = "+15550100077"
`;

beforeEach(async () => {
  api = await new FakeTwilioApi().start();
  stateDir = mkdtempSync(join(tmpdir(), 'svc-state-'));
});

afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  await stopAll(service);
  await api.close();
  rmSync(stateDir, { recursive: true, force: true });
});

async function start(options: TestServiceOptions = {}): Promise<void> {
  const env = {
    ...{ ...carrierEnv, ...api.env, SVC_CARRIER_A_RESUME_STREAM: '1', SVC_STATE_DIR: stateDir },
    ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: secret, ...options.env },
  };
  service = await TestService.start({ turn, ...options, env });
  api.listener = service.address('carrier_a');
}

/** A caller who has been parked by a warm transfer. */
async function parked(options: TestServiceOptions = {}): Promise<void> {
  await start(options);
  const callSid = 'CA0001';
  const response = await postVoice(service.address('carrier_a'), callSid);
  const url = streamUrlOf(await response.text());
  const stream = new FakeStream(service.address('carrier_a'), { callSid, url });
  streams.push(stream);
  api.streams.set(callSid, stream);
  await stream.until(() => stream.status !== 0);
  stream.begin();
  const args = { destination: 'billing', mode: 'warm', summary: 'An invoice & more.' };
  service.providers.llm.script.push(sayAndCall('One moment.', 'transfer_call', args));
  for (const digit of '1#') stream.press(digit);
  await api.until(() => api.requests.length > 1);
}

const phaseIs = (phase: string): Promise<unknown> =>
  service.says('a warm transfer has moved', (line) => line['phase'] === phase);

const ask = (path: string, method = 'GET', authorization = `Bearer ${secret}`): Promise<Response> =>
  fetch(`http://${service.address('callback')}${path}`, { method, headers: { authorization } });

async function handle(): Promise<string> {
  const { transfers } = (await (await ask('/transfers')).json()) as { transfers: { handle: string }[] };
  return transfers[0]?.handle ?? '';
}

/** The carrier tells something of the destination's leg. */
async function tell(kind: string, fields: Readonly<Record<string, string>>): Promise<number> {
  const path = `/carrier_a/events/${kind}/${await handle()}`;
  const form = { CallSid: 'CA9001', AccountSid: 'AC1', ...fields };
  const response = await fetch(`http://${service.address('carrier_a')}${path}`, {
    method: 'POST',
    headers: { 'X-Twilio-Signature': sign(`https://voice.example.com${path}`, form) },
    body: new URLSearchParams(form),
  });
  return response.status;
}

describe('a warm transfer', () => {
  it('parks the caller, rings outside of the conference, and joins after complete_warm', async () => {
    await parked();
    await phaseIs('rung');
    const tag = await handle();
    expect(api.twiml(0)).toContain(
      `endConferenceOnExit="true" beep="false" statusCallback="https://voice.example.com/carrier_a/events/conference/${tag}" statusCallbackEvent="join">svc-${tag}</Conference>`,
    );
    expect(api.twiml(0)).toContain('startConferenceOnEnter="false"');
    expect(api.requests[1]).toMatchObject({
      path: '/Calls.json',
      form: { To: '+15550100077', From: '+15550100002', Timeout: '30', AsyncAmd: 'true' },
    });
    expect(api.twiml(1)).toContain('<Pause length="120"/>');
    await service.says('call ended');
    const early = await ask(`/transfers/${tag}/complete_warm`, 'POST');
    expect([early.status, await early.text()]).toEqual([409, expect.stringContaining('not_answered')]);
    expect(await tell('amd', { AnsweredBy: 'human' })).toBe(200);
    expect((await ask(`/transfers/${tag}/complete_warm`, 'POST')).status).toBe(202);
    await phaseIs('joined');
    expect(api.twiml(2)).toContain(
      '<Say language="en-US">An invoice &amp; more.</Say><Dial><Conference startConferenceOnEnter="true"',
    );
    expect(await service.metric('svc_warm_transfers_total{end="joined"}')).toBe(1);
    const log = service.log.map((line) => JSON.stringify(line)).join();
    for (const canary of ['5550100077', '5550100002', 'An invoice', secret])
      expect(log).not.toContain(canary);
  });

  it('never joins a voicemail: the leg ends, and the caller comes back to the bot and its conversation', async () => {
    await parked({ agent: 'farewell = "Bye."' });
    await phaseIs('rung');
    await tell('amd', { AnsweredBy: 'machine_start' });
    await phaseIs('back');
    expect(api.requests[2]).toEqual({ path: '/Calls/CA9001.json', form: { Status: 'completed' } });
    expect(api.twiml(3)).toContain('<Connect><Stream url="wss://');
    await service.says(
      'call started',
      () => service.log.filter(({ msg }) => msg === 'call started').length > 1,
    );
    const stream = api.streams.get('CA0001');
    await stream?.until(() => stream.pieces > 0 && stream.handset.isIdle);
    service.providers.llm.script.push(answer('Fine.'));
    for (const digit of '2#') stream?.press(digit);
    await service.providers.llm.until(() => service.providers.llm.requests.length > 1);
    const messages = JSON.stringify(service.providers.llm.requests.at(-1)?.body['messages']);
    expect(messages).toContain('keys: 1');
    expect(messages).toContain('nobody could take your call');
  });

  it('abort_warm brings the caller back', async () => {
    await parked();
    await phaseIs('rung');
    expect((await ask(`/transfers/${await handle()}/abort_warm`, 'POST')).status).toBe(202);
    await phaseIs('back');
    expect(api.requests.at(-1)?.path).toBe('/Calls/CA0001.json');
  });

  it('a destination that is refused brings the caller back', async () => {
    api.replies.push(200, 400);
    await parked();
    await phaseIs('back');
  });

  it('an unknown outcome of the ringing leaves the caller parked, until an operator recovers them', async () => {
    api.replies.push(200, 503);
    await parked();
    await phaseIs('parked');
    expect(api.requests.length).toBe(2);
    expect((await ask(`/transfers/${await handle()}/abort_warm`, 'POST')).status).toBe(202);
    await phaseIs('back');
  });

  it('outlives its worker', async () => {
    await parked({ workers: 2 });
    await phaseIs('rung');
    process.kill(Number((await service.says('call started'))['pid']), 'SIGKILL');
    await tell('amd', { AnsweredBy: 'human' });
    expect((await ask(`/transfers/${await handle()}/complete_warm`, 'POST')).status).toBe(202);
    await phaseIs('joined');
  });

  it('outlives the service: it is found again, and the caller is brought back', async () => {
    await parked();
    await phaseIs('rung');
    const tag = await handle();
    service.signal('SIGKILL');
    await service.ended;
    await service.providers.close();
    await start();
    expect(await handle()).toBe(tag);
    expect((await ask(`/transfers/${tag}/abort_warm`, 'POST')).status).toBe(202);
    await phaseIs('back');
    expect(api.requests.filter(({ path }) => path === '/Calls.json').length).toBe(1);
  });
});

describe('the callback listener', () => {
  it.each([
    ['nothing', ''],
    ['another bearer token', `Bearer ${'x'.repeat(32)}`],
    ['another password', `Basic ${Buffer.from('desk:x').toString('base64')}`],
    ['the secret under another scheme', `Digest ${secret}`],
  ])('refuses %s', async (_, authorization) => {
    await start();
    expect((await ask('/transfers', 'GET', authorization)).status).toBe(401);
    const basic = `Basic ${Buffer.from(`desk:${secret}`).toString('base64')}`;
    expect((await ask('/transfers', 'GET', basic)).status).toBe(200);
    expect((await ask('/transfers/none/abort_warm', 'POST')).status).toBe(404);
    await stopAll(service);
  });
});
