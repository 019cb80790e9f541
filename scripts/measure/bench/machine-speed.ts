/**
 * How fast this machine is just now. The host of a virtual machine gives its cores at half speed in one hour and at full speed in the next,
 * so figures of two hours are compared by this one, too.
 */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

export interface MachineSpeed {
  /** Milliseconds for a fixed piece of arithmetic on one core while the others are idle. */
  readonly aloneMs: number;
  /** The slowest of all cores when each does it at once. */
  readonly togetherMs: number;
}

/** Independent sums, as many as a core does at once, over more memory than its first cache holds. */
const arithmetic = `
  const { parentPort } = require('node:worker_threads');
  const samples = Float32Array.from({ length: 65_536 }, (_, index) => Math.sin(index));
  const sumUp = () => {
    const sums = new Float64Array(4);
    for (let round = 0; round < 600; round += 1)
      for (let at = 0; at < samples.length; at += 4)
        for (let lane = 0; lane < 4; lane += 1) sums[lane] += samples[at + lane] * (round + lane);
    return sums[0];
  };
  sumUp();
  parentPort.once('message', () => {
    const from = performance.now();
    const sum = sumUp();
    parentPort.postMessage({ ms: performance.now() - from, sum });
  });
  parentPort.postMessage('ready');
`;

async function slowestOf(count: number): Promise<number> {
  const workers = Array.from({ length: count }, () => new Worker(arithmetic, { eval: true }));
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const results = workers.map((worker) => once(worker, 'message') as Promise<[{ readonly ms: number }]>);
  for (const worker of workers) worker.postMessage('go');
  const took = (await Promise.all(results)).map(([{ ms }]) => ms);
  await Promise.all(workers.map((worker) => worker.terminate()));
  return Math.max(...took);
}

export async function machineSpeed(): Promise<MachineSpeed> {
  return { aloneMs: await slowestOf(1), togetherMs: await slowestOf(availableParallelism()) };
}

export const describeSpeed = ({ aloneMs, togetherMs }: MachineSpeed): string =>
  `this machine now: a fixed piece of arithmetic takes ${aloneMs.toFixed(0)} ms on one core, ${togetherMs.toFixed(0)} ms on each of ${availableParallelism()} at once`;
