/** The service's own speech stages against a server that listens somewhere: what they say, and what they hear. */
import { newResampler } from '../../../shared/audio/resampler.ts';
import type { SttEvent, TtsEvent } from '../../../worker/stages/stage.ts';
import { newSttLocalWs } from '../../../worker/stages/stt/sherpa-onnx/adapter.ts';
import { newSpeechCompatible } from '../../../worker/stages/tts/speech-compatible/adapter.ts';
import { Events, newStageContext } from './stage-context.ts';

/** What `speech_compatible` makes of the texts, one piece each, at 16 kHz. */
export async function speechOf(baseUrl: string, texts: readonly string[]): Promise<Int16Array> {
  const stage = newSpeechCompatible({
    baseUrl,
    preset: 'generic',
    model: 'any',
    format: 'pcm',
    firstAudioTimeoutMs: 15_000,
    warmText: '',
    warmIntervalMs: 60_000,
  });
  const events = new Events<TtsEvent>();
  const session = stage.open(newStageContext(), events.sink);
  for (const text of texts) session.speak(1, text);
  session.flush(1);
  await events.seen('flushed');
  session.close();
  await stage.close();
  const pcm = Int16Array.from(events.of('audio').flatMap((event) => [...event.pcm]));
  return newResampler({ from: 24_000, to: 16_000 }).process(pcm).slice();
}

/** Half a second of silence on either side, as a caller's turn has it. */
export function padded(pcm: Int16Array): Int16Array {
  const out = new Int16Array(pcm.length + 16_000);
  out.set(pcm, 8_000);
  return out;
}

export interface Heard {
  readonly partials: string[];
  readonly finals: string[];
}

/** What `stt_local_ws` hears in each of the utterances, one after the other on one connection. */
export async function heardBy(
  baseUrl: string,
  utterances: readonly Int16Array[],
  /** So many partial results are waited for before the end of an utterance is told. */
  { partials = 0 } = {},
): Promise<Heard[]> {
  const stage = newSttLocalWs({
    baseUrl,
    path: '/',
    sampleRate: 16_000,
    finalizeTimeoutMs: 10_000,
    finalizePaddingMs: 0,
  });
  const events = new Events<SttEvent>();
  const session = stage.open(newStageContext(), events.sink);
  const all: Heard[] = [];
  for (const [index, pcm] of utterances.entries()) {
    const before = events.all.length;
    for (let at = 0; at < pcm.length; at += 320) session.audio(pcm.subarray(at, at + 320));
    await events.until(() => events.of('transcript').length >= partials);
    session.finalize();
    await events.seen('finalized', index + 1);
    const said = events.all.slice(before).flatMap((event) => (event.type === 'transcript' ? [event] : []));
    all.push({
      partials: said.filter(({ isFinal }) => !isFinal).map(({ text }) => text),
      finals: said.filter(({ isFinal }) => isFinal).map(({ text }) => text),
    });
  }
  session.close();
  await stage.close();
  return all;
}
