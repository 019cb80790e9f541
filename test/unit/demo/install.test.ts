/** The installation of a checkout as processes meet it: the real script, with a stand-in for npm that the test holds back. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
}

const project = fileURLToPath(new URL('../../..', import.meta.url));
const locked = { packages: { '': {}, 'node_modules/one': { version: '1.0.0' } } };

/** Notes that it runs, waits until it may end, and installs the one package. */
const npm = `
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
appendFileSync('npm.log', process.pid + '\\n');
const look = () => {
  if (!existsSync('go')) return setTimeout(look, 20);
  mkdirSync('node_modules/one', { recursive: true });
  writeFileSync('node_modules/one/package.json', '{}');
  writeFileSync('node_modules/.package-lock.json', ${JSON.stringify(JSON.stringify(locked))});
};
look();
`;

let checkout: string;
const running: ChildProcess[] = [];

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'install-test-'));
  // What a checkout runs before anything is installed; sources of TypeScript are most of the folder.
  const filter = (path: string): boolean => !/\.[a-z]*ts$/.test(path);
  cpSync(join(project, 'scripts'), join(checkout, 'scripts'), { recursive: true, filter });
  writeFileSync(join(checkout, 'package.json'), readFileSync(join(project, 'package.json')));
  writeFileSync(join(checkout, 'package-lock.json'), JSON.stringify(locked));
  writeFileSync(join(checkout, 'npm.js'), npm);
});

afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  rmSync(checkout, { recursive: true, force: true });
});

class Install {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  text = '';

  constructor(args: readonly string[] = ['scripts/install.mjs'], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, args, {
      cwd: checkout,
      env: { ...process.env, npm_execpath: join(checkout, 'npm.js'), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.push(this.child);
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', (bytes: Buffer) => (this.text += bytes.toString()));
    this.ended = once(this.child, 'close');
  }

  async says(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) await once(this.child.stderr!, 'data');
  }
}

const npmRuns = (): number[] =>
  readFileSync(join(checkout, 'npm.log'), 'utf8').trim().split('\n').map(Number);
const letNpmEnd = (): void => writeFileSync(join(checkout, 'go'), '');

/** It has written its whole line. */
async function npmBegins(): Promise<void> {
  const log = join(checkout, 'npm.log');
  while (!existsSync(log) || !readFileSync(log, 'utf8').endsWith('\n'))
    await new Promise((resolve) => setTimeout(resolve, 10));
}

describe('the installation', () => {
  it('happens once for two first starts at the same time, and the second one says whom it waits for', async () => {
    const first = new Install();
    await npmBegins();
    const second = new Install();
    await second.says(/\n/);
    letNpmEnd();
    expect([await first.ended, await second.ended]).toEqual([
      [0, null],
      [0, null],
    ]);
    expect(npmRuns()).toHaveLength(1);
    expect(second.text).toBe(
      `Waiting for process ${first.child.pid}, which installs or builds in this folder ...\n`,
    );
    expect(readdirSync(checkout)).not.toContain('.install.lock');
  });

  it.each([
    ['a process that is gone', ['4194304-1']],
    ['a process whose number belongs to another one now', [`${process.pid}-1`]],
    ['nobody', []],
  ])('takes over the lock of %s', async (_, owners) => {
    mkdirSync(join(checkout, '.install.lock'));
    for (const owner of owners) writeFileSync(join(checkout, '.install.lock', owner), '');
    letNpmEnd();
    const install = new Install();
    expect(await install.ended).toEqual([0, null]);
    expect(install.text).not.toContain('Waiting');
    expect(npmRuns()).toHaveLength(1);
  });

  it('waits for the npm of a start that was killed', async () => {
    const killed = new Install();
    await npmBegins();
    const [orphan = 0] = npmRuns();
    killed.child.kill('SIGKILL');
    await once(killed.child, 'exit');
    const next = new Install();
    await next.says(/\n/);
    letNpmEnd();
    expect(await next.ended).toEqual([0, null]);
    expect(next.text).toBe(`Waiting for process ${orphan}, which installs or builds in this folder ...\n`);
    expect(npmRuns()).toEqual([orphan]);
    expect(readdirSync(checkout)).not.toContain('.install.lock');
  });

  it('tells how far it is', async () => {
    const install = new Install();
    await install.says(/Installing 1 packages [^]*\n {2}0 of 1 packages are there\n/);
    letNpmEnd();
    expect(await install.ended).toEqual([0, null]);
  });

  it('ends npm when it is stopped', async () => {
    const install = new Install();
    await npmBegins();
    install.child.kill('SIGTERM');
    expect(await install.ended).toEqual([null, 'SIGTERM']);
    expect(() => process.kill(npmRuns()[0]!, 0)).toThrow('ESRCH');
  });
});

/** What can be run: what npm runs, and what the documentation names. */
const scripts = [
  ...Object.values((JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as Manifest).scripts),
  'node scripts/install.mjs',
  'node scripts/screenshots.mjs',
  'node scripts/measure/sim.mjs',
  'node scripts/measure/bench/resampler.mjs',
].map((command) => /(?<=node )scripts\/\S+/.exec(command)?.[0] ?? `none in ${command}`);

/** Without these they do nothing. */
const needed = {
  completeness: ['new'],
  deb: ['new'],
  'deploy-tree': ['new'],
  install: ['--dev'],
  screenshots: ['url', 'file'],
  site: ['new'],
};

describe.each([...new Set(scripts)])('%s', (script) => {
  // Both words are read in one place.
  const help = script.endsWith('/test.mjs') ? '-h' : '--help';
  it(`explains itself with ${help} and does nothing else`, async () => {
    const before = readdirSync(checkout, { recursive: true });
    mkdirSync(join(checkout, 'docs/reference'), { recursive: true });
    writeFileSync(join(checkout, 'docs/reference/commands.md'), 'usage: the page');
    const run = new Install([script, help]);
    expect(await run.ended).toEqual([0, null]);
    expect(run.text).toMatch(/^usage: /);
    rmSync(join(checkout, 'docs'), { recursive: true });
    expect(readdirSync(checkout, { recursive: true })).toEqual(before);
  });

  // These two pass options on.
  it.skipIf(/\/(?:test|svc-supervisor)\.mjs$/.test(script))(
    'refuses an option that it does not know, and does nothing',
    async () => {
      const before = readdirSync(checkout, { recursive: true });
      const run = new Install([script, '--chek=1']);
      expect(await run.ended).toEqual([2, null]);
      expect(run.text).toMatch(/unknown option --chek\nusage: /);
      expect(readdirSync(checkout, { recursive: true })).toEqual(before);
    },
  );

  it('installs what it lacks', async () => {
    letNpmEnd();
    writeFileSync(join(checkout, 'file'), '');
    const args = Object.entries(needed).find(([name]) => script.endsWith(`/${name}.mjs`))?.[1] ?? [];
    const run = new Install([script, ...args]);
    await run.ended;
    expect(run.text).toContain('Installing 1 packages');
    expect(npmRuns()).toHaveLength(1);
  });
});

describe('packing', () => {
  it('waits for the build that is under way, and keeps builds waiting until it is over', async () => {
    letNpmEnd();
    await new Install().ended;
    mkdirSync(join(checkout, 'scripts/build'), { recursive: true });
    writeFileSync(
      join(checkout, 'scripts/build/service.mjs'),
      `import { existsSync } from 'node:fs';
      export const buildAll = async () => {
        while (!existsSync('built')) await new Promise((resolve) => setTimeout(resolve, 20));
      };`,
    );
    const building = new Install(['scripts/build.mjs']);
    await building.says(/Building/);
    const asNpm = { npm_lifecycle_event: 'prepack' };
    const packing = new Install(['scripts/pack.mjs'], asNpm);
    await packing.says(/Waiting for process/);
    writeFileSync(join(checkout, 'built'), '');
    expect(await building.ended).toEqual([0, null]);
    expect(await packing.ended).toEqual([0, null]);
    const next = new Install(['scripts/build.mjs']);
    await next.says(new RegExp(`Waiting for process ${process.pid},`));
    expect(await new Install(['scripts/pack.mjs', '--packed'], asNpm).ended).toEqual([0, null]);
    expect(await next.ended).toEqual([0, null]);
    expect(existsSync(join(checkout, '.install.lock'))).toBe(false);
  });
});

describe('svc-supervisor --version', () => {
  it('is told without installing or building', async () => {
    const run = new Install(['scripts/svc-supervisor.mjs', '--version']);
    await run.ended;
    expect(run.text).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(existsSync(join(checkout, 'npm.log'))).toBe(false);
  });
});

describe('a Node that is too old', () => {
  it.each(['start', 'test', 'svc-supervisor', 'install'])(
    'is refused by %s before anything else',
    async (name) => {
      const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.19.0' } })`;
      const preload = `data:text/javascript,${encodeURIComponent(old)}`;
      const run = new Install(['--import', preload, `scripts/${name}.mjs`]);
      expect(await run.ended).toEqual([1, null]);
      expect(run.text).toMatch(/^This needs Node\.js 20\.19 or later, and this is 18\.19\.0\..*\n$/);
      expect(existsSync(join(checkout, 'npm.log'))).toBe(false);
    },
  );
});
