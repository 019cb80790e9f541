/** Recordings of several tenants in one folder: each has a folder and a policy of its own, and nobody takes the room of another one. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordingName } from '../../../shared/recording/layout.ts';
import { RecordingArchive, type RecordingArchiveOptions } from '../../../worker/recording/archive.ts';
import { superfluous } from '../../../worker/recording/retention.ts';

const day = '2026-03-01';
let dir: string;
const calls: string[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-archive-'));
  calls.length = 0;
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const newArchive = (options: Partial<RecordingArchiveOptions> = {}): RecordingArchive =>
  new RecordingArchive({
    dir,
    mostBytes: 1e9,
    now: () => Date.now(),
    told: (one) => calls.push(`${one.type} ${'call' in one ? one.call : ''}`),
    ...options,
  });

/** What the writer leaves of a call. */
function leave(tenant: string | undefined, call: string, policy: object = {}): void {
  const folder = join(dir, 'ended', recordingName(call, tenant));
  mkdirSync(folder, { recursive: true });
  const agent = tenant === undefined ? 'desk' : `${tenant}/desk`;
  const head = { at: 0, type: 'call', call, agent, started: `${day}T10:00:00.000Z`, rate: 8000, ...policy };
  writeFileSync(join(folder, 'lines-000000000000.jsonl'), `${JSON.stringify(head)}\n`);
  writeFileSync(join(folder, 'heard.pcm'), Buffer.alloc(320));
}

const kept = (tenant: string, call: string): string => join(dir, 'kept/tenants', tenant, day, call);

describe('recordings of tenants', () => {
  it('stand in a folder of each, also where their calls have the same id, and where a tenant is called as a day', async () => {
    for (const tenant of ['clinic', 'diner', day]) leave(tenant, 'c1');
    leave(undefined, 'c1');
    await newArchive().look();
    for (const tenant of ['clinic', 'diner', day]) expect(existsSync(kept(tenant, 'c1'))).toBe(true);
    expect(readdirSync(join(dir, 'kept')).toSorted()).toEqual([day, 'tenants']);
    expect(readdirSync(join(dir, 'kept', day))).toEqual(['c1']);
    expect(calls).toEqual(Array<string>(4).fill('finished c1'));
  });

  it.each(['../../diner', 'a/b', 'diner~c1', '..', '~', ''])(
    'stay in it whatever the client calls its call: %j',
    async (call) => {
      leave('clinic', call);
      await newArchive().look();
      const [name = ''] = readdirSync(join(dir, 'kept/tenants/clinic', day));
      expect(name).toMatch(/^[0-9a-f]{32}$/);
      expect(readdirSync(join(dir, 'kept'))).toEqual(['tenants']);
      expect(readdirSync(join(dir, 'kept/tenants'))).toEqual(['clinic']);
    },
  );

  it('have the format and the time of their own agent', async () => {
    leave('clinic', 'a', { audio_format: 'opus', keep_days: 1 });
    leave('clinic', 'b', { audio_format: 'wav', keep_days: 30 });
    leave('diner', 'c');
    const archive = newArchive({ format: 'wav', keepDays: 5 });
    await archive.look();
    expect(readdirSync(kept('clinic', 'a'))).toContain('audio.opus');
    expect(readdirSync(kept('clinic', 'b'))).toContain('audio.wav');
    const past = Date.now() / 1000 - 3 * 86_400;
    for (const path of [kept('clinic', 'a'), kept('clinic', 'b'), kept('diner', 'c')])
      utimesSync(path, past, past);
    await newArchive({ format: 'wav', keepDays: 5 }).look();
    expect([
      existsSync(kept('clinic', 'a')),
      existsSync(kept('clinic', 'b')),
      existsSync(kept('diner', 'c')),
    ]).toEqual([false, true, true]);
  });

  it('of one who records much make room for those of others', () => {
    const all = [
      { path: 'diner 1', at: 1, bytes: 10, owner: 'diner', isWaiting: false },
      ...Array.from({ length: 9 }, (_, at) => ({
        path: `clinic ${at}`,
        at: at + 2,
        bytes: 10,
        owner: 'clinic',
        isWaiting: false,
      })),
    ];
    expect(superfluous(all, { mostBytes: 50 }, 100).map(({ path }) => path)).toEqual([
      'clinic 0',
      'clinic 1',
      'clinic 2',
      'clinic 3',
      'clinic 4',
    ]);
  });
});
