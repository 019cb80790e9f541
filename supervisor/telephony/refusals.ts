/** Requests of carriers that are refused. The caller hears silence or a busy tone then, and the carrier's log is not the operator's. */
import type { ServerResponse } from 'node:http';
import type { WallClock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { Seldom } from '../../shared/runtime/seldom.ts';
import { refuse } from '../http/answer.ts';
import type { Answer } from '../http/refusals.ts';

export class CarrierRefusals {
  readonly #log: Pick<Log, 'warn'>;
  readonly #seldom: Seldom;

  constructor({ log, wallClock }: { readonly log: Pick<Log, 'warn'>; readonly wallClock: WallClock }) {
    this.#log = log;
    this.#seldom = new Seldom(wallClock);
  }

  /** Anybody can be refused for what is no telephone call at all; a signature or an address that does not hold is told. */
  tell(listener: string, { status, code, message }: Answer): void {
    if (status === 403 && this.#seldom.isDue(`${listener} ${code}`))
      this.#log.warn({ listener, code, why: message }, 'a carrier was refused');
  }

  answer(listener: string, response: ServerResponse, answer: Answer): void {
    this.tell(listener, answer);
    refuse(response, answer);
  }
}
