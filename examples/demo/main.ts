/**
 * The demo's providers in one process: ear, mind and voice behind the wire protocols of real servers, and with `--realtime` a model that is all
 * three.
 *
 * Invariant: everything listens on loopback only; one JSON line on stdout says where, once all of it listens; the process ends when its
 * stdin closes, so it never outlives the command that started it. It shares no code with the service.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { agentFileFor } from './agent-copy.ts';
import { llmServer } from './llm-server.ts';
import { startRealtimeServer } from './realtime-server.ts';
import { startSttServer } from './stt-server.ts';
import { ThreadPool } from './thread-pool.ts';
import { ttsServer, type Speak } from './tts-server.ts';
import type { Transcribe } from './utterance.ts';

const host = '127.0.0.1';
const fixedPorts = { stt: 6006, llm: 8085, tts: 8086, realtime: 8087 } as const;
type Role = keyof typeof fixedPorts;
/** The ports in use. */
type Ports = Readonly<Record<Exclude<Role, 'realtime'>, number>> & { readonly realtime?: number };

const isPortTaken = (error: unknown): boolean =>
  error instanceof Error && Reflect.get(error, 'code') === 'EADDRINUSE';

/** Takes the wanted port, or a free one when another program has it. */
async function onPort<T>(wanted: number, open: (port: number) => Promise<T>): Promise<T> {
  try {
    return await open(wanted);
  } catch (error) {
    if (wanted === 0 || !isPortTaken(error)) throw error;
    return open(0);
  }
}

const portOf = (address: unknown): number => {
  const port: unknown =
    typeof address === 'object' && address !== null ? Reflect.get(address, 'port') : undefined;
  if (typeof port !== 'number') throw new Error('a server of the demo does not listen');
  return port;
};

async function listen(server: Server, wanted: number): Promise<number> {
  await onPort(
    wanted,
    (port) =>
      new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve();
        });
      }),
  );
  return portOf(server.address());
}

/** Everything that this process writes. It goes when the process ends, even while an engine still loads. */
const scratch = mkdtempSync(join(tmpdir(), 'voice-demo-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 5 }));

/** The demo's own agent file. */
const shipped = (name: string): string =>
  fileURLToPath(new URL(`../../../examples/demo/${name}`, import.meta.url));

const engines = {
  ear: new ThreadPool({
    entry: new URL('./stt-thread.js', import.meta.url),
    threads: 1,
    maxQueued: 32,
    workerData: { scratch },
  }),
  voice: new ThreadPool({ entry: new URL('./tts-thread.js', import.meta.url), threads: 1, maxQueued: 64 }),
};

const transcribe: Transcribe = async (samples, signal) => {
  const answer = await engines.ear.run(samples, { transfer: [samples.buffer], signal });
  if (typeof answer !== 'string') throw new Error('the recognizer gave no text');
  return answer;
};

const speak: Speak = async (job, signal) => {
  const answer = await engines.voice.run(job, { signal });
  if (!(answer instanceof Int16Array)) throw new Error('the synthesizer gave no sound');
  return answer;
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      'free-ports': { type: 'boolean', default: false },
      realtime: { type: 'boolean', default: false },
    },
  });
  const wanted = (role: Role): number => (values['free-ports'] ? 0 : fixedPorts[role]);

  const stt = await onPort(wanted('stt'), (port) => startSttServer(transcribe, { host, port }));
  const now = (): Date => new Date();
  const startRealtime = async (): Promise<number> => {
    const open = (port: number) => startRealtimeServer({ transcribe, speak, now }, { host, port });
    return portOf((await onPort(wanted('realtime'), open)).address());
  };
  const ports: Ports = {
    stt: portOf(stt.address()),
    llm: await listen(llmServer({ now }), wanted('llm')),
    tts: await listen(ttsServer(speak), wanted('tts')),
    ...(values.realtime && { realtime: await startRealtime() }),
  };
  const source = process.env['SVC_AGENT_FILE'] ?? shipped(values.realtime ? 'realtime.toml' : 'agent.toml');
  const moved = new Map(Object.entries(ports).map(([role, port]) => [fixedPorts[role as Role], port]));
  const agent = await agentFileFor(source, { moved, scratch });

  const stop = (): void => process.exit(0);
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.stdin.once('close', stop).resume();

  const ready = {
    ready: true,
    agentFile: agent,
    stt: `ws://${host}:${ports.stt}`,
    llm: `http://${host}:${ports.llm}/v1`,
    tts: `http://${host}:${ports.tts}/v1`,
    ...(ports.realtime !== undefined && { realtime: `ws://${host}:${ports.realtime}` }),
  };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}

await main();
