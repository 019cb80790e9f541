/** Requests about calls that the service makes, below `/calls` of the callback listener. */
import type { IncomingHttpHeaders } from 'node:http';
import { readOutboundRequest } from '../../../shared/telephony/callback-api.ts';
import type { OutboundRefusal } from '../outbound/outbound-calls.ts';
import type { TelephonyEverywhere } from '../everywhere.ts';
import type { Answer } from '../../listeners/answer.ts';

/** What is answered: a value with its status, or a refusal. */
export type Reply = { readonly status: number; readonly value: unknown } | Answer;

const keyForm = /^[\x21-\x7e]{1,128}$/;

const refusals: Readonly<Record<OutboundRefusal, Omit<Answer, 'code'>>> = {
  off: {
    status: 404,
    message: 'calls are not made: SVC_OUTBOUND_FROM, and what a carrier needs to make them, must be set',
  },
  carrier: { status: 400, message: 'carrier: must name a carrier that can make calls' },
  voicemail: {
    status: 400,
    message: 'voicemail: needs machine_detection, which is "own" by sip; whatever answers gets the agent',
  },
  detection: {
    status: 400,
    message: 'machine_detection: nobody finds out who answers a call by sip but the service itself ("own")',
  },
  not_allowed: { status: 403, message: 'to: must begin as SVC_OUTBOUND_ALLOW says' },
  busy: { status: 409, message: 'a call to that number is under way' },
  key_reused: { status: 409, message: 'the Idempotency-Key was used for another request' },
  rate_limited: {
    status: 429,
    message: 'as many calls as SVC_OUTBOUND_PER_MINUTE allows were made within the last minute',
    retryAfterS: 60,
  },
  full: { status: 503, message: 'too many calls are being made', retryAfterS: 10 },
  unsure: {
    status: 503,
    message: 'the instance that took this Idempotency-Key does not answer: it may have made the call',
    retryAfterS: 10,
  },
  refused: {
    status: 502,
    message:
      'the carrier did not make the call, and nothing has happened; the log says why, by its status and code',
  },
};

const badRequest = (message: string): Answer => ({ status: 400, code: 'bad_request', message });

export interface CallsContext {
  readonly telephony: Pick<TelephonyEverywhere, 'make'>;
  /** Why no call can be taken at present. */
  readonly unready: () => string | undefined;
}

export async function makeCall(
  body: string,
  headers: IncomingHttpHeaders,
  { telephony, unready }: CallsContext,
): Promise<Reply> {
  const key = headers['idempotency-key'];
  if (key !== undefined && (typeof key !== 'string' || !keyForm.test(key)))
    return badRequest('Idempotency-Key: must be 1 to 128 visible ASCII characters');
  const read = readOutboundRequest(body);
  if (!read.ok) return badRequest(read.error);
  const reason = unready();
  // Whoever answers would hear nobody.
  if (reason !== undefined)
    return {
      status: 503,
      code: 'not_ready',
      message: `the service takes no calls: ${reason}`,
      retryAfterS: 10,
    };
  const made = await telephony.make(read.value, key);
  return made.ok ? { status: 202, value: made.value } : { code: made.error, ...refusals[made.error] };
}
