/**
 * Keys that callers press, in every way in which they come: nothing that the service keeps, sends or shows holds them, although the agent
 * reads them back.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shownSecret } from '../../../shared/calls/webhooks/secret.ts';
import { KeptRecords } from '../../support/calls/kept.ts';
import { Receiver } from '../../support/calls/receiver.ts';
import { answer } from '../../support/fakes/fake-chat.ts';
import { carrierEnv } from '../../support/fakes/fake-twilio.ts';
import { TestOperator } from '../../support/process/operator.ts';
import { beforeAskingAgain, TestService } from '../../support/process/service.ts';
import { Phone } from '../../support/sip/phone.ts';
import { FakeTelnyx } from '../../support/telephony/fake-telnyx.ts';
import { FakeTwilioApi } from '../../support/telephony/fake-twilio-api.ts';
import { FakeCollector } from '../../support/telemetry/fake-collector.ts';
import { phoneAtA } from '../../support/telephony/phones.ts';

/** No number of a log or a trace has this in it. */
const typed = '938417520643';
const readBack = 'nine three eight four one seven five two zero six four three';
const spoken = `You typed ${typed}, that is ${readBack}.`;
const leaks = [typed, Array.from(typed).join(' '), readBack, typed.slice(0, 6), 'nine three eight'];

const kept = new KeptRecords();
const hooks = new Receiver();
const collector = new FakeCollector();
const carrierB = new FakeTelnyx();
const api = new FakeTwilioApi();
let recordings: string;
let service: TestService;

const bearer = { authorization: 'Bearer calls-token' };

beforeAll(async () => {
  recordings = mkdtempSync(join(tmpdir(), 'svc-keys-'));
  const url = await hooks.listen();
  await Promise.all([collector.start(), carrierB.start(), api.start()]);
  service = await TestService.start({
    workers: 2,
    greeting: 'Hello.',
    agent: '[recording]\ntranscript = true',
    tables: `[[after_call.endpoints]]
url = "${url}"
secret_env = "TEST_HOOK_SECRET"
allow_http = true
allow_private = true`,
    env: {
      ...{ ...kept.env, ...carrierEnv, ...api.env, ...carrierB.env },
      ...{ SVC_SIP_ADDR: '127.0.0.1:0', SVC_SIP_RTP_PORTS: '31000-31998', SVC_CARRIER_A_RESUME_STREAM: '1' },
      ...{ SVC_RECORDING_DIR: recordings, SVC_CALLS_TOKEN: 'calls-token', SVC_LOG_LEVEL: 'trace' },
      ...{ SVC_LIVE_TOKEN: 'live-token', SVC_MONITOR_LISTEN_TOKEN: 'listen-token' },
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      TEST_HOOK_SECRET: shownSecret(Buffer.alloc(32, 5)),
    },
  });
  api.listener = service.address('carrier_a');
  carrierB.listener = service.address('carrier_b');
}, 60_000);

afterAll(async () => {
  await service.stop();
  await Promise.all([hooks.close(), collector.close(), carrierB.close(), api.close()]);
  kept.remove();
  rmSync(recordings, { recursive: true, force: true });
});

interface Caller {
  readonly press: (key: string) => unknown;
  readonly hangUp: () => unknown;
}

const ways: Readonly<Record<string, () => Promise<Caller>>> = {
  'a WebSocket message': async () => {
    const call = await service.call();
    return { press: (key) => call.sendDtmf(key), hangUp: () => call.hangUp() };
  },
  'carrier A': async () => {
    const stream = await phoneAtA(service, api).call('CA1');
    return { press: (key) => stream.press(key), hangUp: () => stream.stop() };
  },
  'carrier B': async () => {
    const incoming = { call_control_id: 'v3:keys', direction: 'incoming', state: 'parked' };
    await carrierB.tell('call.initiated', incoming);
    await carrierB.until(() => carrierB.streams.length > 0);
    const stream = carrierB.streams.at(-1);
    if (stream === undefined) throw new Error('no stream');
    await stream.until(() => stream.pieces > 0);
    return { press: (key) => stream.press(key), hangUp: () => stream.stop() };
  },
  'events of RFC 4733': async () => {
    const phone = await sipPhone();
    return { press: (key) => phone.press('0123456789*#'.indexOf(key)), hangUp: () => hangUp(phone) };
  },
  'INFO of SIP': async () => {
    const phone = await sipPhone();
    const type = 'application/dtmf-relay';
    return {
      press: (key) => phone.ask('INFO', { type, body: `Signal=${key}\r\nDuration=160\r\n` }),
      hangUp: () => hangUp(phone),
    };
  },
};

async function sipPhone(): Promise<Phone> {
  const address = service.said('listening', ({ listener }) => listener === 'sip')?.['address'];
  const phone = await Phone.open(Number(String(address).split(':').at(-1)));
  await phone.invite();
  phone.talk();
  await phone.until(() => phone.heard.length > 20);
  return phone;
}

async function hangUp(phone: Phone): Promise<void> {
  await phone.ask('BYE');
  phone.close();
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [readFileSync(join(entry.parentPath, entry.name), 'latin1')] : [],
  );
}

/** All that anybody can read of a call that is over. */
async function allOf(
  callId: string,
  operator: TestOperator,
): Promise<readonly (readonly [string, string])[]> {
  const record = await kept.of(callId);
  await hooks.until(() => hooks.received.some(({ body }) => body.includes(`"${record.id}"`)));
  await service.counted('svc_recordings_total{what="finished"}', (await kept.all()).length);
  while (!collector.spans.some(({ traceId }) => traceId === record.links.trace_id)) await beforeAskingAgain();
  const get = async (path: string, headers = bearer): Promise<string> =>
    (await service.get(path, headers)).text();
  return [
    ['record', JSON.stringify(record)],
    ['webhooks', JSON.stringify(hooks.received)],
    ['traces', JSON.stringify(collector.requests.map(({ body }) => body))],
    ['log', JSON.stringify([service.log, service.text])],
    ['history', await get(`/calls/record/${callId}`)],
    ['search', await get('/calls/list')],
    ['metrics', await get('/metrics')],
    ['operator', JSON.stringify(operator.told)],
    ['recordings', filesBelow(recordings).join('\n')],
    ['database', filesBelow(kept.folder).join('\n')],
  ];
}

const listen = async (call: string): Promise<TestOperator> => {
  const operator = new TestOperator(
    `ws://${service.address('health')}/live/calls/${call}/monitor`,
    'listen-token',
  );
  await operator.ready();
  return operator;
};

const newestCall = (): string => String(service.said('call started')?.['call']);

it.each(Object.keys(ways))('are kept nowhere when they come as %s', async (way) => {
  const { llm } = service.providers;
  const asked = llm.requests.length;
  const begun = service.log.filter(({ msg }) => msg === 'call started').length;
  const caller = await ways[way]?.();
  await service.until(() => service.log.filter(({ msg }) => msg === 'call started').length > begun);
  const call = newestCall();
  const operator = await listen(call);
  llm.script.push(answer(spoken));
  for (const key of `${typed}#`) await caller?.press(key);
  await llm.until(() => llm.requests.length > asked);
  // The agent itself gets them.
  expect(JSON.stringify(llm.requests.at(-1)?.body['messages'])).toContain(typed);
  await operator.until(() => operator.texts('bot.text').some((text) => text.includes('You typed')));
  await caller?.hangUp();
  const found = (await allOf(call, operator)).flatMap(([where, text]) =>
    leaks.some((leak) => text.includes(leak)) ? [where] : [],
  );
  expect(found).toEqual([]);
  expect((await kept.of(call)).dtmf.reduce((sum, { keys }) => sum + keys, 0)).toBe(13);
});

it('are kept nowhere by the worker that takes the call up', async () => {
  const { llm } = service.providers;
  const asked = llm.requests.length;
  llm.script.push(answer('Thank you.'), answer(spoken));
  const call = await service.call();
  for (const key of `${typed}#`) call.sendDtmf(key);
  await llm.until(() => llm.requests.length > asked);
  await call.next(({ type }) => type === 'mark-played');
  process.kill(await service.workerOf(call), 'SIGKILL');
  await service.says('call taken up', (line) => line['call'] === call.callId);
  call.sendText('What did I type?');
  await llm.until(() => llm.requests.length > asked + 1);
  const operator = await listen(call.callId);
  await call.next(({ type }) => type === 'mark-played');
  await call.hangUp();
  const all = await allOf(call.callId, operator);
  expect(all.flatMap(([where, text]) => (leaks.some((leak) => text.includes(leak)) ? [where] : []))).toEqual(
    [],
  );
  const { transcript, dtmf } = await kept.of(call.callId);
  expect(transcript.at(-1)?.text).toContain('You typed [redacted]');
  expect(dtmf.reduce((sum, { keys }) => sum + keys, 0)).toBe(13);
});
