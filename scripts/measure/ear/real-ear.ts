/**
 * A real recogniser and, where it is wanted, a real language model, in a process of their own: what SVC_REAL_EAR names is a virtual environment of
 * Python with the packages that `.ci/run` installs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { writeWav } from '../../../shared/audio/wav.ts';

const environment = process.env['SVC_REAL_EAR'];

/** Why there is none, for the names of tests. */
export const earMissing =
  environment === undefined ? '(skipped: SVC_REAL_EAR names no virtual environment with Whisper)' : undefined;

export const earRate = 16_000;

export interface RealEar {
  /** `host:port` of the recogniser. */
  readonly stt: string;
  /** Where llama.cpp's server is, `http://host:port`; undefined without one. */
  readonly llm: string | undefined;
  /** Words as Whisper writes them, of samples at {@link earRate}. */
  transcribe(pcm: Int16Array): Promise<string>;
  stop(): Promise<void>;
}

/** Of the project in the folder `root`. Rejects with what the process said last when it ends before it listens. */
export async function startRealEar(root: URL, { llm = false } = {}): Promise<RealEar> {
  if (environment === undefined) throw new Error(earMissing);
  const program = fileURLToPath(new URL('scripts/measure/ear/servers.py', root));
  // Nothing is asked of a hub of models, whatever the machine's settings are, and threads that wait leave the cores to the call.
  const child = spawn(join(environment, 'bin/python'), [program, ...(llm ? ['--llm'] : [])], {
    env: {
      PATH: process.env['PATH'],
      HF_HUB_OFFLINE: '1',
      OMP_WAIT_POLICY: 'PASSIVE',
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => (said = `${said}${bytes.toString()}`.slice(-4_000)));
  const ended = once(child, 'close');
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(() => Promise.reject(new Error(`the real ear ended: ${said}`))),
  ])) as [string];
  const addresses = JSON.parse(line) as { stt: string; llm: string | null };
  return {
    stt: addresses.stt,
    llm: addresses.llm ?? undefined,
    transcribe: async (pcm) => {
      const body = new FormData();
      body.set('file', new Blob([new Uint8Array(writeWav(pcm, earRate))]), 'speech.wav');
      const response = await fetch(`http://${addresses.stt}/v1/audio/transcriptions`, {
        method: 'POST',
        body,
      });
      if (!response.ok) throw new Error(`the real ear answered ${response.status}`);
      return ((await response.json()) as { text: string }).text;
    },
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
