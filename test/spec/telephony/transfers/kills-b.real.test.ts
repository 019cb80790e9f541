/**
 * Warm transfers (docs/telephony.md) at Telnyx with the service killed in the middle of each step, in real processes: the carrier does what it
 * was asked and its answer never comes. The next service finds the caller, repeats nothing, and the caller is brought back, alone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sayAndCall } from '../../../support/fakes/fake-chat.ts';
import { TestService } from '../../../support/process/service.ts';
import { stopAll } from '../../../support/process/succession.ts';
import { FakeTelnyx } from '../../../support/telephony/fake-telnyx.ts';

let service: TestService;
let carrier: FakeTelnyx;
let stateDir: string;
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
  stateDir = mkdtempSync(join(tmpdir(), 'svc-kills-'));
});

afterEach(async () => {
  await stopAll(service);
  await carrier.close();
  rmSync(stateDir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const env = {
    ...{ ...carrier.env, SVC_CARRIER_B_CONNECTION_ID: 'conn-1', SVC_STATE_DIR: stateDir },
    ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: secret },
  };
  service = await TestService.start({ turn, env });
  carrier.listener = service.address('carrier_b');
}

async function restartedByDeath(): Promise<void> {
  service.signal('SIGKILL');
  await service.ended;
  await service.providers.close();
  await start();
}

/** The agent has asked for a warm transfer. */
async function asked(): Promise<void> {
  await carrier.tell('call.initiated', { call_control_id: callId, direction: 'incoming' });
  await carrier.until(() => carrier.streams.length > 0);
  const [stream] = carrier.streams;
  await stream?.until(() => stream.status !== 0);
  const args = { destination: 'billing', mode: 'warm', summary: 'An invoice.' };
  service.providers.llm.script.push(sayAndCall('One moment.', 'transfer_call', args));
  for (const digit of '1#') stream?.press(digit);
}

const ask = (path: string, method = 'GET'): Promise<Response> =>
  fetch(`http://${service.address('callback')}${path}`, {
    method,
    headers: { authorization: `Bearer ${secret}` },
  });

interface View {
  readonly handle: string;
  readonly phase: string;
}

async function view(): Promise<View | undefined> {
  return ((await (await ask('/transfers')).json()) as { transfers: View[] }).transfers[0];
}

const phaseIs = (phase: string): Promise<unknown> =>
  service.says('a warm transfer has moved', (line) => line['phase'] === phase);
const command = async (name: string): Promise<number> =>
  (await ask(`/transfers/${(await view())?.handle ?? ''}/${name}`, 'POST')).status;

/** The destination's leg as the carrier tells of it. */
const leg = (type: string, handle: string, more: object = {}): Promise<number> =>
  carrier.tell(type, {
    call_control_id: 'v3:leg',
    client_state: Buffer.from(`svc:leg:${handle}`).toString('base64'),
    ...more,
  });

/** The request that is not answered, and what an operator does to get there. */
const steps: readonly (readonly [step: string, silent: string, operator: string])[] = [
  ['1 caller parked', 'conferences', ''],
  ['2 agent leg dialled', 'calls', ''],
  ['3 joined, the summary', 'speak', 'complete_warm'],
  ['3 joined, the conference', 'join', 'complete_warm'],
  ['abort, the leg ended', 'hangup', 'abort_warm'],
  ['abort, the conference left', 'leave', 'abort_warm'],
  ['abort, the caller put back', 'streaming_start', 'abort_warm'],
];

describe('the service is killed in the middle of a warm transfer of carrier B', () => {
  it.each(steps)('%s', async (_, silent, operator) => {
    await start();
    if (silent !== 'streaming_start') carrier.silent.push(silent);
    await asked();
    if (operator !== '') {
      await phaseIs('rung');
      if (silent === 'streaming_start') carrier.silent.push(silent);
      const { handle = '' } = (await view()) ?? {};
      await leg('call.machine.detection.ended', handle, { result: 'human' });
      expect(await command(operator)).toBe(202);
      if (silent === 'join') {
        await carrier.until(() => carrier.of('speak').length > 0);
        await leg('call.speak.ended', handle);
      }
    }
    const times = silent === 'streaming_start' ? 2 : 1;
    await carrier.until(() => carrier.of(silent).length === times);
    await restartedByDeath();
    await service.says('a warm transfer is taken up');
    const found = await view();
    if (found !== undefined && ['parked', 'unsure'].includes(found.phase)) await command('abort_warm');
    await phaseIs('back');
    expect(await view()).toBeUndefined();
    const counts = ['conferences', 'calls', 'speak', 'join'].map((action) => carrier.of(action).length);
    const isJoined = operator === 'complete_warm';
    expect(counts).toEqual([
      1,
      silent === 'conferences' ? 0 : 1,
      Number(isJoined),
      Number(silent === 'join'),
    ]);
    // The agent has the caller, who is in no conference any more.
    await service.says('call started');
    expect([...carrier.inConference.keys()].filter((who) => who === callId)).toEqual([]);
    const ids = carrier.commands.map(({ path, fields }) => `${path} ${String(fields['command_id'])}`);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
