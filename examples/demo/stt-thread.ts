/**
 * The thread that recognizes speech: samples in, text out, one turn at a time.
 *
 * Invariant: it answers every message with exactly one message, and says that it is ready only after a first warm decode.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { patterns, slots } from './domain.ts';
import { loadRecognizer } from './recognizer.ts';

const port = parentPort;
if (port === null) throw new Error('this file runs as a thread of the demo');

const settings: unknown = workerData;
const scratch: unknown =
  typeof settings === 'object' && settings !== null ? Reflect.get(settings, 'scratch') : undefined;
if (typeof scratch !== 'string') throw new Error('this thread needs a folder to work in');

const recognizer = await loadRecognizer({ patterns: Object.values(patterns).flat(), slots, scratch });
recognizer.hear(Float32Array.from({ length: 16_000 }, (_, at) => Math.sin(at / 9) * Math.sin(at / 800)));

port.on('message', (samples: unknown) => {
  try {
    if (!(samples instanceof Float32Array)) throw new Error('the turn is not a list of samples');
    port.postMessage({ answer: recognizer.hear(samples).text });
  } catch (error) {
    port.postMessage({ error: error instanceof Error ? error.message : 'the recognizer failed' });
  }
});
port.postMessage({ ready: true });
