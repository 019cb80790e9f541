/**
 * Session URLs across a restart (decision 0017): the new supervisor has the listener, the old one the calls that began before. The
 * new one asks the old one about a session that it does not know, and passes the answer on; the old one does the same
 * with the one before it.
 *
 * Invariant: a client that asks is answered once, at the latest when the other process is gone.
 */
import type { WebrtcAnswered, WebrtcAsked } from '../../shared/webrtc/takeover.ts';
import { refusal, refusals } from '../http/refusals.ts';
import { refuse, type Exchange } from './exchange.ts';

/** Requests that wait for the old process at once; a page has one. */
const mostAsked = 4_096;
const crowded = refusal('restarting', {
  message: 'too many requests wait for the process that has their calls; ask again',
});

export class SignalingTakeover {
  readonly #full: () => void;
  /** Answers what this process knows, and passes on what it does not. */
  #answer: ((exchange: Exchange, session: string) => Promise<void>) | undefined;
  // Towards the supervisor before this one.
  #sayBefore: ((message: WebrtcAsked) => void) | undefined;
  #knowsMore = false;
  #lastAsk = 0;
  readonly #asked = new Map<number, Exchange>();
  // Towards the one after it.
  readonly #answering = new Map<number, () => void>();

  /** `full`: a request is refused, because too many wait. */
  constructor({ full }: { readonly full: () => void }) {
    this.#full = full;
  }

  /** Where signaling is, `answer` is how. */
  serve(answer: (exchange: Exchange, session: string) => Promise<void>): void {
    this.#answer = answer;
  }

  // ---- In the new supervisor ----

  follow(say: (message: WebrtcAsked) => void): void {
    this.#sayBefore = say;
  }

  predecessorSaid(message: WebrtcAnswered): void {
    if (message.type === 'webrtc.begin') {
      this.#knowsMore = true;
      return;
    }
    const exchange = this.#asked.get(message.ask);
    this.#asked.delete(message.ask);
    exchange?.send(message);
  }

  predecessorGone(): void {
    this.#knowsMore = false;
    for (const exchange of this.#asked.values()) refuse(exchange, refusals.no_session);
    this.#asked.clear();
  }

  /** Answers about a session that is not of this process. */
  async ask(exchange: Exchange, session: string): Promise<void> {
    const body =
      exchange.method === 'POST' || exchange.method === 'PATCH' ? await exchange.text() : undefined;
    if (!this.#knowsMore || this.#sayBefore === undefined) refuse(exchange, refusals.no_session);
    else if (this.#asked.size >= mostAsked) {
      this.#full();
      refuse(exchange, crowded);
    } else this.#pass(exchange, { session, body, say: this.#sayBefore });
  }

  #pass(
    exchange: Exchange,
    { session, body, say }: { session: string; body: string | undefined; say: (asked: WebrtcAsked) => void },
  ): void {
    const ask = (this.#lastAsk += 1);
    const { authorization: _judged, ...headers } = exchange.head.headers;
    const { method, peer } = exchange;
    this.#asked.set(ask, exchange);
    exchange.onGone(() => {
      if (this.#asked.delete(ask)) say({ type: 'webrtc.left', ask });
    });
    say({
      type: 'webrtc.asked',
      ask,
      session,
      method,
      headers,
      ...(body !== undefined && { body }),
      ...(peer !== undefined && { peer }),
    });
  }

  // ---- In the old one ----

  give(say: (message: WebrtcAnswered) => void): void {
    if (this.#answer !== undefined) say({ type: 'webrtc.begin' });
  }

  /** The new one is gone: nobody waits any more. */
  takeBack(): void {
    for (const gone of this.#answering.values()) gone();
    this.#answering.clear();
  }

  successorSaid(message: WebrtcAsked, say: (message: WebrtcAnswered) => void): void {
    if (message.type === 'webrtc.left') {
      this.#answering.get(message.ask)?.();
      this.#answering.delete(message.ask);
      return;
    }
    const exchange = this.#fromSuccessor(message, say);
    if (this.#answer === undefined) refuse(exchange, refusals.no_session);
    else void this.#answer(exchange, message.session);
  }

  #fromSuccessor(
    { ask, session, method, headers, body, peer }: Extract<WebrtcAsked, { type: 'webrtc.asked' }>,
    say: (message: WebrtcAnswered) => void,
  ): Exchange {
    let isOver = false;
    const goneOnes: (() => void)[] = [];
    this.#answering.set(ask, () => {
      isOver = true;
      for (const gone of goneOnes) gone();
    });
    return {
      method,
      peer,
      head: { url: `/whip/sessions/${session}`, headers },
      text: () => Promise.resolve(body),
      isGone: () => isOver,
      onGone: (gone) => void goneOnes.push(gone),
      send: ({ status, headers: more = {}, body: answered }) => {
        if (isOver) return;
        isOver = true;
        this.#answering.delete(ask);
        say({
          type: 'webrtc.answered',
          ask,
          status,
          headers: { ...more },
          ...(answered !== undefined && { body: answered }),
        });
      },
    };
  }
}
