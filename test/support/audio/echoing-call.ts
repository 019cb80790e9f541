/**
 * One caller with a loudspeaker, sample by sample and as fast as the model judges: the agent's frames go out, come back into the microphone
 * through the air, and VAD, looks for echo and speech detector hear it as in a call. A possible interruption holds the agent, a confirmed one cuts it.
 */
import { Silero } from '../../../inference/silero/silero.ts';
import { VadThread } from '../../../inference/vad-thread.ts';
import { sileroPath } from '../../../inference/models.ts';
import { newPrng } from '../../../shared/base/prng.ts';
import { newCallEcho, type CallEcho } from '../../../worker/media/echo/echo.ts';
import { InboundAudio } from '../../../worker/media/in/inbound.ts';
import { SpeechDetector, type SpeechDetectorSettings } from '../../../worker/media/vad/speech-detector.ts';
import { VadClient } from '../../../worker/media/vad/vad-client.ts';
import type { PeekOptions } from '../../../worker/media/vad/vad-peek.ts';
import { newMailboxes } from './mailboxes.ts';

const rate = 16_000;
const frameSamples = 320;
const frameMs = 20;
/** What the client has in hand before it plays. */
const prebufferSamples = 960;

export interface EchoingCall {
  readonly settings: SpeechDetectorSettings;
  /** What the agent says from the first sample on; 16 kHz. */
  readonly bot: Int16Array;
  /** How much of it comes back, and how much later than it is played; in none nothing does. */
  readonly echo: { readonly gain: number; readonly delaySamples: number } | undefined;
  readonly caller: Int16Array;
  /** Sample of the microphone with which the caller begins. */
  readonly callerAt: number;
}

export interface Heard {
  /** Times of audio, in ms from the first sample of the microphone. */
  readonly startedMs: readonly number[];
  readonly confirmedMs: readonly number[];
}

export type Hear = (call: EchoingCall) => Heard;

export function openEchoingCalls(): Hear {
  const model = Silero.open(sileroPath(undefined));
  return ({ settings, bot, echo: path, caller, callerAt }) => {
    const boxes = newMailboxes({ workers: 1, slotsPerWorker: 1, ringFrames: 32, threads: 1 });
    boxes.setSlotsInUse(0, 1);
    const thread = new VadThread({ thread: 0, boxes, model, wake: () => undefined });
    const prng = newPrng(callerAt);
    const frames = Math.ceil((callerAt + caller.length + rate / 2) / frameSamples);
    const air = new Float32Array((frames + 1) * frameSamples + prebufferSamples + (path?.delaySamples ?? 0));
    const [startedMs, confirmedMs]: [number[], number[]] = [[], []];
    let now = 0;
    let judgedMs = 0;
    let [holds, isCut] = [false, false];
    const tell = (fact: string): void => {
      if (fact === 'speech.started') startedMs.push(judgedMs);
      if (fact === 'speech.confirmed') confirmedMs.push(judgedMs);
      isCut ||= fact === 'speech.confirmed';
      if (fact === 'speech.started') holds = true;
      if (fact === 'speech.stopped') holds = false;
    };
    const detector: SpeechDetector = new SpeechDetector(settings, tell, {
      isEcho: () => echo.isEcho(now),
      isOverAgent: () => echo.isOverAgent(now),
    });
    const vad: VadClient = new VadClient({
      boxes,
      slot: 0,
      machineMs: () => boxes.threadHeartbeat(0),
      isEcho: () => !detector.isConfirmed && echo.isKnownEcho(now),
      judged: (probability, ms, sound) => {
        judgedMs += ms;
        detector.take(probability, ms, sound);
      },
      peek: peeking(detector),
    });
    const inbound: InboundAudio = new InboundAudio({
      sampleRate: rate,
      encoding: 'pcm16',
      vad,
      toStt: () => undefined,
      took: (pcm) => echo.took(pcm),
    });
    const echo: CallEcho = newCallEcho({ mode: 'auto', sampleRate: rate, heard: inbound });
    let [sent, airTo] = [0, 0];
    const speak = (microphoneAt: number): void => {
      const frame = bot.subarray(sent, sent + frameSamples);
      sent += frame.length;
      echo.sent(frame, now);
      if (airTo < microphoneAt) airTo = microphoneAt + prebufferSamples;
      frame.forEach((sample, i) => {
        if (path !== undefined) air[airTo + path.delaySamples + i] = sample * path.gain;
      });
      airTo += frame.length;
    };
    for (let at = 0; at < frames * frameSamples; at += frameSamples) {
      if (!holds && !isCut && sent + frameSamples <= bot.length) speak(at);
      const pcm = Int16Array.from({ length: frameSamples }, (_, i) => {
        const said = caller[at + i - callerAt] ?? 0;
        return Math.max(-32_768, Math.min(32_767, Math.round(prng.below(5) - 2 + (air[at + i] ?? 0) + said)));
      });
      now += frameMs;
      inbound.push(new Uint8Array(pcm.buffer), now);
      while (thread.judgeWaiting() > 0);
      vad.collect();
    }
    return { startedMs, confirmedMs };
  };
}

const peeking = (detector: SpeechDetector): PeekOptions => ({
  isWanted: (sinceMs) => detector.wantsPeek(sinceMs),
  judged: (probability, sinceMs, sound) => detector.peek(probability, sinceMs, sound),
});
