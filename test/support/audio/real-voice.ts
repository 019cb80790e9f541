/** The demo's voice behind its speech server: Flite, which speaks in a thread of its own, as callers are heard in this one. */
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { ThreadPool } from '../../../examples/demo/thread-pool.ts';
import { ttsServer } from '../../../examples/demo/tts-server.ts';

const entry = new URL('../../../dist/examples/demo/tts-thread.js', import.meta.url);

export interface RealVoice {
  readonly url: string;
  stop(): Promise<void>;
}

/** Needs what the build makes. */
export async function startRealVoice(): Promise<RealVoice> {
  const pool = new ThreadPool({ entry, threads: 1, maxQueued: 8 });
  const server = ttsServer(async (job, signal) => (await pool.run(job, { signal })) as Int16Array);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close();
      await pool.close();
    },
  };
}
