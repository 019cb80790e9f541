/**
 * The time between the first word of a transport and the conversation: where the service made the call, it listens to who has answered,
 * and somebody is asked what the call is to be. Words that are said meanwhile are kept.
 */
import type { AdmittedStart } from '../admission.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { TypedText } from '../../../shared/protocol/call.ts';
import { Screening, type ScreeningOptions } from './screening.ts';
import { CallOpening, type CallSetup, type MachineMessage } from '../opening.ts';

/** A call that may begin. */
export interface Opened {
  readonly start: AdmittedStart;
  readonly setup: CallSetup;
  /** What was said and pressed meanwhile. */
  readonly opening: CallOpening;
  /** The person or machine that has answered spoke first. */
  readonly afterWords: boolean;
  /** Nobody answered in time. */
  readonly isLate: boolean;
}

export interface BeforeCallOptions extends Omit<ScreeningOptions, 'done'> {
  readonly prepare: (start: AdmittedStart) => CallSetup | Promise<CallSetup>;
  /** Told once, unless it was cancelled before, or `left` is. */
  readonly opened: (opened: Opened) => void;
  /** A machine has answered for which there is no message. */
  readonly left: () => void;
  readonly failed: (error: unknown) => void;
}

export class BeforeCall {
  readonly #options: BeforeCallOptions;
  #screening: Screening | undefined;
  #opening: CallOpening | undefined;

  constructor(options: BeforeCallOptions) {
    this.#options = options;
  }

  begin(): void {
    const { start, left } = this.#options;
    const screening = Screening.of({
      ...this.#options,
      done: (screened) => {
        this.#screening = undefined;
        const behind = screening?.start ?? start;
        if (screened.who === 'person') this.#prepare(behind, screened);
        else if (screened.message !== undefined) this.#prepare(behind, { message: screened.message });
        else left();
      },
    });
    this.#screening = screening;
    if (screening === undefined) this.#prepare(start, {});
  }

  #prepare(
    start: AdmittedStart,
    given: {
      readonly spoke?: boolean;
      readonly words?: readonly Buffer[];
      readonly message?: MachineMessage;
    },
  ): void {
    const { services, bind, prepare, opened, failed } = this.#options;
    const { spoke = false, words = [], message } = given;
    const opening = new CallOpening({
      start,
      now: services.clock.now(),
      bind,
      failed,
      opened: (setup, isLate) => {
        this.#opening = undefined;
        opened({ start, setup, opening, afterWords: spoke, isLate });
      },
    });
    this.#opening = opening;
    for (const frame of words) opening.audio(frame);
    opening.ask(() => (message === undefined ? prepare(start) : { message }));
  }

  audio(bytes: Uint8Array): void {
    this.#screening?.audio(bytes, this.#options.services.clock.now());
    this.#opening?.audio(bytes);
  }

  dtmf(digit: string): void {
    this.#opening?.dtmf(digit);
  }

  typed(typed: TypedText): void {
    this.#opening?.typed(typed);
  }

  /** Looks for results of VAD. */
  collect(): void {
    this.#screening?.collect();
  }

  tick(now: Millis): void {
    // Results about silence ring no bell.
    this.#screening?.collect();
    this.#screening?.tick(now);
    this.#opening?.tick(now);
  }

  /** The caller is gone. */
  cancel(): void {
    this.#screening?.cancel();
    this.#opening?.cancel();
  }
}
