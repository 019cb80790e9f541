/**
 * Plays scenarios into the inference process, many at a time and as fast as it answers, each once for those that hear frames and once
 * for the service. Within one scenario nothing runs ahead: audio follows when what came before is judged, and after a question to the
 * turn model when it is answered.
 */
import { systemClock } from '../../../shared/runtime/clock.ts';
import { machineMs } from '../../../shared/runtime/monotonic.ts';
import { type Mailboxes } from '../../../shared/protocol/mailbox.ts';
import { vadFrameMs, vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';
import { wakeWaiters } from '../../../shared/runtime/futex.ts';
import { EnergyGate } from '../../../worker/media/vad/energy-gate.ts';
import { TurnClient } from '../../../worker/media/vad/turn-client.ts';
import type { SpeechDetectorSettings } from '../../../worker/media/vad/speech-detector.ts';
import { VadClient } from '../../../worker/media/vad/vad-client.ts';
import { CoreDecider, type CoreDeciderOptions } from './core-decider.ts';
import { ModelDecider, SilenceDecider, type Decider, type TurnSettings } from './deciders.ts';
import type { Scenario } from './scenarios.ts';
import { ServiceEar } from './service-ear.ts';

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

/** Questions to the turn model about one slot, one after another. */
class TurnQuestions {
  readonly #turn: TurnClient;
  /** The first one is being answered. */
  readonly #questions: Question[] = [];

  constructor(boxes: Mailboxes, slot: number) {
    this.#turn = new TurnClient({
      boxes,
      slot,
      machineMs,
      withinMs: answerWithinMs,
      wake: wakeWaiters,
      judged: (probability) => {
        this.#questions.shift()?.judged(probability);
        this.#askNext();
      },
    });
  }

  get waits(): boolean {
    return this.#questions.length > 0;
  }

  ask(question: Question): void {
    this.#questions.push(question);
    if (this.#questions.length === 1) this.#askNext();
  }

  collect(): void {
    this.#turn.collect();
  }

  #askNext(): void {
    const [question] = this.#questions;
    if (question !== undefined) this.#turn.ask({ audioMs: question.audioMs });
  }
}

/** One way through one scenario. */
interface Player {
  readonly deciders: readonly Decider[];
  readonly over: boolean;
  readonly judgedByEnergy: number;
  /** Goes on by a step when nothing is waited for. True when something moved. */
  advance(): boolean;
}

/** Frame by frame, for those that hear with VAD alone or with nothing. */
class FramePlayer implements Player {
  readonly deciders: readonly Decider[];
  readonly #pcm: Int16Array;
  readonly #vad: VadClient;
  readonly #questions: TurnQuestions;
  readonly #gate = new EnergyGate();
  readonly #energy: SilenceDecider;
  readonly #hearing: (SilenceDecider | ModelDecider)[];
  #at = 0;
  #waitsForFrame = false;

  constructor(
    scenario: Scenario,
    slot: number,
    { boxes, settings }: { boxes: Mailboxes; settings: TurnSettings },
  ) {
    this.#pcm = scenario.pcm;
    this.#vad = new VadClient({
      boxes,
      slot,
      // On its own clock inference is never late: a busy machine makes the replay slow, and not wrong.
      machineMs: () => boxes.threadHeartbeat(slot % boxes.layout.threads),
      wake: wakeWaiters,
      judged: (probability, frameMs) => {
        this.#waitsForFrame = false;
        for (const decider of this.#hearing) decider.take(probability, frameMs);
      },
    });
    this.#questions = new TurnQuestions(boxes, slot);
    this.#energy = new SilenceDecider('silence alone', settings);
    const hasModel = (boxes.layout.turnThreads ?? 0) > 0;
    this.#hearing = [
      new SilenceDecider('VAD', settings),
      ...(hasModel ? [this.#newModelDecider(settings)] : []),
    ];
    this.deciders = [this.#energy, ...this.#hearing];
  }

  #newModelDecider(settings: TurnSettings): ModelDecider {
    const decider: ModelDecider = new ModelDecider('VAD + Smart Turn', settings, (audioMs) =>
      this.#questions.ask({ audioMs, judged: (probability) => decider.judged(probability) }),
    );
    return decider;
  }

  get over(): boolean {
    return !this.#waits && this.#at + vadFrameSamples > this.#pcm.length;
  }

  get #waits(): boolean {
    return this.#waitsForFrame || this.#questions.waits;
  }

  advance(): boolean {
    if (this.#waits) {
      this.#vad.collect();
      this.#questions.collect();
      return !this.#waits;
    }
    const frame = this.#pcm.subarray(this.#at, this.#at + vadFrameSamples);
    this.#at += vadFrameSamples;
    this.#energy.take(this.#gate.judge(frame), vadFrameMs);
    this.#waitsForFrame = true;
    this.#vad.write(frame);
    return true;
  }

  get judgedByEnergy(): number {
    return this.#vad.judgedByEnergy;
  }
}

/** Packet by packet, as the service hears. */
class ServicePlayer implements Player {
  readonly deciders: readonly CoreDecider[];
  readonly #ear: ServiceEar;
  readonly #questions: TurnQuestions;
  #isOver = false;

  constructor(
    scenario: Scenario,
    slot: number,
    { boxes, cores, speech }: ServiceRows & { boxes: Mailboxes },
  ) {
    this.#questions = new TurnQuestions(boxes, slot);
    this.deciders = cores.map((core) => {
      const decider: CoreDecider = new CoreDecider({
        ...core,
        speech,
        scenario,
        heardWords: () => this.#ear.heardWords(),
        ask: (audioMs) =>
          this.#questions.ask({ audioMs, judged: (probability) => decider.judged(probability) }),
      });
      return decider;
    });
    this.#ear = new ServiceEar({
      boxes,
      slot,
      scenario,
      speech,
      // The sound that a call sends depends on its decisions: it has one decider.
      ...(scenario.kind === 'call' && { isSending: () => this.deciders[0]?.isAudible === true }),
      tell: (fact, how) => {
        for (const decider of this.deciders) decider.take(fact, how);
      },
    });
  }

  get over(): boolean {
    return this.#isOver;
  }

  advance(): boolean {
    this.#questions.collect();
    // A text that is taken here may be asked about once more.
    this.#ear.collect();
    if (this.#ear.waits || this.#questions.waits) return false;
    this.#isOver = this.#ear.over;
    if (!this.#isOver)
      this.#ear.hear((nowMs) => {
        for (const decider of this.deciders) decider.advanceTo(nowMs);
      });
    return true;
  }

  get judgedByEnergy(): number {
    return this.#ear.judgedByEnergy;
  }
}

/** Of what is said briefly, of pauses as callers make them, and of whole calls, only the service has an opinion. */
const isForService = ({ kind, pause }: Scenario): boolean =>
  pause !== undefined || ['listening', 'telling', 'short word', 'call'].includes(kind);
/** The row that whole calls are played for: what an ear hears depends on what was decided, so each row takes as long as all others together. */
const ofCalls = 'service, streamed words';
const coresFor = ({ kind }: Scenario, cores: readonly CoreRow[]): readonly CoreRow[] =>
  kind === 'call' ? cores.filter(({ name }) => name === ofCalls) : cores;
const nobody: Player = { deciders: [], over: true, judgedByEnergy: 0, advance: () => false };

/** A row of the table for the whole decision of the service. */
export type CoreRow = Omit<CoreDeciderOptions, 'scenario' | 'ask' | 'speech'>;

/** Rows that hear alike. */
export interface ServiceRows {
  readonly cores: readonly CoreRow[];
  readonly speech: SpeechDetectorSettings;
}

export interface ReplayOptions {
  readonly boxes: Mailboxes;
  /** For those that hear frames with VAD alone or with nothing; absent: nobody does. */
  readonly frames?: TurnSettings;
  readonly services: readonly ServiceRows[];
  readonly progress: (done: number) => void;
}

const pauseMs = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

interface Running {
  readonly player: Player;
  readonly scenario: number;
  readonly way: number;
}

/** Throws when inference dies: a result that was judged by energy instead would be a lie. */
export async function replay(scenarios: readonly Scenario[], options: ReplayOptions): Promise<Replayed[]> {
  const { boxes, frames } = options;
  const found = scenarios.map((): (readonly Decider[])[] => []);
  // Ways through one scenario, in the order of the rows.
  const players: readonly ((scenario: Scenario, slot: number) => Player)[] = [
    (scenario, slot) =>
      frames === undefined || isForService(scenario)
        ? nobody
        : new FramePlayer(scenario, slot, { boxes, settings: frames }),
    ...options.services.map((rows) => (scenario: Scenario, slot: number): Player => {
      const cores = coresFor(scenario, rows.cores);
      return cores.length === 0
        ? nobody
        : new ServicePlayer(scenario, slot, { ...rows, cores, boxes: options.boxes });
    }),
  ];
  const tasks = scenarios.length * players.length;
  const open = new Map<number, Running>();
  let [next, done] = [0, 0];
  let movedAt = systemClock.now();
  const begin = (slot: number): Running | undefined => {
    const [scenario, way] = [Math.floor(next / players.length), next % players.length];
    const [pcm, newPlayer] = [scenarios[scenario], players[way]];
    if (pcm === undefined || newPlayer === undefined) return undefined;
    next += 1;
    return { player: newPlayer(pcm, slot), scenario, way };
  };
  while (done < tasks) {
    let moved = false;
    for (let slot = 0; slot < options.boxes.slots; slot += 1) {
      const running = open.get(slot) ?? begin(slot);
      if (running === undefined) continue;
      open.set(slot, running);
      const { player, scenario, way } = running;
      if (!player.over) moved = player.advance() || moved;
      if (!player.over) continue;
      if (player.judgedByEnergy > 0) throw new Error('inference was away during the replay');
      const deciders = found[scenario];
      if (deciders !== undefined) deciders[way] = player.deciders;
      open.delete(slot);
      done += 1;
      options.progress(Math.floor(done / players.length));
    }
    if (moved) movedAt = systemClock.now();
    else if (systemClock.now() - movedAt > stuckMs) throw new Error('inference answers no more');
    await pauseMs(moved ? 0 : 1);
  }
  return scenarios.map((scenario, at) => ({ scenario, deciders: found[at]?.flat() ?? [] }));
}
