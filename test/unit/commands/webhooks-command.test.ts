/** `webhooks list`, `webhooks replay` and `webhooks secret`, on the folder that the service keeps. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runWebhooks } from '../../../cli/commands/webhooks/webhooks-command.ts';
import { endpointId, webhookId } from '../../../shared/calls/webhooks/events.ts';
import { queuedFile, readQueued, type QueuedEvent } from '../../../shared/calls/webhooks/queued.ts';
import { webhookKey } from '../../../shared/calls/webhooks/secret.ts';
import { WebhookQueue } from '../../../records/webhooks/queue.ts';

let dir: string;
let written: string[];
let refused: string[];
let env: Record<string, string>;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-webhooks-command-'));
  mkdirSync(join(dir, 'state'));
  written = [];
  refused = [];
  env = {
    SVC_AGENT_FILE: 'agent.toml',
    SVC_CALLS_DB: join(dir, 'calls.db'),
    SVC_STATE_DIR: join(dir, 'state'),
  };
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

const folder = (): string => join(dir, 'state', 'calls', 'webhooks');

const run = (name: Parameters<typeof runWebhooks>[0], ...args: readonly string[]): number =>
  runWebhooks(name, args, {
    env,
    cores: 2,
    now: () => 5_000,
    randomBytes: (length) => Buffer.alloc(length, 3),
    write: (line) => void written.push(line),
    writeError: (line) => void refused.push(line),
  });

const endpoint = endpointId({ agent: 'desk', url: 'https://hooks.example.com/' });

function eventOf(call: string, more: Partial<QueuedEvent> = {}): QueuedEvent {
  const id = webhookId(call, 'call.ended');
  const at = { createdAt: 1_000, nextAt: 9_000, attempts: 10, last: { at: 2_000, answer: 500 } };
  const agent = { name: 'desk', version: 'ab' };
  return {
    id,
    type: 'call.ended',
    call,
    agent,
    endpoint,
    host: 'hooks.example.com',
    body: '{}',
    ...at,
    ...more,
  };
}

function keep(call: string, isFailed: boolean): QueuedEvent {
  const queue = new WebhookQueue(folder());
  const event = eventOf(call);
  queue.keep(event);
  if (isFailed) queue.giveUp(queuedFile(event));
  return event;
}

describe('webhooks list', () => {
  it('shows what waits, what was given up, and endpoints that want no more', () => {
    const waits = keep('one', false);
    const failed = keep('two', true);
    new WebhookQueue(folder()).disable(failed);
    expect(run('webhooks list')).toBe(0);
    expect(written).toEqual([
      `1970-01-01T00:00:01.000Z  call.ended  ${waits.id}  record one  hooks.example.com  next 1970-01-01T00:00:09.000Z, 10 attempts, last answer 500`,
      `1970-01-01T00:00:01.000Z  call.ended  ${failed.id}  record two  hooks.example.com  given up, 10 attempts, last answer 500`,
      `endpoint ${endpoint} at hooks.example.com answered 410 and gets no events`,
      '1 waiting, 1 given up',
    ]);
    written = [];
    run('webhooks list', '--failed');
    expect(written.at(-1)).toBe('0 waiting, 1 given up');
  });

  it('says what is missing', () => {
    expect(run('webhooks list')).toBe(1);
    expect(refused).toEqual(['there are no events: the service has kept none here']);
    delete env['SVC_CALLS_DB'];
    expect(run('webhooks list')).toBe(1);
    expect(refused[1]).toBe('SVC_CALLS_DB must be set: without it nobody is told of calls');
  });

  it('leaves out what is no event', () => {
    keep('one', true);
    writeFileSync(join(folder(), 'failed', queuedFile({ endpoint, id: 'msg_x' })), '{');
    writeFileSync(join(folder(), 'failed', 'notes.txt'), 'hello');
    run('webhooks list');
    expect(written.at(-1)).toBe('0 waiting, 1 given up');
  });
});

describe('webhooks replay', () => {
  it('puts back what was given up, as new, and enables its endpoint', () => {
    const event = keep('one', true);
    keep('two', true);
    const queue = new WebhookQueue(folder());
    queue.disable(event);
    expect(run('webhooks replay', 'one')).toBe(0);
    expect(written).toEqual(['1 event is sent again']);
    expect(queue.read(queuedFile(event))).toMatchObject({ ...event, attempts: 0, nextAt: 5_000 });
    expect(queue.isDisabled(endpoint)).toBe(false);
    expect(readdirSync(join(folder(), 'failed'))).toHaveLength(1);
  });

  it('knows events by their own ids, and all of them', () => {
    const event = keep('one', true);
    keep('two', true);
    expect(run('webhooks replay', event.id)).toBe(0);
    expect(run('webhooks replay', '--all')).toBe(0);
    expect(run('webhooks replay', '--all')).toBe(0);
    expect(written).toEqual(['1 event is sent again', '1 event is sent again', '0 events are sent again']);
  });

  it('refuses what names nothing, or two things', () => {
    keep('one', true);
    expect(run('webhooks replay', 'unknown')).toBe(1);
    expect(run('webhooks replay')).toBe(2);
    expect(run('webhooks replay', 'one', '--all')).toBe(2);
    expect(readdirSync(join(folder(), 'failed'))).toHaveLength(1);
  });
});

describe('webhooks secret', () => {
  it('is one that endpoints take', () => {
    expect(run('webhooks secret')).toBe(0);
    expect(written[0]).toMatch(/^whsec_/);
    expect(webhookKey(written[0] ?? '')).toHaveLength(32);
  });
});

describe('the file of an event', () => {
  it.each(['', '{}', '[]', 'null', '{"id":"a"}'])('is none: %j', (text) =>
    expect(readQueued(text).ok).toBe(false),
  );
});
