/** What happens after calls follows the version of the agent that they began with, as long as something may need it. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AfterCallSetup } from '../../../shared/calls/messages.ts';
import { KeptVersions } from '../../../records/after-call-versions.ts';

const day = 86_400_000;
const env = { OLD: 'secret-old', NEW: 'secret-new', OTHER: 'secret-other' };
let dir: string;
let now: number;

beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'svc-versions-')), 'versions');
  now = Date.now();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const opened = (secretsDir?: string): KeptVersions =>
  new KeptVersions({ dir, env, secretsDir, wallClock: { now: () => now } });

const setup = (
  version: string,
  more: Partial<Omit<AfterCallSetup, 'secrets'>> & {
    readonly secrets?: string[];
    readonly values?: Readonly<Record<string, string>>;
  } = {},
) => {
  const { secrets = ['OLD'], values = {}, ...rest } = more;
  const endpoint = { url: 'https://a.example/', events: ['call.ended'] as const, allowPrivate: false };
  return {
    agent: 'clinic/desk',
    version,
    secrets: values,
    endpoints: [{ ...endpoint, secretEnv: secrets }],
    ...rest,
  };
};

/** Told of these, of which the last of each agent is in force. */
function told(kept: KeptVersions, ...versions: readonly AfterCallSetup[]): void {
  kept.know({
    versions,
    kept: versions.map(({ version }) => version),
    inForce: versions.map(({ agent, version }) => ({ id: agent, hash: version })),
  });
}

const secretsOf = (kept: KeptVersions, name: string, version?: string): readonly string[][] =>
  kept.endpointsOf({ name, ...(version !== undefined && { version }) }).map(({ secrets }) => [...secrets]);

describe('a version', () => {
  it('is known to the process that was told of it, and to the next one', () => {
    told(opened(), setup('a1', { recordUrl: 'https://a.example/{id}' }), setup('b2', { endpoints: [] }));
    const next = opened();
    expect(next.of({ name: 'clinic/desk', version: 'a1' })?.recordUrl).toBe('https://a.example/{id}');
    expect(next.of({ name: 'clinic/desk', version: 'b2' })?.endpoints).toEqual([]);
    expect(next.of({ name: 'clinic/desk', version: 'c3' })).toBeUndefined();
    expect(next.of({ name: 'clinic/desk' })).toBeUndefined();
  });

  it('is that of its own agent alone', () => {
    const kept = opened();
    told(kept, setup('a1'));
    expect(kept.of({ name: 'diner/desk', version: 'a1' })).toBeUndefined();
    expect(kept.of({ name: 'clinic/desk', version: '../a1' })).toBeUndefined();
  });

  it('lies on the disk without a secret, and for the service alone', () => {
    told(opened(), setup('a1'));
    const [file = ''] = readdirSync(dir);
    expect(readFileSync(join(dir, file), 'utf8')).not.toContain('secret-old');
  });

  it('that cannot be read is as none', () => {
    told(opened(), setup('a1'));
    writeFileSync(join(dir, 'a1.json'), '{"agent":');
    expect(opened().of({ name: 'clinic/desk', version: 'a1' })).toBeUndefined();
    writeFileSync(join(dir, 'a1.json'), '{"agent":"clinic/desk","version":"a1","endpoints":[{}]}');
    expect(opened().of({ name: 'clinic/desk', version: 'a1' })).toBeUndefined();
  });

  it('stays while calls may have it, and five days longer', () => {
    const kept = opened();
    told(kept, setup('a1'), setup('b2'));
    now += 4 * day;
    kept.tidy();
    kept.know({ versions: [], kept: ['b2'], inForce: [] });
    now += 4 * day;
    kept.tidy();
    expect(readdirSync(dir).toSorted()).toEqual(['a1.json', 'b2.json']);
    now += 2 * day;
    kept.tidy();
    expect(readdirSync(dir)).toEqual(['b2.json']);
  });
});

describe('the secrets of an endpoint', () => {
  it('are those of the version, and those that the agent has for the same endpoint by now', () => {
    const kept = opened();
    told(kept, setup('a1'), setup('b2', { secrets: ['NEW', 'OLD'] }));
    expect(secretsOf(kept, 'clinic/desk', 'a1')).toEqual([['secret-old', 'secret-new']]);
    expect(secretsOf(kept, 'clinic/desk', 'b2')).toEqual([['secret-new', 'secret-old']]);
  });

  it('are never those of another agent with the same endpoint', () => {
    const kept = opened();
    told(kept, setup('a1'), setup('c3', { agent: 'diner/desk', secrets: ['OTHER'] }));
    expect(secretsOf(kept, 'clinic/desk', 'a1')).toEqual([['secret-old']]);
    expect(secretsOf(kept, 'diner/desk', 'c3')).toEqual([['secret-other']]);
    expect(secretsOf(kept, 'diner/desk', 'a1')).toEqual([]);
  });

  it('of a tenant are its own alone, and read anew where the supervisor does not tell them any more', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-secrets-'));
    mkdirSync(join(folder, 'clinic'));
    writeFileSync(join(folder, 'clinic', 'NEW'), 'secret-of-the-clinic\n');
    const mine = setup('a1', {
      tenant: 'clinic',
      secrets: ['NEW', 'OLD'],
      values: { NEW: 'secret-of-the-clinic' },
      analysis: { agentText: '', files: { texts: {}, recordings: {}, secrets: { NEW: 'x' } }, timeoutMs: 1 },
    });
    const first = opened(folder);
    told(first, mine);
    expect(secretsOf(first, 'clinic/desk', 'a1')).toEqual([['secret-of-the-clinic']]);
    expect(readFileSync(join(dir, 'a1.json'), 'utf8')).not.toMatch(/secret-of|"x"/);
    const next = opened(folder);
    expect(secretsOf(next, 'clinic/desk', 'a1')).toEqual([['secret-of-the-clinic']]);
    expect(next.of({ name: 'clinic/desk', version: 'a1' })?.analysis?.files.secrets).toEqual({
      NEW: 'secret-of-the-clinic',
    });
    rmSync(folder, { recursive: true });
    expect(secretsOf(opened(folder), 'clinic/desk', 'a1')).toEqual([[]]);
  });

  it('are none where the environment has them no more', () => {
    const kept = opened();
    told(kept, setup('a1', { secrets: ['GONE'] }));
    expect(secretsOf(kept, 'clinic/desk', 'a1')).toEqual([[]]);
  });
});
