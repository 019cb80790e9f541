/** The processes that a run starts. None outlives the run, however it ends. */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { readTurn, type AnsweredTurn } from './decision.ts';
import { isThere } from './processes.ts';

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

/** One line of the service's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/**
 * The service in a process group of its own. After a restart there are two supervisors, of which the older one drains; both
 * write to the same log.
 */
export class ServiceProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #readers = new Set<(line: LogLine) => void>();
  /** Supervisors by the order in which they became ready. */
  readonly #supervisors: number[] = [];
  /** Lines of the log at level warning and above. */
  readonly complaints: string[] = [];
  /** Of every turn that was answered, where the log level lets it be told. */
  readonly turns: AnsweredTurn[] = [];
  readonly #listeners = new Map<string, string>();
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

  /** Of the supervisor that serves. */
  get pid(): number {
    return this.#supervisors.at(-1) ?? this.#child.pid ?? 0;
  }

  get address(): { readonly host: string; readonly port: number } {
    return this.addressOf('websocket');
  }

  addressOf(listener: string): { readonly host: string; readonly port: number } {
    const [host = '', port = ''] = (this.#listeners.get(listener) ?? '').split(':');
    return { host, port: Number(port) };
  }

  /** Resolves when the service takes calls. */
  async ready(): Promise<void> {
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('the service has no output');
    createInterface({ input: stdout }).on('line', (text) => this.#read(text));
    const gone = this.#exited.then(() => Promise.reject(new Error('the service ended before it was ready')));
    const up = this.says('ready', startLimitMs, ({ role }) => role === 'supervisor');
    await Promise.race([up, gone]);
    gone.catch(() => undefined);
  }

  /** Resolves with the next line of the log that says this and fits. */
  async says(what: string, limitMs: number, fits: (line: LogLine) => boolean = () => true): Promise<LogLine> {
    let reader: ((line: LogLine) => void) | undefined;
    const said = new Promise<LogLine>((resolve) => {
      reader = (line) => {
        if (line['msg'] === what && fits(line)) resolve(line);
      };
      this.#readers.add(reader);
    });
    try {
      return await Promise.race([said, lateBy(limitMs, `the service did not say "${what}" in time`)]);
    } finally {
      if (reader !== undefined) this.#readers.delete(reader);
    }
  }

  async metrics(): Promise<string> {
    const response = await fetch(`http://${this.health}/metrics`);
    if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
    return await response.text();
  }

  /** The counts that the readiness probe gives. */
  async counts(): Promise<Readonly<Record<string, number>>> {
    const response = await fetch(`http://${this.health}/readyz`);
    return (await response.json()) as Record<string, number>;
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** Whether nothing of any generation is left after this time. */
  async endsWithin(limitMs: number): Promise<boolean> {
    for (const until = performance.now() + limitMs; performance.now() < until;) {
      if (this.#generations().every((pid) => !isThere(pid))) return true;
      await sleep(50);
    }
    return false;
  }

  async stop(): Promise<void> {
    for (const pid of this.#generations()) if (isThere(pid)) process.kill(pid, 'SIGTERM');
    await this.endsWithin(stopLimitMs);
    this.kill();
  }

  /** All groups, for good. */
  kill(): void {
    for (const pid of this.#generations()) {
      try {
        if (pid > 0) process.kill(-pid, 'SIGKILL');
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
      }
    }
  }

  #generations(): number[] {
    return [...new Set([this.#child.pid ?? 0, ...this.#supervisors])];
  }

  #read(text: string): void {
    if (!text.startsWith('{')) return;
    const line = JSON.parse(text) as LogLine;
    if (line['msg'] === 'listening') this.#listeners.set(String(line['listener']), String(line['address']));
    if (line['msg'] === 'listening' && line['listener'] === 'health') this.health = String(line['address']);
    if (line['msg'] === 'ready' && line['role'] === 'supervisor') this.#supervisors.push(Number(line['pid']));
    if (line['msg'] === 'turn answered') this.turns.push(readTurn(line));
    if (Number(line['level']) >= 40) this.complaints.push(text);
    for (const reader of [...this.#readers]) reader(line);
  }
}

/** What the log complained of, each sentence with how often it came. */
export function complaintText(lines: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const what = String((JSON.parse(line) as LogLine)['msg']);
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `  log: ${count} x ${what}`);
}

async function lateBy(limitMs: number, what: string): Promise<never> {
  await sleep(limitMs, undefined, { ref: false });
  throw new Error(what);
}
