/** All calls of a server's agents: who takes a new link, and which calls wait for theirs to come back. Knows no socket. */
import { CallLink, rejectText } from './call-link.ts';
import type { Connection, ConnectionEvents } from './connection.ts';
import type { AgentDefinition } from './definition.ts';
import { readServiceMessage, type Received } from './reading.ts';
import { closeCodes, PROTOCOL, PROTOCOL_VERSIONS } from './wire/constants.ts';
import type { SessionStartMessage } from './wire/service-messages.ts';

/** What the service has to send its first message. */
export const firstMessageMs = 10_000;

export interface Arrival {
  readonly agent: AgentDefinition;
  /** Path and query of the link's URL. */
  readonly path: string;
}

export class CallHost {
  readonly #calls = new Map<string, CallLink>();
  readonly #mostCalls: number;
  #isDraining = false;
  #onEmpty: (() => void) | undefined;

  constructor({ mostCalls }: { readonly mostCalls: number }) {
    this.#mostCalls = mostCalls;
  }

  /** Calls that run or wait for their link. */
  get calls(): number {
    return this.#calls.size;
  }

  get isFull(): boolean {
    return this.#calls.size >= this.#mostCalls;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** A link has opened. */
  open(connection: Connection, arrival: Arrival): ConnectionEvents {
    let call: CallLink | undefined;
    let isOver = false;
    const refuse = (reason: string): void => {
      isOver = true;
      clearTimeout(timer);
      arrival.agent.logger.warn('a link was refused', { reason });
      connection.close(closeCodes.violation, reason);
    };
    const timer = setTimeout(() => refuse('no first message arrived in time'), firstMessageMs);
    timer.unref();
    return {
      text: (text) => {
        if (call !== undefined) {
          call.text(connection, text);
          return;
        }
        if (isOver) return;
        const first = readServiceMessage(text);
        const isOffer = first.kind === 'message' && first.message.type === 'session.start';
        if (!isOffer) {
          refuse('the first message must be session.start');
          return;
        }
        clearTimeout(timer);
        call = this.#take(connection, arrival, first);
        isOver = call === undefined;
      },
      binary: () => {
        if (call !== undefined) call.binary(connection);
        else if (!isOver) refuse('the first message must be session.start');
      },
      closed: () => {
        isOver = true;
        clearTimeout(timer);
        call?.closed(connection);
      },
    };
  }

  #take(connection: Connection, arrival: Arrival, received: Received): CallLink | undefined {
    const { message } = received;
    if (message.type !== 'session.start') return undefined;
    const key = `${arrival.path} ${message.session_id}`;
    const known = this.#calls.get(key);
    const goesOn = message.resume !== undefined && known?.canResume === true;
    const refusal = this.#refusal(message, { goesOn });
    if (refusal !== undefined) {
      arrival.agent.logger.warn('a call was rejected', { code: refusal });
      connection.send(rejectText(refusal, ''));
      connection.close(closeCodes.normal, refusal);
      return undefined;
    }
    if (goesOn) {
      known.resume(connection, received);
      return known;
    }
    // The service had begun these before it has begun anew.
    known?.abandon();
    const call: CallLink = new CallLink(connection, {
      agent: arrival.agent,
      start: message,
      path: arrival.path,
      onOver: () => this.#forget(key, call),
    });
    this.#calls.set(key, call);
    void call.start(received);
    return call;
  }

  /** The code of `session.reject`; undefined when the call is taken. */
  #refusal(message: SessionStartMessage, { goesOn }: { readonly goesOn: boolean }): string | undefined {
    const isSpoken =
      message.protocol === PROTOCOL && message.versions.some((each) => PROTOCOL_VERSIONS.includes(each));
    if (!isSpoken) return 'unsupported_version';
    if (goesOn) return undefined;
    if (this.#isDraining) return 'shutting_down';
    return this.isFull ? 'busy' : undefined;
  }

  #forget(key: string, call: CallLink): void {
    if (this.#calls.get(key) === call) this.#calls.delete(key);
    if (this.#calls.size === 0) this.#onEmpty?.();
  }

  /** Takes no new call from now on; resolves when the last one is over. */
  drain(): Promise<void> {
    this.#isDraining = true;
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
      if (this.#calls.size === 0) resolve();
    });
  }

  /** Ends every call on this side. */
  abandonAll(): void {
    this.#isDraining = true;
    for (const call of [...this.#calls.values()]) call.abandon();
  }
}
