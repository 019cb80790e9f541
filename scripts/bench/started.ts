/** The processes that a run starts. None outlives the run, however it ends. */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const startLimitMs = 30_000;
const stopLimitMs = 10_000;

/** A process that talks by messages; it leaves when this one does. */
export class Messenger {
  readonly #child: ChildProcess;

  constructor(file: URL) {
    this.#child = fork(file, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child.setMaxListeners(0);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Sends an order, if any, and waits for the next message of a type. */
  ask(order: object | string | undefined, type: string, limitMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const child = this.#child;
      const done = (finish: () => void): void => {
        clearTimeout(timer);
        child.off('message', onMessage);
        child.off('exit', onExit);
        finish();
      };
      const onMessage = (message: { type?: string }): void => {
        if (message.type === type) done(() => resolve(message));
      };
      const onExit = (): void =>
        done(() => reject(new Error(`a process of the bench ended before "${type}"`)));
      const timer = setTimeout(() => done(() => reject(new Error(`no "${type}" in time`))), limitMs);
      child.on('message', onMessage);
      child.once('exit', onExit);
      if (order !== undefined) child.send(order);
    });
  }

  tell(order: string): void {
    this.#child.send(order);
  }

  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}

export interface ServiceOptions {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The service in a process group of its own. */
export class ServiceProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  /** Lines of the log at level warning and above. */
  readonly complaints: string[] = [];
  ws = '';
  health = '';

  constructor({ command, env }: ServiceOptions) {
    const foreign = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
    this.#child = spawn(process.execPath, command, {
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...Object.fromEntries(foreign), ...env },
    });
    this.#child.stdin?.on('error', () => undefined);
    this.#exited = new Promise((resolve) => this.#child.once('exit', () => resolve()));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves when the service takes calls. */
  async ready(): Promise<void> {
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('the service has no output');
    const up = new Promise<void>((resolve) => {
      createInterface({ input: stdout }).on('line', (line) => {
        const entry = JSON.parse(line) as Record<string, unknown>;
        if (entry['msg'] === 'listening' && entry['listener'] === 'websocket')
          this.ws = String(entry['address']);
        if (entry['msg'] === 'listening' && entry['listener'] === 'health')
          this.health = String(entry['address']);
        if (entry['msg'] === 'ready') resolve();
        if (Number(entry['level']) >= 40) this.complaints.push(line);
      });
    });
    const gone = this.#exited.then(() => Promise.reject(new Error('the service ended before it was ready')));
    await Promise.race([up, gone, lateBy(startLimitMs, 'the service was not ready in time')]);
    gone.catch(() => undefined);
  }

  async metrics(): Promise<string> {
    const response = await fetch(`http://${this.health}/metrics`);
    if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
    return await response.text();
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await Promise.race([this.#exited, sleep(stopLimitMs, undefined, { ref: false })]);
    this.kill();
  }

  /** The whole group, for good. */
  kill(): void {
    try {
      if (this.pid > 0) process.kill(-this.pid, 'SIGKILL');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}

async function lateBy(limitMs: number, what: string): Promise<never> {
  await sleep(limitMs, undefined, { ref: false });
  throw new Error(what);
}
