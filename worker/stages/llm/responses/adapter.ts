/**
 * The LLM stage over a responses interface, `POST {base_url}/responses` that streams.
 *
 * Invariant: nothing is stored at the provider: every request carries the whole conversation, encrypted reasoning
 * included. It must not retry.
 */
import { serviceAddress, type LlmResponsesOptions } from './declaration.ts';
import { urlUnder } from '../../../../shared/net/address.ts';
import { bearerHeaders } from '../../keys.ts';
import type { LlmStage, ProviderAccess } from '../../stage.ts';
import { idsAt, syntheticIds } from '../call-ids.ts';
import { RESPONSES_PROVIDER, renderResponsesRequest } from './request.ts';
import { ResponsesStream } from './stream.ts';
import { newHttpLlm } from '../http-stage.ts';

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newLlmResponses(options: LlmResponsesOptions & ProviderAccess): LlmStage {
  const url = urlUnder(options.baseUrl, '/responses');
  const ids = idsAt(options.baseUrl, serviceAddress);
  return newHttpLlm({
    provider: RESPONSES_PROVIDER,
    options,
    url: () => url,
    headers: { accept: 'text/event-stream', ...bearerHeaders(url, options.apiKey) },
    ask: (request, asked) => ({
      body: renderResponsesRequest(request, asked, ids),
      newStream: (emit) => new ResponsesStream(syntheticIds(request.messages), emit),
    }),
  });
}
