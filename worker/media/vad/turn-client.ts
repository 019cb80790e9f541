/**
 * One call's side of the turn model: asks whether the turn is complete, and reports the answer. Every question gets one report,
 * unless a newer question takes its place: a probability, or undefined when there is no model, no answer in time, or too
 * little audio. It decides nothing.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { heartbeatAge, heartbeatOf } from '../../../shared/protocol/heartbeat.ts';
import { type Mailboxes } from '../../../shared/protocol/mailbox.ts';
import { vadFrameMs, type Mailbox } from '../../../shared/protocol/mailbox-slot.ts';
import { turnAnswerWithinMs } from '../../../shared/protocol/turn-box.ts';

/** A turn thread does not show life inside a run, which a busy machine makes long. */
const awayAfterMs = 1_000;

export interface TurnClientOptions {
  readonly boxes: Mailboxes;
  /** The slot whose mailbox the call's VAD client fills. */
  readonly slot: number;
  /** Probability that the turn is complete; undefined when nobody could tell. */
  readonly judged: (probability: number | undefined) => void;
  /** Milliseconds of the machine's monotonic clock, as in heartbeats. */
  readonly machineMs: () => number;
  /** Wakes who waits for a word of the memory; absent where the thread runs in this one. */
  readonly wake?: ((word: Int32Array) => void) | undefined;
  /** How long an answer may take. */
  readonly withinMs?: Millis;
}

export class TurnClient {
  readonly #options: TurnClientOptions;
  readonly #mailbox: Mailbox;
  readonly #withinMs: Millis;
  #waiting: { readonly sequence: number; readonly askedAtMs: number } | undefined;

  constructor(options: TurnClientOptions) {
    this.#options = options;
    this.#mailbox = options.boxes.mailbox(options.slot);
    this.#withinMs = options.withinMs ?? turnAnswerWithinMs;
  }

  /**
   * Asks about the audio up to now. With `audioMs` only so much of it is heard, for a turn that began so long ago; the model
   * hears the last 8 s at most. Reports at once when nobody is there to answer.
   */
  ask(options: { readonly audioMs?: Millis } = {}): void {
    const { boxes } = this.#options;
    this.#waiting = undefined;
    if (!this.#hasThread()) {
      this.#options.judged(undefined);
      return;
    }
    const end = this.#mailbox.produced;
    const frames = Math.ceil((options.audioMs ?? Number.POSITIVE_INFINITY) / vadFrameMs);
    const now = this.#options.machineMs();
    const askedAtMs = heartbeatOf(now);
    const giveUpAtMs = heartbeatOf(now + this.#withinMs);
    const start = Math.max(this.#mailbox.base, end - Math.min(frames, end));
    this.#waiting = { sequence: this.#mailbox.turn.ask({ start, end, askedAtMs, giveUpAtMs }), askedAtMs };
    boxes.countTurnQuestion();
    this.#options.wake?.(boxes.turnWord);
  }

  /** Reports an answer that has come, or that none will. Cheap when nothing was asked. */
  collect(): void {
    if (this.#waiting === undefined) return;
    const probability = this.#mailbox.turn.answer(this.#waiting.sequence);
    const tooLate = heartbeatAge(this.#options.machineMs(), this.#waiting.askedAtMs) >= this.#withinMs;
    if (probability === undefined && !tooLate) return;
    this.#waiting = undefined;
    this.#options.judged(probability === undefined || Number.isNaN(probability) ? undefined : probability);
  }

  /** Nobody wants the answer any more. */
  cancel(): void {
    this.#waiting = undefined;
  }

  #hasThread(): boolean {
    const { boxes, machineMs } = this.#options;
    const now = machineMs();
    for (let thread = 0; thread < (boxes.layout.turnThreads ?? 0); thread += 1)
      if (heartbeatAge(now, boxes.turnThreadStatus(thread).heartbeatMs) <= awayAfterMs) return true;
    return false;
  }
}
