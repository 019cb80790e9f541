/**
 * The service as `npm start` starts it, on free ports, and the demo's voice for making what a caller says.
 *
 * Invariant: nothing is replaced: the script, the supervisor, its children and the demo's providers are the real ones. Stopping asks
 * once and waits for the end of the command, which leaves no process behind.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { newResampler } from '../../../shared/audio/resampler.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url));

/** Where everything listens. */
export interface DemoAddresses {
  readonly rtvi: string;
  readonly page: string;
  readonly ws: string;
  readonly health: string;
  readonly stt: string;
  readonly llm: string;
  readonly tts: string;
}

export interface RunningDemo extends DemoAddresses {
  /** Everything that was written for people since the start. */
  readonly notices: () => string;
  stop(): Promise<void>;
}

/** The settings of the person who runs the tests must not reach the service under test. */
export function cleanEnv(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
  return { ...Object.fromEntries(others), SVC_MODEL_INDEX: 'off' };
}

/** Rejects with what the command said when it ends before it is ready. `command`: that of a package instead of the checkout's. */
export async function startDemo(
  env: Readonly<Record<string, string>> = {},
  command: readonly string[] = ['scripts/start.mjs'],
): Promise<RunningDemo> {
  const child = spawn(process.execPath, [...command, '--free-ports', '--json'], {
    cwd: project,
    env: { ...cleanEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let notices = '';
  child.stderr.on('data', (bytes: Buffer) => (notices += bytes.toString()));
  const ended = new Promise<never>((_, reject) => {
    child.once('close', (code) => reject(new Error(`npm start ended with ${code}: ${notices}`)));
  });
  ended.catch(() => undefined);
  const ready = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const [line] = await Promise.race([ready, ended]);
  return {
    ...(JSON.parse(line) as DemoAddresses),
    notices: () => notices,
    stop: () => stopped(child),
  };
}

export interface RunningService {
  readonly ws: string;
  stop(): Promise<void>;
}

/** A service of its own with the demo's agent, whose providers are where these addresses say. Needs `dist/`. */
export async function startService(
  providers: Pick<DemoAddresses, 'stt' | 'llm' | 'tts'>,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningService> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-'));
  const agentFile = join(folder, 'agent.toml');
  const shipped = readFileSync(join(project, 'examples/demo/agent.toml'), 'utf8');
  const moved = shipped.replace(
    /^base_url = "\w+:\/\/127\.0\.0\.1:(6006|8085|8086)[^"]*"/gm,
    (_, port: string) => {
      const { stt, llm, tts } = providers;
      return `base_url = "${port === '6006' ? stt : port === '8085' ? llm : tts}"`;
    },
  );
  writeFileSync(agentFile, moved);
  const child = spawn(process.execPath, ['dist/supervisor/cli.js', '--workers', '1'], {
    cwd: project,
    env: {
      ...cleanEnv(),
      SVC_AGENT_FILE: agentFile,
      SVC_WS_ADDR: '127.0.0.1:0',
      SVC_HEALTH_ADDR: '127.0.0.1:0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let ws: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const entry = JSON.parse(line) as { msg: string; listener?: string; address?: string };
    if (entry.listener === 'websocket') ws = `ws://${entry.address}`;
    if (entry.msg === 'ready') break;
  }
  child.stdout.resume();
  if (ws === undefined) throw new Error('the service did not start');
  const stop = async (): Promise<void> => {
    await stopped(child);
    rmSync(folder, { recursive: true });
  };
  return { ws, stop };
}

/** Asks a process to stop and waits until it has. */
export async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

/** At another rate. */
export function atRate(
  pcm: Int16Array,
  { from, to }: { readonly from: number; readonly to: number },
): Int16Array {
  const resampler = newResampler({ from, to });
  const body = resampler.process(pcm).slice();
  return Int16Array.from([...body, ...resampler.flush()]);
}

/** A sentence in a voice of the demo (`slt`, `rms`, `awb`, `kal16`), at a rate of the caller's. */
export async function spoken(
  demo: DemoAddresses,
  text: string,
  { rate, voice = 'rms' }: { readonly rate: number; readonly voice?: string },
): Promise<Int16Array> {
  const response = await fetch(`${demo.tts}/audio/speech`, {
    method: 'POST',
    // Each time a connection of its own: a kept one may be closed by the server in the moment in which it is used.
    headers: { 'Content-Type': 'application/json', Connection: 'close' },
    body: JSON.stringify({ model: 'flite', input: text, voice, response_format: 'pcm' }),
  });
  if (!response.ok) throw new Error(`the demo's voice answered ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const pcm = Int16Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(at * 2));
  return atRate(pcm, { from: 24_000, to: rate });
}
