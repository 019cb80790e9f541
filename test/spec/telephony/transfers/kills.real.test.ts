/**
 * Warm transfers (docs/telephony.md) with the service killed in the middle of each step, in real processes: the next service finds the caller,
 * repeats nothing, and an operator brings the caller back. The carrier does what it was asked and its answer never comes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sayAndCall } from '../../../support/fakes/fake-chat.ts';
import {
  carrierEnv,
  FakeStream,
  postEvent,
  postVoice,
  streamUrlOf,
} from '../../../support/fakes/fake-twilio.ts';
import { TestService } from '../../../support/process/service.ts';
import { stopAll } from '../../../support/process/succession.ts';
import { FakeTwilioApi, type Reply } from '../../../support/telephony/fake-twilio-api.ts';

let service: TestService;
let api: FakeTwilioApi;
let stateDir: string;
const secret = 'o'.repeat(32);
const callSid = 'CA0001';
const turn = `
[telephony]
warm_transfer = true
caller_id = "+15550100002"
[telephony.destinations]
billing = "+15550100077"
`;

beforeEach(async () => {
  api = await new FakeTwilioApi().start();
  stateDir = mkdtempSync(join(tmpdir(), 'svc-kills-'));
});

afterEach(async () => {
  await stopAll(service);
  await api.close();
  rmSync(stateDir, { recursive: true, force: true });
});

async function start(workers = 1): Promise<void> {
  const env = {
    ...{ ...carrierEnv, ...api.env, SVC_CARRIER_A_RESUME_STREAM: '1', SVC_STATE_DIR: stateDir },
    ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: secret },
  };
  service = await TestService.start({ turn, workers, env });
  api.listener = service.address('carrier_a');
}

async function restartedByDeath(): Promise<void> {
  service.signal('SIGKILL');
  await service.ended;
  await service.providers.close();
  await start();
}

/** The agent has asked for a warm transfer. */
async function asked(): Promise<void> {
  const response = await postVoice(service.address('carrier_a'), callSid);
  const stream = new FakeStream(service.address('carrier_a'), {
    callSid,
    url: streamUrlOf(await response.text()),
  });
  api.streams.set(callSid, stream);
  await stream.until(() => stream.status !== 0);
  stream.begin();
  const args = { destination: 'billing', mode: 'warm', summary: 'An invoice.' };
  service.providers.llm.script.push(sayAndCall('One moment.', 'transfer_call', args));
  for (const digit of '1#') stream.press(digit);
}

const ask = (path: string, method = 'GET'): Promise<Response> =>
  fetch(`http://${service.address('callback')}${path}`, {
    method,
    headers: { authorization: `Bearer ${secret}` },
  });

async function view(): Promise<{ readonly handle: string; readonly phase: string } | undefined> {
  const { transfers } = (await (await ask('/transfers')).json()) as {
    transfers: { handle: string; phase: string }[];
  };
  return transfers[0];
}

const phaseIs = (phase: string): Promise<unknown> =>
  service.says('a warm transfer has moved', (line) => line['phase'] === phase);
const command = async (name: string): Promise<number> =>
  (await ask(`/transfers/${(await view())?.handle ?? ''}/${name}`, 'POST')).status;

/** The requests of a transfer up to the one that is not answered, and what an operator does to get there. */
const steps: readonly (readonly [step: string, replies: readonly Reply[], operator: string])[] = [
  ['1 caller parked', ['silent'], ''],
  ['2 agent leg dialled', [200, 'silent'], ''],
  ['3 joined', [200, 200, 'silent'], 'complete_warm'],
  ['abort, the leg ended', [200, 200, 'silent'], 'abort_warm'],
  ['abort, the caller put back', [200, 200, 200, 'silent'], 'abort_warm'],
];

describe('the service is killed in the middle of a warm transfer', () => {
  it.each(steps)('%s', async (_, replies, operator) => {
    await start();
    api.staysForSummary = false;
    api.replies.push(...replies);
    await asked();
    if (operator !== '') {
      await phaseIs('rung');
      const path = `/carrier_a/events/amd/${(await view())?.handle ?? ''}`;
      await postEvent(service.address('carrier_a'), path, { CallSid: 'CA9001', AnsweredBy: 'human' });
      expect(await command(operator)).toBe(202);
    }
    await api.until(() => api.requests.length === replies.length);
    await restartedByDeath();
    await service.says('a warm transfer is taken up');
    const found = await view();
    // A leg that was never to be joined is in no conference: its caller is brought back without an operator.
    if (found !== undefined && ['parked', 'unsure'].includes(found.phase)) await command('abort_warm');
    await phaseIs('back');
    expect(await view()).toBeUndefined();
    const twimls = api.requests.map(({ form }) => form['Twiml'] ?? '');
    expect(api.requests.filter(({ path }) => path === '/Calls.json').length).toBe(replies.length > 1 ? 1 : 0);
    expect(twimls.filter((twiml) => twiml.includes('startConferenceOnEnter="false"')).length).toBe(1);
    expect(twimls.filter((twiml) => twiml.includes('<Say')).length).toBe(
      operator === 'complete_warm' ? 1 : 0,
    );
    // The agent has the caller.
    expect(api.requests.at(-1)?.path).toBe(`/Calls/${callSid}.json`);
    await service.says('call started');
  });
});

describe('the worker is killed', () => {
  it('while the caller is being parked: the transfer goes on', async () => {
    await start(2);
    await asked();
    await api.until(() => api.requests.length > 0);
    process.kill(Number((await service.says('call started'))['pid']), 'SIGKILL');
    await phaseIs('rung');
    expect(api.requests.length).toBe(2);
  });
});

describe('a destination', () => {
  it('that hangs up over the summary: the caller is back with the bot', async () => {
    await start();
    api.staysForSummary = false;
    await asked();
    await phaseIs('rung');
    const { handle = '' } = (await view()) ?? {};
    const tell = (kind: string, fields: Readonly<Record<string, string>>): Promise<Response> =>
      postEvent(service.address('carrier_a'), `/carrier_a/events/${kind}/${handle}`, {
        CallSid: 'CA9001',
        ...fields,
      });
    await tell('amd', { AnsweredBy: 'human' });
    expect(await command('complete_warm')).toBe(202);
    await phaseIs('meeting');
    await tell('leg', { CallStatus: 'completed' });
    await phaseIs('back');
    expect(api.requests.at(-1)?.form['Twiml']).toContain('<Connect><Stream url="wss://');
  });
});
