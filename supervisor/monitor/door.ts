/**
 * Operators who want to listen to a call come here, beside the live view: each is judged by its token, and its connection goes to the worker
 * that has the call. Every use is a line of the log.
 */
import type { Socket } from 'node:net';
import type { MonitorSettings } from '../../shared/monitor/variables.ts';
import type { MonitorOffer } from '../../shared/protocol/ipc.ts';
import { auditOf, errorFields, type Log } from '../../shared/runtime/log.ts';
import { refuseUpgrade } from '../http/answer.ts';
import { refusal, refusals, type Answer } from '../http/refusals.ts';
import type { Arrived } from '../listeners/listeners.ts';
import { askedMonitor, operatorOf, withoutToken } from './credentials.ts';
import { readMonitorFiles } from './page.ts';

const folder = new URL('../web/', import.meta.url);
const notHere = refusal('not_found', { message: 'there is /live/calls/ID/monitor' });
const noToken = refusal('unauthorized', { message: 'listening to a call needs the token of a role' });

export interface MonitorDoorOptions {
  readonly tokens: MonitorSettings;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The worker that has a call, of this tenant where one is named. */
  readonly find: (call: string, tenant: string | undefined) => Promise<number | undefined>;
  /** Gives the connection away; false when the worker is not there to take it. */
  readonly pass: (worker: number, offer: MonitorOffer, socket: Socket) => boolean;
}

export class MonitorDoor {
  /** For the page of the live view, by path. */
  readonly files = readMonitorFiles(folder);
  readonly #options: MonitorDoorOptions;
  readonly #audit: Log;

  constructor(options: MonitorDoorOptions) {
    this.#options = options;
    this.#audit = auditOf(options.log);
  }

  /** An upgrade has come at the health listener. */
  arrived({ arrival, socket, bytes }: Arrived): void {
    const { fault, head, method, peer } = arrival;
    const { tokens, log, now } = this.#options;
    const asked = askedMonitor(head.url);
    const operator = operatorOf(head, { tokens, nowS: now() / 1000 });
    const refused = fault ?? (asked === undefined ? notHere : operator === undefined ? noToken : undefined);
    if (refused !== undefined || asked === undefined || operator === undefined) {
      this.#audit.info({ from: peer, code: (refused ?? notHere).code }, 'an operator is refused');
      refuseUpgrade(socket, refused ?? notHere);
      return;
    }
    const { call, by } = asked;
    const { url, headers } = withoutToken(head);
    const offer: MonitorOffer = {
      type: 'monitor.offer',
      call,
      ...operator,
      by,
      method,
      url,
      headers,
      head: bytes.toString('base64'),
    };
    const { role: may, ...reader } = operator;
    const fields = { call, may, ...reader, from: peer, ...(by !== '' && { by }) };
    this.#pass(offer, socket).then(
      (answer) => {
        if (answer !== undefined) refuseUpgrade(socket, answer);
        this.#audit.info(
          { ...fields, ...(answer && { code: answer.code }) },
          'an operator has asked for a call',
        );
      },
      (error: unknown) => {
        log.error({ ...fields, ...errorFields(error) }, 'an operator could not be let in');
        refuseUpgrade(socket, refusals.server_error);
      },
    );
  }

  async #pass(offer: MonitorOffer, socket: Socket): Promise<Answer | undefined> {
    const { find, pass } = this.#options;
    const worker = await find(offer.call, offer.tenant);
    if (worker === undefined || !pass(worker, offer, socket)) return refusals.no_such_call;
    return undefined;
  }
}
