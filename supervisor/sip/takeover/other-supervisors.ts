/**
 * The supervisors before this one and after it, as SIP sees them during a restart (decision 0069). A call stays with the process that
 * answered it; a message goes to the process whose call it is about, whichever of them it reached. At any instant one process takes new
 * calls: while that changes hands, what would begin one waits.
 */
import type { SipRelayed } from '../../../shared/sip/takeover.ts';
import { type AgentState, dialogKey } from '../../../shared/sip/agent/state.ts';
import { Relay, type Incoming, type RelayOptions } from './relay.ts';
import { transactionKey } from '../../../shared/sip/agent/server-transaction.ts';
import { tagOf, topVia } from '../../../shared/sip/message/fields.ts';
import { headerOf, type SipMessage } from '../../../shared/sip/message/message.ts';

/** Messages that wait for some milliseconds. */
const mostHeld = 1_024;
/** Numbers of connections from here on are those of other processes. */
const foreignFrom = 2 ** 31;

export interface OtherSupervisorsOptions {
  readonly state: Pick<AgentState, 'clients' | 'invites' | 'transactions' | 'dialogs'>;
  /** To be taken here. */
  readonly received: (incoming: Incoming, from: 'before' | 'after' | 'held') => void;
  readonly failed: (connection: number) => void;
  /** One is dropped, because too many wait. */
  readonly full: () => void;
  /** Over a connection of this process. */
  readonly send: (connection: number, bytes: Buffer) => boolean;
}

export class OtherSupervisors {
  readonly #options: OtherSupervisorsOptions;
  /** Transactions that were begun before this process served. */
  readonly #known = new Set<string>();
  #before: Relay | undefined;
  #after: Relay | undefined;
  #isGiving = false;
  #held: Incoming[] = [];
  #lastForeign = foreignFrom;

  constructor(options: OtherSupervisorsOptions) {
    this.#options = options;
  }

  // ---- the one before ----

  follow(say: (message: SipRelayed) => void): void {
    this.#before ??= this.#newRelay(say, 'before');
  }

  know(keys: readonly string[]): void {
    for (const key of keys) this.#known.add(key);
  }

  beforeSaid(message: SipRelayed): void {
    this.#before?.take(message);
  }

  beforeGone(): void {
    this.#before?.end();
    this.#before = undefined;
    this.#known.clear();
  }

  // ---- the one after ----

  /** What begins a call waits from here on. Returns the transactions that belong here or further back. */
  give(say: (message: SipRelayed) => void): string[] {
    this.#after = this.#newRelay(say, 'after');
    this.#isGiving = true;
    return [...this.#options.state.transactions.keys(), ...this.#known];
  }

  /** The next process serves. */
  leave(): void {
    this.#isGiving = false;
    for (const one of this.#held.splice(0)) this.#after?.pass(one);
  }

  /** Another process takes, or will take, what begins. */
  get isFollowed(): boolean {
    return this.#after !== undefined;
  }

  /** There is no next process. */
  takeBack(): void {
    this.#isGiving = false;
    this.#after?.end();
    this.#after = undefined;
    for (const one of this.#held.splice(0)) this.#options.received(one, 'held');
  }

  afterSaid(message: SipRelayed): void {
    this.#after?.take(message);
  }

  // ---- messages ----

  /** True where a message is not for this process, or waits. */
  takes(incoming: Incoming, from?: 'before' | 'after' | 'held'): boolean {
    const { message, fault } = incoming.parsed;
    const isAlone = this.#before === undefined && this.#after === undefined;
    if (isAlone || fault !== undefined || isOwn(this.#options.state, message)) return false;
    if (this.#after !== undefined && from !== 'after') {
      if (!this.#isGiving) this.#after.pass(incoming);
      else if (this.#held.length < mostHeld) this.#held.push(incoming);
      else this.#options.full();
      return true;
    }
    // A message that the supervisor before passed on and nobody here knows goes back to older ones: it is not passed on again.
    if (this.#before === undefined || !mayBeOlder(message, this.#known)) return false;
    this.#before.pass(incoming);
    return true;
  }

  /** Over a connection that another process has. */
  send(connection: number, bytes: Buffer): boolean {
    return this.#before?.send(connection, bytes) === true || this.#after?.send(connection, bytes) === true;
  }

  needs(connection: number): boolean {
    return this.#before?.needs(connection) === true || this.#after?.needs(connection) === true;
  }

  closed(connection: number): void {
    this.#before?.closed(connection);
    this.#after?.closed(connection);
  }

  #newRelay(say: RelayOptions['say'], from: 'before' | 'after'): Relay {
    const { received, failed, send } = this.#options;
    return new Relay({
      say,
      received: (incoming) => received(incoming, from),
      failed: (connection) => {
        // It may have been lent further.
        this.closed(connection);
        failed(connection);
      },
      send: (connection, bytes) => send(connection, bytes) || this.send(connection, bytes),
      newConnection: () => (this.#lastForeign += 1),
    });
  }
}

/**
 * Whose a message is while two supervisors have calls: the one's that knows its transaction or its dialog. A first request that nobody
 * knows begins something new, which only the newest supervisor does.
 */

/** Whether this side's agent has what the message belongs to. */
function isOwn(
  {
    clients,
    invites,
    transactions,
    dialogs,
  }: Pick<AgentState, 'clients' | 'invites' | 'transactions' | 'dialogs'>,
  message: SipMessage,
): boolean {
  if (message.kind === 'response') {
    const branch = topVia(message)?.params.get('branch') ?? '';
    return clients.has(branch) || invites.has(branch);
  }
  const method = message.method === 'CANCEL' ? 'INVITE' : message.method;
  if (transactions.has(transactionKey(message, method))) return true;
  const callId = headerOf(message, 'call-id') ?? '';
  return dialogs.has(dialogKey(callId, tagOf(message, 'to') ?? '', tagOf(message, 'from') ?? ''));
}

/** Whether a message that is not this side's can be of a supervisor that was there before it. */
function mayBeOlder(message: SipMessage, known: ReadonlySet<string>): boolean {
  if (message.kind === 'response' || tagOf(message, 'to') !== undefined) return true;
  const method = message.method === 'CANCEL' ? 'INVITE' : message.method;
  return known.has(transactionKey(message, method));
}
