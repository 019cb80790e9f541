/** `svc-supervisor local` as users start it, on free ports. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cleanEnv } from './process/running-demo.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

interface Line {
  readonly msg: string;
  readonly url?: string;
  readonly engine?: string;
}

export interface LocalSpeech {
  /** Where the recogniser listens; empty when it does not. */
  readonly stt: string;
  readonly tts: string;
  readonly pid: number;
  readonly lines: readonly Line[];
  /** Everything that was written for people. */
  readonly notices: () => string;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  return spawn(process.execPath, ['dist/supervisor/cli.js', 'local', ...args], {
    cwd: project,
    env: { ...cleanEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs it to its end: what it says when it refuses to start. */
export async function refusedLocalSpeech(
  args: readonly string[],
): Promise<{ code: number | null; text: string }> {
  const child = start(args);
  let text = '';
  child.stderr?.on('data', (bytes: Buffer) => (text += bytes.toString()));
  child.stdout?.resume();
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text };
}

/** Rejects with what the command said when it ends before it is ready. */
export async function startLocalSpeech(
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<LocalSpeech> {
  const child = start([...args, '--stt-port', '0', '--tts-port', '0'], env);
  let notices = '';
  child.stderr?.on('data', (bytes: Buffer) => (notices += bytes.toString()));
  const lines: Line[] = [];
  const ended = once(child, 'close') as Promise<[number | null]>;
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout! }).on('line', (text) => {
      const line = JSON.parse(text) as Line;
      lines.push(line);
      if (line.msg === 'ready') resolve();
    });
  });
  await Promise.race([
    ready,
    ended.then(([code]) => Promise.reject(new Error(`local ended with ${code}: ${notices}`))),
  ]);
  const urlOf = (msg: string): string => lines.find((line) => line.msg === msg)?.url ?? '';
  return {
    stt: urlOf('recogniser listening'),
    tts: urlOf('voice listening'),
    pid: child.pid!,
    lines,
    notices: () => notices,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      const [code] = await ended;
      return code;
    },
  };
}
