/** Requests about calls that the service makes, below `/calls` of the callback listener. */
import type { IncomingHttpHeaders } from 'node:http';
import { readOutboundRequest } from '../../../shared/telephony/callback-api.ts';
import type { Agents } from '../../agents/agents.ts';
import type { FleetTelephony } from '../fleet-telephony.ts';
import { refusal, refusals, type Answer } from '../../http/refusals.ts';

/** What is answered: a value with its status, or a refusal. */
export type Reply = { readonly status: number; readonly value: unknown } | Answer;

const keyForm = /^[\x21-\x7e]{1,128}$/;

const badRequest = (message: string): Answer => refusal('bad_request', { message });

export interface CallsContext {
  readonly telephony: Pick<FleetTelephony, 'make'>;
  /** Absent in a service of one agent. */
  readonly agents?: Pick<Agents, 'has'> | undefined;
  /** Why no call can be taken at present. */
  readonly unready: () => string | undefined;
}

export async function makeCall(
  body: string,
  headers: IncomingHttpHeaders,
  { telephony, agents, unready }: CallsContext,
): Promise<Reply> {
  const key = headers['idempotency-key'];
  if (key !== undefined && (typeof key !== 'string' || !keyForm.test(key)))
    return badRequest('Idempotency-Key: must be 1 to 128 visible ASCII characters');
  const read = readOutboundRequest(body);
  if (!read.ok) return badRequest(read.error);
  const { agent } = read.value;
  if (agent !== undefined && agents?.has(agent) !== true) return refusals.unknown_agent;
  const reason = unready();
  // The person who answers would hear nobody.
  if (reason !== undefined) return refusal('not_ready', { message: `the service takes no calls: ${reason}` });
  const made = await telephony.make(read.value, key);
  return made.ok ? { status: 202, value: made.value } : refusals[made.error];
}
