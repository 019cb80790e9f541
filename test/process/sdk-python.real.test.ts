/** The Python SDK as its users get it: its own tests and checks, and its package in an environment that knows nothing of the checkout. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { developmentPython, install, newEnvironment, pythonEnv, pythonSdk, run } from '../support/python.ts';

type Message = Readonly<Record<string, unknown>>;

let folder: string;
let python: string;
let problem = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-sdk-python-'));
  const found = await developmentPython();
  if ('problem' in found) problem = found.problem;
  else python = found.python;
}, 300_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The service's side of a link, as bare as can be: sends what it is told, and takes messages in turn. */
class RawService {
  readonly #socket: WebSocket;
  readonly #received: Message[] = [];
  #wake: () => void = () => undefined;
  #seq = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      this.#received.push(JSON.parse(data.toString()) as Message);
      this.#wake();
    });
  }

  static async connect(url: string): Promise<RawService> {
    const socket = new WebSocket(url);
    const service = new RawService(socket);
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return service;
  }

  send(message: Message): void {
    this.#seq += 1;
    this.#socket.send(JSON.stringify({ seq: this.#seq, t_ms: 20 * this.#seq, ...message }));
  }

  async next(): Promise<Message> {
    for (;;) {
      const message = this.#received.shift();
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async closed(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    await new Promise((resolve) => this.#socket.once('close', resolve));
  }
}

/** The port that an agent says it listens on. */
async function portOf(agent: ChildProcess): Promise<number> {
  if (agent.stderr === null) throw new Error('the agent has no standard error');
  for await (const line of createInterface(agent.stderr)) {
    const port = /listens on .*port (\d+)/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error('the agent ended');
}

const start = {
  type: 'session.start',
  protocol: 'svc.agent',
  versions: [1],
  session_id: 'call-1',
  agent: 'bakery',
  capabilities: { transfer: false, tools: true },
};

const call = {
  type: 'tool.call',
  id: 1,
  call_id: 'call_1',
  name: 'order_status',
  arguments: { order_number: '427' },
  kind: 'read_only',
  epoch: 1,
  idempotency_key: '0123456789abcdef',
  timeout_ms: 5000,
};

async function callTheBakery(port: number): Promise<void> {
  const service = await RawService.connect(`ws://127.0.0.1:${port}/`);
  service.send(start);
  expect(await service.next()).toMatchObject({
    type: 'session.accept',
    version: 1,
    greeting: 'Hello, this is the bakery. What can I do for you?',
    tools: [{ name: 'order_status', parameters: { required: ['order_number'] } }],
  });
  service.send(call);
  expect(await service.next()).toMatchObject({ type: 'tool.result', id: 1, result: 'ready' });
  service.send({ type: 'user.text', epoch: 2, text: 'Thank you, goodbye.' });
  const end = await service.next();
  expect(end).toMatchObject({ type: 'end', say: 'Goodbye, see you soon!', re: 3 });
  service.send({ type: 'command.result', id: end['id'], ok: true });
  service.send({ type: 'session.end', reason: 'ended_by_agent' });
  await service.closed();
}

/** A command of the SDK's folder that has to pass; what it printed stands in the failure. */
function passes(...args: readonly string[]): void {
  const { status, text } = run(python, ['-m', ...args], { cwd: pythonSdk });
  expect(status, text).toBe(0);
}

describe('the Python SDK', () => {
  it('passes its tests', (context) => {
    context.skip(problem !== '', problem);
    passes('pytest', '-p', 'no:cacheprovider');
  });

  it('is typed throughout', (context) => {
    context.skip(problem !== '', problem);
    passes('mypy', '--cache-dir', join(python, '../../mypy-cache'));
  });

  it('is formatted, and keeps to the rules of its linter', (context) => {
    context.skip(problem !== '', problem);
    const options = ['--no-cache', '--config', 'pyproject.toml', '.', '../../examples/agent-link/orders'];
    passes('ruff', 'check', ...options);
    passes('ruff', 'format', '--check', ...options);
  });
});

describe('the package of the Python SDK', () => {
  let installed: string;

  beforeAll(() => {
    if (problem !== '') return;
    const dist = join(folder, 'dist');
    passes('build', '--no-isolation', '--outdir', dist);
    expect(readdirSync(dist).map((name) => name.replace(/-\d+\.\d+\.\d+/, ''))).toEqual(
      expect.arrayContaining(['voice_agent_service-py3-none-any.whl', 'voice_agent_service.tar.gz']),
    );
    const wheel = readdirSync(dist).find((name) => name.endsWith('.whl')) ?? '';
    installed = newEnvironment(join(folder, 'empty'));
    problem = install(installed, [join(dist, wheel)]) ?? '';
  }, 120_000);

  it('brings its types, its licence, and nothing but the package', (context) => {
    context.skip(problem !== '', problem);
    const code = `import importlib.metadata as m; print(*sorted({f.parts[0] for f in m.files("voice-agent-service")}))
import pathlib, voice_agent; print((pathlib.Path(voice_agent.__file__).parent / "py.typed").exists())
print(any(str(f).endswith("LICENSE") for f in m.files("voice-agent-service")))`;
    const { text } = run(installed, ['-c', code], { cwd: folder });
    expect(text).toMatch(/^voice_agent voice_agent_service-\d+\.\d+\.\d+\.dist-info\nTrue\nTrue\n$/);
  });

  it("runs the README's first example word for word", async (context) => {
    context.skip(problem !== '', problem);
    const readme = readFileSync(join(pythonSdk, 'README.md'), 'utf8');
    writeFileSync(join(folder, 'hello.py'), /```python\n(.*?)```/s.exec(readme)?.[1] ?? '');
    const agent = spawn(installed, ['hello.py'], {
      cwd: folder,
      env: { ...pythonEnv, VOICE_AGENT_PORT: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = new Promise((resolve) => agent.once('exit', resolve));
    try {
      await callTheBakery(await portOf(agent));
      agent.kill('SIGTERM');
      expect(await ended).toBe(0);
    } finally {
      agent.kill('SIGKILL');
    }
  });
});
