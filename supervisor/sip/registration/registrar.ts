/**
 * The registration at work: finds the registrar by its name, makes the way there, and tells the operator when calls can come and when
 * they can not. Calls from the registrar's addresses are let in as calls of the account.
 */
import { lookup } from 'node:dns/promises';
import type { SipRegistration } from '../../../shared/sip/registration.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import type { Flow } from '../../../shared/sip/agent/state.ts';
import { hostText } from '../../../shared/sip/agent/client-transaction.ts';
import { topVia } from '../../../shared/sip/message/fields.ts';
import type { SipMessage } from '../../../shared/sip/message/message.ts';
import type { Source } from '../../../shared/sip/message/write.ts';
import {
  isAnswerTo,
  newRegistration,
  stepRegistration,
  type Registration,
  type RegistrationAccount,
  type RegistrationAction,
  type RegistrationEvent,
} from './registration.ts';

/** The end of the service waits so long for a binding to be taken back. */
const leaveWithinMs = 2_000;

export interface RegistrarOptions {
  readonly account: SipRegistration;
  /** Which addresses can be reached: 4, 6, or 0 for both. */
  readonly family: 0 | 4 | 6;
  readonly now: () => Millis;
  readonly log: Log;
  readonly newToken: () => string;
  readonly chance: () => number;
  readonly wayTo: (
    at: Source,
    to: { readonly protocol: Flow['protocol']; readonly name: string },
  ) => Promise<Flow | undefined>;
  readonly send: (flow: Flow, bytes: Buffer) => void;
  /** Whether calls of the account come here. */
  readonly isRegistered: (yes: boolean) => void;
}

const accountOf = ({ user, host, port, hasPort, signsInAs, password, expiresMs }: SipRegistration) => {
  const at = `${hostText(host)}${hasPort ? `:${port}` : ''}`;
  return {
    address: `sip:${user}@${at}`,
    registrar: `sip:${at}`,
    user,
    signsInAs,
    password: password.reveal(),
    expiresS: Math.round(expiresMs / 1000),
  } satisfies RegistrationAccount;
};

export class Registrar {
  readonly #options: RegistrarOptions;
  readonly #machine: Registration;
  #addresses: ReadonlySet<string> = new Set();
  #isOver = false;
  #leavesAt: Millis | undefined;
  #wasHeld = false;

  constructor(options: RegistrarOptions) {
    this.#options = options;
    const { account, newToken, chance, now } = options;
    this.#machine = newRegistration({ account: accountOf(account), newToken, chance }, now());
  }

  /** Whether a peer at this address is the registrar. */
  isThere(address: string): boolean {
    return this.#addresses.has(address);
  }

  /** True where the message is an answer to the registration. */
  takes(message: SipMessage): boolean {
    if (this.#isOver || message.kind !== 'response') return false;
    if (!isAnswerTo(this.#machine, topVia(message)?.params.get('branch') ?? '')) return false;
    this.#step({ type: 'answered', response: message });
    return true;
  }

  /** The connection that calls come by. */
  needs(connection: number): boolean {
    return !this.#isOver && connection !== 0 && this.#machine.flow?.connection === connection;
  }

  closed(connection: number): void {
    if (this.needs(connection)) this.#step({ type: 'way.lost' });
  }

  look(): void {
    this.#step({ type: 'time.passed' });
  }

  /** Takes the binding back: no more calls are wanted. */
  leave(): void {
    if (this.#isOver || this.#leavesAt !== undefined) return;
    this.#leavesAt = this.#options.now() + leaveWithinMs;
    this.#step({ type: 'leave' });
  }

  /** Another process registers from now on. */
  stop(): void {
    this.#isOver = true;
  }

  /** The binding is there, and no other process has it. */
  get isBusy(): boolean {
    if (this.#isOver) return false;
    return this.#options.now() < (this.#leavesAt ?? (this.#wasHeld ? Infinity : 0));
  }

  #step(event: RegistrationEvent): void {
    if (this.#isOver) return;
    for (const action of stepRegistration(this.#machine, event, this.#options.now())) this.#perform(action);
  }

  #perform(action: RegistrationAction): void {
    const { account, log, send, isRegistered } = this.#options;
    const registrar = account.host;
    switch (action.type) {
      case 'find.way':
        void this.#findWay();
        return;
      case 'send':
        send(action.flow, action.bytes);
        return;
      case 'registered':
        if (!this.#wasHeld) log.info({ registrar, forS: action.forS }, 'registered at a SIP registrar');
        this.#wasHeld = true;
        isRegistered(true);
        return;
      case 'failed':
        this.#wasHeld = this.#machine.heldUntil !== undefined;
        isRegistered(this.#wasHeld);
        log.warn(
          { registrar, ...action, type: undefined },
          'the SIP registrar has not registered this service',
        );
        return;
      case 'left':
        this.#isOver = true;
        isRegistered(false);
        if (this.#wasHeld) log.info({ registrar }, 'no longer registered at the SIP registrar');
    }
  }

  async #findWay(): Promise<void> {
    const { account, family, wayTo } = this.#options;
    try {
      const found = await lookup(account.host, { all: true, family });
      this.#addresses = new Set(found.map(({ address }) => address));
      const at = { address: found[0]?.address ?? '', port: account.port };
      const flow = await wayTo(at, { protocol: account.transport, name: account.host });
      this.#step(flow === undefined ? { type: 'way.lost' } : { type: 'way.found', flow });
    } catch (error) {
      // A name that leads nowhere now may lead somewhere later; the failure is told with its pause.
      this.#options.log.debug(
        { code: error instanceof Error ? error.name : '' },
        'the SIP registrar was not found',
      );
      this.#step({ type: 'way.lost' });
    }
  }
}
