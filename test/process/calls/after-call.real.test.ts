/** What follows on a call of the running service: its events, once by id, its analysis, and nothing of what is private. */
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { shownSecret } from '../../../shared/calls/webhooks/secret.ts';
import { KeptRecords } from '../../support/calls/kept.ts';
import { answer, Receiver } from '../../support/calls/receiver.ts';
import { answer as says, FakeChat } from '../../support/fakes/fake-chat.ts';
import { TestService } from '../../support/process/service.ts';

const secret = shownSecret(Buffer.alloc(32, 5));
const kept = new KeptRecords();
const receiver = new Receiver();
const analysis = {
  summary: 'Somebody paid.',
  success: { paid: { answer: 'yes', quote: 'my card is' } },
  labels: ['payment'],
};
const analyst = new FakeChat(says(JSON.stringify(analysis)));
let service: TestService;

beforeAll(async () => {
  const url = await receiver.listen();
  await analyst.start();
  service = await TestService.start({
    workers: 2,
    greeting: 'Hello.',
    turn: `speculate = false
[privacy]
redact = ["card"]
[after_call]
url = "${url}"
secret_env = "TEST_HOOK_SECRET"
allow_private = true
[after_call.analysis]
success = { paid = "The caller paid." }
labels = ["payment", "question"]
[after_call.analysis.llm]
provider = "chat_compatible"
[after_call.analysis.llm.chat_compatible]
base_url = "${analyst.baseUrl}"
model = "judge"`,
    env: { ...kept.env, TEST_HOOK_SECRET: secret },
  });
});

afterEach(() => {
  receiver.reply = answer(204);
});

afterAll(async () => {
  await service.stop();
  await Promise.all([receiver.close(), analyst.close()]);
  kept.remove();
});

interface Told {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Events that arrived of a call, by their ids, each verified as receivers do. */
function eventsOf(callId: string): ReadonlyMap<string, Told> {
  const told = receiver.received.map(({ headers, body }): [string, Told] => [
    String(headers['webhook-id']),
    new Webhook(secret).verify(body, headers as Record<string, string>) as Told,
  ]);
  return new Map(told.filter(([, { data }]) => data['call_id'] === callId));
}

const typesOf = (callId: string): string[] =>
  [...eventsOf(callId).values()].map(({ type }) => type).toSorted();

async function talk(call: CallClient, text: string): Promise<void> {
  service.providers.llm.script.push(says('Thank you.'));
  call.sendText(text);
  await call.next(({ type }) => type === 'mark-played');
}

async function newCall(): Promise<CallClient> {
  const call = await service.call();
  await call.next(({ type }) => type === 'mark-played');
  return call;
}

const all = ['call.analyzed', 'call.ended', 'call.started'];

describe('after a call', () => {
  it('its events arrive, with its analysis, and nothing of the card', async () => {
    const call = await newCall();
    await talk(call, 'Sure, my card is 4111 1111 1111 1111.');
    await receiver.until(() => typesOf(call.callId).includes('call.started'));
    await call.hangUp();
    await receiver.until(() => typesOf(call.callId).length === 3);
    expect(typesOf(call.callId)).toEqual(all);
    const told = [...eventsOf(call.callId).values()];
    const analyzed = told.find(({ type }) => type === 'call.analyzed');
    expect(analyzed?.data['analysis']).toMatchObject({
      status: 'ok',
      model: 'judge',
      outcome: 'success',
      ...analysis,
    });
    const record = await kept.of(call.callId);
    expect(record.analysis).toEqual(analyzed?.data['analysis']);
    expect(record.transcript.map(({ text }) => text)).toContain('Sure, my card is [card].');
    const written = JSON.stringify([record, receiver.received, analyst.requests.map(({ body }) => body)]);
    expect(written).not.toMatch(/4111|1111/);
    expect(service.log.every((line) => !JSON.stringify(line).includes('4111'))).toBe(true);
  });

  it('each event is there once by its id, whenever the process that sends them is killed', async () => {
    /** Kills it while the receiver has an event and has not answered. */
    const killInBetween = async (type: string): Promise<void> => {
      await receiver.until(() => typesOf(call.callId).includes(type));
      const [keeper = 0] = service.children('records');
      process.kill(keeper, 'SIGKILL');
      receiver.reply = answer(204);
      await service.until(() => !service.children('records').includes(keeper));
    };
    receiver.reply = () => undefined;
    const call = await newCall();
    await killInBetween('call.started');
    await talk(call, 'Hello, my card is lost.');
    receiver.reply = () => undefined;
    await call.hangUp();
    await killInBetween('call.ended');
    await receiver.until(() => typesOf(call.callId).length === 3);
    expect(typesOf(call.callId)).toEqual(all);
    const deliveries = receiver.received.filter(({ body }) => body.includes(call.callId));
    expect(deliveries.length).toBeGreaterThanOrEqual(5);
    expect((await kept.of(call.callId)).end.code).toBe('caller_hung_up');
  });
});
