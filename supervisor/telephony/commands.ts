/**
 * Commands by their ids: one that is asked for again, by the worker that took a call up or by an agent that repeats itself, is not done
 * again; it is answered alike. Only whose outcome was lost is done again, where a later attempt asks for that in so many words. The newest
 * answers are remembered.
 */
import type { CarrierOutcome } from '../../shared/telephony/call-control.ts';

type Reply = (outcome: CarrierOutcome) => void;

/** Answers that are remembered. */
const mostAnswered = 4_096;
/** Commands under way; calls are bounded, and each has few. */
const mostRunning = 8_192;

export class CommandBook {
  readonly #running = new Map<string, Reply[]>();
  readonly #answered = new Map<string, { readonly attempt: number; readonly outcome: CarrierOutcome }>();
  readonly #full: () => void;

  constructor({ full }: { readonly full: () => void }) {
    this.#full = full;
  }

  /** Does the command unless it was begun before; `reply` is told once. */
  take(
    { id, attempt }: { readonly id: string; readonly attempt: number },
    reply: Reply,
    perform: () => Promise<CarrierOutcome>,
  ): void {
    const known = this.#answered.get(id);
    if (known !== undefined && (known.outcome.kind !== 'unknown' || attempt <= known.attempt)) {
      reply(known.outcome);
      return;
    }
    const running = this.#running.get(id);
    if (running !== undefined) {
      running.push(reply);
      return;
    }
    if (this.#running.size >= mostRunning) {
      this.#full();
      reply({ kind: 'refused', code: 'unavailable' });
      return;
    }
    this.#running.set(id, [reply]);
    perform().then(
      (outcome) => this.#settle(id, { attempt, outcome }),
      () => this.#settle(id, { attempt, outcome: { kind: 'unknown' } }),
    );
  }

  #settle(id: string, answer: { readonly attempt: number; readonly outcome: CarrierOutcome }): void {
    const replies = this.#running.get(id) ?? [];
    this.#running.delete(id);
    this.#answered.delete(id);
    this.#answered.set(id, answer);
    for (const oldest of this.#answered.keys()) {
      if (this.#answered.size <= mostAnswered) break;
      this.#answered.delete(oldest);
    }
    for (const reply of replies) reply(answer.outcome);
  }
}
