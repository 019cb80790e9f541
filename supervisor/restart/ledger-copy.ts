/**
 * Tells a supervisor that is about to take over what this one remembers: used session tokens, what running calls hold, requests
 * to providers. First what is there, a part at a time, so that calls are judged in between; and from the first part on every
 * change, in the order in which it happens. A process that has read all of it knows what this process knows.
 */
import type { CarriedCall, ToSuccessor } from '../../shared/protocol/takeover.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import type { CallLedger } from '../admission/call-ledger.ts';
import type { TokenLedger } from '../admission/token-ledger.ts';

/** Entries of one message; a few milliseconds of work for either side. */
const perMessage = 2_000;

export interface LedgerCopyOptions {
  readonly clock: Clock;
  readonly tokens: TokenLedger;
  readonly callLedger: CallLedger;
  readonly send: (message: ToSuccessor) => void;
}

export class LedgerCopy {
  readonly #options: LedgerCopyOptions;
  #timer: Timer | undefined;

  constructor(options: LedgerCopyOptions) {
    this.#options = options;
    const { tokens, callLedger, send } = options;
    tokens.watch({
      used: (sid, endS) => send({ type: 'tokens', used: [[sid, endS]] }),
      released: (sid) => send({ type: 'token.released', sid }),
    });
    callLedger.watch({
      began: (call) => send({ type: 'calls', began: [call] }),
      over: (id) => send({ type: 'call.over', id }),
      requested: (provider, count) => send({ type: 'requests', provider, counts: [[0, count]] }),
    });
    this.#next(this.#messages());
  }

  /** Tells nothing more. */
  stop(): void {
    this.#timer?.cancel();
    this.#options.tokens.watch(undefined);
    this.#options.callLedger.watch(undefined);
  }

  #next(messages: Iterator<ToSuccessor, undefined>): void {
    const { done, value } = messages.next();
    if (done === true) return;
    this.#options.send(value);
    this.#timer = this.#options.clock.after(0, () => this.#next(messages));
  }

  *#messages(): Generator<ToSuccessor, undefined> {
    const { tokens, callLedger } = this.#options;
    // Requests are sums: told twice they would count twice, so they are read before anything can be told of them.
    for (const [provider, counts] of callLedger.recentRequests())
      if (counts.length > 0) yield { type: 'requests', provider, counts: counts.map(([a, b]) => [a, b]) };
    for (const began of inParts<CarriedCall>(callLedger.calls)) yield { type: 'calls', began };
    for (const part of inParts(tokens.entries()))
      yield { type: 'tokens', used: part.map(([sid, endS]) => [sid, endS]) };
    yield { type: 'copy.end' };
    return undefined;
  }
}

function* inParts<T>(all: Iterable<T>): Generator<T[]> {
  let part: T[] = [];
  for (const item of all) {
    part.push(item);
    if (part.length < perMessage) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}
