/** `calls`, `calls show`, `calls export` and `calls erase` on a real SQLite file and the folders beside it. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCalls, type CallsCommand } from '../../../cli/commands/calls/calls-command.ts';
import type { CallFact, FactOf } from '../../../shared/calls/facts.ts';
import { callRecordSchema } from '../../../shared/calls/record.ts';
import { readTenantToken } from '../../../shared/auth/tenant-token.ts';
import { spoolFile } from '../../../shared/calls/spool.ts';
import { endpointId, webhookId } from '../../../shared/calls/webhooks/events.ts';
import { queuedFile, writeQueued, type QueuedEvent } from '../../../shared/calls/webhooks/queued.ts';
import { openDatabase } from '../../../records/database.ts';
import { SqlCallStore } from '../../../records/sql-call-store.ts';
import { headFact, recordOf, startedMs } from '../../support/calls/records.ts';

let dir: string;
let env: Record<string, string>;
let written: string[];
let refused: string[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-calls-command-'));
  env = { SVC_CALLS_DB: join(dir, 'calls.db') };
  [written, refused] = [[], []];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const run = async (name: CallsCommand, ...args: string[]): Promise<number> => {
  [written, refused] = [[], []];
  return await runCalls(name, args, {
    env,
    cores: 1,
    now: () => startedMs + 3_600_000,
    write: (line) => void written.push(line),
    writeError: (line) => void refused.push(line),
  });
};

const said = (text: string): CallFact => ({
  t: 'said',
  role: 'caller',
  epoch: 1,
  from: 900,
  at: 1_000,
  text,
});

async function keep(...records: ReturnType<typeof recordOf>[]): Promise<void> {
  const store = new SqlCallStore(await openDatabase(env['SVC_CALLS_DB'] ?? ''));
  for (const record of records) await store.insert(record);
  await store.close();
}

const ids = (): string[] => written.map((line) => (JSON.parse(line) as { id: string }).id);

describe('calls', () => {
  it('says what is missing, and makes no database', async () => {
    expect(await run('calls')).toBe(1);
    expect(refused).toEqual(['there are no records: SVC_CALLS_DB names no file yet']);
    expect(existsSync(join(dir, 'calls.db'))).toBe(false);
    env = {};
    expect(await run('calls')).toBe(1);
    expect(refused[0]).toContain('SVC_CALLS_DB must be set');
  });

  it.each([
    [['--since', 'yesterday'], '--since: must be a time'],
    [['--before', '2026-13-01'], '--before: must be a time'],
    [['--end', 'over'], '--end: must be one of caller_hung_up'],
    [['--min-cost', '-1'], '--min-cost: needs a value'],
    [['--min-cost', 'much'], '--min-cost: must be a number'],
    [['--slower-than', '1s'], '--slower-than: must be a number of milliseconds'],
    [['--metadata', 'plan'], '--metadata: must be KEY=VALUE'],
    [['--text', '?!'], '--text: must be words'],
    [['--limit', '0'], '--limit: must be a number from 1'],
    [['--ends', 'x'], 'unknown option --ends; did you mean --end?'],
  ])('refuses %s', async (args, error) => {
    expect(await run('calls', ...args)).toBe(2);
    expect(refused[0]).toContain(error);
  });

  it('lists calls by each filter', async () => {
    await keep(
      recordOf({ id: 'a', agent: 'one', from: '+15550100' }, [said('A table for four.')]),
      recordOf({ id: 'b', agent: 'two', client: { plan: 'gold' }, started: startedMs + 60_000 }, [
        { t: 'fault', at: 5, stage: 'llm', what: 'failed' },
        { t: 'times', at: 6, epoch: 1, ms: [100, 100, 700, 200, 1] },
      ]),
      recordOf({ id: 'c', agent: 'acme/two', tenant: 'acme', started: startedMs + 3_000_000 }, [], {
        code: 'refused',
      }),
    );
    const found = async (...args: string[]): Promise<string[]> => {
      expect(await run('calls', '--json', ...args)).toBe(0);
      return ids();
    };
    expect(await found()).toEqual(['c', 'b', 'a']);
    expect(await found('--limit', '2')).toEqual(['c', 'b']);
    expect(await found('--since', '30m')).toEqual(['c']);
    expect(await found('--since', '2026-11-28', '--before', '2026-11-28T08:01')).toEqual(['a']);
    expect(await found('--before', '2026-11-28T10:01+02:00')).toEqual(['a']);
    expect(await found('--agent', 'one')).toEqual(['a']);
    expect(await found('--tenant', 'acme')).toEqual(['c']);
    expect(await found('--end', 'refused')).toEqual(['c']);
    expect(await found('--faulty')).toEqual(['c', 'b']);
    expect(await found('--slower-than', '1100')).toEqual(['b']);
    expect(await found('--number', '+15550100')).toEqual(['a']);
    expect(await found('--metadata', 'plan=gold')).toEqual(['b']);
    expect(await found('--text', 'four table')).toEqual(['a']);
    expect(await found('--min-cost', '0.1')).toEqual([]);
    await run('calls', '--limit', '1');
    expect(written.map((line) => line.split(/ +/).slice(0, 3))).toEqual([
      ['STARTED', 'ID', 'AGENT'],
      ['2026-11-28T08:50:00', 'c', 'acme/two'],
    ]);
    expect(refused).toEqual(['there are more; --limit shows more than 1']);
  });

  it('shows one call, and nothing that a terminal would obey', async () => {
    const tool: FactOf<'tool'> = {
      t: 'tool',
      at: 2_000,
      key: '1',
      id: 'x',
      name: 'order',
      ms: 80,
      outcome: 'ok',
    };
    await keep(
      recordOf({ id: 'a', call: 'order/7', client: { plan: 'gold' } }, [
        said('Hi\u001B[2J there'),
        tool,
        { t: 'answered', at: 3_000, epoch: 1 },
        { t: 'times', at: 3_000, epoch: 1, ms: [100, 100, 700, 200, 1] },
        { t: 'tally', at: 4_000, silence: 900, backchannels: 2 },
        { t: 'fault', at: 4_000, stage: 'llm', what: 'failed' },
      ]),
    );
    expect(await run('calls show', 'order/7')).toBe(0);
    const shown = written.join('\n');
    expect(shown).toContain('record a');
    expect(shown).toContain('caller_hung_up by caller');
    expect(shown).toContain('plan=gold');
    expect(shown).toMatch(/0:00 {2}caller: Hi\[2J there\n {4}0:02 {2}tool order: ok in 80 ms/);
    expect(shown).toContain('turn 1: answer after 1.1 s, 900 ms of silence, 2 backchannels, 1 fault');
    expect(shown).not.toContain('\u001B');
    expect(await run('calls show', 'a', '--json')).toBe(0);
    expect(callRecordSchema.parse(JSON.parse(written[0] ?? '')).call_id).toBe('order/7');
    expect(await run('calls show', 'nobody')).toBe(1);
  });

  it('exports whole records, the oldest first', async () => {
    await keep(recordOf({ id: 'a' }, [said('A table.')]), recordOf({ id: 'b', agent: 'two' }));
    expect(await run('calls export')).toBe(0);
    expect(written.map((line) => callRecordSchema.parse(JSON.parse(line)).id)).toEqual(['a', 'b']);
    expect(await run('calls export', '--agent', 'two')).toBe(0);
    expect(ids()).toEqual(['b']);
  });
});

describe('calls token', () => {
  const secret = 'a secret of more than thirty-two bytes';
  const nowS = startedMs / 1000 + 3_600;

  it('makes a token for the calls of one tenant, for so many days', async () => {
    env = { SVC_CALLS_TOKEN: secret };
    expect(await run('calls token', '--tenant', 'clinic', '--days', '2')).toBe(0);
    const [token = ''] = written;
    expect(readTenantToken(token, { to: 'calls', secret, nowS })).toBe('clinic');
    expect(readTenantToken(token, { to: 'calls', secret, nowS: nowS + 2 * 86_400 - 1 })).toBe('clinic');
    expect(readTenantToken(token, { to: 'calls', secret, nowS: nowS + 2 * 86_400 })).toBeUndefined();
    expect(await run('calls token', '--tenant', 'clinic')).toBe(0);
    expect(readTenantToken(written[0] ?? '', { to: 'calls', secret, nowS: nowS + 29 * 86_400 })).toBe(
      'clinic',
    );
  });

  it.each([
    [{ SVC_CALLS_TOKEN: secret }, [], 2, '--tenant: must be the name of a tenant'],
    [{ SVC_CALLS_TOKEN: secret }, ['--tenant', 'a.b'], 2, '--tenant: must be the name of a tenant'],
    [
      { SVC_CALLS_TOKEN: secret },
      ['--tenant', 'a', '--days', '0'],
      2,
      '--days: must be a number from 1 to 3650',
    ],
    [{}, ['--tenant', 'a'], 1, 'SVC_CALLS_TOKEN must be set, and have at least 32 bytes'],
    [{ SVC_CALLS_TOKEN: 'short' }, ['--tenant', 'a'], 1, 'SVC_CALLS_TOKEN must be set, and have at least 32'],
  ])('is refused with the rule', async (given, args, status, rule) => {
    env = { ...given };
    expect(await run('calls token', ...args)).toBe(status);
    expect(refused[0]).toContain(rule);
    expect([...written, ...refused].join()).not.toContain('short');
  });
});

describe('live token', () => {
  const secret = 'a secret of more than thirty-two bytes';
  const nowS = startedMs / 1000 + 3_600;

  it.each([
    ['live', 'SVC_LIVE_TOKEN'],
    ['listen', 'SVC_MONITOR_LISTEN_TOKEN'],
    ['whisper', 'SVC_MONITOR_WHISPER_TOKEN'],
    ['take_over', 'SVC_MONITOR_TAKE_OVER_TOKEN'],
  ] as const)(
    'makes a token of the role %s for one tenant, signed by the token of that role',
    async (to, name) => {
      env = { [name]: secret };
      expect(await run('live token', '--tenant', 'clinic', '--may', to)).toBe(0);
      const [token = ''] = written;
      expect(readTenantToken(token, { to, secret, nowS })).toBe('clinic');
      expect(readTenantToken(token, { to: 'calls', secret, nowS })).toBeUndefined();
      env = {};
      expect(await run('live token', '--tenant', 'clinic', '--may', to)).toBe(1);
      expect(refused[0]).toContain(`${name} must be set, and have at least 32 bytes`);
    },
  );

  it('needs a role of its own', async () => {
    for (const more of [[], ['--may', 'calls'], ['--may', 'talk']])
      expect(await run('live token', '--tenant', 'clinic', ...more)).toBe(2);
    expect(refused[0]).toContain('--may: must be one of live, listen, whisper, take_over');
  });
});

describe('calls erase', () => {
  const number = '+15550177';

  /** Bytes of every file below the folder. */
  const everything = (folder = dir): string =>
    readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((one) => one.isFile())
      .map((one) => `${one.name} ${readFileSync(join(one.parentPath, one.name), 'latin1')}`)
      .join('\n');

  const put = (path: string, text: string): void => {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), text);
  };

  const spooled = (id: string, from: string): string =>
    `${JSON.stringify(headFact({ id, call: id, from }))}\n`;

  it('leaves nothing of a caller in any file, and all of others', async () => {
    env['SVC_RECORDING_DIR'] = join(dir, 'recordings');
    const about = [said('Zanzibar is where I live.')];
    await keep(
      recordOf({ id: 'mine', call: 'call-mine', from: number }, about),
      recordOf({ id: 'other', call: 'call-other', from: '+15550188' }, [said('Timbuktu is nice.')]),
    );
    put(`calls.db-spool/ended/${spoolFile('waits')}`, spooled('waits', number));
    put(`calls.db-spool/ended/${spoolFile('stays')}`, spooled('stays', '+15550188'));
    const endpoint = endpointId({ agent: 'a', url: 'https://example.com/' });
    for (const call of ['mine', 'waits', 'other']) {
      const event: QueuedEvent = {
        ...{
          id: webhookId(call, 'call.ended'),
          type: 'call.ended',
          call,
          agent: { name: 'desk' },
          endpoint,
          host: 'example.com',
        },
        ...{ createdAt: 0, attempts: 1, nextAt: 0, body: call === 'other' ? 'Timbuktu' : 'Zanzibar' },
      };
      put(
        `calls.db-spool/webhooks/${call === 'mine' ? 'failed' : 'waiting'}/${queuedFile(event)}`,
        writeQueued(event),
      );
    }
    put('calls.db-spool/analyses/mine.json', '{"id":"mine"}');
    for (const path of [
      'kept/2026-11-28/call-mine',
      'outbox/2026-11-28_call-mine',
      'kept/2026-11-28/call-other',
    ])
      put(`recordings/${path}/call.jsonl`, path.includes('mine') ? 'Zanzibar' : 'Timbuktu');
    expect(await run('calls erase', '--number', number, '--dry-run')).toBe(0);
    expect(written).toEqual(['1 records would be erased']);
    expect(await run('calls erase', '--number', number)).toBe(0);
    expect(written).toEqual(['erased: 1 records, 1 calls that waited, 2 events, 2 recordings']);
    const left = everything();
    expect(left).not.toMatch(/zanzibar/i);
    expect(left).not.toContain(number.slice(1));
    expect(left).not.toContain('mine');
    expect(left.match(/Timbuktu/g)?.length).toBeGreaterThanOrEqual(3);
    expect(await run('calls', '--json')).toBe(0);
    expect(ids()).toEqual(['other']);
  });

  it('erases the calls of one tenant alone, those that wait among them', async () => {
    const number = '+15550100';
    await keep(
      recordOf({ id: 'm', from: number, agent: 'mine/a', tenant: 'mine' }),
      recordOf({ id: 't', from: number, agent: 'theirs/a', tenant: 'theirs' }),
    );
    const ended = join(dir, 'calls.db-spool', 'ended');
    mkdirSync(ended, { recursive: true });
    for (const tenant of ['mine', 'theirs']) {
      const head = headFact({ id: `w-${tenant}`, from: number, agent: `${tenant}/a`, tenant });
      writeFileSync(join(ended, spoolFile(`w-${tenant}`)), `${JSON.stringify(head)}\n`);
    }
    expect(await run('calls erase', '--number', number, '--tenant', 'mine', '--dry-run')).toBe(0);
    expect(written).toEqual(['1 records would be erased']);
    expect(await run('calls erase', '--number', '+1 (555) 0100', '--tenant', 'mine')).toBe(0);
    expect(written[0]).toContain('erased: 1 records, 1 calls that waited');
    expect(readdirSync(ended)).toEqual([spoolFile('w-theirs')]);
    expect(await run('calls', '--json')).toBe(0);
    expect(written.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(['t']);
  });

  it('erases by an entry of the metadata, and says what still runs', async () => {
    await keep(
      recordOf({ id: 'a', token: { customer: '7' } }),
      recordOf({ id: 'b', client: { customer: '7' } }),
      recordOf({ id: 'c', client: { customer: '8' } }),
    );
    put(
      `calls.db-spool/open/${spoolFile('runs')}`,
      `${JSON.stringify(headFact({ id: 'runs', client: { customer: '7' } }))}\n`,
    );
    expect(await run('calls erase', '--metadata', 'customer=7')).toBe(1);
    expect(written[0]).toContain('erased: 2 records');
    expect(refused.join('\n')).toContain('1 of their calls still run');
    expect(existsSync(join(dir, `calls.db-spool/open/${spoolFile('runs')}`))).toBe(true);
    expect(await run('calls', '--json')).toBe(0);
    expect(ids()).toEqual(['c']);
  });

  it.each([[[]], [['--number', '+1', '--metadata', 'a=b']], [['--metadata', '=b']]])(
    'wants one caller, not %j',
    async (args) => {
      expect(await run('calls erase', ...args)).toBe(2);
    },
  );
});
