/**
 * The real service as a test runs it: `dist/supervisor/cli.js` with its children, fake providers in the test's own process,
 * addresses and process ids from the log and from the system.
 *
 * Invariant: nothing is waited for by time. Log lines, answers and the end of the shared output stream are the events;
 * that stream ends only when the last process of the service is gone, so `ended` proves that none is left. What only an answer tells is asked
 * again and again, each time {@link beforeAskingAgain a moment later}: asked without a pause, the service and the test fill a core.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { CallerOptions } from '../../../cli/commands/call/call-wire.ts';
import { CallClient, type CallerEvent } from '../../../cli/commands/call/caller.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { FakeChat } from '../fakes/fake-chat.ts';
import { FakeSpeech } from '../fakes/fake-speech.ts';
import { FakeSttLocalWs } from '../fakes/fake-stt-local-ws.ts';
import { Observed } from './observed.ts';

export const beforeAskingAgain = (): Promise<void> =>
  new Promise((resolve) => void systemClock.after(10, resolve));

const project = fileURLToPath(new URL('../../..', import.meta.url));

/** One line of the service's log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

export interface AgentOptions {
  readonly prompt?: string;
  readonly greeting?: string;
  /** Lines of `[agent]`. */
  readonly agent?: string;
  /** Lines of `[turn]`, and tables below it. */
  readonly turn?: string;
  /** Lines of `[llm]`. */
  readonly llm?: string;
  /** Tables behind all others. */
  readonly tables?: string;
  /** Without `[stt]`, `[llm]` and `[tts]`. */
  readonly isAlone?: true;
}

export interface TestServiceOptions extends AgentOptions {
  readonly workers?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** A command that runs what its arguments say in its place: same process id, same output. */
  readonly through?: readonly string[];
  /** The supervisor's program, instead of the one in `dist/`. */
  readonly program?: string;
  /** Providers that are there already. */
  readonly providers?: Providers;
  /** The whole agent file instead of the one for the fakes. */
  readonly agentText?: string;
}

/** The providers of a service, on ports of their own. */
export class Providers {
  readonly stt = new FakeSttLocalWs({ flavour: 'cpp' });
  readonly llm = new FakeChat();
  readonly tts = new FakeSpeech();

  async start(): Promise<this> {
    await Promise.all([this.stt.start(), this.llm.start(), this.tts.start()]);
    return this;
  }

  async close(): Promise<void> {
    await Promise.all([this.stt.close(), this.llm.close(), this.tts.close()]);
  }

  agentText(options: AgentOptions): string {
    return `
[agent]
name = "test"
prompt = ${JSON.stringify(options.prompt ?? 'You are under test.')}
greeting = "${options.greeting ?? ''}"
${options.agent ?? ''}
[turn]
${options.turn ?? ''}
${options.isAlone === true ? '' : this.#stages(options)}
${options.tables ?? ''}`;
  }

  #stages(options: AgentOptions): string {
    return `[stt]
provider = "stt_local_ws"
[stt.stt_local_ws]
base_url = "${this.stt.baseUrl}"
[llm]
provider = "chat_compatible"
${options.llm ?? ''}
[llm.chat_compatible]
base_url = "${this.llm.baseUrl}"
model = "fake"
[tts]
provider = "speech_compatible"
[tts.speech_compatible]
base_url = "${this.tts.baseUrl}"
preset = "generic"
model = "fake"`;
  }
}

/** How the supervisor ended. */
export interface ServiceEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

let built = false;

/** Brings `dist/` up to date, once for a test file. */
export function build(): void {
  if (built) return;
  const code = `import { ensureBuilt } from './scripts/install.mjs'; await ensureBuilt();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: project, stdio: 'pipe' });
  built = true;
}

/** The environment of the test without what the service sets for itself, or has set for it. */
function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(SVC|ORT|OTEL)_/.test(name)));
}

export class TestService extends Observed {
  readonly log: LogLine[] = [];
  /** What is no log line, of both output streams. */
  readonly text: string[] = [];
  readonly providers: Providers;
  /** Resolves when the supervisor and every process that it started are gone. */
  readonly ended: Promise<ServiceEnd>;
  readonly #child: ChildProcess;
  #over = false;

  private constructor(child: ChildProcess, options: { providers: Providers; folder: string }) {
    super();
    this.#child = child;
    this.providers = options.providers;
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.#take(line));
    }
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        this.#over = true;
        rmSync(options.folder, { recursive: true, force: true });
        this.changed();
        resolve({ code, signal });
      });
    });
  }

  /** Starts the processes and returns at once. */
  static async launch(options: TestServiceOptions = {}): Promise<TestService> {
    build();
    const providers = options.providers ?? (await new Providers().start());
    const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
    const agentFile = join(folder, 'agent.toml');
    writeFileSync(agentFile, options.agentText ?? providers.agentText(options));
    const program = options.program ?? join(project, 'dist/supervisor/cli.js');
    const started = [process.execPath, program, '--workers', String(options.workers ?? 1)];
    const [command = '', ...args] = [...(options.through ?? []), ...started];
    const child = spawn(command, args, {
      cwd: project,
      env: {
        ...cleanEnv(),
        SVC_AGENT_FILE: agentFile,
        SVC_WS_ADDR: '127.0.0.1:0',
        SVC_HEALTH_ADDR: '127.0.0.1:0',
        SVC_DRAIN_TIMEOUT: '0ms',
        SVC_MODEL_INDEX: 'off',
        // What somebody has pulled on this machine is not what is tested.
        SVC_MODELS_DIR: join(folder, 'models'),
        // Tests that count workers want to know how many there are; those about the spare turn it on.
        SVC_SPARE_WORKER: 'off',
        ...options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new TestService(child, { providers, folder });
  }

  /** Starts the service and waits until it serves. */
  static async start(options: TestServiceOptions = {}): Promise<TestService> {
    const service = await TestService.launch(options);
    await service.until(() => service.#over || service.said('ready') !== undefined);
    if (service.#over) {
      const { code, signal } = await service.ended;
      const said = [...service.text, ...service.log.slice(-5).map((line) => JSON.stringify(line))];
      throw new Error(`the service did not start (${signal ?? code}):\n${said.join('\n')}`);
    }
    return service;
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** The newest line with this message that also fits. */
  said(msg: string, fits: (line: LogLine) => boolean = () => true): LogLine | undefined {
    return this.log.findLast((line) => line.msg === msg && fits(line));
  }

  /** Resolves with the line as soon as there is one. */
  async says(msg: string, fits?: (line: LogLine) => boolean): Promise<LogLine> {
    await this.until(() => this.#over || this.said(msg, fits) !== undefined);
    const line = this.said(msg, fits);
    if (line === undefined) throw new Error(`the service ended without saying "${msg}"`);
    return line;
  }

  /** `host:port` of a listener. */
  address(
    listener: 'websocket' | 'health' | 'page' | 'carrier_a' | 'carrier_b' | 'callback' | 'rtvi' | 'webrtc',
  ): string {
    return String(this.said('listening', (line) => line['listener'] === listener)?.['address']);
  }

  get port(): number {
    return Number(this.address('websocket').split(':').at(-1));
  }

  /** Process ids of the children that are there now, by role. */
  children(role: 'worker' | 'inference' | 'records'): number[] {
    const program = role === 'records' ? 'calls/process/main.js' : `${role}/main.js`;
    return childrenOf(this.pid).filter((pid) => commandOf(pid).includes(program));
  }

  /** The worker that serves a call. */
  async workerOf(call: CallClient): Promise<number> {
    return Number((await this.says('call started', (line) => line['call'] === call.callId))['pid']);
  }

  call(options: Partial<CallerOptions> = {}, onEvent?: (event: CallerEvent) => void): Promise<CallClient> {
    const url = `ws://${this.address('websocket')}/`;
    const base = { url, clock: systemClock, sampleRate: 16_000, encoding: 'pcm16' } as const;
    return CallClient.connect({ ...base, ...options }, onEvent);
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const { port } = new URL(`http://${this.address('health')}`);
    return fetch(`http://127.0.0.1:${port}${path}`, { headers });
  }

  /** Body of `/readyz`. */
  async readiness(): Promise<Readonly<Record<string, unknown>>> {
    return (await (await this.get('/readyz')).json()) as Readonly<Record<string, unknown>>;
  }

  /** Asks `/readyz` again and again until the answer fits. */
  async readyWhen(fits: (body: Readonly<Record<string, unknown>>) => boolean): Promise<void> {
    while (!fits(await this.readiness())) await beforeAskingAgain();
  }

  /** The value of a series of `/metrics`, written as it stands there; 0 when it is not there. */
  async metric(series: string): Promise<number> {
    const lines = (await (await this.get('/metrics')).text()).split('\n');
    const line = lines.find((text) => text.startsWith(`${series} `));
    return line === undefined ? 0 : Number(line.slice(series.length + 1));
  }

  /** Asks `/metrics` again and again until a series is no less than this. */
  async counted(series: string, least: number): Promise<void> {
    while ((await this.metric(series)) < least) await beforeAskingAgain();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Stops the service as a machine would, and the fakes. Resolves when no process is left. */
  async stop(): Promise<ServiceEnd> {
    if (!this.#over) this.signal('SIGTERM');
    // A second signal in the same instant would be one with the first.
    if (this.said('draining') === undefined)
      await this.until(() => this.#over || this.said('draining') !== undefined);
    if (!this.#over) this.signal('SIGTERM');
    const end = await this.ended;
    await this.providers.close();
    return end;
  }

  #take(line: string): void {
    if (line.startsWith('{')) this.log.push(JSON.parse(line) as LogLine);
    else this.text.push(line);
    this.changed();
  }
}

/** Process ids of the direct children of a process. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** Open descriptors of a process. */
export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    // A child that has just ended is not there any more.
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}
