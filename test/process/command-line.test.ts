/** The command line as its users meet it: help, the version, and one rule for arguments that are wrong. */
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { writeWav } from '../../shared/audio/wav.ts';
import { commands } from '../../cli/commands/commands.ts';
import { canMount, canObeyModes, obeyingModes, readOnlyAt } from '../support/process/less-power.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'command-line-'));
const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_')));

beforeAll(() => {
  const code = `import { ensureBuilt } from './scripts/install.mjs'; await ensureBuilt();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: project, stdio: 'pipe' });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What the built program says and how it ends; `through` is a command that runs it. */
function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  through: readonly string[] = ['env'],
) {
  const program = [...through, process.execPath, join(project, 'dist/supervisor/cli.js')];
  const options = { cwd: folder, env: { ...clean, ...env }, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(program[0]!, [...program.slice(1), ...args], options);
  return { status, out: stdout, errors: stderr };
}

describe('svc-supervisor', () => {
  it('explains one command with --help', () => {
    const { status, out, errors } = run(['token', 'mint', '--help']);
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    expect(out).toMatch(/^usage: svc-supervisor token mint\b/);
  });

  it('lists every command with --help', () => {
    const { status, out } = run(['--help']);
    expect(status).toBe(0);
    for (const [name, { summary }] of Object.entries(commands)) {
      expect(out).toContain(summary);
      if (name !== 'serve') expect(out).toContain(`svc-supervisor ${name}`);
    }
  });

  it('tells its version', () => {
    const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(run(['--version'])).toEqual({ status: 0, out: `${version}\n`, errors: '' });
  });

  // What is said without a command, of its name or of its arguments; then what commands say themselves.
  it.each([
    ['chekc agent.toml', 'unknown command chekc; did you mean check?'],
    ['call a.wav --tokn canary-secret', 'unknown option --tokn; did you mean --token?'],
    ['--workers 0', '--workers: must be auto or a whole number from 1 to 256'],
    ['token mint', '--aud must be one of'],
    ['models pull nothing', 'NAME must be one of smart-turn'],
    ['rehearse a.toml b.toml --jobs 0', '--jobs must be a whole number from 1 to 64'],
    ['call a.wav --url 127.0.0.1:8080', '--url: must be an address such as ws://127.0.0.1:8080'],
    ['call a.wav --rate 11025', '--rate: must be one of'],
  ])('ends with 2 and one clear mistake for: %s', (line, mistake) => {
    const { status, out, errors } = run(line.split(' '));
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(errors).toContain(mistake);
    expect(errors.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
    expect(errors).not.toMatch(/canary/);
  });

  it.each([
    ['config', []],
    ['check', ['agent.toml']],
  ])('%s warns of a variable that nothing reads, by its name alone', (command, args) => {
    writeFileSync(join(folder, 'agent.toml'), '');
    const { out } = run([command, ...args], { SVC_MAX_SESIONS: 'canary' });
    expect(out).toContain(
      'warning: SVC_MAX_SESIONS is not a known variable; did you mean SVC_MAX_SESSIONS?\n',
    );
    expect(out).not.toContain('canary');
  });

  it('warns of one where the start is refused, too', () => {
    const { status, errors } = run([], { SVC_AGENT_FIEL: 'canary' });
    expect(status).toBe(1);
    expect(errors).toMatch(
      /SVC_AGENT_FILE must be set.*\nwarning: SVC_AGENT_FIEL is .* mean SVC_AGENT_FILE\?/,
    );
  });
});

describe('svc-supervisor top', () => {
  const answers: [string, (answer: ServerResponse) => void, string][] = [
    ['of a program that is no service', (answer) => answer.end('<html>'), 'no live view at'],
    ['of JSON that is no live view', (answer) => answer.end('{}'), 'no live view at'],
    ['of another listener', (answer) => answer.writeHead(426).end(), 'status 426 instead of a live view at'],
    ['of nobody', (answer) => answer.destroy(), 'the service does not answer at'],
  ];
  const live = '{"agent":"a","calls":[],"workers":[],"providers":[]}';

  /** `top` at a port with these answers; `through` reads what it says. */
  async function top(answer: (answer: ServerResponse) => void, through = 'cat'): Promise<string> {
    const server = createServer((_request, response) => answer(response));
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const program = `${process.execPath} ${join(project, 'dist/supervisor/cli.js')}`;
    const line = `${program} top --url http://127.0.0.1:${port} ${through}; echo \${PIPESTATUS[0]}`;
    return await new Promise((resolve) => {
      execFile('bash', ['-c', line], { env: { ...clean, SVC_LIVE_TOKEN: 't' } }, (_error, out, errors) =>
        resolve(`${out}${errors}`),
      );
    });
  }

  it.each(answers)('says what is wrong with the answer %s', async (_what, answer, said) => {
    const text = await top(answer, '--once | cat');
    expect(text).toMatch(/^1\n/);
    expect(text).toMatch(new RegExp(`${said} 127\\.0\\.0\\.1:\\d+; --url names its health listener`));
    expect(text).not.toMatch(/\n\s+at /);
  });

  it('ends without a word when its reader has seen enough', async () => {
    const text = await top((answer) => answer.end(live), '--json | head -1');
    expect(text).toBe(`${live}\n141\n`);
  });
});

describe('the built program', () => {
  it('refuses a Node that is too old before anything else', () => {
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.19.0' } })`;
    const preload = `data:text/javascript,${encodeURIComponent(old)}`;
    const { status, errors } = run(['check', 'gone.toml'], { NODE_OPTIONS: `--import=${preload}` });
    expect(status).toBe(1);
    expect(errors).toMatch(/^This needs Node\.js 20\.19 or later, and this is 18\.19\.0\..*\n$/);
  });
});

describe('files that cannot be used', () => {
  const question = join(folder, 'question.wav');
  beforeAll(() => {
    writeFileSync(question, writeWav(new Int16Array(1600), 16_000));
    // Notes are no agents, and neither are rehearsals.
    mkdirSync(join(folder, 'empty/notes'), { recursive: true });
    for (const name of ['README.md', 'a.rehearsal.toml', 'notes/a.txt'])
      writeFileSync(join(folder, 'empty', name), '');
  });

  it.each([
    [['check', 'gone.toml'], 'gone.toml:1:1: error: the file cannot be read: there is no such file'],
    [
      ['check', 'empty'],
      'empty: error: the folder holds no agent: an agent is a .toml file in it, or in a folder of it',
    ],
    [
      ['rehearse', 'gone.toml', 'a.toml'],
      'gone.toml:1:1: error: the file cannot be read: there is no such file',
    ],
    [['call', 'gone.wav'], 'recording: gone.wav: there is no such file'],
    [['call', '.'], 'recording: .: it is a folder and no file'],
    [
      ['call', question, '--out', 'gone/heard.wav'],
      '--out: gone/heard.wav cannot be written: its folder does not exist',
    ],
    [['call', question, '--out', '.'], '--out: . cannot be written: it is a folder and no file'],
  ])('%j says why in one line, without a call', (args, line) => {
    const { status, out, errors } = run(args);
    expect(status).not.toBe(0);
    expect(`${out}${errors}`.split('\n')[0]).toBe(line);
    expect(`${out}${errors}`).not.toMatch(/\n\s+at |ECONNREFUSED/);
  });

  it('checks every agent of a folder, which may be the one that it is run in', () => {
    mkdirSync(join(folder, 'tenants/clinic'), { recursive: true });
    writeFileSync(join(folder, 'tenants/a.toml'), '[agent]\n');
    writeFileSync(join(folder, 'tenants/clinic/b.toml'), 'no');
    const named = run(['check', 'tenants']);
    expect(named.status).toBe(1);
    expect(named.out).toContain('tenants/a.toml:');
    expect(named.out).toContain('tenants/clinic/b.toml:1:');
    expect(named.out).toContain('tenants: 2 agents, 2 errors\n');
    const here = run(['check', '.'], {}, ['env', '-C', 'tenants']);
    expect(here.out).toBe(named.out.replaceAll('tenants/', '').replaceAll('tenants:', '.:'));
  });

  it('says why a file that the agent file names cannot be read', () => {
    writeFileSync(join(folder, 'gone-prompt.toml'), '[agent]\nname = "x"\nprompt_file = "gone.md"\n');
    const { out } = run(['check', 'gone-prompt.toml']);
    expect(out).toContain(
      ':3:15: error: agent.prompt_file names a file that cannot be read: there is no such file (',
    );
  });

  it.skipIf(!canObeyModes)('a file that this user may not open (skipped without setpriv)', () => {
    const [agent, wav] = [join(folder, 'locked.toml'), join(folder, 'locked.wav')];
    for (const file of [agent, wav]) {
      writeFileSync(file, '');
      chmodSync(file, 0o000);
    }
    const read = run(['check', 'locked.toml'], {}, obeyingModes);
    expect(`${read.out}${read.errors}`.split('\n')[0]).toBe(
      'locked.toml:1:1: error: the file cannot be read: this user may not open it',
    );
    const write = run(['call', question, '--out', 'locked.wav'], {}, obeyingModes);
    expect(`${write.out}${write.errors}`).toBe(
      '--out: locked.wav cannot be written: this user may not open it\n',
    );
  });

  it.skipIf(!canMount)('a file on a read-only file system (skipped without unshare)', () => {
    const fixed = join(folder, 'fixed');
    mkdirSync(fixed);
    const { out, errors } = run(['call', question, '--out', 'fixed/heard.wav'], {}, readOnlyAt(fixed));
    expect(`${out}${errors}`).toBe(
      '--out: fixed/heard.wav cannot be written: its file system is read-only\n',
    );
  });

  it('SVC_AGENT_FILE says why in one line', () => {
    const { status, errors } = run([], { SVC_AGENT_FILE: 'gone.toml' });
    const rule = 'SVC_AGENT_FILE: must name a file that can be read: there is no such file\n';
    expect({ status, errors }).toEqual({ status: 1, errors: rule });
  });
});

describe('the commands of the checkout', () => {
  const script = (name: string, ...args: readonly string[]) =>
    spawnSync(process.execPath, [join(project, 'scripts', name), ...args], { cwd: folder, encoding: 'utf8' });

  it('npm test -- --help explains itself and runs nothing', () => {
    const { status, stdout, stderr } = script('test.mjs', '--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^usage: npm test -- /);
  });

  it('a package that was packed without its build says how to make one', () => {
    const copy = join(folder, 'packed');
    const manifest = readFileSync(join(project, 'package.json'), 'utf8');
    const { files } = JSON.parse(manifest) as { files: string[] };
    for (const name of files.filter((one) => one.startsWith('scripts/')))
      cpSync(join(project, name), join(copy, name));
    writeFileSync(join(copy, 'package.json'), manifest);
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(copy, 'scripts/svc-supervisor.mjs'), 'config'],
      { encoding: 'utf8' },
    );
    expect(status).toBe(1);
    expect(stderr).toBe(
      'This package was packed without its build; make it with `npm pack --ignore-scripts=false`.\n',
    );
  });

  it('takes an agent file that can be read only once', () => {
    const file = join(project, 'examples/demo/agent.toml');
    const command = `"${process.execPath}" "${join(project, 'dist/supervisor/cli.js')}" check <(cat "${file}")`;
    const { stdout } = spawnSync('bash', ['-c', command], { cwd: folder, env: clean, encoding: 'utf8' });
    expect(stdout).toContain(': valid');
  });

  it('is not ended by a reload that comes while the service starts', async () => {
    const agentFile = join(folder, 'agent.pipe');
    execFileSync('mkfifo', [agentFile]);
    const env = { ...clean, SVC_AGENT_FILE: agentFile, SVC_MODEL_INDEX: 'off' };
    const service = spawn(process.execPath, [join(project, 'dist/supervisor/cli.js')], { env });
    const ended = once(service, 'exit');
    // Opens once the service is reading.
    const pipe = await open(agentFile, 'w');
    service.kill('SIGUSR2');
    await pipe.writeFile('no agent');
    await pipe.close();
    expect(await ended).toEqual([1, null]);
  });

  it.each([
    ['as the README starts it', {}, '"$0" scripts/svc-supervisor.mjs --workers 1 & echo "$!"; wait'],
    [
      'in the shell of npx',
      { npm_lifecycle_event: 'npx' },
      'echo "$$"; "$0" scripts/svc-supervisor.mjs --workers 1; true',
    ],
  ])('drains on SIGTERM, %s', async (_, env, script) => {
    const service = spawn('bash', ['-c', script, process.execPath], {
      cwd: project,
      env: {
        ...clean,
        ...env,
        SVC_AGENT_FILE: 'examples/demo/agent.toml',
        SVC_WS_ADDR: '127.0.0.1:0',
        SVC_HEALTH_ADDR: '127.0.0.1:0',
      },
    });
    const lines: string[] = [];
    for await (const line of createInterface({ input: service.stdout })) {
      lines.push(line);
      if (line.includes('"msg":"ready"')) process.kill(Number(lines[0]), 'SIGTERM');
    }
    expect(lines.join('\n')).toContain('"signal":"SIGTERM"');
  });
});
