/**
 * The command `agent dev`: the demo, an agent beside it that starts anew whenever it is saved, and what the two tell each other.
 * Save, speak, see.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Clock, WallClock } from '../../../shared/runtime/clock.ts';
import { AgentProcess, commandFor } from './agent-process.ts';
import { eventLine } from './event-line.ts';
import { Reaper } from './reaper.ts';
import { Tap } from './tap.ts';

export interface AgentDevOptions {
  readonly file: string;
  /** Where the agent listens; undefined: on a free port that it is told. */
  readonly port: number | undefined;
  /** Where the service connects to; undefined: 8091. */
  readonly tapPort: number | undefined;
  /** A service runs already: the demo is not started. */
  readonly noService: boolean;
  readonly freePorts: boolean;
  readonly all: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly write: (line: string) => void;
  readonly writeError: (line: string) => void;
  readonly exit: (status: number) => void;
}

/** Fixed, so that routes of an agent file can name it. */
const usualTapPort = 8091;

/** From the built command line's file. */
const fromHere = (path: string): URL => new URL(path, import.meta.url);

/** The port, a free one for 0; undefined when another program listens there. */
function freePort(wanted: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', (error) => {
      if ('code' in error && error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** Resolves with the exit status, or with undefined while it runs. */
export async function runAgentDev(options: AgentDevOptions): Promise<1 | 2 | undefined> {
  const { env, file, write, writeError } = options;
  const hooks = fromHere('./commands/agent-dev/typescript-hooks.js');
  const command = commandFor(file, { hooks, execPath: process.execPath });
  if (command === undefined) {
    writeError('FILE: must end in .ts, .mts, .js, .mjs or .py');
    return 2;
  }
  if (!existsSync(file)) {
    writeError('FILE: there is no such file');
    return 2;
  }
  const start = fromHere('../../scripts/start.mjs');
  if (!options.noService && !existsSync(start)) {
    writeError('the demo is no part of this installation; with a service of your own give --no-service');
    return 1;
  }
  const token = env['SVC_AGENT_TOKEN'] ?? (options.noService ? '' : randomBytes(16).toString('hex'));
  const agentPort = await freePort(options.port ?? 0);
  if (agentPort === undefined) {
    writeError('--port: another program listens there');
    return 1;
  }
  const tap = newTap(agentPort, options);
  const tapPort = await tap.listen(options.tapPort ?? (options.freePorts ? 0 : usualTapPort));
  if (tapPort === undefined) {
    writeError('--tap-port: another program listens there');
    return 1;
  }
  const note = (text: string): void => write(`-- ${text}`);
  const reaper = new Reaper();
  const agent = new AgentProcess(
    {
      file,
      env: {
        ...env,
        VOICE_AGENT_HOST: '127.0.0.1',
        VOICE_AGENT_PORT: String(agentPort),
        SVC_AGENT_TOKEN: token,
      },
      hooks,
      pythonPath: fileURLToPath(fromHere('../../sdk/python/src')),
      clock: options.clock,
      started: (child) => reaper.keep(child),
      note,
    },
    command,
  );
  agent.start();
  const url = `ws://127.0.0.1:${tapPort}`;
  const demo = options.noService ? undefined : startDemo(start, { url, token }, options);
  if (demo !== undefined) reaper.keep(demo);
  if (demo === undefined) note(`start your service with SVC_AGENT_URL=${url}`);
  stopBySignal({ agent, tap, demo }, options);
  return undefined;
}

function newTap(agentPort: number, { all, clock, wallClock, write }: AgentDevOptions): Tap {
  return new Tap({
    agentPort,
    clock,
    onMessage: (call, { from, text }) => {
      const line = eventLine({ call, from, text, atMs: wallClock.now() }, { all });
      if (line !== undefined) write(line);
    },
    onNote: (call, text) => write(`-- call ${call}: ${text}`),
  });
}

/** `npm start`, with the agent; says where the page is. */
function startDemo(
  start: URL,
  { url, token }: { readonly url: string; readonly token: string },
  { env, freePorts, exit, write }: AgentDevOptions,
): ChildProcess {
  const args = [fileURLToPath(start), '--json', ...(freePorts ? ['--free-ports'] : [])];
  const demo = spawn(process.execPath, args, {
    env: { ...env, SVC_AGENT_URL: url, SVC_AGENT_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  createInterface({ input: demo.stdout }).on('line', (line) => {
    const page = /"page":"([^"]+)"/.exec(line)?.[1];
    if (page !== undefined) write(`-- speak with it at ${page}`);
  });
  demo.once('exit', (code) => {
    if (code !== 0) write('-- the service ended');
    exit(code ?? 1);
  });
  return demo;
}

function stopBySignal(
  {
    agent,
    tap,
    demo,
  }: { readonly agent: AgentProcess; readonly tap: Tap; readonly demo: ChildProcess | undefined },
  { exit }: AgentDevOptions,
): void {
  const stop = (signal: NodeJS.Signals): void => {
    tap.close();
    void agent.stop().then(() => {
      if (demo === undefined) exit(0);
      else demo.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
    });
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
}
