/**
 * Plays scenarios into the inference process, many at a time and as fast as it answers. Within one scenario nothing runs
 * ahead: a frame follows when the one before is judged, and after a question to the turn model when it is answered.
 */
import { systemClock } from '../../shared/runtime/clock.ts';
import { machineMs } from '../../shared/runtime/monotonic.ts';
import { vadFrameMs, vadFrameSamples, type Mailboxes } from '../../shared/protocol/mailbox.ts';
import { EnergyGate } from '../../worker/media/energy-gate.ts';
import { TurnClient } from '../../worker/media/turn-client.ts';
import { VadClient } from '../../worker/media/vad-client.ts';
import { ModelDecider, SilenceDecider, type Decider, type TurnSettings } from './deciders.ts';
import type { Scenario } from './scenarios.ts';

/** All slots ask one thread at times; the replay waits, and counts what one answer costs. */
const answerWithinMs = 60_000;
/** Inference that is silent for this long has died. */
const stuckMs = 20_000;

export interface Replayed {
  readonly scenario: Scenario;
  readonly deciders: readonly Decider[];
}

class Player {
  readonly replayed: Replayed;
  readonly #pcm: Int16Array;
  readonly #vad: VadClient;
  readonly #turn: TurnClient;
  readonly #gate = new EnergyGate();
  readonly #energy: SilenceDecider;
  readonly #silence: SilenceDecider;
  readonly #model: ModelDecider | undefined;
  #at = 0;
  #waits: 'nothing' | 'frame' | 'answer' = 'nothing';

  constructor(scenario: Scenario, slot: number, options: ReplayOptions) {
    const { boxes, settings } = options;
    this.#pcm = scenario.pcm;
    this.#energy = new SilenceDecider('silence alone', settings);
    this.#silence = new SilenceDecider('VAD', settings);
    this.#vad = new VadClient({ boxes, slot, machineMs, judged: (p, ms) => this.#judged(p, ms) });
    this.#turn = new TurnClient({
      boxes,
      slot,
      machineMs,
      withinMs: answerWithinMs,
      judged: (probability) => {
        this.#waits = 'nothing';
        this.#model?.judged(probability);
      },
    });
    if ((boxes.layout.turnThreads ?? 0) > 0) {
      this.#model = new ModelDecider('VAD + Smart Turn', settings, (audioMs) => {
        this.#waits = 'answer';
        this.#turn.ask({ audioMs });
      });
    }
    const model = this.#model === undefined ? [] : [this.#model];
    this.replayed = { scenario, deciders: [this.#energy, this.#silence, ...model] };
  }

  get over(): boolean {
    return this.#waits === 'nothing' && this.#at + vadFrameSamples > this.#pcm.length;
  }

  /** Goes on by one frame when nothing is waited for. True when something moved. */
  advance(): boolean {
    const before = this.#waits;
    if (before !== 'nothing') {
      this.#vad.collect();
      this.#turn.collect();
      return this.#waits !== before;
    }
    const frame = this.#pcm.subarray(this.#at, this.#at + vadFrameSamples);
    this.#at += vadFrameSamples;
    this.#energy.take(this.#gate.judge(frame), vadFrameMs);
    this.#waits = 'frame';
    this.#vad.write(frame);
    return true;
  }

  #judged(probability: number, frameMs: number): void {
    this.#waits = 'nothing';
    this.#silence.take(probability, frameMs);
    this.#model?.take(probability, frameMs);
  }

  get judgedByEnergy(): number {
    return this.#vad.judgedByEnergy;
  }
}

export interface ReplayOptions {
  readonly boxes: Mailboxes;
  readonly settings: TurnSettings;
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
