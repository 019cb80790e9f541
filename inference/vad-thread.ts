/**
 * A VAD thread: finds frames in the mailboxes it owns, runs Silero on those that are not evidently quiet, in batches, and rings the
 * bell of workers that sleep. It is one long task of the pool and ends by flag only: a thread that is terminated inside a run takes the
 * whole process down.
 */
import '../shared/runtime/stack.ts';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { waitWhile } from '../shared/runtime/futex.ts';
import { errorFields, newLog, type LogLevel } from '../shared/runtime/log.ts';
import { machineMs } from '../shared/runtime/monotonic.ts';
import { mapSharedMemory } from '../shared/runtime/shm.ts';
import { heartbeatOf } from '../shared/protocol/heartbeat.ts';
import { asleepWord, mailboxBytes, Mailboxes, type MailboxLayout } from '../shared/protocol/mailbox.ts';
import { maxUnreadFrames, vadFrameSamples, type Mailbox } from '../shared/protocol/mailbox-slot.ts';
import type { Peek } from '../shared/protocol/peek-box.ts';
import { ring } from './bell.ts';
import { batchMs, beatMsOf, mayBatch, newBatchPlan, planBatch } from './batcher.ts';
import { FrameCleaner } from './noise/frame-cleaner.ts';
import { NoiseLimit } from './noise/noise-limit.ts';
import { NoiseModel } from './noise/suppressor.ts';
import { QuietGate } from './quiet-gate.ts';

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

const maxRows = 32;
const contextSamples = 64;
const inputSamples = contextSamples + vadFrameSamples;
const stateFloats = 128;
const sampleRate = 16_000n;
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
  /** The subject of the slot's next row: a question, or else the oldest frame that waits. */
  peek: Peek | undefined;
  probability: number;
  readonly gate: QuietGate;
  readonly cleaner: FrameCleaner;
  /** The model's memory of the sound without its noise, and what it says of the frame; 1 where nobody has taken the noise out. */
  readonly cleanedModel: Float32Array;
  cleanedProbability: number;
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
  readonly session: Pick<InferenceSession, 'run'>;
  /** A worker that sleeps has results. */
  readonly wake: (worker: number) => void;
  /** Absent: every call is heard with its noise. */
  readonly noise?: NoiseOptions;
}

export class VadThread {
  readonly #thread: number;
  readonly #wake: (worker: number) => void;
  readonly #session: Pick<InferenceSession, 'run'>;
  readonly #boxes: Mailboxes;
  readonly #noise: NoiseOptions | undefined;
  readonly #noiseLimit = new NoiseLimit();
  #noiseModel: NoiseModel | 'not opened' | 'none' = 'not opened';
  #sweptMs = 0;
  readonly #slots = new Map<number, SlotState>();
  readonly #plan = newBatchPlan(maxRows);
  /** Rows of the plan whose frames are judged without their noise as well. */
  readonly #cleaned = new Int32Array(maxRows);
  readonly #input = new Float32Array(2 * maxRows * inputSamples);
  readonly #state = new Float32Array(2 * 2 * maxRows * stateFloats);
  readonly #rate = new Tensor('int64', BigInt64Array.of(sampleRate), []);
  readonly #pause = new Int32Array(new SharedArrayBuffer(4));
  /** Frames since they were counted last that were too old, and that needed no run of the model. */
  #dropped = 0;
  #quiet = 0;
  /** The most frames that one slot had waiting, quiet ones included. */
  #fullest = 0;
  #calls = 0;

  constructor(options: VadThreadOptions) {
    this.#thread = options.thread;
    this.#boxes = options.boxes;
    this.#session = options.session;
    this.#wake = options.wake;
    this.#noise = options.noise;
  }

  /** Judges batches until the stop flag is set. */
  async serve(): Promise<void> {
    while (!this.#boxes.stopping) {
      const lookedMs = machineMs();
      // Said before the look: what is written during it wakes the thread behind it.
      this.#boxes.setThreadAsleep(this.#thread, true);
      await this.judgeBatch();
      this.#noiseLimit.looked(this.#plan.oldestUnread > 1, lookedMs);
      this.#sweepNoise(lookedMs);
      if (this.#isBehind) continue;
      if (mayBatch({ found: this.#fullest > 0, calls: this.#calls }))
        this.#boxes.setThreadAsleep(this.#thread, false);
      else waitWhile(this.#boxes.threadWord(this.#thread), asleepWord, beatMsOf(this.#calls));
      // Frames that came during the run are not worth one of their own: a run costs as much as three rows of it.
      const restMs = lookedMs + batchMs - machineMs();
      if (restMs > 0) Atomics.wait(this.#pause, 0, 0, restMs);
    }
  }

  /** The last batch did not take all that waited for it. */
  get #isBehind(): boolean {
    return this.#plan.rows === maxRows || this.#plan.oldestUnread > 1;
  }

  /** Shows a heartbeat and judges at most one waiting frame of each slot, and every quiet one before it. Returns for how many the model ran. */
  async judgeBatch(): Promise<number> {
    this.#fullest = 0;
    const slots = this.#candidates();
    this.#calls = slots.length;
    planBatch(this.#plan, slots, (slot) => this.#unread(this.#slot(slot)));
    this.#boxes.beatThread(this.#thread, heartbeatOf(machineMs()), this.#fullest);
    const { rows } = this.#plan;
    const judged = rows > 0 ? await this.#run() : 0;
    if (judged + this.#quiet + this.#dropped > 0) this.#count(judged);
    this.#ringBells();
    return rows;
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
      model: new Float32Array(2 * stateFloats),
      modelBefore: new Float32Array(2 * stateFloats),
      peek: undefined,
      probability: 0,
      gate: new QuietGate(),
      cleaner: new FrameCleaner({
        model: () => this.#modelForNoise(),
        failed: (error) => this.#giveNoiseUp(error),
        limit: this.#noiseLimit,
      }),
      cleanedModel: new Float32Array(2 * stateFloats),
      cleanedProbability: 1,
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
    const left = this.#passQuiet(slot, produced);
    slot.peek = left === 0 ? peekOf(mailbox) : undefined;
    return slot.peek === undefined ? left : 1;
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

  /** Judges the batch. Returns how many of its rows were frames. */
  async #run(): Promise<number> {
    const { rows } = this.#plan;
    const all = rows + this.#clean();
    for (let row = 0; row < rows; row += 1) this.#gather(this.#slotOf(row), row, all);
    for (let row = rows; row < all; row += 1) this.#gatherCleaned(this.#slotOf(row), row, all);
    const results = await this.#session.run({
      input: new Tensor('float32', this.#input.subarray(0, all * inputSamples), [all, inputSamples]),
      state: new Tensor('float32', this.#state.subarray(0, 2 * all * stateFloats), [2, all, stateFloats]),
      sr: this.#rate,
    });
    const probabilities = results['output']?.data as Float32Array;
    const states = results['stateN']?.data as Float32Array;
    for (let row = rows; row < all; row += 1) {
      const slot = this.#slotOf(row);
      slot.cleanedProbability = probabilities[row] ?? 1;
      keepState(slot.cleanedModel, states, { row, rows: all });
    }
    let frames = 0;
    for (let row = 0; row < rows; row += 1) {
      const slot = this.#slotOf(row);
      const probability = probabilities[row] ?? 0;
      if (slot.peek !== undefined) {
        slot.mailbox.peek.deliver(slot.peek.code, probability);
        continue;
      }
      frames += 1;
      slot.modelBefore.set(slot.model);
      keepState(slot.model, states, { row, rows: all });
      // A call that began during the run must not get the result of the one before it.
      if (slot.mailbox.generation === slot.generation)
        this.#deliver(slot, Math.min(probability, slot.cleanedProbability));
    }
    return frames;
  }

  /** The slot of a row; behind the rows of the plan come those of frames without their noise. */
  #slotOf(row: number): SlotState {
    const { rows, slots } = this.#plan;
    const planned = row < rows ? row : (this.#cleaned[row - rows] ?? 0);
    return this.#slot(slots[planned] ?? 0);
  }

  /** Takes the noise out of the frames of the plan where that is wanted. Returns of how many it was taken out. */
  #clean(): number {
    let count = 0;
    for (let row = 0; row < this.#plan.rows; row += 1) {
      const slot = this.#slotOf(row);
      const { mailbox, cleaner, peek } = slot;
      slot.cleanedProbability = 1;
      if (peek !== undefined || !cleaner.isWanted) continue;
      const isCleaned = cleaner.clean(mailbox, mailbox.consumed);
      this.#boxes.countNoise(this.#thread, isCleaned ? 'cleaned' : 'noisy');
      if (!isCleaned) continue;
      if (cleaner.hasBegun) slot.cleanedModel.set(slot.model);
      this.#cleaned[count] = row;
      count += 1;
    }
    return count;
  }

  #deliver(slot: SlotState, probability: number): void {
    const { mailbox, gate, cleaner } = slot;
    const index = mailbox.consumed;
    slot.probability = probability;
    gate.judged(mailbox.levels.of(index), probability);
    cleaner.judged(mailbox.levels.of(index), probability);
    mailbox.deliver(index, probability);
  }

  #gather(slot: SlotState, row: number, rows: number): void {
    const input = this.#input;
    const { mailbox, peek } = slot;
    const index = mailbox.consumed;
    const frame = mailbox.frame(index);
    // A question is about the end of the frame before and what there is of this one, with its context before that.
    const filled = peek?.filled ?? vadFrameSamples;
    const earlier = inputSamples - filled;
    const at = row * inputSamples;
    if (index > mailbox.base) {
      const before = mailbox.frame(index - 1);
      const from = vadFrameSamples - earlier;
      for (let i = 0; i < earlier; i += 1) input[at + i] = (before[from + i] ?? 0) / 32_768;
    } else input.fill(0, at, at + earlier);
    for (let i = 0; i < filled; i += 1) input[at + earlier + i] = (frame[i] ?? 0) / 32_768;
    this.#giveState(peek === undefined ? slot.model : slot.modelBefore, row, rows);
  }

  #gatherCleaned({ cleaner, cleanedModel }: SlotState, row: number, rows: number): void {
    const input = this.#input;
    const { before, frame } = cleaner;
    const at = row * inputSamples;
    const from = vadFrameSamples - contextSamples;
    for (let i = 0; i < contextSamples; i += 1) input[at + i] = (before[from + i] ?? 0) / 32_768;
    for (let i = 0; i < vadFrameSamples; i += 1) input[at + contextSamples + i] = (frame[i] ?? 0) / 32_768;
    this.#giveState(cleanedModel, row, rows);
  }

  #giveState(model: Float32Array, row: number, rows: number): void {
    this.#state.set(model.subarray(0, stateFloats), row * stateFloats);
    this.#state.set(model.subarray(stateFloats), (rows + row) * stateFloats);
  }

  /** Where nobody has spoken for a second, the worker finds the result when it looks by itself; but a call that asks may be about to hear somebody. */
  #ringBells(): void {
    const { rows, slots } = this.#plan;
    for (let row = 0; row < rows; row += 1) {
      const { worker, gate, peek } = this.#slot(slots[row] ?? 0);
      if (gate.isCalm && peek === undefined) continue;
      if (this.#boxes.takeSleeping(worker)) this.#wake(worker);
    }
  }
}

function keepState(
  model: Float32Array,
  states: Float32Array,
  { row, rows }: { readonly row: number; readonly rows: number },
): void {
  model.set(states.subarray(row * stateFloats, (row + 1) * stateFloats), 0);
  model.set(states.subarray((rows + row) * stateFloats, (rows + row + 1) * stateFloats), stateFloats);
}

/** A question about the frame that comes next, when the one before it belongs to the call. */
function peekOf(mailbox: Mailbox): Peek | undefined {
  const { consumed } = mailbox;
  return consumed > mailbox.base ? mailbox.peek.question(consumed) : undefined;
}

/** Opens the model for one thread. */
export function openVadModel(modelPath: string): Promise<InferenceSession> {
  return InferenceSession.create(modelPath, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
}

let session: Promise<InferenceSession> | undefined;

/** Serves until the stop flag is set. The model is loaded once per thread. */
export async function serve(task: VadTask): Promise<void> {
  session ??= openVadModel(task.modelPath);
  const { thread, layout } = task;
  const boxes = new Mailboxes(mapSharedMemory(task.memoryFd, mailboxBytes(layout)), layout);
  const wake = (worker: number): void => ring(task.bellFds[worker]);
  const log = newLog({ role: 'inference', level: task.logLevel });
  const noise: NoiseOptions = {
    open: () => NoiseModel.open(task.noiseModelPath),
    failed: (error) => log.error(errorFields(error), 'noise cannot be taken out: calls are heard with it'),
  };
  await new VadThread({ thread, boxes, session: await session, wake, noise }).serve();
}
