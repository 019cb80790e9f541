/** What follows on calls in a service of many agents: each call's events and analysis are those of its own agent, as its file was when the call began. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { shownSecret } from '../../../shared/calls/webhooks/secret.ts';
import { KeptRecords } from '../../support/calls/kept.ts';
import { Receiver } from '../../support/calls/receiver.ts';
import { answer as says, FakeChat } from '../../support/fakes/fake-chat.ts';
import { Providers, TestService } from '../../support/process/service.ts';
import { restarted, stopAll } from '../../support/process/succession.ts';

const kept = new KeptRecords();
const dir = mkdtempSync(join(tmpdir(), 'svc-agents-'));
const secrets = {
  CLINIC_SECRET: shownSecret(Buffer.alloc(32, 1)),
  CLINIC_NEW_SECRET: shownSecret(Buffer.alloc(32, 2)),
  DINER_SECRET: shownSecret(Buffer.alloc(32, 3)),
};
type SecretName = keyof typeof secrets;
const secretsDir = mkdtempSync(join(tmpdir(), 'svc-secrets-'));
const tenants: Readonly<Record<string, readonly SecretName[]>> = {
  clinic: ['CLINIC_SECRET', 'CLINIC_NEW_SECRET'],
  diner: ['DINER_SECRET'],
};

/** The clinic's, the one that it has later, and the diner's. */
const receivers = { clinic: new Receiver(), later: new Receiver(), diner: new Receiver() };
type ReceiverName = keyof typeof receivers;
const urls: Record<string, string> = {};
const analysts = {
  clinic: new FakeChat(says(JSON.stringify({ summary: 'Of the clinic.' }))),
  later: new FakeChat(says(JSON.stringify({ summary: 'Of the clinic, later.' }))),
};
let service: TestService;
let providers: Providers;

/** Writes the file of an agent as a program should that replaces one. */
function put(id: string, tables: string): void {
  const path = join(dir, `${id}.toml`);
  mkdirSync(dirname(path), { recursive: true });
  const text = providers.agentText({ greeting: 'Hello.', turn: 'speculate = false', tables });
  const named = text.replace('name = "test"', `name = "${id.split('/')[1]}"`);
  writeFileSync(`${path}.new`, `${named}\n[routing]\nopen = true`);
  renameSync(`${path}.new`, path);
}

const tells = (receiver: ReceiverName, secret: SecretName): string => `[after_call]
url = "${urls[receiver]}"
secret_env = "${secret}"
allow_private = true`;

const analysedBy = (analyst: keyof typeof analysts): string => `[after_call.analysis.llm]
provider = "chat_compatible"
[after_call.analysis.llm.chat_compatible]
base_url = "${analysts[analyst].baseUrl}"
model = "${analyst}"
[after_call.analysis]
language = "en"`;

const clinic = (which: keyof typeof analysts, secret: SecretName): void =>
  put('clinic/desk', `${tells(which, secret)}\n${analysedBy(which)}`);

beforeAll(async () => {
  for (const [name, receiver] of Object.entries(receivers)) urls[name] = await receiver.listen();
  await Promise.all(Object.values(analysts).map(async (analyst) => analyst.start()));
  providers = await new Providers().start();
  for (const [tenant, names] of Object.entries(tenants)) {
    writeFileSync(join(dir, `${tenant}.tenant.toml`), '[allow]\nprivate_addresses = true\n');
    mkdirSync(join(secretsDir, tenant));
    for (const name of names) writeFileSync(join(secretsDir, tenant, name), secrets[name]);
  }
  clinic('clinic', 'CLINIC_SECRET');
  put('diner/desk', tells('diner', 'DINER_SECRET'));
  service = await TestService.start({
    providers,
    greeting: 'Hello.',
    workers: 2,
    env: { ...kept.env, SVC_AGENTS_DIR: dir, SVC_SECRETS_DIR: secretsDir },
  });
});

afterAll(async () => {
  await stopAll(service);
  await Promise.all([...Object.values(receivers), ...Object.values(analysts)].map((one) => one.close()));
  kept.remove();
  rmSync(dir, { recursive: true, force: true });
  rmSync(secretsDir, { recursive: true, force: true });
});

async function call(agent: string): Promise<CallClient> {
  const client = await service.call({ metadata: { agent } });
  await client.next(({ type }) => type === 'mark-played');
  providers.llm.script.push(says('Thank you.'));
  const { length } = providers.llm.requests;
  client.sendText('I am here.');
  await providers.llm.until(() => providers.llm.requests.length > length);
  return client;
}

interface Told {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a receiver was told of a call, each event once, verified by its secret. */
function toldOf({ callId }: CallClient, receiver: ReceiverName, secret: SecretName): readonly Told[] {
  const told = receivers[receiver].received
    .filter(({ body }) => body.includes(callId))
    .map(({ headers, body }): [string, Told] => [
      String(headers['webhook-id']),
      new Webhook(secrets[secret]).verify(body, headers as Record<string, string>) as Told,
    ]);
  return [...new Map(told).values()].toSorted((a, b) => (a.type < b.type ? -1 : 1));
}

/** Resolves when what was written is in force. */
async function changed(write: () => void): Promise<void> {
  const count = (): number => service.log.filter(({ msg }) => msg === changedLine).length;
  const before = count();
  write();
  await service.until(() => count() > before);
}
const changedLine = 'an agent was changed: new calls get this version';

async function tellsAll(
  client: CallClient,
  receiver: ReceiverName,
  { secret, types }: { readonly secret: SecretName; readonly types: readonly string[] },
): Promise<readonly Told[]> {
  await receivers[receiver].until(() => toldOf(client, receiver, secret).length >= types.length);
  const told = toldOf(client, receiver, secret);
  expect(told.map(({ type }) => type)).toEqual(types);
  for (const [name, other] of Object.entries(receivers))
    if (name !== receiver)
      expect(other.received.filter(({ body }) => body.includes(client.callId))).toEqual([]);
  return told;
}

const ends = ['call.ended', 'call.started'];
const all = ['call.analyzed', ...ends];

it('is what the file of its agent said when the call began', async () => {
  const [before, diner, own] = [await call('clinic/desk'), await call('diner/desk'), await call('nobody')];
  await changed(() => clinic('later', 'CLINIC_NEW_SECRET'));
  const after = await call('clinic/desk');
  for (const client of [diner, own]) await client.hangUp();
  await tellsAll(diner, 'diner', { secret: 'DINER_SECRET', types: ends });
  // The process that knew the versions is gone when the calls end.
  const [keeper = 0] = service.children('records');
  process.kill(keeper, 'SIGKILL');
  await service.until(() => !service.children('records').includes(keeper));
  for (const client of [before, after]) await client.hangUp();
  const [first] = await tellsAll(before, 'clinic', { secret: 'CLINIC_SECRET', types: all });
  const [second] = await tellsAll(after, 'later', { secret: 'CLINIC_NEW_SECRET', types: all });
  expect(first?.data['analysis']).toMatchObject({ model: 'clinic', summary: 'Of the clinic.' });
  expect(second?.data['analysis']).toMatchObject({ model: 'later', summary: 'Of the clinic, later.' });
  const { agent } = await kept.of(own.callId);
  expect(agent).toEqual({ name: 'test', version: expect.any(String) as string });
  expect(
    Object.values(receivers).some(({ received }) => received.some(({ body }) => body.includes(own.callId))),
  ).toBe(false);
});

it('is that also where the next supervisor has only read the new file', async () => {
  await changed(() => clinic('clinic', 'CLINIC_SECRET'));
  const running = await call('clinic/desk');
  const version = service.said('call started', ({ call: id }) => id === running.callId)?.['agentVersion'];
  await changed(() => put('clinic/desk', ''));
  await restarted(service);
  await running.hangUp();
  const [told] = await tellsAll(running, 'clinic', { secret: 'CLINIC_SECRET', types: all });
  expect(told?.data['agent']).toEqual({ name: 'clinic/desk', version });
});
