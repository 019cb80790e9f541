/**
 * How the service hears a scenario: packets of the caller's audio, frames and looks between them judged by inference, the agent's own
 * voice compared with what is sent and hidden from VAD, all of it wired as in a call. Facts about speech come out of it.
 */
import { ENGINE_RATE, FRAME_MS } from '../../../shared/base/units.ts';
import type { Mailboxes } from '../../../shared/protocol/mailbox.ts';
import { wakeWaiters } from '../../../shared/runtime/futex.ts';
import { newCallEcho, type CallEcho } from '../../../worker/media/echo/echo.ts';
import {
  SpeechDetector,
  type SpeechDetectorSettings,
  type SpeechFact,
} from '../../../worker/media/vad/speech-detector.ts';
import { VadClient } from '../../../worker/media/vad/vad-client.ts';
import type { Scenario } from './scenarios.ts';

const packetSamples = (ENGINE_RATE * FRAME_MS) / 1000;
const nothing = new Int16Array(0);

/** Whether the echo of the call is known well, whether what is heard may be a hum, and since when there is no sound of a voice, and how long one has lasted. */
export interface Heard {
  readonly isNoEcho: boolean;
  readonly isFaint: boolean;
  readonly isDoubtful?: boolean;
  readonly silenceMs: number;
  readonly quietMs: number;
  readonly lastedMs: number;
  readonly belowCallerDb: number | undefined;
}

export interface ServiceEarOptions {
  readonly boxes: Mailboxes;
  readonly slot: number;
  readonly scenario: Pick<Scenario, 'pcm' | 'played' | 'noise'>;
  readonly speech: SpeechDetectorSettings;
  /** Whether the agent is heard now; absent: it always is where the scenario says what is played. */
  readonly isSending?: () => boolean;
  /** Told what was heard. */
  readonly tell: (fact: SpeechFact, how: Heard) => void;
}

export class ServiceEar {
  readonly #options: ServiceEarOptions;
  readonly #vad: VadClient;
  readonly #detector: SpeechDetector;
  readonly #echo: CallEcho;
  /** Samples of the agent that were sent, and of the caller that were heard. */
  #sent = 0;
  #heard = 0;

  constructor(options: ServiceEarOptions) {
    this.#options = options;
    const { boxes, slot, scenario, speech, tell } = options;
    const detector = new SpeechDetector(
      speech,
      (fact) =>
        tell(fact, {
          isNoEcho: this.#echo.isClear,
          isFaint: detector.isFaint,
          isDoubtful: detector.isDoubtful,
          silenceMs: detector.silenceMs,
          quietMs: detector.quietMs,
          lastedMs: detector.lastedMs,
          belowCallerDb: detector.belowCallerDb,
        }),
      {
        isEcho: () => this.#echo.isEcho(this.nowMs),
        isOverAgent: () => this.#echo.isOverAgent(this.nowMs),
      },
    );
    this.#detector = detector;
    this.#vad = new VadClient({
      boxes,
      slot,
      noise: scenario.noise ?? 'off',
      // On its own clock inference is never late: a busy machine makes the replay slow, and not wrong.
      machineMs: () => boxes.threadHeartbeat(slot % boxes.layout.threads),
      wake: wakeWaiters,
      isEcho: () => !detector.isConfirmed && this.#echo.isKnownEcho(this.nowMs),
      judged: (probability, frameMs, sound) => detector.take(probability, frameMs, sound),
      peek: {
        isWanted: (sinceMs) => detector.wantsPeek(sinceMs),
        judged: (probability, sinceMs, sound) => detector.peek(probability, sinceMs, sound),
      },
    });
    this.#echo = newCallEcho({ mode: 'auto', sampleRate: ENGINE_RATE, heard: this });
  }

  /** All of the caller's audio, and how much of it was heard. */
  get ring(): Int16Array {
    return this.#options.scenario.pcm;
  }

  get count(): number {
    return this.#heard;
  }

  /** Time of the audio. */
  get nowMs(): number {
    return (this.#heard * 1000) / ENGINE_RATE;
  }

  /** There is no further packet. */
  get over(): boolean {
    return this.#heard + packetSamples > this.#options.scenario.pcm.length;
  }

  /** Inference owes an answer about what was heard. */
  get waits(): boolean {
    const box = this.#options.boxes.mailbox(this.#options.slot);
    return box.consumed < box.produced || box.peek.question(box.consumed) !== undefined;
  }

  /** Takes the next packet; `passed` is called once time has passed and before anything is judged. */
  hear(passed: (nowMs: number) => void): void {
    const packet = this.#options.scenario.pcm.subarray(this.#heard, this.#heard + packetSamples);
    this.#heard += packet.length;
    passed(this.nowMs);
    this.#echo.took(packet);
    this.#play();
    this.#vad.write(packet);
  }

  /** Takes answers of inference. */
  collect(): void {
    this.#vad.collect();
  }

  /** STT has told words of what it heard. */
  heardWords(): void {
    this.#detector.heardWords();
  }

  get judgedByEnergy(): number {
    return this.#vad.judgedByEnergy;
  }

  /** Sends what the agent says up to now, also while it is held: its echo is in the scenario anyway. */
  #play(): void {
    const { isSending = () => true } = this.#options;
    const { played = nothing } = this.#options.scenario;
    for (; played.length > 0 && this.#sent < this.#heard; this.#sent += packetSamples) {
      if (!isSending()) continue;
      const frame = Int16Array.from(
        { length: packetSamples },
        (_, i) => played[(this.#sent + i) % played.length] ?? 0,
      );
      this.#echo.sent(frame, (this.#sent * 1000) / ENGINE_RATE);
    }
  }
}
