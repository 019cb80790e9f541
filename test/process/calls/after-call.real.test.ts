/** What follows on a call of the running service: its events, once by id, its analysis, and nothing of what is private. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { shownSecret } from '../../../shared/calls/webhooks/secret.ts';
import { KeptRecords } from '../../support/calls/kept.ts';
import { answer, Receiver } from '../../support/calls/receiver.ts';
import { answer as says, FakeChat } from '../../support/fakes/fake-chat.ts';
import { silence, type FakeReply } from '../../support/fakes/fake-http.ts';
import { childrenOf, TestService, type LogLine } from '../../support/process/service.ts';

const secret = shownSecret(Buffer.alloc(32, 5));
const kept = new KeptRecords();
const receiver = new Receiver();
const analysis = {
  summary: 'Somebody paid.',
  success: { paid: { answer: 'yes', quote: 'my card is' } },
  labels: ['payment'],
  data: { amount: 12 },
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
hide_from_llm = true
[after_call]
url = "${url}"
secret_env = "TEST_HOOK_SECRET"
allow_private = true
[after_call.analysis]
success = { paid = "The caller paid." }
labels = ["payment", "question"]
schema = { type = "object", properties = { amount = { type = "integer" } } }
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
  const { length } = service.providers.llm.requests;
  call.sendText(text);
  await service.providers.llm.until(() => service.providers.llm.requests.length > length);
}

async function newCall(): Promise<CallClient> {
  const call = await service.call();
  await call.next(({ type }) => type === 'mark-played');
  return call;
}

/** What is told of the analysis of a call, with these answers of the LLM. */
async function analysed(answers: readonly FakeReply[]): Promise<Told> {
  analyst.script.push(...answers);
  const call = await newCall();
  await talk(call, 'Sure, my card is here.');
  await call.hangUp();
  await receiver.until(() => typesOf(call.callId).length === 3);
  const told = [...eventsOf(call.callId).values()].find(({ type }) => type === 'call.analyzed');
  if (told === undefined) throw new Error('the call was analysed');
  return told;
}

/** The command line, as an operator runs it beside the service. */
const runCalls = (...args: readonly string[]): string =>
  execFileSync(process.execPath, ['scripts/svc-supervisor.mjs', 'calls', ...args], {
    env: { ...process.env, ...kept.env },
    encoding: 'utf8',
  });

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
    expect(record.usage).toEqual(analyzed?.data['usage']);
    expect(record.usage.by_provider).toContainEqual({
      ...{ stage: 'analysis', provider: 'chat_compatible', model: 'judge' },
      units: record.analysis?.['usage'],
    });
    expect(record.transcript.map(({ text }) => text)).toContain('Sure, my card is [card].');
    const asked = service.providers.llm.requests.map(({ body }) => body);
    expect(JSON.stringify(asked)).toContain('my card is [card 1].');
    const read = [asked, analyst.requests.map(({ body }) => body)];
    const written = JSON.stringify([record, receiver.received, read]);
    // Ids are hexadecimal, and may have these digits.
    expect(written).not.toMatch(/(?<![\da-f])(4111|1111)(?![\da-f])/);
    expect(service.log.some((line) => /(?<![\da-f])4111(?![\da-f])/.test(JSON.stringify(line)))).toBe(false);
  });

  it('an analysis keeps every digit on its way to the webhook, the page and the command line', async () => {
    const exact = '"data":{"amount":9007199254740993}';
    const told = await analysed([says(JSON.stringify(analysis).replace('"data":{"amount":12}', exact))]);
    expect(receiver.received.some(({ body }) => body.includes(exact))).toBe(true);
    expect(runCalls('show', '--json', String(told.data['id']))).toContain(exact);
  });

  it('an analysis with a field that nobody asked for is asked for again, and is none where that helps nothing', async () => {
    const invented = says(JSON.stringify({ ...analysis, data: { amount: 12, iban: 'DE00' } }));
    const mended = await analysed([invented, says(JSON.stringify(analysis))]);
    expect(mended.data['analysis']).toMatchObject({ status: 'ok', data: { amount: 12 } });
    expect(JSON.stringify(analyst.requests.at(-1)?.body)).toContain('cannot be used');
    const refused = await analysed([invented, says('Certainly! Here it is.')]);
    expect(refused.data['analysis']).toEqual({
      status: 'failed',
      at: expect.any(String) as string,
      reason: 'invalid_answer',
    });
    const shown = runCalls('show', String(refused.data['id']));
    expect(shown).toContain('"reason":"invalid_answer"');
    expect(runCalls('export', '--outcome', 'success')).toContain(String(mended.data['call_id']));
  });

  it('an analysis whose process is killed is made by the next one', async () => {
    analyst.script.push(silence);
    const call = await newCall();
    const { length } = analyst.requests;
    await talk(call, 'Hello, my card is lost.');
    await call.hangUp();
    await analyst.until(() => analyst.requests.length > length);
    const [keeper = 0] = service.children('records');
    const [asking = 0] = childrenOf(keeper);
    process.kill(asking, 'SIGKILL');
    const isHere = (line: LogLine): boolean => line['call'] === call.callId;
    const told = await service.says('a call could not be analysed, and is tried again', isHere);
    expect(told['reason']).toBe('process_died');
    process.kill(keeper, 'SIGKILL');
    await service.until(() => !service.children('records').includes(keeper));
    // A minute later.
    const jobs = join(kept.folder, 'calls.db-spool', 'analyses');
    for (const name of readdirSync(jobs).filter((one) => one.endsWith('.json'))) {
      const job = JSON.parse(readFileSync(join(jobs, name), 'utf8')) as object;
      writeFileSync(join(jobs, name), JSON.stringify({ ...job, nextAt: 0 }));
    }
    await receiver.until(() => typesOf(call.callId).length === 3);
    expect((await kept.of(call.callId)).analysis).toMatchObject({ status: 'ok', outcome: 'success' });
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
