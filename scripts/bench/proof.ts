/**
 * Which sample of what a caller sent was the last that the service needed to know an interruption: the same model and the same
 * detector judge it once more, without a network and without haste.
 */
import { sileroPath } from '../../inference/models.ts';
import { openVadModel, VadThread } from '../../inference/vad-thread.ts';
import { mailboxBytes, Mailboxes, vadFrameSamples } from '../../shared/protocol/mailbox.ts';
import { SpeechDetector, type SpeechDetectorSettings } from '../../worker/media/speech-detector.ts';
import { VadClient } from '../../worker/media/vad-client.ts';

const layout = { workers: 1, slotsPerWorker: 1, ringFrames: 32, threads: 1 };

export type Prover = (pcm: Int16Array, from: number) => Promise<number | undefined>;

/** Gives a function from samples at 16 kHz to the number of the sample behind the one that proved the first interruption after `from`. */
export async function openProver(settings: SpeechDetectorSettings): Promise<Prover> {
  const session = await openVadModel(sileroPath(undefined));
  return async (pcm, from) => {
    const boxes = new Mailboxes(new ArrayBuffer(mailboxBytes(layout)), layout);
    boxes.setSlotsInUse(0, 1);
    const thread = new VadThread({ thread: 0, boxes, session, wake: () => undefined });
    let at = 0;
    let provedAt: number | undefined;
    const detector = new SpeechDetector(settings, (fact) => {
      if (fact === 'speech.confirmed' && at > from) provedAt ??= at;
    });
    const vad = new VadClient({
      boxes,
      slot: 0,
      machineMs: () => boxes.threadHeartbeat(0),
      judged: (probability, frameMs, sound) => detector.take(probability, frameMs, sound),
    });
    while (provedAt === undefined && at + vadFrameSamples <= pcm.length) {
      vad.write(pcm.subarray(at, at + vadFrameSamples));
      at += vadFrameSamples;
      await thread.judgeBatch();
      vad.collect();
    }
    return provedAt;
  };
}
