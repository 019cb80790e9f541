/**
 * A VAD thread: finds frames in the mailboxes it owns, judges those that are not evidently quiet, and rings the bell of workers that sleep.
 * It is one long task of the pool and ends by flag only.
 */
import '../shared/runtime/stack.ts';
import { waitWhile } from '../shared/runtime/futex.ts';
import { errorFields, newLog, type LogLevel } from '../shared/runtime/log.ts';
import { machineMs } from '../shared/runtime/monotonic.ts';
import { mapSharedMemory } from '../shared/runtime/shm.ts';
import { heartbeatOf } from '../shared/protocol/heartbeat.ts';
import { asleepWord, mailboxBytes, Mailboxes, type MailboxLayout } from '../shared/protocol/mailbox.ts';
import { maxUnreadFrames, vadFrameSamples, type Mailbox } from '../shared/protocol/mailbox-slot.ts';
import type { Peek } from '../shared/protocol/peek-box.ts';
import { ring } from './bell.ts';
import { FrameCleaner } from './noise/frame-cleaner.ts';
import { NoiseLimit } from './noise/noise-limit.ts';
import { NoiseModel } from './noise/suppressor.ts';
import { QuietGate } from './quiet-gate.ts';
import { inputSamples, memoryFloats, Silero, type VadModel } from './silero/silero.ts';
import { beatMsOf, gatherMs, mayGather } from './vad-pace.ts';

export interface VadTask {
  readonly thread: number;
  readonly layout: MailboxLayout;
  readonly memoryFd: number;
  /** Bell of each worker, by worker number. */
  readonly bellFds: readonly number[];
  readonly modelPath: string;
  readonly noiseModelPath: string;
  readonly logLevel: LogLevel;
}

const contextSamples = inputSamples - vadFrameSamples;
/** A look at many calls takes long: the thread shows that it lives after so many runs of the model. */
const runsPerBeat = 32;
/** A call of which no frame came for so long needs no noise taken out. */
const sweepMs = 1_000;

/** What the thread keeps of a slot: the model's memory, what it said last, and whether there is anything to hear. */
interface SlotState {
  readonly mailbox: Mailbox;
  readonly worker: number;
  generation: number;
  readonly model: Float32Array;
  /** The same before the last frame that was judged: what overlaps with that frame begins there. */
  readonly modelBefore: Float32Array;
  probability: number;
  readonly gate: QuietGate;
  readonly cleaner: FrameCleaner;
  /** The model's memory of the sound without its noise. */
  readonly cleanedModel: Float32Array;
}

/** How a thread comes by the model that takes noise out. */
export interface NoiseOptions {
  /** Loads it when the first call wants it; throws when there is none. */
  readonly open: () => NoiseModel;
  /** Noise cannot be taken out any more: told once. */
  readonly failed: (error: unknown) => void;
}

export interface VadThreadOptions {
  readonly thread: number;
  readonly boxes: Mailboxes;
  readonly model: VadModel;
  /** A worker that sleeps has results. */
  readonly wake: (worker: number) => void;
  /** Absent: every call is heard with its noise. */
  readonly noise?: NoiseOptions;
}

export class VadThread {
  readonly #thread: number;
  readonly #wake: (worker: number) => void;
  readonly #model: VadModel;
  readonly #boxes: Mailboxes;
  readonly #noise: NoiseOptions | undefined;
  readonly #noiseLimit = new NoiseLimit();
  #noiseModel: NoiseModel | 'not opened' | 'none' = 'not opened';
  #sweptMs = 0;
  readonly #slots = new Map<number, SlotState>();
  readonly #input = new Float32Array(inputSamples);
  /** A question must not change what the model remembers. */
  readonly #asked = new Float32Array(memoryFloats);
  readonly #pause = new Int32Array(new SharedArrayBuffer(4));
  /** Frames since they were counted last that were too old, and that needed no run of the model. */
  #dropped = 0;
  #quiet = 0;
  /** The most frames that one slot had waiting, quiet ones included, and the most that were none of these. */
  #fullest = 0;
  #oldest = 0;
  /** The first of these in the look before: a look that still goes on tells at least as many. */
  #fullestBefore = 0;
  #calls = 0;

  constructor(options: VadThreadOptions) {
    this.#thread = options.thread;
    this.#boxes = options.boxes;
    this.#model = options.model;
    this.#wake = options.wake;
    this.#noise = options.noise;
  }

  /** Judges frames until the stop flag is set. */
  serve(): void {
    while (!this.#boxes.stopping) {
      const lookedMs = machineMs();
      // Said before the look: what is written during it wakes the thread behind it.
      this.#boxes.setThreadAsleep(this.#thread, true);
      this.judgeWaiting();
      const isBehind = this.#oldest > 1;
      this.#noiseLimit.looked(isBehind, lookedMs);
      this.#sweepNoise(lookedMs);
      if (isBehind) continue;
      if (mayGather({ found: this.#fullest > 0, calls: this.#calls }))
        this.#boxes.setThreadAsleep(this.#thread, false);
      else waitWhile(this.#boxes.threadWord(this.#thread), asleepWord, beatMsOf(this.#calls));
      // Frames that came meanwhile are not worth a look of their own.
      const restMs = lookedMs + gatherMs - machineMs();
      if (restMs > 0) Atomics.wait(this.#pause, 0, 0, restMs);
    }
  }

  /** Shows a heartbeat and judges at most one waiting frame of each slot, and every quiet one before it. Returns how often the model ran for it. */
  judgeWaiting(): number {
    this.#fullestBefore = this.#fullest;
    this.#fullest = 0;
    this.#oldest = 0;
    const slots = this.#candidates();
    this.#calls = slots.length;
    let runs = 0;
    let judged = 0;
    for (const number of slots) {
      const slot = this.#slot(number);
      const waiting = this.#unread(slot);
      const peek = waiting === 0 ? peekOf(slot.mailbox) : undefined;
      this.#oldest = Math.max(this.#oldest, waiting);
      if (waiting === 0 && peek === undefined) continue;
      runs += 1;
      if (peek === undefined) judged += 1;
      this.#judge(slot, peek);
      this.#ringBell(slot, peek);
      if (runs % runsPerBeat === 0) this.#beat(Math.max(this.#fullest, this.#fullestBefore));
    }
    this.#beat(this.#fullest);
    if (judged + this.#quiet + this.#dropped > 0) this.#count(judged);
    return runs;
  }

  #beat(fullest: number): void {
    this.#boxes.beatThread(this.#thread, heartbeatOf(machineMs()), fullest);
  }

  #count(judged: number): void {
    this.#boxes.countFrames(this.#thread, { judged, dropped: this.#dropped, quiet: this.#quiet });
    this.#dropped = 0;
    this.#quiet = 0;
  }

  /** Slots in use that this thread owns. */
  #candidates(): number[] {
    const { layout } = this.#boxes;
    const found: number[] = [];
    for (let worker = 0; worker < layout.workers; worker += 1) {
      const first = worker * layout.slotsPerWorker;
      const end = first + this.#boxes.slotsInUse(worker);
      for (let slot = first; slot < end; slot += 1)
        if (slot % layout.threads === this.#thread) found.push(slot);
    }
    return found;
  }

  #slot(slot: number): SlotState {
    const known = this.#slots.get(slot);
    if (known !== undefined) return known;
    const fresh: SlotState = {
      mailbox: this.#boxes.mailbox(slot),
      worker: Math.floor(slot / this.#boxes.layout.slotsPerWorker),
      generation: Number.NaN,
      model: new Float32Array(memoryFloats),
      modelBefore: new Float32Array(memoryFloats),
      probability: 0,
      gate: new QuietGate(),
      cleaner: new FrameCleaner({
        model: () => this.#modelForNoise(),
        failed: (error) => this.#giveNoiseUp(error),
        limit: this.#noiseLimit,
      }),
      cleanedModel: new Float32Array(memoryFloats),
    };
    this.#slots.set(slot, fresh);
    return fresh;
  }

  #sweepNoise(nowMs: number): void {
    if (nowMs - this.#sweptMs < sweepMs) return;
    this.#sweptMs = nowMs;
    for (const { cleaner } of this.#slots.values()) cleaner.sweep();
  }

  #modelForNoise(): NoiseModel | undefined {
    if (this.#noiseModel === 'not opened' && this.#noise !== undefined)
      try {
        this.#noiseModel = this.#noise.open();
      } catch (error) {
        this.#giveNoiseUp(error);
      }
    return typeof this.#noiseModel === 'string' ? undefined : this.#noiseModel;
  }

  /** A model that has failed once may have spoiled its memory, which all calls of the thread share. */
  #giveNoiseUp(error: unknown): void {
    this.#noiseModel = 'none';
    this.#noise?.failed(error);
  }

  /** Frames that wait for the model, after leaving out those of a former call, those that are too old, and those that need no judgement. */
  #unread(slot: SlotState): number {
    const { mailbox, gate, cleaner } = slot;
    const generation = mailbox.generation;
    if (generation !== slot.generation) {
      slot.generation = generation;
      slot.model.fill(0);
      slot.modelBefore.fill(0);
      gate.reset();
      cleaner.reset(mailbox.noise);
      if (mailbox.consumed < mailbox.base) mailbox.skipTo(mailbox.base);
    }
    const produced = mailbox.produced;
    const waiting = produced - mailbox.consumed;
    if (waiting > maxUnreadFrames) {
      this.#dropped += waiting - maxUnreadFrames;
      mailbox.skipTo(produced - maxUnreadFrames);
    }
    this.#fullest = Math.max(this.#fullest, Math.min(waiting, maxUnreadFrames));
    return this.#passQuiet(slot, produced);
  }

  /** Answers for the model as long as frames are quiet. Returns how many wait then. Nobody waits for such an answer: it rings no bell. */
  #passQuiet(slot: SlotState, produced: number): number {
    const { mailbox, gate } = slot;
    let next = mailbox.consumed;
    while (next < produced && gate.skips(mailbox.levels.of(next)) && mailbox.generation === slot.generation) {
      mailbox.deliver(next, slot.probability);
      this.#quiet += 1;
      next += 1;
    }
    return produced - next;
  }

  /** Judges the question, or else the oldest frame that waits. */
  #judge(slot: SlotState, peek: Peek | undefined): void {
    const { mailbox, model, modelBefore } = slot;
    this.#gather(mailbox, peek);
    if (peek !== undefined) {
      this.#asked.set(modelBefore);
      mailbox.peek.deliver(peek.code, this.#model.judge(this.#input, this.#asked));
      return;
    }
    modelBefore.set(model);
    const probability = this.#model.judge(this.#input, model);
    const cleaned = this.#judgeCleaned(slot);
    // A call that began during the run must not get the result of the one before it.
    if (mailbox.generation === slot.generation) this.#deliver(slot, Math.min(probability, cleaned));
  }

  /** The model's probability of a voice in the frame without its noise; 1 where no noise is taken out. */
  #judgeCleaned({ mailbox, cleaner, cleanedModel, modelBefore }: SlotState): number {
    if (!cleaner.isWanted) return 1;
    const isCleaned = cleaner.clean(mailbox, mailbox.consumed);
    this.#boxes.countNoise(this.#thread, isCleaned ? 'cleaned' : 'noisy');
    if (!isCleaned) return 1;
    if (cleaner.hasBegun) cleanedModel.set(modelBefore);
    const { before, frame } = cleaner;
    const from = vadFrameSamples - contextSamples;
    for (let i = 0; i < contextSamples; i += 1) this.#input[i] = (before[from + i] ?? 0) / 32_768;
    for (let i = 0; i < vadFrameSamples; i += 1) this.#input[contextSamples + i] = (frame[i] ?? 0) / 32_768;
    return this.#model.judge(this.#input, cleanedModel);
  }

  #deliver(slot: SlotState, probability: number): void {
    const { mailbox, gate, cleaner } = slot;
    const index = mailbox.consumed;
    slot.probability = probability;
    gate.judged(mailbox.levels.of(index), probability);
    cleaner.judged(mailbox.levels.of(index), probability);
    mailbox.deliver(index, probability);
  }

  /** A question is about the end of the frame before and what there is of this one, with its context before that. */
  #gather(mailbox: Mailbox, peek: Peek | undefined): void {
    const input = this.#input;
    const index = mailbox.consumed;
    const frame = mailbox.frame(index);
    const filled = peek?.filled ?? vadFrameSamples;
    const earlier = inputSamples - filled;
    if (index > mailbox.base) {
      const before = mailbox.frame(index - 1);
      const from = vadFrameSamples - earlier;
      for (let i = 0; i < earlier; i += 1) input[i] = (before[from + i] ?? 0) / 32_768;
    } else input.fill(0, 0, earlier);
    for (let i = 0; i < filled; i += 1) input[earlier + i] = (frame[i] ?? 0) / 32_768;
  }

  /** Where nobody has spoken for a second, the worker finds the result when it looks by itself; but a call that asks may be about to hear somebody. */
  #ringBell({ worker, gate }: SlotState, peek: Peek | undefined): void {
    if (gate.isCalm && peek === undefined) return;
    if (this.#boxes.takeSleeping(worker)) this.#wake(worker);
  }
}

/** A question about the frame that comes next, when the one before it belongs to the call. */
function peekOf(mailbox: Mailbox): Peek | undefined {
  const { consumed } = mailbox;
  return consumed > mailbox.base ? mailbox.peek.question(consumed) : undefined;
}

let model: Silero | undefined;

/** Serves until the stop flag is set. The model is loaded once per thread. */
export function serve(task: VadTask): void {
  model ??= Silero.open(task.modelPath);
  const { thread, layout } = task;
  const boxes = new Mailboxes(mapSharedMemory(task.memoryFd, mailboxBytes(layout)), layout);
  const wake = (worker: number): void => ring(task.bellFds[worker]);
  const log = newLog({ role: 'inference', level: task.logLevel });
  const noise: NoiseOptions = {
    open: () => NoiseModel.open(task.noiseModelPath),
    failed: (error) => log.error(errorFields(error), 'noise cannot be taken out: calls are heard with it'),
  };
  new VadThread({ thread, boxes, model, wake, noise }).serve();
}
