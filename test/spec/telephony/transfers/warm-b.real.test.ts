/** Warm transfers (docs/telephony.md) on calls of Telnyx against the whole service: its steps, and each way back to the agent. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answer, sayAndCall } from '../../../support/fakes/fake-chat.ts';
import { samplesOf } from '../../../support/fakes/fake-speech.ts';
import { TestService, type TestServiceOptions } from '../../../support/process/service.ts';
import { stopAll } from '../../../support/process/succession.ts';
import { FakeTelnyx } from '../../../support/telephony/fake-telnyx.ts';

let service: TestService;
let carrier: FakeTelnyx;
const callId = 'v3:caller-1';
const secret = 'o'.repeat(32);
const turn = `
[telephony]
warm_transfer = true
caller_id = "+15550100002"
[telephony.destinations]
billing = "+15550100077"
`;

beforeEach(async () => {
  carrier = await new FakeTelnyx().start();
});

afterEach(async () => {
  await stopAll(service);
  await carrier.close();
});

const phaseIs = (phase: string): Promise<unknown> =>
  service.says('a warm transfer has moved', (line) => line['phase'] === phase);

/** A caller who has been parked while the destination rings. Resolves with the handle of the transfer. */
async function rung(options: TestServiceOptions = {}): Promise<string> {
  const env = {
    SVC_CARRIER_B_CONNECTION_ID: 'conn-1',
    SVC_CALLBACK_ADDR: '127.0.0.1:0',
    SVC_CALLBACK_SECRET: secret,
  };
  service = await TestService.start({ turn, ...options, env: { ...carrier.env, ...env, ...options.env } });
  carrier.listener = service.address('carrier_b');
  await carrier.tell('call.initiated', { call_control_id: callId, direction: 'incoming' });
  await carrier.until(() => carrier.streams.length > 0);
  const [stream] = carrier.streams;
  await stream?.until(() => stream.status !== 0);
  const args = { destination: 'billing', mode: 'warm', summary: 'An invoice & more.' };
  service.providers.llm.script.push(sayAndCall('One moment.', 'transfer_call', args));
  for (const digit of '1#') stream?.press(digit);
  await phaseIs('rung');
  // The carrier ends the stream of a caller who is in a conference.
  stream?.stop();
  return (await transfers())[0]?.['handle'] ?? '';
}

const ask = (path: string, method = 'GET'): Promise<Response> =>
  fetch(`http://${service.address('callback')}${path}`, {
    method,
    headers: { authorization: `Bearer ${secret}` },
  });
async function transfers(): Promise<Record<string, string>[]> {
  return ((await (await ask('/transfers')).json()) as { transfers: Record<string, string>[] }).transfers;
}

/** The carrier tells something of the destination's leg. */
const leg = (type: string, handle: string, more: object = {}): Promise<number> =>
  carrier.tell(type, {
    call_control_id: 'v3:leg',
    client_state: Buffer.from(`svc:leg:${handle}`).toString('base64'),
    ...more,
  });

describe('a warm transfer of carrier B', () => {
  it('1 caller parked, 2 agent leg dialled, 3 joined: the summary is spoken first, then both meet', async () => {
    const handle = await rung();
    expect(carrier.of('conferences')[0]?.fields).toMatchObject({
      call_control_id: callId,
      name: `svc-${handle}`,
      start_conference_on_create: false,
      beep_enabled: 'never',
    });
    expect(carrier.of('calls')[0]?.fields).toMatchObject({
      connection_id: 'conn-1',
      to: '+15550100077',
      from: '+15550100002',
    });
    expect(carrier.of('calls')[0]?.fields).not.toHaveProperty('conference_config');
    expect((await ask(`/transfers/${handle}/complete_warm`, 'POST')).status).toBe(409);
    await leg('call.answered', handle);
    expect((await ask(`/transfers/${handle}/complete_warm`, 'POST')).status).toBe(409);
    await leg('call.machine.detection.ended', handle, { result: 'human' });
    expect((await ask(`/transfers/${handle}/complete_warm`, 'POST')).status).toBe(202);
    await carrier.until(() => carrier.of('speak').length > 0);
    expect(carrier.of('speak')[0]?.fields).toMatchObject({ payload: 'An invoice & more.' });
    expect(carrier.of('join').length).toBe(0);
    await leg('call.speak.ended', handle);
    await phaseIs('joined');
    expect(carrier.of('join')[0]).toMatchObject({
      path: '/conferences/conference-1/actions/join',
      fields: { call_control_id: 'v3:leg', start_conference_on_enter: true, end_conference_on_exit: true },
    });
    await service.readyWhen((body) => body['connections'] === 0);
    expect(carrier.of('hangup').length).toBe(0);
    const ids = carrier.commands.map(({ fields }) => fields['command_id']);
    expect(new Set(ids).size).toBe(ids.length);
    expect(service.text.join('\n')).not.toMatch(/555010|An invoice/);
  });

  it('abort, voicemail: the leg ends, the summary is not heard, and the caller is back with the conversation', async () => {
    const handle = await rung();
    await leg('call.machine.detection.ended', handle, { result: 'machine' });
    await phaseIs('back');
    expect(carrier.of('hangup')[0]?.path).toBe('/calls/v3%3Aleg/actions/hangup');
    expect(carrier.of('leave')[0]?.fields).toMatchObject({ call_control_id: callId });
    expect([carrier.of('speak').length, carrier.of('join').length]).toEqual([0, 0]);
    await carrier.until(() => carrier.streams.length > 1);
    const again = carrier.streams.at(-1);
    // All of it was heard: a mark may stand inside of a sentence, too.
    const heardMs = samplesOf('Sorry, nobody could take your call.') / 24;
    await again?.until(
      () =>
        again.handset.heardMs > heardMs &&
        again.handset.isIdle &&
        again.messages.at(-1)?.['event'] === 'mark',
    );
    service.providers.llm.script.push(answer('Fine.'));
    for (const digit of '2#') again?.press(digit);
    await service.providers.llm.until(() => service.providers.llm.requests.length > 1);
    const messages = JSON.stringify(service.providers.llm.requests.at(-1)?.body['messages']);
    expect(messages).toContain('keys: 1');
    expect(messages).toContain('nobody could take your call');
  });

  it('abort, declined or no answer: the caller is put back when the leg is over', async () => {
    const handle = await rung();
    await leg('call.hangup', handle, { hangup_cause: 'call_rejected' });
    await phaseIs('back');
    expect(carrier.of('streaming_start').length).toBe(2);
    expect(carrier.of('hangup').length).toBe(0);
  });

  it('a caller who hangs up while it rings ends the leg', async () => {
    await rung();
    await carrier.tell('call.hangup', { call_control_id: callId });
    await carrier.until(() => carrier.of('hangup').length > 0);
    expect(carrier.of('hangup')[0]?.path).toBe('/calls/v3%3Aleg/actions/hangup');
    await phaseIs('gone');
    expect(await transfers()).toEqual([]);
  });
});
