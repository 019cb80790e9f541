/**
 * The way to the supervisor before this one, or after it: messages of peers that are the other's, and what it wants sent over
 * connections that are here. The other's connections have numbers of their own here, for as long as there are both processes.
 */
import type { SipPassed, SipRelayed } from '../../../shared/sip/takeover.ts';
import type { Flow } from '../../../shared/sip/agent/state.ts';
import { parseDatagram, type Parsed } from '../../../shared/sip/message/parse.ts';
import { writeMessage } from '../../../shared/sip/message/write.ts';

/** What came in by one of the sockets, or from another supervisor. */
export interface Incoming {
  readonly parsed: Parsed;
  readonly flow: Flow;
  readonly size: number;
}

export interface RelayOptions {
  readonly say: (message: SipRelayed) => void;
  readonly received: (incoming: Incoming) => void;
  /** Over a connection that this side knows; false where it is gone. */
  readonly send: (connection: number, bytes: Buffer) => boolean;
  /** A connection of the other side is gone. */
  readonly failed: (connection: number) => void;
  /** A number that no connection of this process has. */
  readonly newConnection: () => number;
}

/** Enough for every message of a peer whose address is proved. */
const largest = 2 ** 30;

export class Relay {
  readonly #options: RelayOptions;
  /** The other's connections, by their numbers here and there. */
  readonly #there = new Map<number, number>();
  readonly #here = new Map<number, number>();
  /** Connections of this side that the other one uses. */
  readonly #lent = new Set<number>();
  #isOver = false;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** Hands over a message. */
  pass({ parsed, flow, size }: Incoming): void {
    const { connection, protocol, source, local } = flow;
    if (connection !== 0) this.#lent.add(connection);
    const bytes = writeMessage(parsed.message).toString('base64');
    const message = { type: 'sip.message', connection, protocol, source, local, bytes } as const;
    this.#options.say({ ...message, size: Math.min(size, largest) });
  }

  take(message: SipRelayed): void {
    switch (message.type) {
      case 'sip.message':
        this.#received(message);
        return;
      case 'sip.send': {
        const { connection } = message;
        if (!this.#lent.has(connection)) return;
        if (!this.#options.send(connection, Buffer.from(message.bytes, 'base64'))) this.closed(connection);
        return;
      }
      case 'sip.gone':
        this.#forget(message.connection);
        return;
    }
  }

  #received({ connection, protocol, source, local, bytes, size }: SipPassed): void {
    const parsed = parseDatagram(Buffer.from(bytes, 'base64'));
    if (!parsed.ok) return;
    const flow = { connection: connection === 0 ? 0 : this.#numberOf(connection), protocol, source, local };
    this.#options.received({
      parsed: parsed.value,
      flow,
      size: protocol === 'UDP' ? size : Infinity,
    });
  }

  #numberOf(theirs: number): number {
    const known = this.#here.get(theirs);
    if (known !== undefined) return known;
    const own = this.#options.newConnection();
    this.#here.set(theirs, own);
    this.#there.set(own, theirs);
    return own;
  }

  #forget(theirs: number): void {
    const own = this.#here.get(theirs);
    if (own === undefined) return;
    this.#here.delete(theirs);
    this.#there.delete(own);
    this.#options.failed(own);
  }

  /** False where the connection is none of the other's. */
  send(connection: number, bytes: Buffer): boolean {
    const theirs = this.#there.get(connection);
    if (theirs === undefined || this.#isOver) return false;
    this.#options.say({ type: 'sip.send', connection: theirs, bytes: bytes.toString('base64') });
    return true;
  }

  /** The other one may want to say something over it. */
  needs(connection: number): boolean {
    return this.#lent.has(connection);
  }

  /** A connection that this side knows is gone. */
  closed(connection: number): void {
    if (this.#lent.delete(connection) && !this.#isOver) this.#options.say({ type: 'sip.gone', connection });
  }

  /** The other process is gone, and its connections with it. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#lent.clear();
    for (const theirs of [...this.#here.keys()]) this.#forget(theirs);
  }
}
