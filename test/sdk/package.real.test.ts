/** The TypeScript SDK as strangers get it: packed, installed into an empty project, and the first example of its README, word for word. */
import { execFileSync, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

const project = fileURLToPath(new URL('../..', import.meta.url));
const tsc = join(project, 'node_modules/typescript/bin/tsc');
const unreachable = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/;
/** Settings that npm handed to this test belong to the command that runs it. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_(registry|cache)$)|SVC_|VOICE_)/.test(name),
  ),
);

const readme = readFileSync(join(project, 'sdk/typescript/README.md'), 'utf8');
const example = /<!-- first example -->\n```ts\n(.*?)```/s.exec(readme)?.[1] ?? '';
const { devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
  devDependencies: Readonly<Record<string, string>>;
};

/** What the README promises of the parts that the example does not show. */
const program = `
import { Agent, CommandRefused, mintSessionToken, serve, ToolError, type Session } from '@voice-agent-service/agent';
import { ScriptedCall } from '@voice-agent-service/agent/testing';
import { z } from 'zod';

const agent = new Agent({ name: 'typed' });
agent.tool({ name: 'add', description: 'Adds.', parameters: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => a + b);
agent.tool({ name: 'plain', description: 'JSON Schema.', parameters: { type: 'object' } }, (args) => Object.keys(args));
// @ts-expect-error the handler gets what the schema says
agent.tool({ name: 'wrong', description: '', parameters: z.object({ a: z.number() }) }, ({ a }) => a.length);
agent.on('turn.metrics', ({ metrics, tMs }) => console.log(metrics.responseMs, tMs));
// @ts-expect-error there is no such event
const event: Parameters<typeof agent.on>[0] = 'turn.finished';
agent.onUserText((text: string, session: Session) => session.say(text));
const call = await ScriptedCall.start(agent);
call.userSays('hello');
const command = await call.nextCommand();
console.log(JSON.stringify([command.type, (await call.callTool('add', { a: 1, b: 2 })).result]));
void [CommandRefused, mintSessionToken, serve, ToolError, event];
`;

describe('the packed TypeScript SDK', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sdk-'));
  const app = join(folder, 'app');
  let problem = '';

  const run = (command: string, args: readonly string[], cwd = app): string =>
    execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  beforeAll(() => {
    run(process.execPath, [join(project, 'scripts/packages.mjs'), 'sdk', join(folder, 'built')], project);
    mkdirSync(app);
    const tarball = run(
      'npm',
      ['pack', '--pack-destination', folder, '--silent'],
      join(folder, 'built'),
    ).trim();
    writeFileSync(join(app, 'package.json'), '{ "name": "empty", "private": true, "type": "commonjs" }');
    // npm init writes "commonjs"; the README says how it becomes a project of ES modules.
    run('npm', /^npm (pkg set \S+)/m.exec(readme)?.[1]?.split(' ') ?? []);
    const packages = ['zod', '@types/node'].map((name) => `${name}@${String(devDependencies[name])}`);
    try {
      const options = ['--prefer-offline', '--no-audit', '--no-fund', '--silent'];
      run('npm', ['install', ...options, join(folder, tarball), ...packages]);
    } catch (error) {
      if (!unreachable.test(String(Reflect.get(error as object, 'stderr')))) throw error;
      problem = 'the registry of packages cannot be reached';
    }
    writeFileSync(join(app, 'hello.ts'), example);
    writeFileSync(join(app, 'typed.ts'), program);
  }, 300_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('holds code, types, README and licence, nothing of the service, and needs ws alone', (context) => {
    context.skip(problem !== '', problem);
    const installed = join(app, 'node_modules/@voice-agent-service/agent');
    const names = readdirSync(installed).map((name) => name.replace(/-[A-Z0-9]{8}/, ''));
    expect(names.sort()).toEqual(
      ['LICENSE', 'README.md', 'index.js', 'package.json', 'shared.js', 'testing.js', 'types'].sort(),
    );
    const types = readdirSync(join(installed, 'types'), { recursive: true, encoding: 'utf8' });
    const text = types
      .filter((name) => name.endsWith('.d.ts'))
      .map((name) => readFileSync(join(installed, 'types', name), 'utf8'))
      .join('\n');
    expect(
      [...text.matchAll(/from '([^']+)'/g)].filter(([, name]) => !/^\.{1,2}\/[^.]/.test(name ?? '')),
    ).toEqual([]);
    expect(text).not.toContain('../shared/');
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as object;
    expect(manifest).toMatchObject({ dependencies: { ws: expect.any(String) as string } });
  });

  it('has types for strict projects', () => {
    const compilerOptions = { module: 'NodeNext', strict: true, target: 'ES2022', types: ['node'] };
    writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    expect(run(process.execPath, [tsc, '-p', app])).toBe('');
  });

  it('lets a scripted call test an agent', (context) => {
    context.skip(problem !== '', problem);
    expect(run(process.execPath, ['typed.js']).trim()).toBe('["say",3]');
  });

  it('runs the first example of its README, word for word', async (context) => {
    context.skip(problem !== '', problem);
    expect(example).toBe(readFileSync(join(project, 'sdk/typescript/examples/hello.ts'), 'utf8'));
    expect(example.trim().split('\n').length).toBeLessThan(25);
    const agent = spawn(process.execPath, ['hello.js'], { cwd: app, env: { ...env, VOICE_AGENT_PORT: '0' } });
    const lines = createInterface({ input: agent.stderr });
    const [line] = (await once(lines, 'line')) as [string];
    const socket = new WebSocket(/ws:\/\/[^ )]+/.exec(line)?.[0] ?? '');
    const replies = on(socket, 'message');
    const next = async (): Promise<unknown> => {
      const { value } = (await replies.next()) as { value: readonly [Buffer] };
      return JSON.parse(value[0].toString('utf8'));
    };
    await once(socket, 'open');
    const offer = { protocol: 'svc.agent', versions: [1], session_id: 's', agent: 'a' };
    const send = (message: object): void => socket.send(JSON.stringify(message));
    send({
      type: 'session.start',
      seq: 1,
      t_ms: 0,
      ...offer,
      capabilities: { transfer: false, tools: true },
    });
    expect(await next()).toMatchObject({ type: 'session.accept', tools: [{ name: 'get_time' }] });
    const call = { id: 1, call_id: 'c', name: 'get_time', kind: 'read_only', epoch: 1, timeout_ms: 5000 };
    const args = { arguments: { timeZone: 'Europe/Paris' }, idempotency_key: '0123456789abcdef' };
    send({ type: 'tool.call', seq: 2, t_ms: 1, ...call, ...args });
    expect(await next()).toMatchObject({ id: 1, result: expect.stringMatching(/^\d+:\d\d/) as string });
    send({ type: 'user.text', seq: 3, t_ms: 2, epoch: 1, text: 'Goodbye then' });
    expect(await next()).toMatchObject({ type: 'end', say: 'Goodbye!' });
    send({ type: 'session.end', seq: 4, t_ms: 3, reason: 'ended_by_agent' });
    await once(socket, 'close');
    agent.kill('SIGTERM');
    expect(await once(agent, 'exit')).toEqual([null, 'SIGTERM']);
  });
});
