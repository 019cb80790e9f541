/**
 * Clients that ask at their session URL to be told when their call has lost its worker, and wait for it (`Prefer: wait=25`, RFC 7240).
 * The death of a process is known here at once; without a word of it a client notices only that nothing comes any more.
 *
 * Invariant: one client waits for a call, and each client that waits is answered once.
 */
import { systemClock, type Timer } from '../../shared/runtime/clock.ts';
import { headerOf, type Exchange } from './exchange.ts';

/** A proxy on the way does not cut a request that is answered by then. */
const longestWaitS = 25;

/** What a client that waits is told of its call. */
export const lostBody = { type: 'application/json', text: '{"connection":"lost"}\n' };

interface LossPoll {
  readonly timer: Timer;
  readonly answer: (isLost: boolean) => void;
}

export class LossPolls {
  readonly #polls = new Map<number, LossPoll>();
  /** Calls without a worker, whose clients have not come back yet. */
  readonly #lost = new Set<number>();

  /** Answers later: that the call has lost its worker, or that it has not by then. False where the client does not want to wait. */
  keeps(call: number, exchange: Exchange, answer: LossPoll['answer']): boolean {
    const wanted = /(?:^|[,;\s])wait=(\d{1,4})(?:$|[,;\s])/.exec(headerOf(exchange, 'prefer') ?? '');
    const seconds = Math.min(longestWaitS, Number(wanted?.[1] ?? 0));
    if (seconds === 0) return false;
    this.#end(call, false);
    if (this.#lost.has(call)) {
      answer(true);
      return true;
    }
    const poll = { timer: systemClock.after(seconds * 1000, () => this.#end(call, false)), answer };
    this.#polls.set(call, poll);
    exchange.onGone(() => {
      if (this.#polls.get(call) === poll) this.#end(call, false);
    });
    return true;
  }

  lost(call: number): void {
    this.#lost.add(call);
    this.#end(call, true);
  }

  /** The call has a worker again. */
  served(call: number): void {
    this.#lost.delete(call);
  }

  over(call: number): void {
    this.#lost.delete(call);
    this.#end(call, false);
  }

  #end(call: number, isLost: boolean): void {
    const poll = this.#polls.get(call);
    if (poll === undefined) return;
    this.#polls.delete(call);
    poll.timer.cancel();
    poll.answer(isLost);
  }
}
