/**
 * Call control at carrier A: its REST API, form-encoded. It has no idempotency keys, so that a request without an answer has an unknown
 * outcome and is not repeated. An update of a call replaces its instructions, which ends its stream.
 */
import type { CarrierAAccount, CarrierASettings } from '../../../shared/config/server/carrier-a-variables.ts';
import type { CarrierOutcome, ControlMeans } from '../../../shared/protocol/call-control.ts';
import { streamSegment } from '../../listeners/carrier-a/segment.ts';
import type { Carrier, ColdTransfer } from '../carrier.ts';
import { outcomeOf, type AskRest, type RestAnswer } from '../rest.ts';
import { connectStream, dialNumber, playDigits, response } from './twiml.ts';

/** How long a destination rings (spec 03, Cold transfer). */
const ringTimeoutS = 30;

export class CarrierAControl implements Carrier {
  readonly name = 'carrier_a';
  readonly means: ControlMeans;
  readonly #settings: CarrierASettings;
  readonly #account: CarrierAAccount;
  readonly #ask: AskRest;
  readonly #nowS: () => number;

  constructor(
    settings: CarrierASettings,
    account: CarrierAAccount,
    given: { readonly means: ControlMeans; readonly ask: AskRest; readonly nowS: () => number },
  ) {
    this.#settings = settings;
    this.#account = account;
    this.means = given.means;
    this.#ask = given.ask;
    this.#nowS = given.nowS;
  }

  async hangUp(callId: string): Promise<CarrierOutcome> {
    return this.#done(await this.#update(callId, { Status: 'completed' }));
  }

  async transfer(callId: string, { to, from }: ColdTransfer): Promise<CarrierOutcome> {
    const dial = dialNumber(to, { callerId: from, timeoutS: ringTimeoutS });
    return this.#done(await this.#update(callId, { Twiml: response(dial) }));
  }

  /** The stream ends, the keys are pressed, and the call comes back on another stream. */
  async pressKeys(callId: string, { digits }: { readonly digits: string }): Promise<CarrierOutcome> {
    const keys = playDigits(digits.replaceAll('W', 'ww'));
    return this.#done(await this.#update(callId, { Twiml: response(keys, this.#stream(callId)) }));
  }

  #stream(callId: string): string {
    const { publicUrl, streamSecret } = this.#settings;
    const secret = streamSecret?.reveal();
    const segment = secret === undefined ? undefined : streamSegment(callId, { secret, nowS: this.#nowS() });
    return connectStream(segment === undefined ? publicUrl : `${publicUrl}/${segment}`);
  }

  /** An update that the carrier cannot make of a call that is over answers 400 as well: the number was fine. */
  #done(answer: RestAnswer): CarrierOutcome {
    const isOver =
      answer.kind === 'answered' && answer.status === 400 && codeOf(answer.body) === notInProgress;
    return isOver ? { kind: 'refused', code: 'rejected' } : outcomeOf(answer);
  }

  #update(callId: string, fields: Readonly<Record<string, string>>): Promise<RestAnswer> {
    return this.#post(`Calls/${encodeURIComponent(callId)}.json`, fields);
  }

  #post(path: string, fields: Readonly<Record<string, string>>): Promise<RestAnswer> {
    const { apiUrl, accountSid, user, password } = this.#account;
    return this.#ask({
      url: `${apiUrl}/2010-04-01/Accounts/${accountSid}/${path}`,
      authorization: `Basic ${Buffer.from(`${user}:${password.reveal()}`).toString('base64')}`,
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams(fields).toString(),
    });
  }
}

const notInProgress = 21_220;

const codeOf = (body: unknown): unknown =>
  typeof body === 'object' && body !== null ? Reflect.get(body, 'code') : undefined;
