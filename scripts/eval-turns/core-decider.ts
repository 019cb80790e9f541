/** The whole decision of the service: its detector and its call core, in a world that is played. */
import type { CallSettings } from '../../worker/core/settings.ts';
import { ENGINE_RATE, FRAME_MS } from '../../shared/base/units.ts';
import { EchoDetector } from '../../worker/media/echo-detector.ts';
import { SoundLevels } from '../../worker/media/echo-levels.ts';
import { PlayedAudio } from '../../worker/media/echo-played.ts';
import { lookRate, readFlat, readWide, type Written } from '../../worker/media/echo-samples.ts';
import type { FrameSound } from '../../worker/media/frame-sound.ts';
import { SpeechDetector, type SpeechDetectorSettings } from '../../worker/media/speech-detector.ts';
import { CallWorld } from './call-world.ts';
import { turnAnswerMs, type Decider } from './deciders.ts';
import type { Scenario } from './scenarios.ts';

const sentSamples = (ENGINE_RATE * FRAME_MS) / 1000;
/** Audio before the reported start that belongs to the turn. */
const beforeStartMs = 300;

export interface CoreDeciderOptions {
  readonly name: string;
  readonly scenario: Scenario;
  readonly settings: CallSettings;
  readonly speech: SpeechDetectorSettings;
  /** STT tells words while they are spoken. */
  readonly streams: boolean;
  /** Who answers for the turn model: nobody, the model, or one that knows the scenario and is always right. */
  readonly model: 'none' | 'asked' | 'right';
  /** Asks the real turn model about so much audio; the replay waits and calls `judged`. */
  readonly ask: (audioMs: number) => void;
}

export class CoreDecider implements Decider {
  readonly name: string;
  readonly #options: CoreDeciderOptions;
  readonly #world: CallWorld;
  readonly #detector: SpeechDetector;
  readonly #played = new PlayedAudio(ENGINE_RATE);
  readonly #levels = new SoundLevels(ENGINE_RATE);
  /** Samples of the bot that were sent, and of the caller that were heard. */
  #sent = 0;
  #heard = 0;
  #startedMs: number | undefined;
  #ask = 0;
  /** Answers on their way, and when they come. */
  readonly #answers: {
    readonly atMs: number;
    readonly ask: number;
    readonly probability: number | undefined;
  }[] = [];

  constructor(options: CoreDeciderOptions) {
    this.name = options.name;
    this.#options = options;
    const { scenario, settings, speech } = options;
    this.#world = new CallWorld({
      settings: {
        ...settings,
        greeting: scenario.botText,
        turn: { ...settings.turn, model: options.model !== 'none' },
      },
      words: scenario.words,
      streams: options.streams,
      botMsPerChar: scenario.kind === 'turn' ? undefined : scenario.botMsPerChar,
      judge: (ask) => this.#judge(ask),
    });
    const echo = new EchoDetector({
      played: this.#played,
      heard: {
        read: (into) => this.#readHeard(into),
        readWide: (into) => readWide(this.#written, this.#heardEnd, into),
        levels: this.#levels,
      },
    });
    this.#detector = new SpeechDetector(
      speech,
      (fact) => {
        const world = this.#world;
        if (fact === 'speech.started') this.#startedMs ??= world.nowMs - speech.minSpeechMs;
        world.tell(fact === 'speech.confirmed' ? { type: fact, position: world.position } : { type: fact });
      },
      { isEcho: () => echo.isEcho(this.#world.nowMs) },
    );
  }

  #readHeard(into: Float32Array): number {
    readFlat(this.#written, this.#heardEnd, into);
    return this.#heardEnd;
  }

  get #written(): Written {
    return { ring: this.#options.scenario.pcm, rate: ENGINE_RATE, count: this.#heard };
  }

  get #heardEnd(): number {
    return (this.#heard * lookRate) / ENGINE_RATE;
  }

  /** Sends what the bot says up to now, also while it is held: its echo is in the scenario anyway. */
  #play(): void {
    const { played = new Int16Array(0) } = this.#options.scenario;
    for (; played.length > 0 && this.#sent < this.#heard; this.#sent += sentSamples) {
      const frame = Int16Array.from(
        { length: sentSamples },
        (_, i) => played[(this.#sent + i) % played.length] ?? 0,
      );
      this.#played.add(frame, (this.#sent * 1000) / ENGINE_RATE);
    }
  }

  get endsMs(): readonly number[] {
    return this.#world.notes.decidedMs;
  }

  get confirmedMs(): readonly number[] {
    return this.#world.notes.cutMs;
  }

  get audibleMs(): readonly number[] {
    return this.#world.notes.audibleMs;
  }

  get heldMs(): number {
    return this.#world.notes.heldMs;
  }

  take(probability: number, frameMs: number, sound: FrameSound | undefined): void {
    const untilMs = this.#world.nowMs + frameMs;
    for (;;) {
      const at = this.#answers.findIndex(({ atMs }) => atMs <= untilMs);
      const [answer] = at < 0 ? [] : this.#answers.splice(at, 1);
      if (answer === undefined) break;
      this.#world.advanceTo(answer.atMs);
      this.#world.tell({ type: 'turn.judged', ask: answer.ask, probability: answer.probability });
    }
    this.#world.advanceTo(untilMs);
    const from = this.#heard;
    this.#heard += (frameMs * ENGINE_RATE) / 1000;
    this.#levels.add(this.#options.scenario.pcm.subarray(from, this.#heard));
    this.#play();
    this.#detector.take(probability, frameMs, sound);
  }

  /** The real model's answer to the last question. */
  judged(probability: number | undefined): void {
    this.#answers.push({ atMs: this.#world.nowMs + turnAnswerMs, ask: this.#ask, probability });
  }

  #judge(ask: number): void {
    this.#ask = ask;
    const { nowMs } = this.#world;
    const { model, scenario } = this.#options;
    if (model === 'asked') this.#options.ask(nowMs - (this.#startedMs ?? nowMs) + beforeStartMs);
    else if (model === 'right') {
      const isOver = scenario.words.every(({ fromMs }) => fromMs <= nowMs);
      this.#answers.push({ atMs: nowMs + turnAnswerMs, ask, probability: isOver ? 0.95 : 0.05 });
    }
  }
}
