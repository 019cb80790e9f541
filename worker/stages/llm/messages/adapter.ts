/**
 * The LLM stage over a messages interface, `POST {base_url}/v1/messages` that streams.
 *
 * Invariant: an effort that only a thinking model can make is never sent without thinking. It must not retry.
 */
import { serviceAddress, type LlmMessagesOptions } from './declaration.ts';
import { urlUnder } from '../../../../shared/net/address.ts';
import { keyHeaders } from '../../keys.ts';
import type { LlmStage, ProviderAccess } from '../../stage.ts';
import { idsAt, syntheticIds } from '../call-ids.ts';
import { MESSAGES_PROVIDER, renderMessagesRequest } from './request.ts';
import { MessagesStream } from './stream.ts';
import { newHttpLlm } from '../http-stage.ts';

/** The version of the interface that gateways know, too; nothing is sent that a later one takes away. */
const VERSION = '2023-06-01';

/**
 * @throws Error when effort and thinking exclude each other, or when the key may not be sent to the address or cannot be
 *   a header value.
 */
export function newLlmMessages(options: LlmMessagesOptions & ProviderAccess): LlmStage {
  const isThoughtless = options.thinking === 'disabled' || options.thinking === 'between_tools';
  if (isThoughtless && (options.effort === 'xhigh' || options.effort === 'max')) {
    throw new Error('effort: must be high or lower while thinking is disabled or between_tools');
  }
  const url = urlUnder(options.baseUrl, '/v1/messages');
  const ids = idsAt(options.baseUrl, serviceAddress);
  return newHttpLlm({
    provider: MESSAGES_PROVIDER,
    options,
    url: () => url,
    headers: {
      accept: 'text/event-stream',
      'anthropic-version': VERSION,
      ...keyHeaders(url, options.apiKey, { name: 'x-api-key' }),
    },
    ask: (request, asked) => ({
      body: renderMessagesRequest(request, asked, ids),
      newStream: (emit) => new MessagesStream(syntheticIds(request.messages), emit),
    }),
  });
}
