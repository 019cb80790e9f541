/**
 * The LLM stage over a responses interface, `POST {base_url}/responses` that streams (spec 03, Options tables).
 *
 * Invariant: nothing is stored at the provider: every request carries the whole conversation, encrypted reasoning
 * included. It must not retry.
 */
import type { LlmResponsesOptions } from './declaration.ts';
import { bearerHeaders, idleMsFor, newHttpPool, urlUnder } from '../../http.ts';
import type { LlmStage, ProviderAccess } from '../../stage.ts';
import { syntheticIds } from '../call-ids.ts';
import { RESPONSES_PROVIDER, renderResponsesRequest } from './request.ts';
import { ResponsesStream } from './stream.ts';
import { HttpRound } from '../round.ts';

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newLlmResponses(options: LlmResponsesOptions & ProviderAccess): LlmStage {
  const url = urlUnder(options.baseUrl, '/responses');
  const pool = newHttpPool({ idleMs: idleMsFor(url) });
  const headers = { accept: 'text/event-stream', ...bearerHeaders(url, options.apiKey) };
  return {
    provider: RESPONSES_PROVIDER,
    start: (context, request, sink) => {
      const body = renderResponsesRequest(request, options);
      return new HttpRound(
        {
          pool,
          request: { url, headers, body },
          newStream: (emit) => new ResponsesStream(syntheticIds(request.messages), emit),
        },
        { context, sink },
      );
    },
    warm: () => pool.warm(url),
    close: () => pool.close(),
  };
}
