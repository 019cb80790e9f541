/** The folder of agents on a real disk: what is read of it, when, and what never is. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listAgents, readAgentAt } from '../../../shared/installation/agents-folder.ts';
import { afterOthers, systemClock, systemWallClock, type WallClock } from '../../../shared/runtime/clock.ts';
import { FolderWatch, quietMs, type FoundAgent } from '../../../supervisor/agents/folder-watch.ts';

let dir: string;
/** Of the agent that lies beside the folder. */
let home: string;
let watch: FolderWatch | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-agents-'));
  dir = join(home, 'agents');
  mkdirSync(dir);
});
afterEach(() => {
  watch?.close();
  watch = undefined;
  rmSync(home, { recursive: true, force: true });
});

const text = (name: string, more = 'prompt = "You are under test."'): string => `
[agent]
name = "${name}"
${more}
[stt]
provider = "stt_local_ws"
[stt.stt_local_ws]
base_url = "wss://stt.example.com"
[llm]
provider = "chat_compatible"
[llm.chat_compatible]
base_url = "https://example.com"
model = "fake"
[tts]
provider = "speech_compatible"
[tts.speech_compatible]
base_url = "https://example.com"
preset = "generic"
model = "fake"
`;
const put = (name: string, content: string): string => {
  const path = join(dir, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  return path;
};

describe('the folder', () => {
  it('holds agents, and in each folder of it those of a tenant', () => {
    put('front.toml', '');
    put('clinic/desk.toml', '');
    put('clinic/prompts/desk.md', '');
    put('clinic/desk.rehearsal.toml', '');
    put('.hidden/desk.toml', '');
    put('.front.toml.swp', '');
    put('front.toml~', '');
    put('no tenant!/desk.toml', '');
    const { places, unusable } = listAgents(dir);
    expect(places.map(({ shown, tenant }) => [shown, tenant])).toEqual([
      ['clinic/desk.toml', 'clinic'],
      ['front.toml', undefined],
    ]);
    expect(unusable.map(({ shown }) => shown)).toEqual(['no tenant!']);
  });

  it('is found behind the links that Kubernetes mounts files by', async () => {
    put('clinic/..2026/desk.toml', text('desk', 'prompt_file = "desk.md"'));
    put('clinic/..2026/desk.md', 'Be kind.');
    symlinkSync('..2026', join(dir, 'clinic/..data'));
    for (const name of ['desk.toml', 'desk.md']) symlinkSync(`..data/${name}`, join(dir, 'clinic', name));
    const [place] = listAgents(dir).places;
    const { version, problems } = await readAgentAt(place!, {}, { requireSecrets: true });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect([version?.id, version?.files.texts]).toEqual(['clinic/desk', { 'desk.md': 'Be kind.' }]);
  });

  const secret = 'The patients of the clinic are none of your business.';
  it.each([
    ['a path out of its folder', '../clinic/prompt.md'],
    ['a long way round', '../diner/../clinic/./prompt.md'],
    ['an absolute path', '/etc/hostname'],
    ['a link to the file', 'link.md'],
    ['a link to the folder', 'door/prompt.md'],
    ['a link to a link', 'link2.md'],
    ['a pipe', 'pipe.md'],
    ['a device', 'zero.md'],
    ['a folder', 'sub'],
  ])('gives a tenant nothing of another one by %s', async (_, name) => {
    put('clinic/prompt.md', secret);
    put('diner/host.toml', text('host', `prompt_file = ${JSON.stringify(name)}`));
    mkdirSync(join(dir, 'diner/sub'));
    symlinkSync('../clinic/prompt.md', join(dir, 'diner/link.md'));
    symlinkSync('link.md', join(dir, 'diner/link2.md'));
    symlinkSync('../clinic', join(dir, 'diner/door'));
    symlinkSync('/dev/zero', join(dir, 'diner/zero.md'));
    execFileSync('mkfifo', [join(dir, 'diner/pipe.md')]);
    const place = listAgents(dir).places.find(({ tenant }) => tenant === 'diner');
    const { version, problems } = await readAgentAt(place!, {}, { requireSecrets: true });
    expect(version).toBeUndefined();
    expect(problems.some(({ path }) => path === 'agent.prompt_file')).toBe(true);
    expect(JSON.stringify(problems)).not.toContain('patients');
  });

  it.each(['link', 'pipe', 'device'])('has no agent in a %s', async (kind) => {
    put('clinic/desk.toml', text('desk'));
    mkdirSync(join(dir, 'diner'));
    const path = join(dir, 'diner/host.toml');
    if (kind === 'pipe') execFileSync('mkfifo', [path]);
    else symlinkSync(kind === 'link' ? '../clinic/desk.toml' : '/dev/zero', path);
    const place = listAgents(dir).places.find(({ tenant }) => tenant === 'diner');
    const { version, unreadable } = await readAgentAt(place!, {}, { requireSecrets: true });
    expect([version, typeof unreadable]).toEqual([undefined, 'string']);
  });
});

/** A watch, what it found, and the moment in which something fits. */
async function open(wallClock: WallClock = systemWallClock): Promise<{
  readonly found: Map<string, FoundAgent | undefined>;
  until: (fits: () => boolean) => Promise<void>;
}> {
  const found = new Map<string, FoundAgent | undefined>();
  let changed = (): void => undefined;
  watch = new FolderWatch({
    dir,
    besides: { place: { path: put('../own.toml', text('own')), shown: 'own.toml' }, named: [] },
    env: {},
    secretsDir: join(dir, '.secrets'),
    clock: systemClock,
    wallClock,
    found: (changes) => {
      for (const [path, one] of changes) found.set(path, one);
      changed();
    },
    unusable: () => undefined,
    deaf: (reason) => expect.unreachable(reason),
  });
  await watch.open();
  return {
    found,
    until: async (fits) => {
      while (!fits()) await new Promise<void>((resolve) => (changed = resolve));
    },
  };
}
const idAt = (found: ReadonlyMap<string, FoundAgent | undefined>, path: string): string | undefined =>
  found.get(path)?.reading.version?.id;

describe('the watch', () => {
  it('finds files that are there, that come, change and go, and prompts beside them', async () => {
    const path = put('a.toml', text('a', 'prompt_file = "prompts/a.md"'));
    const prompt = put('prompts/a.md', 'one');
    const { found, until } = await open();
    expect(idAt(found, path)).toBe('a');
    const first = found.get(path)?.reading.version?.hash;
    writeFileSync(prompt, 'two');
    await until(() => found.get(path)?.reading.version?.hash !== first);
    expect(found.get(path)?.reading.version?.files.texts).toEqual({ 'prompts/a.md': 'two' });
    const other = put('t/b.toml', text('b'));
    await until(() => idAt(found, other) === 't/b');
    writeFileSync(`${path}.new`, text('z'));
    renameSync(`${path}.new`, path);
    await until(() => idAt(found, path) === 'z');
    rmSync(path);
    await until(() => found.has(path) && found.get(path) === undefined);
  });

  it('reads an agent again when a secret of its tenant changes, or what its tenant may', async () => {
    const path = put('clinic/desk.toml', text('desk').replace('[llm.', 'api_key_env = "KEY"\n[llm.'));
    const secret = put('.secrets/clinic/KEY', 'one');
    const { found, until } = await open();
    const keyOf = (): string | undefined => found.get(path)?.reading.definition?.llm?.apiKey?.reveal();
    expect(keyOf()).toBe('one');
    writeFileSync(`${secret}.new`, 'two');
    renameSync(`${secret}.new`, secret);
    await until(() => keyOf() === 'two');
    put('clinic.tenant.toml', '[limits]\ncalls = 3\n');
    await until(() => found.get(path)?.reading.version?.tenantLimits?.calls === 3);
  });

  it('reads nothing that is being written: of a file written piece by piece it sees the whole', async () => {
    const path = join(dir, 'slow.toml');
    let isWriting = true;
    // However long the machine stands still between two pieces, it is no time for the file.
    const changedMs = (): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    const now = (): number => (isWriting ? changedMs() : undefined) ?? systemWallClock.now();
    const { found, until } = await open({ now });
    const whole = text('slow');
    const pieces = 8;
    const size = Math.ceil(whole.length / pieces);
    for (let piece = 0; piece < pieces; piece += 1) {
      appendFileSync(path, whole.slice(piece * size, (piece + 1) * size));
      await new Promise((resolve) => void systemClock.after(quietMs / 5, () => resolve(undefined)));
      expect(found.has(path)).toBe(false);
    }
    isWriting = false;
    await until(() => found.has(path));
    expect(idAt(found, path)).toBe('slow');
  });

  it('has looked at everything when one who asked for it is answered', async () => {
    const { found } = await open();
    const path = put('now.toml', text('now'));
    await watch?.lookNow();
    expect(idAt(found, path)).toBe('now');
    put('now.toml', text('now2'));
    await watch?.lookNow();
    expect(idAt(found, path)).toBe('now2');
  });

  it('does not take a file for gone that is replaced by deleting it first', async () => {
    const path = put('a.toml', text('a'));
    const { found, until } = await open();
    rmSync(path);
    await new Promise<void>(afterOthers);
    put('a.toml', text('again'));
    await until(() => idAt(found, path) === 'again');
    expect([...found.values()]).not.toContain(undefined);
  });
});
