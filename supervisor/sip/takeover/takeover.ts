/**
 * SIP's part of a restart, on both sides of it: sockets, what peers were told to prove themselves with, ports for audio, and from then on
 * the messages that reach the one supervisor and are the other's (decision 0069).
 */
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Server } from 'node:net';
import type { SipRelayed, SipToSuccessor } from '../../../shared/sip/takeover.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Takeover, SuccessorLink } from '../../restart/takeover.ts';
import type { KeptGate } from '../access/gate.ts';
import type { RtpPorts } from '../calls/rtp-ports.ts';
import { isSipListener, type SipSockets } from '../wire/sockets.ts';
import type { OtherSupervisors } from './other-supervisors.ts';

/** Transactions named in one message to another process. */
const keysPerMessage = 2_000;

export interface SipTakeoverOptions {
  readonly clock: Clock;
  readonly gate: KeptGate;
  readonly ports: RtpPorts;
  readonly sockets: SipSockets;
  readonly others: OtherSupervisors;
  /** Another process has what it needs for new calls. */
  readonly left: () => void;
}

export class SipTakeover implements Takeover {
  readonly #options: SipTakeoverOptions;

  constructor(options: SipTakeoverOptions) {
    this.#options = options;
  }

  /** Everything that peers find again goes to the supervisor after this one, and nothing that calls here need. */
  give(successor: SuccessorLink): void {
    const { clock, gate, ports, sockets, others } = this.#options;
    const nonces = gate.save(clock.now());
    successor.say({ type: 'sip.begin', nextPorts: ports.next, ...(nonces !== undefined && { nonces }) });
    const keys = others.give((message) => successor.say(message));
    for (let from = 0; from < keys.length; from += keysPerMessage)
      successor.say({ type: 'sip.known', keys: keys.slice(from, from + keysPerMessage) });
    sockets.give(successor);
  }

  leave(): void {
    this.#options.sockets.leave();
    this.#options.others.leave();
    this.#options.left();
  }

  takeBack(): void {
    this.#options.sockets.takeBack();
    this.#options.others.takeBack();
  }

  successorSaid(message: SipRelayed): void {
    this.#options.others.afterSaid(message);
  }

  follow(say: (message: SipRelayed) => void): void {
    this.#options.others.follow(say);
  }

  takeListener(name: string, given: Server): boolean {
    if (!isSipListener(name)) return false;
    this.#options.sockets.take(name, given);
    return true;
  }

  takeSocket(given: DatagramSocket): void {
    this.#options.sockets.takeSocket(given);
  }

  predecessorSaid(message: SipToSuccessor): void {
    const { clock, gate, ports, others } = this.#options;
    switch (message.type) {
      case 'sip.begin':
        ports.goOnAt(message.nextPorts);
        if (message.nonces !== undefined) gate.restore(message.nonces, clock.now());
        return;
      case 'sip.known':
        others.know(message.keys);
        return;
      case 'sip.socket':
        return;
      default:
        others.beforeSaid(message);
    }
  }

  predecessorGone(): void {
    this.#options.others.beforeGone();
  }
}
