/** Who takes part in a run: providers, load and service in processes of their own. None outlives the run, however it ends. */
import type { NoiseMode } from '../../../shared/protocol/noise-mode.ts';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadOrder, LoadResult } from './load.ts';
import type { ProvidersReady } from './providers.ts';
import { agentFile } from './client/script.ts';
import { wires } from './client/wire.ts';
import { Messenger, ServiceProcess } from './started.ts';

export interface PartyOptions {
  /** The project's folder, as a URL that ends in a slash. */
  readonly root: URL;
  readonly workers: string;
  /** Variables of the service beside those that every run sets. */
  readonly env: Readonly<Record<string, string>>;
  /** Modules that the service's processes load first, as URLs. */
  readonly preloads?: readonly string[];
  readonly silenceEndMs?: number;
  /** A model hears and speaks by itself. */
  readonly realtime?: boolean;
  /** What is done about noise; absent: nothing. */
  readonly noise?: NoiseMode;
  /** Calls are recorded in a folder of the run, and traced to a collector that takes all and keeps nothing. */
  readonly observed?: boolean;
  /** So many agents of 6 KB in a folder, for whom clients may ask by themselves. */
  readonly agents?: number;
}

export interface Parties {
  readonly providers: Messenger;
  readonly load: Messenger;
  readonly service: ServiceProcess;
  /** Of the run. */
  readonly folder: string;
  /** From the start of the service until it took calls. */
  readonly readyMs: number;
}

export const startLimitMs = 60_000;

const running = new Set<() => void>();

/** Has something stopped with the runs when a signal comes. Gives the function that takes it back. */
export function stopWithOthers(stop: () => void): () => void {
  running.add(stop);
  return () => running.delete(stop);
}

/** For signals: ends what runs have started. */
export function stopEverything(): void {
  for (const stop of running) stop();
}

/** Starts all, lets them be used, and stops them. */
export async function withParties<T>(
  options: PartyOptions,
  use: (parties: Parties) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'voice-bench-'));
  const providers = new Messenger(new URL('dist/bench/providers.mjs', options.root));
  const load = new Messenger(new URL('dist/bench/load.mjs', options.root));
  const collector = options.observed === true ? await startCollector() : undefined;
  let service: ServiceProcess | undefined;
  const stop = (): void => {
    service?.kill();
    providers.stop();
    load.stop();
    collector?.close();
    rmSync(folder, { recursive: true, force: true });
  };
  running.add(stop);
  try {
    const ports = (await providers.ask(undefined, 'ready', startLimitMs)) as ProvidersReady;
    const file = join(folder, 'agent.toml');
    const { silenceEndMs, realtime = false, noise = 'off' } = options;
    const text = agentFile(ports, {
      ...(silenceEndMs !== undefined && { silenceEndMs }),
      model: realtime ? ports.model : undefined,
      noise,
    });
    writeFileSync(file, collector === undefined ? text : `${text}\n${recordedText}`);
    const observed = collector === undefined ? {} : observedEnv(folder, collector);
    const many = options.agents === undefined ? {} : writeAgents(folder, text, options.agents);
    const startedAt = performance.now();
    service = startService({ ...options, env: { ...observed, ...many, ...options.env } }, file);
    await service.ready();
    const readyMs = performance.now() - startedAt;
    const result = await use({ providers, load, service, folder, readyMs });
    await service.stop();
    return result;
  } finally {
    stop();
    running.delete(stop);
  }
}

export const agentPath = (folder: string, at: number): string => join(folder, 'agents', `agent-${at}.toml`);

const agentBytes = 6_144;

/** Each has the text of the first, a name of its own, and a prompt that makes it as long as files of operators are. */
function writeAgents(folder: string, text: string, count: number): Record<string, string> {
  mkdirSync(join(folder, 'agents'));
  for (let at = 0; at < count; at += 1) {
    const named = `${text.replace(/^name = .*$/m, `name = "agent-${at}"`)}\n[routing]\nopen = true\n`;
    const more = 'Be kind, brief and exact. '.repeat(Math.ceil(Math.max(0, agentBytes - named.length) / 26));
    writeFileSync(agentPath(folder, at), named.replace(/^prompt = "/m, `prompt = "${more}`));
  }
  return { SVC_AGENTS_DIR: join(folder, 'agents') };
}

const recordedText = '[recording]\naudio = true\ntranscript = true\nfacts = true\n';

const observedEnv = (folder: string, collector: Server): Record<string, string> => ({
  SVC_RECORDING_DIR: folder,
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
});

function startCollector(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('{}'));
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

function startService({ root, workers, env, preloads = [] }: PartyOptions, file: string): ServiceProcess {
  const withParent = new URL('scripts/process/stop-with-parent.mjs', root).href;
  const cli = new URL('dist/supervisor/cli.js', root).pathname;
  const nodeOptions = preloads.map((url) => `--import ${url}`).join(' ');
  return new ServiceProcess({
    command: ['--import', withParent, cli, '--workers', workers],
    env: {
      SVC_AGENT_FILE: file,
      SVC_WS_ADDR: '127.0.0.1:0',
      SVC_HEALTH_ADDR: '127.0.0.1:0',
      SVC_DRAIN_TIMEOUT: '1s',
      SVC_MODEL_INDEX: 'off',
      // Whether this machine has one must not change the figures.
      SVC_SMART_TURN_MODEL: 'off',
      ...(nodeOptions !== '' && { NODE_OPTIONS: nodeOptions }),
      ...env,
    },
  });
}

const callsPerSecond = 25;
/** After the last call is open: greetings end and callers are spread over their turns. */
const settleMs = 8_000;

/** Opens calls, beside those that are open, and lets them settle. Resolves with whose voices they have. */
export async function openCalls(
  { load, service }: Parties,
  {
    calls,
    format,
    assets,
    transport = 'websocket',
  }: Pick<LoadOrder, 'calls' | 'format' | 'assets'> & Partial<Pick<LoadOrder, 'transport'>>,
): Promise<string> {
  const address = service.addressOf(wires[transport].listener);
  const order: LoadOrder = { type: 'open', address, calls, callsPerSecond, format, assets, transport };
  const speech = load.ask(undefined, 'loaded', startLimitMs);
  await load.ask(order, 'opened', startLimitMs + (calls / callsPerSecond) * 2_000);
  await sleep(settleMs);
  return ((await speech) as { source: string }).source;
}

/** What the callers saw while something went on. */
export async function watchCalls({ load }: Parties, goOn: () => Promise<unknown>): Promise<LoadResult> {
  load.tell('begin');
  await goOn();
  return (await load.ask('end', 'result', startLimitMs)) as LoadResult;
}
