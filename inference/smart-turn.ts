/**
 * A turn thread: takes questions about the end of turns out of the mailboxes, and answers with the probability of Smart Turn
 * v3. It yields to VAD: its thread runs at a lower priority. Like VAD it is one long task of the pool and ends by flag
 * only, because a thread that is terminated inside a run takes the whole process down.
 */
import '../shared/runtime/stack.ts';
import { setPriority } from 'node:os';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { heartbeatAge, heartbeatOf } from '../shared/protocol/heartbeat.ts';
import { mailboxBytes, Mailboxes, type MailboxLayout } from '../shared/protocol/mailbox.ts';
import { vadFrameSamples, type Mailbox } from '../shared/protocol/mailbox-slot.ts';
import type { TurnQuestion } from '../shared/protocol/turn-box.ts';
import { waitWhile } from '../shared/runtime/futex.ts';
import { machineMs } from '../shared/runtime/monotonic.ts';
import { mapSharedMemory } from '../shared/runtime/shm.ts';
import { ring } from './bell.ts';
import { featureFrames, melBands, TurnFeatures, turnWindowSamples } from './features.ts';
import { TurnPace } from './turn-pace.ts';

export interface TurnTask {
  readonly thread: number;
  readonly layout: MailboxLayout;
  readonly memoryFd: number;
  /** Bell of each worker, by worker number. */
  readonly bellFds: readonly number[];
  readonly modelPath: string;
}

/** A thread that nobody asks shows so often that it lives. */
const beatEveryMs = 100;
const windowFrames = turnWindowSamples / vadFrameSamples;
/** Lower than VAD by so much that a busy machine runs VAD first. */
const niceness = 10;
/** Times as in heartbeats are 31 bits; a moment more than half of that ahead has passed. */
const halfRangeMs = 0x4000_0000;

/** Milliseconds until a moment, negative when it has passed. */
function timeTo(nowMs: number, momentMs: number): number {
  const ahead = (momentMs - heartbeatOf(nowMs)) & 0x7fff_ffff;
  return ahead < halfRangeMs ? ahead : ahead - 2 * halfRangeMs;
}

export interface TurnThreadOptions {
  readonly thread: number;
  readonly boxes: Mailboxes;
  readonly session: Pick<InferenceSession, 'run'>;
  /** A worker that sleeps has an answer. */
  readonly wake: (worker: number) => void;
  /** Milliseconds of the machine's monotonic clock. */
  readonly machineMs: () => number;
}

export class TurnThread {
  readonly #options: TurnThreadOptions;
  readonly #extractor = new TurnFeatures();
  readonly #input = new Tensor('float32', this.#extractor.features, [1, melBands, featureFrames]);
  readonly #mailboxes = new Map<number, Mailbox>();
  readonly #pace = new TurnPace();
  /** The count of questions when no slot had one any more. */
  #settledAt: number | undefined;

  constructor(options: TurnThreadOptions) {
    this.#options = options;
  }

  /** Runs the model once on silence: the first run is slow, and no caller is to wait for it. It shows no heartbeat yet. */
  async warmUp(): Promise<void> {
    await this.#run(0);
  }

  /** Answers until the stop flag is set. */
  async serve(): Promise<void> {
    const { boxes } = this.#options;
    while (!boxes.stopping) {
      // Read before the look: a question that comes during it ends the rest behind it.
      const { turnQuestions } = boxes;
      if (!(await this.judgeNext())) waitWhile(boxes.turnWord, turnQuestions, beatEveryMs);
    }
  }

  /** Shows a heartbeat and answers the oldest question. False when there was none. */
  async judgeNext(): Promise<boolean> {
    const { boxes } = this.#options;
    const questions = boxes.turnQuestions;
    const isSettled = this.#settledAt === questions;
    if (isSettled) this.#beat(0, undefined);
    const slot = isSettled ? undefined : this.#oldest();
    if (slot === undefined) {
      this.#settledAt = questions;
      return false;
    }
    const mailbox = this.#mailbox(slot);
    const question = mailbox.turn.take();
    if (question === undefined) return true;
    const probability = await this.#judge(mailbox, question);
    mailbox.turn.reply(question.sequence, probability);
    const worker = Math.floor(slot / boxes.layout.slotsPerWorker);
    if (boxes.takeSleeping(worker)) this.#options.wake(worker);
    return true;
  }

  #beat(waiting: number, oldestAskedAtMs: number | undefined): void {
    const { boxes, thread } = this.#options;
    boxes.beatTurnThread(thread, { nowMs: this.#now(), waiting, oldestAskedAtMs });
  }

  #now(): number {
    return heartbeatOf(this.#options.machineMs());
  }

  #mailbox(slot: number): Mailbox {
    const known = this.#mailboxes.get(slot);
    if (known !== undefined) return known;
    const fresh = this.#options.boxes.mailbox(slot);
    this.#mailboxes.set(slot, fresh);
    return fresh;
  }

  /** The slot whose question has waited longest. */
  #oldest(): number | undefined {
    const { boxes } = this.#options;
    const { workers, slotsPerWorker } = boxes.layout;
    const now = this.#now();
    let found: { slot: number; askedAtMs: number } | undefined;
    let waiting = 0;
    for (let worker = 0; worker < workers; worker += 1) {
      const first = worker * slotsPerWorker;
      const end = first + boxes.slotsInUse(worker);
      for (let slot = first; slot < end; slot += 1) {
        const askedAtMs = this.#mailbox(slot).turn.waitingSince();
        if (askedAtMs === undefined) continue;
        waiting += 1;
        if (found === undefined || heartbeatAge(now, askedAtMs) > heartbeatAge(now, found.askedAtMs))
          found = { slot, askedAtMs };
      }
    }
    this.#beat(waiting, found?.askedAtMs);
    return found?.slot;
  }

  /** The probability, or NaN when there is too little time for an answer or no audio. */
  async #judge(mailbox: Mailbox, question: TurnQuestion): Promise<number> {
    const { boxes, thread } = this.#options;
    const startedAtMs = this.#options.machineMs();
    const { askedAtMs, giveUpAtMs } = question;
    const time = { leftMs: timeTo(startedAtMs, giveUpAtMs), withinMs: timeTo(askedAtMs, giveUpAtMs) };
    const samples = this.#pace.isWorthRunning(time) ? this.#gather(mailbox, question) : 0;
    if (samples === 0) {
      boxes.countTurnAnswer(thread, 'leftOut');
      return Number.NaN;
    }
    const probability = await this.#run(turnWindowSamples - samples);
    this.#pace.ran(this.#options.machineMs() - startedAtMs, time);
    boxes.countTurnAnswer(thread, 'judged');
    return probability;
  }

  /** What the model says of the window, whose audio begins at sample `from`. */
  async #run(from: number): Promise<number> {
    this.#extractor.compute(from);
    const results = await this.#options.session.run({ input_features: this.#input });
    return Number((results['logits']?.data as Float32Array)[0]);
  }

  /** Copies the audio to the end of the window. Returns how many samples there are. */
  #gather(mailbox: Mailbox, { start, end }: TurnQuestion): number {
    const { ringFrames } = this.#options.boxes.layout;
    // The frame that is being written lies where the oldest one of a full ring was.
    const oldest = mailbox.produced + 1 - ringFrames;
    const from = Math.max(start, end - windowFrames, mailbox.base, oldest);
    const { window } = this.#extractor;
    let at = turnWindowSamples - Math.max(0, end - from) * vadFrameSamples;
    const samples = turnWindowSamples - at;
    for (let index = from; index < end; index += 1) {
      const frame = mailbox.frame(index);
      for (let i = 0; i < vadFrameSamples; i += 1) window[at + i] = (frame[i] ?? 0) / 32_768;
      at += vadFrameSamples;
    }
    return samples;
  }
}

/** Opens the model for one thread. Rejects when the file holds something else. */
export async function openTurnModel(modelPath: string): Promise<InferenceSession> {
  const session = await InferenceSession.create(modelPath, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  if (!session.inputNames.includes('input_features') || !session.outputNames.includes('logits'))
    throw new Error('the file of the turn model holds no Smart Turn v3 model');
  return session;
}

let session: Promise<InferenceSession> | undefined;

/** Serves until the stop flag is set. The model is loaded once per thread. */
export async function serve(task: TurnTask): Promise<void> {
  // Process 0 is the calling thread here, and no other.
  setPriority(0, niceness);
  session ??= openTurnModel(task.modelPath);
  const { thread, layout } = task;
  const boxes = new Mailboxes(mapSharedMemory(task.memoryFd, mailboxBytes(layout)), layout);
  const wake = (worker: number): void => ring(task.bellFds[worker]);
  const turns = new TurnThread({ thread, boxes, session: await session, wake, machineMs });
  await turns.warmUp();
  await turns.serve();
}
