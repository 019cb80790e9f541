/** The service under faults: started in a process group of its own, and known by what its log and /proc say. */
import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, openSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MemoryGroup } from './memory-group.ts';
import { isThere, processesOf, serviceProcesses, supervisorsOf } from '../bench/processes.ts';

export interface ChaosServiceOptions {
  readonly root: URL;
  readonly workers: number;
  readonly env: Readonly<Record<string, string>>;
  /** Standard output and error are a disk without room. */
  readonly fullDisk: boolean;
  /** Where the log of the service is written down. */
  readonly logFile?: string | undefined;
  /** Runs the service in this group. */
  readonly memory?: MemoryGroup | undefined;
}

const startLimitMs = 30_000;

export class ChaosService {
  readonly #child: ChildProcess;
  readonly #logFile: string | undefined;
  readonly memory: MemoryGroup | undefined;
  readonly #ports: { readonly ws: number; readonly health: number };
  /** Worker of each call as the log has it, by call id. */
  readonly workerOf = new Map<string, number>();
  readonly complaints = new Map<string, number>();
  /** When the log said that calls had been taken up. */
  readonly takenUpAt: number[] = [];
  logLines = 0;
  exited = false;

  static async start(options: ChaosServiceOptions): Promise<ChaosService> {
    const service = new ChaosService(options, { ws: await freePort(), health: await freePort() });
    const until = performance.now() + startLimitMs;
    while (!(await service.isReady())) {
      if (service.exited || performance.now() > until) throw new Error('the service did not become ready');
      await sleep(50);
    }
    return service;
  }

  private constructor(options: ChaosServiceOptions, ports: { ws: number; health: number }) {
    this.#ports = ports;
    this.#logFile = options.logFile;
    const foreign = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
    const full = options.fullDisk ? openSync('/dev/full', 'w') : undefined;
    this.memory = options.memory;
    const service = [process.execPath, 'dist/supervisor/cli.js', '--workers', String(options.workers)];
    const [command = '', ...args] = [...(options.memory?.command ?? []), ...service];
    this.#child = spawn(command, args, {
      cwd: options.root,
      detached: true,
      stdio: ['ignore', full ?? 'pipe', full ?? 'pipe'],
      env: {
        ...Object.fromEntries(foreign),
        SVC_MODEL_INDEX: 'off',
        ...options.env,
        SVC_WS_ADDR: `127.0.0.1:${ports.ws}`,
        SVC_HEALTH_ADDR: `127.0.0.1:${ports.health}`,
      },
    });
    this.#child.once('exit', () => (this.exited = true));
    for (const stream of [this.#child.stdout, this.#child.stderr])
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.#read(line));
  }

  get address(): { readonly host: string; readonly port: number } {
    return { host: '127.0.0.1', port: this.#ports.ws };
  }

  /** The oldest first: two while calls of one that was replaced go on. */
  get supervisors(): readonly number[] {
    return supervisorsOf(this.#child.pid ?? 0);
  }

  /** Everything of the service that runs. */
  get left(): readonly number[] {
    return processesOf(this.#child.pid ?? 0).filter(isThere);
  }

  /** Process ids by role, as they are now: the newest supervisor, and the workers of all. */
  processes(): { supervisor: number; inference: number | undefined; workers: number[] } {
    const { supervisors } = this;
    const supervisor = supervisors.at(-1) ?? this.#child.pid ?? 0;
    const workers = supervisors.flatMap((pid) =>
      [...serviceProcesses(pid)].filter(([name]) => name.startsWith('worker')).map(([, worker]) => worker),
    );
    return { supervisor, inference: serviceProcesses(supervisor).get('inference'), workers };
  }

  async isReady(): Promise<boolean> {
    return (await this.#get('/readyz').catch(() => undefined))?.ok === true;
  }

  /** Metrics as text; empty while the service does not answer. */
  async metrics(): Promise<string> {
    const answer = await this.#get('/metrics').catch(() => undefined);
    return answer === undefined ? '' : await answer.text();
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.processes().supervisor, signal);
  }

  async exitWithin(limitMs: number): Promise<boolean> {
    for (const until = performance.now() + limitMs; performance.now() < until;) {
      if (this.supervisors.length === 0) return true;
      await sleep(20);
    }
    return false;
  }

  /** All that is left of it, whichever process leads it now. */
  kill(): void {
    // One that could not be started has no session.
    if (this.#child.pid === undefined) return;
    for (const pid of processesOf(this.#child.pid))
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
      }
  }

  #get(path: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.#ports.health}${path}`, { signal: AbortSignal.timeout(2_000) });
  }

  #read(line: string): void {
    this.logLines += 1;
    if (this.#logFile !== undefined) appendFileSync(this.#logFile, `${line}\n`);
    if (!line.startsWith('{')) return;
    const entry = JSON.parse(line) as Record<string, unknown>;
    const what = String(entry['msg']);
    if (what === 'call started' || what === 'call taken up')
      this.workerOf.set(String(entry['call']), Number(entry['pid']));
    if (what === 'call taken up') this.takenUpAt.push(performance.now());
    if (Number(entry['level']) >= 40) this.complaints.set(what, (this.complaints.get(what) ?? 0) + 1);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
