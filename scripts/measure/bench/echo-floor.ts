/** The same callers on a server that only sends their frames back: what `ws` and the kernel take of each call on this machine, now. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadOrder } from './load.ts';
import { startLimitMs, stopWithOthers } from './parties.ts';
import { timeUse } from './processes.ts';
import type { RunOptions } from './run.ts';
import { Messenger } from './started.ts';

export interface ServerReady {
  readonly type: 'ready';
  readonly port: number;
}

const callsPerSecond = 50;
/** The machine needs no longer to show what an echo costs. */
const longestSeconds = 10;
const settleMs = 2_000;

/** Of one core, for each call. */
export async function echoCpuOfCall(
  options: Pick<RunOptions, 'calls' | 'seconds' | 'format' | 'assets' | 'root'>,
): Promise<number> {
  const { calls, format, assets, root } = options;
  const server = new Messenger(new URL('dist/bench/echo-server.mjs', root));
  const load = new Messenger(new URL('dist/bench/load.mjs', root));
  const stop = (): void => {
    server.stop();
    load.stop();
  };
  const forget = stopWithOthers(stop);
  try {
    const { port } = (await server.ask(undefined, 'ready', startLimitMs)) as ServerReady;
    const address = { host: '127.0.0.1', port };
    const order: LoadOrder = {
      ...{ type: 'open', address, calls, callsPerSecond, format, assets },
      transport: 'websocket',
    };
    await load.ask(order, 'opened', startLimitMs + (calls / callsPerSecond) * 2_000);
    await sleep(settleMs);
    const from = { at: performance.now(), cpuMs: timeUse(server.pid).cpuMs };
    await sleep(Math.min(options.seconds, longestSeconds) * 1000);
    const cpuMs = timeUse(server.pid).cpuMs - from.cpuMs;
    return cpuMs / (performance.now() - from.at) / calls;
  } finally {
    stop();
    forget();
  }
}
