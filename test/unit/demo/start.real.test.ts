/** `npm start` as a process: the real script and the real demo, with a stand-in for the supervisor that only logs and obeys signals. */
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
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { beforeAskingAgain } from '../../support/process/service.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url));

/** Writes its process id and settings to a file, logs as the service does, and exits with 7 after SIGTERM or SIGINT. */
const standIn = `
import { writeFileSync } from 'node:fs';
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(7));
const log = (entry: object): void => { process.stdout.write(JSON.stringify({ time: 0, ...entry }) + '\\n'); };
writeFileSync(process.env['STAND_IN_FILE'] ?? '', JSON.stringify({ pid: process.pid, argv: process.argv.slice(2), agent: process.env['SVC_AGENT_FILE'], ws: process.env['SVC_WS_ADDR'], page: process.env['SVC_PAGE_ADDR'] }));
if (process.env['STAND_IN_TAKEN'] === '1') {
  log({ level: 60, msg: 'the service cannot start', error: 'SVC_WS_ADDR: cannot listen there: taken (EADDRINUSE)' });
  process.exit(1);
}
log({ level: 40, msg: 'A warning for the user', key: 'value' });
log({ level: 30, msg: 'listening', listener: 'websocket', address: '127.0.0.1:4321' });
log({ level: 30, msg: 'listening', listener: 'health', address: '127.0.0.1:4322' });
log({ level: 30, msg: 'listening', listener: 'page', address: '127.0.0.1:4323' });
log({ level: 30, msg: 'ready' });
setInterval(() => undefined, 1000);
`;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await beforeAskingAgain();
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

interface Ready {
  readonly page: string;
  readonly ws: string;
  readonly health: string;
  readonly llm: string;
  readonly realtime?: string;
}

describe.skipIf(process.platform !== 'linux')('npm start', () => {
  let checkout: string;
  let scratch: string;
  const running: ChildProcess[] = [];

  beforeAll(() => {
    checkout = mkdtempSync(join(tmpdir(), 'start-test-'));
    for (const name of [
      'scripts',
      'examples/demo',
      'worker/announcements',
      'package.json',
      'package-lock.json',
    ]) {
      cpSync(join(project, name), join(checkout, name), { recursive: true });
    }
    scratch = join(checkout, 'scratch');
    symlinkSync(join(project, 'node_modules'), join(checkout, 'node_modules'));
    mkdirSync(join(checkout, 'cli'));
    writeFileSync(join(checkout, 'cli/cli.ts'), standIn);
  });

  beforeEach(() => {
    rmSync(scratch, { recursive: true, force: true });
    mkdirSync(scratch);
  });

  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
  });

  afterAll(() => rmSync(checkout, { recursive: true, force: true }));

  async function start(
    env: Record<string, string> = {},
    [command, ...args]: readonly [string, ...string[]] = [process.execPath, 'scripts/start.mjs'],
  ): Promise<{
    child: ChildProcess;
    ready: Ready;
    errors: () => string;
    settings: { pid: number; argv: string[]; agent: string; ws: string; page: string };
  }> {
    const file = join(checkout, 'stand-in.json');
    const child = spawn(command, [...args, '--free-ports', '--json'], {
      cwd: checkout,
      env: { ...process.env, STAND_IN_FILE: file, TMPDIR: scratch, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.push(child);
    let errors = '';
    child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
    const ended = once(child, 'exit').then(() => {
      throw new Error(`it ended before it was ready: ${errors}`);
    });
    const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])) as [
      string,
    ];
    return {
      child,
      ready: JSON.parse(line) as Ready,
      errors: () => errors,
      settings: JSON.parse(readFileSync(file, 'utf8')) as {
        pid: number;
        argv: string[];
        agent: string;
        ws: string;
        page: string;
      },
    };
  }

  /** Without --json and on the usual ports: resolves with the summary on stdout, or at its end. */
  async function startForPeople(env: Record<string, string> = {}) {
    const child = spawn(process.execPath, ['scripts/start.mjs'], {
      cwd: checkout,
      env: { ...process.env, STAND_IN_FILE: join(checkout, 'stand-in.json'), TMPDIR: scratch, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.push(child);
    let [said, errors] = ['', ''];
    child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
    const summary = new Promise<void>((resolve) => {
      child.stdout.on('data', (bytes: Buffer) => {
        said += bytes.toString();
        if (said.includes('Ctrl-C')) resolve();
      });
    });
    await Promise.race([summary, once(child, 'close')]);
    return { child, said, errors: () => errors };
  }

  it('builds, starts both children, has the service serve the page and shows warnings in words', async () => {
    const { ready, errors, settings } = await start();
    expect(ready).toMatchObject({
      demo: 'ready',
      ws: 'ws://127.0.0.1:4321',
      health: 'http://127.0.0.1:4322/healthz',
      page: 'http://127.0.0.1:4323/',
    });
    expect(settings.argv).toEqual(['--workers', 'auto']);
    expect([settings.ws, settings.page]).toEqual(['127.0.0.1:0', '127.0.0.1:0']);
    expect(errors()).toContain('warning  A warning for the user (key=value)');
    const agent = readFileSync(settings.agent, 'utf8');
    expect(agent).not.toMatch(/^base_url = "\w+:\/\/127\.0\.0\.1:(6006|8085|8086)/m);
  });

  it('has a model that speaks where it is asked for, with the agent file that names it', async () => {
    const { ready, settings } = await start({}, [process.execPath, 'scripts/start.mjs', '--realtime']);
    expect(ready.realtime).toMatch(/^ws:\/\/127[.]0[.]0[.]1:\d+$/);
    const agent = readFileSync(settings.agent, 'utf8');
    expect(agent).toContain(`base_url = "${ready.realtime}"`);
    expect(agent).not.toMatch(/^base_url = "\w+:\/\/127\.0\.0\.1:(6006|8085|8086|8087)/m);
  });

  it('passes SIGTERM on, ends with the exit code of the service and leaves nothing behind', async () => {
    const { child, settings } = await start();
    const children = childrenOf(child.pid!);
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(7);
    expect(children).toContain(settings.pid);
    await Promise.all(children.map(gone));
    expect(existsSync(settings.agent)).toBe(false);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it('leaves nothing behind when it is killed itself', async () => {
    const { child } = await start();
    const children = childrenOf(child.pid!);
    expect(children).toHaveLength(2);
    child.kill('SIGKILL');
    await Promise.all(children.map(gone));
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('leaves nothing behind when npm gets %s', async (signal) => {
    const { child, settings } = await start({}, ['npm', 'start', '--silent', '--']);
    const [shell = 0] = childrenOf(child.pid!);
    const [script = 0] = childrenOf(shell);
    const ours = [shell, script, ...childrenOf(script)];
    expect(ours).toContain(settings.pid);
    child.kill(signal);
    await Promise.all(ours.map(gone));
    expect(readdirSync(scratch)).toEqual([]);
  });

  it('says so and stops the service when the demo dies', async () => {
    const { child, settings, errors } = await start();
    const demo = childrenOf(child.pid!).find((pid) => pid !== settings.pid);
    process.kill(demo!, 'SIGKILL');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(1);
    expect(errors()).toContain('The demo providers ended (SIGKILL); stopping the service.');
    await gone(settings.pid);
  });

  it('says so and stops the demo when the service dies', async () => {
    const { child, settings, errors } = await start();
    const children = childrenOf(child.pid!);
    process.kill(settings.pid, 'SIGKILL');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(1);
    expect(errors()).toContain('The service ended (SIGKILL); stopping the demo providers.');
    await Promise.all(children.map(gone));
  });

  it('prints the address that tells when a first caller is served', async () => {
    const { child, said } = await startForPeople();
    expect(said).toContain('Ready?        http://127.0.0.1:4322/readyz');
    expect(said).not.toContain('healthz');
    child.kill('SIGTERM');
    await once(child, 'exit');
  });

  it('names --free-ports when the service finds another program on its port', async () => {
    const { child, errors } = await startForPeople({ STAND_IN_TAKEN: '1' });
    expect(child.exitCode).toBe(1);
    expect(errors()).toContain('`npm start -- --free-ports` takes free ports instead.');
  });

  it('tells an agent of the user where the providers are, and leaves its file alone', async () => {
    const own = join(checkout, 'own');
    mkdirSync(own);
    const text = `prompt_file = "prompt.md"\nbase_url = "http://127.0.0.1:8085/v1"\n`;
    writeFileSync(join(own, 'agent.toml'), text);
    writeFileSync(join(own, 'prompt.md'), 'Be brief.');
    const { settings, ready, child } = await start({ SVC_AGENT_FILE: 'own/agent.toml' });
    expect(readFileSync(settings.agent, 'utf8')).toBe(text.replace('http://127.0.0.1:8085/v1', ready.llm));
    expect(readFileSync(join(settings.agent, '../prompt.md'), 'utf8')).toBe('Be brief.');
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(readdirSync(scratch)).toEqual([]);
    expect([readFileSync(join(own, 'agent.toml'), 'utf8'), readdirSync(own).length]).toEqual([text, 2]);
  });

  it('leaves the settings of the user alone', async () => {
    const { settings } = await start({ SVC_AGENT_FILE: '/their/agent.toml', SVC_WS_ADDR: '127.0.0.1:9' });
    expect(settings).toMatchObject({ agent: '/their/agent.toml', ws: '127.0.0.1:9' });
  });
});
