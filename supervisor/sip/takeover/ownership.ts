/**
 * Whose a message is while two supervisors have calls: the one's that knows its transaction or its dialog. A first request that nobody
 * knows begins something new, which only the newest supervisor does.
 */
import { dialogKey, type AgentState } from '../agent/state.ts';
import { transactionKey } from '../agent/server-transaction.ts';
import { tagOf, topVia } from '../message/fields.ts';
import { headerOf, type SipMessage } from '../message/message.ts';

/** Whether this side's agent has what the message belongs to. */
export function isOwn(
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
export function mayBeOlder(message: SipMessage, known: ReadonlySet<string>): boolean {
  if (message.kind === 'response' || tagOf(message, 'to') !== undefined) return true;
  const method = message.method === 'CANCEL' ? 'INVITE' : message.method;
  return known.has(transactionKey(message, method));
}
