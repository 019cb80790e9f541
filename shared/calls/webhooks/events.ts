/** The events that webhooks tell, and the id by which a receiver knows one that it has had before. */
import { createHash } from 'node:crypto';

export const callEvents = ['call.started', 'call.ended', 'call.analyzed', 'call.failed'] as const;
export type CallEventName = (typeof callEvents)[number];

/** The same for an event whoever sends it, and however often: of the call and what happened to it. Holds no dot, as the signature asks. */
export const webhookId = (call: string, event: CallEventName): string =>
  `msg_${createHash('sha256').update(`${event}\n${call}`).digest('hex').slice(0, 32)}`;

/** Names an endpoint in files and logs, where its address, which may hold a secret, does not belong. */
export const endpointId = ({ agent, url }: { readonly agent: string; readonly url: string }): string =>
  createHash('sha256').update(`${agent}\n${url}`).digest('hex').slice(0, 12);
