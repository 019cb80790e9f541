/** `examples/webhooks`: its receiver takes what the service sends, each event once, and nothing of anybody else. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebhookHooks } from '../../records/webhooks/webhook-hooks.ts';
import { Webhooks, type WebhookNews } from '../../records/webhooks/webhooks.ts';
import { systemClock, systemWallClock } from '../../shared/runtime/clock.ts';
import { recordOf } from '../support/calls/records.ts';
import { Observed } from '../support/process/observed.ts';
import { load } from '../unit/config/agent-text.ts';

const folder = new URL('../../examples/webhooks/', import.meta.url);
const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const dir = mkdtempSync(join(tmpdir(), 'svc-webhooks-'));

/** What the receiver prints. */
class Printed extends Observed {
  readonly lines: string[] = [];

  add(line: string): void {
    this.lines.push(line);
    this.changed();
  }
}

const printed = new Printed();
let receiver: ChildProcess;

beforeAll(async () => {
  receiver = spawn(process.execPath, [new URL('receiver.mjs', folder).pathname], {
    env: { CALLS_WEBHOOK_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (receiver.stdout === null) throw new Error('the receiver prints');
  createInterface(receiver.stdout).on('line', (line) => printed.add(line));
  await printed.until(() => printed.lines.length > 0);
});

afterAll(() => {
  receiver.kill();
  rmSync(dir, { recursive: true, force: true });
});

/** Tells of the end of a call, and waits for what became of it. */
async function tell(key: string, place: string): Promise<WebhookNews> {
  const port = printed.lines[0]?.split(':').at(-1) ?? '';
  const text = readFileSync(new URL('agent.toml', folder), 'utf8').replace(':8791', `:${port}`);
  const read = load(text, { env: { CALLS_WEBHOOK_SECRET: key }, requireSecrets: true });
  if (read.definition === undefined) throw new Error(JSON.stringify(read.problems));
  const endpoints = read.definition.afterCall?.endpoints ?? [];
  return await new Promise((resolve) => {
    const webhooks = new Webhooks({
      dir: join(dir, place),
      endpointsOf: ({ name }) => endpoints.map((one) => ({ ...one, agent: name, secrets: [key] })),
      clock: systemClock,
      wallClock: systemWallClock,
      random: () => 0,
      told: (news) => void webhooks.close().then(() => resolve(news)),
    });
    void new WebhookHooks(webhooks, () => undefined).within(recordOf({ agent: 'desk' }));
  });
}

it('the receiver of webhooks takes an event once, however often it comes, and only from the service', async () => {
  expect(await tell(secret, 'first')).toMatchObject({ type: 'delivered' });
  expect(await tell(secret, 'again')).toMatchObject({ type: 'delivered' });
  const other = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  expect(await tell(other, 'other')).toMatchObject({ type: 'again', answer: { status: 400 } });
  expect(printed.lines.slice(1)).toEqual(['call.ended call-1 caller_hung_up']);
});
