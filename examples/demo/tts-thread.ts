/**
 * The thread that speaks: one sentence in, 24 kHz samples out.
 *
 * Invariant: it answers every message with exactly one message, and says that it is ready only after a first warm sentence.
 */
import { parentPort } from 'node:worker_threads';
import { to24k, withoutLeadIn } from './audio.ts';
import { loadFlite } from './flite.ts';
import { isSpeechJob } from './voices.ts';

const port = parentPort;
if (port === null) throw new Error('this file runs as a thread of the demo');

const flite = await loadFlite();
to24k(flite('Hello there.', { voice: 'slt', speed: 1 }));

port.on('message', (job: unknown) => {
  try {
    if (!isSpeechJob(job)) throw new Error('the sentence is not complete');
    const samples = to24k(withoutLeadIn(flite(job.text, job)));
    port.postMessage({ answer: samples }, [samples.buffer]);
  } catch (error) {
    port.postMessage({ error: error instanceof Error ? error.message : 'the synthesizer failed' });
  }
});
port.postMessage({ ready: true });
