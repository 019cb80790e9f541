/** Warm transfers while the service stops or is restarted, without a folder (SVC_STATE_DIR) in which the next one would find them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sayAndCall } from '../../../support/fakes/fake-chat.ts';
import {
  carrierEnv,
  FakeStream,
  postEvent,
  postVoice,
  streamUrlOf,
} from '../../../support/fakes/fake-twilio.ts';
import { TestService } from '../../../support/process/service.ts';
import { restarted, stopAll, stopped } from '../../../support/process/succession.ts';
import { FakeTwilioApi } from '../../../support/telephony/fake-twilio-api.ts';

let service: TestService;
let api: FakeTwilioApi;
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
});

afterEach(async () => {
  await stopAll(service);
  await api.close();
});

const ask = (path: string, method = 'GET'): Promise<Response> =>
  fetch(`http://${service.address('callback')}${path}`, {
    method,
    headers: { authorization: `Bearer ${secret}` },
  });

const phaseIs = (phase: string): Promise<unknown> =>
  service.says('a warm transfer has moved', (line) => line['phase'] === phase);

/** A caller is on hold, and a destination rings. */
async function ringing(env: Readonly<Record<string, string>> = {}): Promise<string> {
  service = await TestService.start({
    turn,
    env: {
      ...{ ...carrierEnv, ...api.env, SVC_CARRIER_A_RESUME_STREAM: '1' },
      ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: secret, ...env },
    },
  });
  api.listener = service.address('carrier_a');
  const callSid = 'CA0001';
  const url = streamUrlOf(await (await postVoice(api.listener, callSid)).text());
  const stream = new FakeStream(api.listener, { callSid, url });
  api.streams.set(callSid, stream);
  await stream.until(() => stream.status !== 0);
  stream.begin();
  const args = { destination: 'billing', mode: 'warm', summary: 'An invoice.' };
  service.providers.llm.script.push(sayAndCall('One moment.', 'transfer_call', args));
  for (const digit of '1#') stream.press(digit);
  await phaseIs('rung');
  await service.says('call ended');
  const { transfers } = (await (await ask('/transfers')).json()) as { transfers: { handle: string }[] };
  return transfers[0]?.handle ?? '';
}

/** A person has picked up, and an operator joins them with the caller. */
async function picksUp(handle: string): Promise<void> {
  const person = { CallSid: 'CA9001', AnsweredBy: 'human' };
  await postEvent(api.listener, `/carrier_a/events/amd/${handle}`, person);
  expect((await ask(`/transfers/${handle}/complete_warm`, 'POST')).status).toBe(202);
  await phaseIs('joined');
}

it('a service that was told to stop goes on with them, as with calls', async () => {
  const handle = await ringing({ SVC_DRAIN_TIMEOUT: '30s' });
  service.signal('SIGTERM');
  await service.says('draining');
  await picksUp(handle);
  await service.says('stopped');
  expect(service.said('a warm transfer has moved', (line) => line['phase'] === 'returning')).toBeUndefined();
});

it('a service that stops for good leaves nobody on hold', async () => {
  await ringing({ SVC_DRAIN_TIMEOUT: '0ms' });
  service.signal('SIGTERM');
  await service.says('stopped');
  expect(api.requests.slice(2).map(({ path }) => path)).toEqual(['/Calls/CA9001.json', '/Calls/CA0001.json']);
  expect(api.twiml(2)).toBe('');
  expect(api.twiml(3)).toContain('<Connect><Stream');
});

it('a service that takes over has them', async () => {
  const handle = await ringing();
  const [old] = await restarted(service);
  // Until then it answers on the connections that it has.
  await stopped(service, old);
  await picksUp(handle);
});
