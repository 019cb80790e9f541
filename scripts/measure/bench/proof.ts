/**
 * Which sample of what a caller sent was the last that the service needed to know an interruption: the same model and the same
 * detector judge it once more, without a network and without haste.
 */
import { sileroPath } from '../../../inference/models.ts';
import { Silero } from '../../../inference/silero/silero.ts';
import { VadThread } from '../../../inference/vad-thread.ts';
import { mailboxBytes, Mailboxes } from '../../../shared/protocol/mailbox.ts';
import {
  SpeechDetector,
  type SpeechDetectorSettings,
  type SpeechFact,
} from '../../../worker/media/vad/speech-detector.ts';
import { VadClient } from '../../../worker/media/vad/vad-client.ts';
import { frameSamples } from './client/talker.ts';

const layout = { workers: 1, slotsPerWorker: 1, ringFrames: 32, threads: 1 };

export type Prover = (pcm: Int16Array, from: number) => number | undefined;

/**
 * Gives a function that takes samples at 16 kHz. It finds the packet that proved the first interruption of the agent after `from`, and returns the
 * number of the sample behind it.
 */
export function openProver(settings: SpeechDetectorSettings): Prover {
  const model = Silero.open(sileroPath(undefined));
  return (pcm, from) => {
    const boxes = new Mailboxes(new ArrayBuffer(mailboxBytes(layout)), layout);
    boxes.setSlotsInUse(0, 1);
    const thread = new VadThread({ thread: 0, boxes, model, wake: () => undefined });
    let at = 0;
    let provedAt: number | undefined;
    const note = (fact: SpeechFact): void => {
      if (fact === 'speech.confirmed' && at > from) provedAt ??= at;
    };
    const detector = new SpeechDetector(settings, note, { isOverAgent: () => true });
    const vad = new VadClient({
      boxes,
      slot: 0,
      machineMs: () => boxes.threadHeartbeat(0),
      judged: (probability, frameMs, sound) => detector.take(probability, frameMs, sound),
      peek: {
        isWanted: (sinceMs) => detector.wantsPeek(sinceMs),
        judged: (probability, sinceMs, sound) => detector.peek(probability, sinceMs, sound),
      },
    });
    while (provedAt === undefined && at + frameSamples <= pcm.length) {
      vad.write(pcm.subarray(at, at + frameSamples));
      at += frameSamples;
      // A question waits until the frame before it has been judged and told, or comes of it, as in a call.
      for (let looks = 0; looks < 2; looks += 1) {
        while (thread.judgeWaiting() > 0);
        vad.collect();
      }
    }
    return provedAt;
  };
}
