/**
 * The process that speaks for the local server: one sentence after the other, as 24 kHz samples. It holds the native
 * engine, so that neither its work nor its end stops the sockets. It ends with its parent.
 */
import '../../../shared/runtime/stack.ts';
import { setPriority } from 'node:os';
import { newResampler } from '../../../shared/audio/resampler.ts';
import { exitWithParent, tellParent, wakeWhenOrphaned } from '../../../shared/runtime/child.ts';
import type { FromVoice, SpeechJob, ToVoice } from './messages.ts';
import { loadSherpa, openVoice } from './sherpa.ts';

/** Below the service, whose calls must not wait for this. */
const niceness = 5;
/** The only rate that clients of such servers know. */
const outputRate = 24_000;

const tell = (message: FromVoice): void => tellParent(message);

let speak: ((speech: SpeechJob) => Int16Array) | undefined;

function toPcm(samples: Float32Array): Int16Array {
  return Int16Array.from(samples, (sample) =>
    Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_767))),
  );
}

function open(setup: Extract<ToVoice, { type: 'setup' }>): void {
  const voice = openVoice(loadSherpa(), setup.files, setup);
  const resampler = newResampler({ from: voice.sampleRate, to: outputRate });
  speak = ({ text, speaker, speed }) => {
    const { samples } = voice.generate({ text, sid: speaker, speed });
    const body = resampler.process(toPcm(samples)).slice();
    const end = resampler.flush();
    const pcm = new Int16Array(body.length + end.length);
    pcm.set(body);
    pcm.set(end, body.length);
    return pcm;
  };
  // The first sentence of a voice takes longer than the others; nobody should wait for it.
  speak({ text: 'Hello.', speaker: 0, speed: 1 });
  tell({ type: 'ready', speakers: Math.max(1, voice.numSpeakers) });
}

process.on('message', (received) => {
  // The parent is this program as well.
  const message = received as ToVoice;
  switch (message.type) {
    case 'setup':
      setPriority(niceness);
      open(message);
      return;
    case 'ping':
      tell({ type: 'pong' });
      return;
    case 'speak':
      try {
        tell({ type: 'spoken', job: message.job, pcm: speak?.(message.speech) ?? new Int16Array(0) });
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        tell({ type: 'failed', job: message.job });
      }
  }
});
wakeWhenOrphaned();
exitWithParent(() => process.exit(0));
