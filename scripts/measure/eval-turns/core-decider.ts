/** The decision of the service: its call core, in a world that is played, told what the service hears. */
import { backchannelsOf } from '../../../shared/config/agent/texts.ts';
import type { CallSettings } from '../../../worker/core/settings.ts';
import type { SpeechDetectorSettings, SpeechFact } from '../../../worker/media/vad/speech-detector.ts';
import { speechEvent } from '../../../worker/call/speech-event.ts';
import { type CallWorldOptions, CallWorld, type CallNotes } from './call-world.ts';
import { turnAnswerMs, type Decider } from './deciders.ts';
import type { Scenario } from './scenarios.ts';
import type { Heard } from './service-ear.ts';

/** Audio before the reported start that belongs to the turn. */
const beforeStartMs = 300;

const unheard: Heard = {
  isNoEcho: false,
  isFaint: false,
  silenceMs: 0,
  quietMs: 0,
  lastedMs: 0,
  belowCallerDb: undefined,
};

export interface CoreDeciderOptions {
  readonly name: string;
  readonly scenario: Scenario;
  readonly settings: CallSettings;
  readonly speech: SpeechDetectorSettings;
  /** STT tells words while they are spoken. */
  readonly streams: boolean;
  /** The model writes words down itself, behind its answer. */
  readonly isLate?: boolean;
  readonly hearsOver?: CallWorldOptions['hearsOver'];
  /** Who answers for the turn model: nobody, the model, or one that knows the scenario and is always right. */
  readonly model: 'none' | 'asked' | 'right';
  /** Asks the real turn model about so much audio; the replay waits and calls `judged`. */
  readonly ask: (audioMs: number) => void;
  /** STT has told words of the caller's. */
  readonly heardWords?: () => void;
}

export class CoreDecider implements Decider {
  readonly name: string;
  readonly #options: CoreDeciderOptions;
  readonly #world: CallWorld;
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
    const { scenario, settings } = options;
    this.#world = new CallWorld({
      settings: {
        ...settings,
        greeting: scenario.botText === '' ? (scenario.asked ?? '') : scenario.botText,
        turn: { ...settings.turn, model: options.model !== 'none' },
        ...(scenario.language !== undefined && {
          languages: [scenario.language],
          interrupt: { ...settings.interrupt, backchannels: backchannelsOf(scenario.language) },
        }),
      },
      words: scenario.words,
      streams: options.streams,
      isLate: options.isLate,
      hearsOver: options.hearsOver,
      botMsPerChar: ['turn', 'call'].includes(scenario.kind) ? undefined : scenario.botMsPerChar,
      answer: scenario.call?.answer,
      heardWords: () => options.heardWords?.(),
      judge: (ask) => this.#judge(ask),
    });
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

  get notes(): CallNotes {
    return this.#world.notes;
  }

  /** The agent can be heard. */
  get isAudible(): boolean {
    return this.#world.isAudible;
  }

  get heldMs(): number {
    return this.#world.notes.heldMs;
  }

  /** Lets time pass. */
  advanceTo(untilMs: number): void {
    for (;;) {
      const at = this.#answers.findIndex(({ atMs }) => atMs <= untilMs);
      const [answer] = at < 0 ? [] : this.#answers.splice(at, 1);
      if (answer === undefined) break;
      this.#world.advanceTo(answer.atMs);
      this.#world.tell({ type: 'turn.judged', ask: answer.ask, probability: answer.probability });
    }
    this.#world.advanceTo(untilMs);
  }

  /** The service heard this, now. */
  take(fact: SpeechFact, how: Heard = unheard): void {
    const world = this.#world;
    if (fact === 'speech.started') this.#startedMs ??= world.nowMs - this.#options.speech.minSpeechMs;
    world.tell(speechEvent(fact, { position: world.position, ...how }));
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
