/** Receivers of every kind against the running service, which is killed meanwhile: each takes each event once, by its id. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, expect, it } from 'vitest';
import { shownSecret } from '../../../shared/calls/webhooks/secret.ts';
import { afresh, readQueued, writeQueued } from '../../../shared/calls/webhooks/queued.ts';
import { KeptRecords } from '../../support/calls/kept.ts';
import { answer, Receiver, type Reply } from '../../support/calls/receiver.ts';
import { beforeAskingAgain, TestService } from '../../support/process/service.ts';

const secret = shownSecret(Buffer.alloc(32, 5));
const kept = new KeptRecords();
const waiting = join(kept.folder, 'calls.db-spool', 'webhooks', 'waiting');
const services: TestService[] = [];

/** Says that it has taken the event, in a body that is not what its length says and never ends. */
const lying: Reply = (response) =>
  void response.writeHead(200, { 'content-type': 'text/html', 'content-length': '1000000' }).write('<html>');
const silent: Reply = () => undefined;

const receivers = {
  good: new Receiver(),
  lying: new Receiver(),
  redirecting: new Receiver(),
  gone: new Receiver(),
  busy: new Receiver(),
  slow: new Receiver(),
  down: new Receiver(),
  hidden: new Receiver(),
};
type Name = keyof typeof receivers;

afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await Promise.all(Object.values(receivers).map((receiver) => receiver.close()));
  kept.remove();
});

async function start(urls: Readonly<Record<Name, string>>): Promise<TestService> {
  const endpoint = (url: string): string => `[[after_call.endpoints]]
url = "${url}"
secret_env = "TEST_HOOK_SECRET"
events = ["call.started", "call.ended"]
allow_http = true
`;
  const { hidden, ...open } = urls;
  const allowed = Object.values(open).map((url) => `${endpoint(url)}allow_private = true\n`);
  const service = await TestService.start({
    greeting: 'Hello.',
    tables: [...allowed, endpoint(hidden)].join(''),
    env: { ...kept.env, TEST_HOOK_SECRET: secret },
  });
  services.push(service);
  return service;
}

/** What a receiver was sent, each verified: how often each event came, by its id. */
function comeTo(name: Name): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { headers, body } of receivers[name].received) {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    const id = String(headers['webhook-id']);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

const both = (name: Name): Promise<void> => receivers[name].until(() => comeTo(name).size === 2);
const left = (): string[] => readdirSync(waiting).filter((name) => name.endsWith('.json'));

/** The next attempts are due, as they are an hour later. */
function letTimePass(): void {
  for (const name of left()) {
    const event = readQueued(readFileSync(join(waiting, name), 'utf8'));
    if (event.ok) writeFileSync(join(waiting, name), writeQueued(afresh(event.value, Date.now())));
  }
}

it('each event reaches each receiver once by its id, whatever that does and however the service ends', async () => {
  const urls = {} as Record<Name, string>;
  for (const [name, receiver] of Object.entries(receivers)) urls[name as Name] = await receiver.listen();
  urls.hidden = urls.hidden.replace('127.0.0.1', '[::ffff:127.0.0.1]');
  const { port } = new URL(urls.down);
  await receivers.down.close();
  receivers.down = new Receiver();
  receivers.lying.reply = lying;
  receivers.redirecting.reply = answer(307, { location: urls.good });
  receivers.gone.reply = answer(410);
  receivers.busy.reply = answer(429, { 'retry-after': '1' });
  receivers.slow.reply = silent;

  const first = await start(urls);
  const call = await first.call();
  await call.next(({ type }) => type === 'mark-played');
  await call.hangUp();
  for (const name of ['good', 'lying', 'slow', 'redirecting'] as const) await both(name);
  await receivers.busy.until(() => comeTo('busy').size >= 1);
  await receivers.gone.until(() => comeTo('gone').size >= 1);
  await first.says('an endpoint wants no more events; svc-supervisor webhooks replay enables it again');
  first.signal('SIGKILL');
  await first.ended;

  const before = Object.fromEntries(
    Object.entries(receivers).map(([name, { received }]) => [name, received.length]),
  );
  for (const name of ['redirecting', 'gone', 'busy', 'slow'] as const) receivers[name].reply = answer(204);
  await receivers.down.listen(Number(port));
  letTimePass();
  const second = await start(urls);
  for (const name of ['redirecting', 'busy', 'slow', 'down'] as const) {
    await both(name);
    await receivers[name].until(() => receivers[name].received.length >= 2 + (before[name] ?? 0));
  }
  // The address that leads back to this machine is looked at anew at each attempt.
  await second.says(
    'an event was not taken, and is sent again later',
    ({ answer: told }) => told === 'private_address',
  );

  const ids = [...comeTo('good').keys()].toSorted();
  for (const name of ['lying', 'redirecting', 'busy', 'slow', 'down'] as const)
    expect([...comeTo(name).keys()].toSorted()).toEqual(ids);
  const counts = Object.fromEntries(
    Object.entries(receivers).map(([name, { received }]) => [name, received.length]),
  );
  // Nobody is told again of what was taken, and nobody at another place than the one in the agent file.
  expect(counts).toMatchObject({ good: 2, lying: 2, gone: before['gone'], down: 2, hidden: 0 });
  while (left().length > 2) await beforeAskingAgain();
});
