/**
 * Plays scenarios into the inference process, many at a time and as fast as it answers. Within one scenario nothing runs
 * ahead: a frame follows when the one before is judged, and after a question to the turn model when it is answered.
 */
import { systemClock } from '../../shared/runtime/clock.ts';
import { machineMs } from '../../shared/runtime/monotonic.ts';
import { vadFrameMs, vadFrameSamples, type Mailboxes } from '../../shared/protocol/mailbox.ts';
import { EnergyGate } from '../../worker/media/energy-gate.ts';
import { TurnClient } from '../../worker/media/turn-client.ts';
import type { FrameSound } from '../../worker/media/frame-sound.ts';
import { VadClient } from '../../worker/media/vad-client.ts';
import { CoreDecider, type CoreDeciderOptions } from './core-decider.ts';
import { ModelDecider, SilenceDecider, type Decider, type TurnSettings } from './deciders.ts';
import type { Scenario } from './scenarios.ts';

/** All slots ask one thread at times; the replay waits, and counts what one answer costs. */
const answerWithinMs = 60_000;
/** Inference that is silent for this long has died. */
const stuckMs = 60_000;

export interface Replayed {
  readonly scenario: Scenario;
  readonly deciders: readonly Decider[];
}

interface Question {
  readonly audioMs: number;
  readonly judged: (probability: number | undefined) => void;
}

class Player {
  readonly replayed: Replayed;
  readonly #pcm: Int16Array;
  readonly #vad: VadClient;
  readonly #turn: TurnClient;
  readonly #gate = new EnergyGate();
  readonly #energy: SilenceDecider;
  /** Those that hear with VAD. */
  readonly #deciders: Decider[];
  /** Questions to the turn model; the first one is being answered. */
  readonly #questions: Question[] = [];
  #at = 0;
  #waitsForFrame = false;

  constructor(scenario: Scenario, slot: number, options: ReplayOptions) {
    const { boxes, settings } = options;
    this.#pcm = scenario.pcm;
    // On its own clock inference is never late: a busy machine makes the replay slow, and not wrong.
    const thread = slot % boxes.layout.threads;
    this.#vad = new VadClient({
      boxes,
      slot,
      machineMs: () => boxes.threadHeartbeat(thread),
      judged: (p, ms, sound) => this.#judged(p, ms, sound),
    });
    this.#turn = new TurnClient({
      boxes,
      slot,
      machineMs,
      withinMs: answerWithinMs,
      judged: (probability) => {
        this.#questions.shift()?.judged(probability);
        this.#askNext();
      },
    });
    this.#energy = new SilenceDecider('silence alone', settings);
    this.#deciders = [
      new SilenceDecider('VAD', settings),
      ...((boxes.layout.turnThreads ?? 0) > 0 ? [this.#newModelDecider(settings)] : []),
      ...options.cores.map((core) => this.#newCoreDecider(scenario, core)),
    ];
    this.replayed = { scenario, deciders: [this.#energy, ...this.#deciders] };
  }

  #newModelDecider(settings: TurnSettings): ModelDecider {
    const decider: ModelDecider = new ModelDecider('VAD + Smart Turn', settings, (audioMs) =>
      this.#ask({ audioMs, judged: (probability) => decider.judged(probability) }),
    );
    return decider;
  }

  #newCoreDecider(scenario: Scenario, core: CoreRow): CoreDecider {
    const decider: CoreDecider = new CoreDecider({
      ...core,
      scenario,
      ask: (audioMs) => this.#ask({ audioMs, judged: (probability) => decider.judged(probability) }),
    });
    return decider;
  }

  get over(): boolean {
    return !this.#waits && this.#at + vadFrameSamples > this.#pcm.length;
  }

  get #waits(): boolean {
    return this.#waitsForFrame || this.#questions.length > 0;
  }

  /** Goes on by one frame when nothing is waited for. True when something moved. */
  advance(): boolean {
    if (this.#waits) {
      this.#vad.collect();
      this.#turn.collect();
      return !this.#waits;
    }
    const frame = this.#pcm.subarray(this.#at, this.#at + vadFrameSamples);
    this.#at += vadFrameSamples;
    this.#energy.take(this.#gate.judge(frame), vadFrameMs);
    this.#waitsForFrame = true;
    this.#vad.write(frame);
    return true;
  }

  #judged(probability: number, frameMs: number, sound: FrameSound): void {
    this.#waitsForFrame = false;
    for (const decider of this.#deciders) decider.take(probability, frameMs, sound);
  }

  #ask(question: Question): void {
    this.#questions.push(question);
    if (this.#questions.length === 1) this.#askNext();
  }

  #askNext(): void {
    const [question] = this.#questions;
    if (question !== undefined) this.#turn.ask({ audioMs: question.audioMs });
  }

  get judgedByEnergy(): number {
    return this.#vad.judgedByEnergy;
  }
}

/** A row of the table for the whole decision of the service. */
export type CoreRow = Omit<CoreDeciderOptions, 'scenario' | 'ask'>;

export interface ReplayOptions {
  readonly boxes: Mailboxes;
  readonly settings: TurnSettings;
  readonly cores: readonly CoreRow[];
  readonly progress: (done: number) => void;
}

const pauseMs = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Throws when inference dies: a result that was judged by energy instead would be a lie. */
export async function replay(scenarios: readonly Scenario[], options: ReplayOptions): Promise<Replayed[]> {
  const done: Replayed[] = [];
  const open = new Map<number, Player>();
  let next = 0;
  let movedAt = systemClock.now();
  while (done.length < scenarios.length) {
    let moved = false;
    for (let slot = 0; slot < options.boxes.slots; slot += 1) {
      let player = open.get(slot);
      if (player === undefined) {
        const scenario = scenarios[next];
        if (scenario === undefined) continue;
        next += 1;
        player = new Player(scenario, slot, options);
        open.set(slot, player);
      }
      if (!player.over) moved = player.advance() || moved;
      if (!player.over) continue;
      if (player.judgedByEnergy > 0) throw new Error('inference was away during the replay');
      done.push(player.replayed);
      open.delete(slot);
      options.progress(done.length);
    }
    if (moved) movedAt = systemClock.now();
    else if (systemClock.now() - movedAt > stuckMs) throw new Error('inference answers no more');
    await pauseMs(moved ? 0 : 1);
  }
  return done;
}
