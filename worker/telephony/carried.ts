/** A conversation that goes on in another stream of the same telephone call: what is taken along, and how the new call begins with it. */
import type { CarriedCall } from '../../shared/telephony/call-control.ts';
import type { CallSetup } from '../call/opening.ts';
import type { ContextMessage } from '../core/actions.ts';
import { unfilled } from '../core/answer/response.ts';
import type { CallState } from '../core/state.ts';

/** Characters that are taken along; of more, the newest messages. */
const mostChars = 32_768;

/** What was said and heard so far, tools and fillers left out, with what the agent is saying now. */
export function carriedContext({ conversation, delivery }: CallState): CarriedCall['context'] {
  const said = delivery.response === undefined ? '' : unfilled(delivery.response, 0).trim();
  const all: ContextMessage[] = [...conversation.history.messages];
  if (said !== '') all.push({ role: 'assistant', text: said });
  const kept: CarriedCall['context'][number][] = [];
  let left = mostChars;
  for (const message of all.toReversed()) {
    if (message.role === 'tool' || message.text === '') continue;
    left -= message.text.length;
    if (left < 0) break;
    kept.unshift({ role: message.role, text: message.text });
  }
  return kept;
}

/** The stream ends with the request, before its result is known: without a word of it the LLM would press them once more. */
export const withKeysSent = (context: CarriedCall['context'], digits: string): CarriedCall['context'] => [
  ...context,
  { role: 'user', text: `[The keys were sent: ${digits}]` },
];

/** The call that comes back is not greeted again; after a transfer that came to nothing the agent says so. */
export function carriedSetup(
  setup: CallSetup,
  carried: CarriedCall | undefined,
  { returnLine }: { readonly returnLine: string },
): CallSetup {
  if (carried === undefined) return setup;
  const greeting = carried.after === 'transfer' ? returnLine : '';
  return { ...setup, greeting, context: [...(setup.context ?? []), ...carried.context] };
}
