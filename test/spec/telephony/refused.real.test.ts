/** Telephone calls that the service cannot take are not answered: the caller hears that it is busy. Both carriers, on one service. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { carrierEnv, FakeStream, postVoice, streamUrlOf } from '../../support/fakes/fake-twilio.ts';
import { TestService } from '../../support/process/service.ts';
import { FakeTelnyx } from '../../support/telephony/fake-telnyx.ts';

const busy = '<Response><Reject reason="busy"/></Response>';
let service: TestService;
let carrier: FakeTelnyx;

beforeEach(async () => {
  carrier = await new FakeTelnyx().start();
  const env = { ...carrierEnv, ...carrier.env, SVC_MAX_SESSIONS: '1', SVC_DRAIN_TIMEOUT: '60s' };
  service = await TestService.start({ greeting: 'Hello there.', env });
  carrier.listener = service.address('carrier_b');
});

afterEach(async () => {
  await service.stop();
  await carrier.close();
});

const ring = (id: string): Promise<number> =>
  carrier.tell('call.initiated', { call_control_id: id, direction: 'incoming', from: '+15550100001' });

const askA = async (callSid: string): Promise<string> =>
  await (await postVoice(service.address('carrier_a'), callSid)).text();

/** Both carriers' callers are told so, and none of them was answered. */
async function refusesBoth(id: string): Promise<void> {
  expect(await askA(`CA${id}`)).toContain(busy);
  expect(await ring(`v3:${id}`)).toBe(200);
  await carrier.until(() => carrier.of('reject').some(({ path }) => path.includes(encodeURIComponent(id))));
  expect(carrier.of('answer').length).toBe(0);
}

async function open(callSid: string, url: string): Promise<FakeStream> {
  const stream = new FakeStream(service.address('carrier_a'), { callSid, url });
  await stream.until(() => stream.status === 101);
  stream.begin();
  await service.says('call started', (line) => line['call'] === callSid);
  return stream;
}

describe('a caller for whom there is no room', () => {
  it('is not answered: not while the service is full, nor while it drains', async () => {
    const first = await open('CA1', streamUrlOf(await askA('CA1')));
    await refusesBoth('full');
    expect(carrier.of('reject')[0]).toMatchObject({
      path: `/calls/${encodeURIComponent('v3:full')}/actions/reject`,
      fields: { cause: 'USER_BUSY' },
    });
    // A client that is not the carrier learns nothing about load.
    const stranger = await postVoice(service.address('carrier_a'), 'CA2', { signature: 'AAAA' });
    expect(stranger.status).toBe(403);
    expect(await service.metric('svc_refusals_total{reason="sessions_full"}')).toBe(2);
    first.stop();
    await service.readyWhen((body) => body['ready'] === 1);
    // A caller who was told to come has the place, though the stream is not open yet.
    const url = streamUrlOf(await askA('CA3'));
    expect(await askA('CA4')).toContain(busy);
    const second = await open('CA3', url);
    service.signal('SIGTERM');
    await service.says('draining');
    await refusesBoth('drains');
    second.close();
  });
});
