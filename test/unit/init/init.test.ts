/** `init`: every project that it begins passes its check and its rehearsal at once, without a key and without a network. */
import { execFileSync } from 'node:child_process';
import {
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
import { build } from 'esbuild';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCheck } from '../../../cli/commands/check/check-command.ts';
import { runInit, type InitOptions } from '../../../cli/commands/init/init-command.ts';
import { templateNames } from '../../../cli/commands/init/templates.ts';
import { runRehearse } from '../../../cli/rehearsal/scenarios/rehearse-command.ts';
import { unknownVariables } from '../../../shared/config/server/server.ts';
import { readBytes, readText } from '../../../shared/installation/named-files.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';

const home = fileURLToPath(new URL('../../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'init-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function init(given: Partial<InitOptions>) {
  const lines: string[] = [];
  const errors: string[] = [];
  const status = await runInit({
    folder: join(folder, 'desk'),
    template: 'demo',
    home,
    write: (line) => void lines.push(line),
    writeError: (line) => void errors.push(line),
    ...given,
  });
  return { status, lines, errors: errors.join('\n') };
}

const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1));

/** What `npm start` runs takes the options of the demo, `--free-ports` among them. */
const startsDemo = /voice-agent-service demo\b|svc-supervisor agent dev\b/;

describe.each(templateNames)('the project %s', (template) => {
  const target = join(folder, `new-${template}`);
  const read = (name: string): string => readFileSync(join(target, name), 'utf8');

  it('is written, named after its folder, with this version, and explained to people and to coding agents', async () => {
    expect(await init({ folder: target, template })).toMatchObject({ status: 0, errors: '' });
    const files = filesIn(target);
    const wanted = ['.env.example', '.github/workflows/rehearse.yml', '.gitignore', 'AGENTS.md', 'README.md'];
    expect(files).toEqual(expect.arrayContaining([...wanted, 'agent.toml', 'compose.yaml']));
    const all = files.map(read).join('\n');
    expect(all).not.toMatch(/my-agent|SERVICE_VERSION/);
    expect(read('agent.toml')).toContain(`name = "new-${template}"`);
    const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
    expect(read('compose.yaml')).toContain(`voice-agent-service:${version}`);
  });

  it('has an agent file without a problem', () => {
    const lines: string[] = [];
    const status = runCheck(join(target, 'agent.toml'), {
      requireSecrets: true,
      env: {},
      readFile: readText,
      readBytes,
      write: (line) => lines.push(line),
    });
    expect({ status, lines }).toEqual({ status: 0, lines: [`${join(target, 'agent.toml')}: valid`] });
  });

  it('has an .env whose empty values are those that must be filled in', () => {
    expect([...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name)).toEqual([
      'SVC_SESSION_SECRET',
      'CALLS_DB_PASSWORD',
    ]);
    const compose = filesIn(target).filter((name) => name.startsWith('compose'));
    const asked = [
      ...compose
        .map(read)
        .join('\n')
        .matchAll(/\$\{([A-Z_]+):/g),
    ].map(([, name]) => name!);
    expect(asked.filter((name) => !read('.env.example').includes(`${name}=`))).toEqual([]);
  });

  it('has what its tools ask on this machine beside the service in its containers, too', () => {
    const asked = [...read('agent.toml').matchAll(/^url = "http:\/\/127\.0\.0\.1:(\d+)\//gm)].map(
      ([, port]) => port!,
    );
    const file = 'compose.override.yaml';
    const compose = existsSync(join(target, file)) ? read(file) : '';
    for (const port of asked) {
      const [, program = ''] = /volumes: \['\.\/(\w+\.mjs):/.exec(compose) ?? [];
      expect(compose).toContain('network_mode: service:service');
      expect(read(program)).toContain(port);
    }
  });

  it('sets only variables that there are, and names in its texts only files and scripts that there are', () => {
    const set = [
      ...filesIn(target)
        .map(read)
        .join('\n')
        .matchAll(/\bSVC_[A-Z_]+/g),
    ].map(([name]) => name);
    expect(unknownVariables(Object.fromEntries(set.map((name) => [name, 'x'])))).toEqual([]);
    const texts = `${read('README.md')}\n${read('AGENTS.md')}`;
    const named = [...texts.matchAll(/`([a-z_.]+\.(?:toml|ts|py|yaml|example))`/g)].map(([, name]) => name!);
    expect(named.filter((name) => !existsSync(join(target, name)))).toEqual([]);
    const scripts = existsSync(join(target, 'package.json')) ? read('package.json') : '';
    const run = [...texts.matchAll(/npm (?:run )?(test|start|check|console)\b/g)].map(([, name]) => name!);
    expect(run.filter((name) => !scripts.includes(`"${name}":`))).toEqual([]);
    expect(read('README.md').includes('npm run backend')).toBe(scripts.includes('"backend":'));
    if (scripts !== '') expect(/"start": "(.*)"/.exec(scripts)?.[1]).toMatch(startsDemo);
    const pages = [...texts.matchAll(/node_modules\/voice-agent-service\/(docs\/[\w/-]+\.md)/g)];
    expect(pages.filter(([, page]) => !existsSync(join(home, page!)))).toEqual([]);
  });
});

describe('a project of', () => {
  it.each(['demo', 'restaurant', 'support', 'realtime'])('%s passes its rehearsal', async (template) => {
    const target = join(folder, `new-${template}`);
    let out = '';
    const errors: string[] = [];
    const status = await runRehearse([join(target, 'rehearsal.toml'), join(target, 'agent.toml')], {
      env: {},
      clock: systemClock,
      readFile: readText,
      readBytes,
      output: { write: (text) => void (out += text) },
      writeError: (line) => void errors.push(line),
    });
    expect({ status, errors }, out).toEqual({ status: 0, errors: [] });
  });

  it('typescript passes its tests', async () => {
    const target = join(folder, 'new-typescript');
    const bundle = join(target, 'agent.test.cjs');
    await build({
      entryPoints: [join(target, 'agent.test.ts')],
      outfile: bundle,
      absWorkingDir: home,
      nodePaths: [join(home, 'node_modules')],
      bundle: true,
      platform: 'node',
      alias: {
        '@voice-agent-service/agent/testing': './sdk/typescript/src/testing.ts',
        '@voice-agent-service/agent': './sdk/typescript/src/index.ts',
      },
    });
    // A test of node:test that runs inside of another runner of it would tell that one.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    expect(execFileSync(process.execPath, [bundle], { env, encoding: 'utf8', stdio: 'pipe' })).toContain(
      '# pass 2',
    );
  });
});

describe('init', () => {
  it('asks which template at a terminal, and takes a number, a name or nothing', async () => {
    const answered = async (answer: string) => {
      const target = join(folder, `asked-${answer.trim() || 'nothing'}`.toLowerCase());
      const asked = { folder: target, template: undefined, ask: () => Promise.resolve(answer) };
      const { status, lines } = await init(asked);
      return [
        status,
        lines.length > 6,
        existsSync(join(target, 'agent.py')),
        existsSync(join(target, 'rehearsal.toml')),
      ];
    };
    expect(await answered('6')).toEqual([0, true, true, false]);
    expect(await answered(' Python ')).toEqual([0, true, true, false]);
    expect(await answered('')).toEqual([0, true, false, true]);
    expect(await answered('9')).toEqual([2, false, false, false]);
  });

  it('says what to do next, from where it was called', async () => {
    const target = join(folder, 'elsewhere');
    expect((await init({ folder: target })).lines.slice(1)).toEqual([
      `  cd ${target}`,
      '  npm install',
      '  npm test',
      '  npm start',
    ]);
    const here = join(folder, 'here');
    mkdirSync(here);
    const from = process.cwd();
    onTestFinished(() => process.chdir(from));
    process.chdir(here);
    expect((await init({ folder: '.' })).lines).toEqual([
      expect.stringMatching(/^\d+ files in \.; next:$/),
      '  npm install',
      '  npm test',
      '  npm start',
    ]);
  });

  it.each([
    [
      'without a terminal and without a template',
      { template: undefined },
      2,
      '--template: must be demo, restaurant,',
    ],
    ['with a template that there is not', { template: 'video' }, 2, '--template: must be demo, restaurant,'],
    [
      'with a name that is none of an agent',
      { folder: join(folder, 'My Agent') },
      2,
      'FOLDER: its name becomes',
    ],
    [
      'with a name of a template that is inherited',
      { template: 'constructor' },
      2,
      '--template: must be demo',
    ],
  ])('writes nothing %s', async (_, given, status, problem) => {
    const found = await init(given);
    expect(found).toMatchObject({ status, lines: [] });
    expect(found.errors).toContain(problem);
    expect(existsSync(('folder' in given && given.folder) || join(folder, 'desk'))).toBe(false);
  });

  it('leaves a folder alone that holds anything, and a file', async () => {
    const full = join(folder, 'full');
    mkdirSync(full);
    writeFileSync(join(full, 'mine.txt'), 'mine');
    expect(await init({ folder: full })).toMatchObject({ status: 1, errors: 'FOLDER: must be new or empty' });
    expect(filesIn(full)).toEqual(['mine.txt']);
    expect(await init({ folder: join(full, 'mine.txt') })).toMatchObject({ status: 2 });
    writeFileSync(join(folder, 'plain'), '');
    expect(await init({ folder: join(folder, 'plain') })).toMatchObject({ status: 1 });
  });

  it('says why a folder cannot be written', async () => {
    writeFileSync(join(folder, 'file'), '');
    const { status, errors } = await init({ folder: join(folder, 'file', 'agent') });
    expect({ status, errors }).toEqual({ status: 1, errors: 'FOLDER: cannot be written: ENOTDIR' });
  });
});
