/**
 * The LLM stage over a content generation interface, `POST {base_url}/v1beta/models/{model}:streamGenerateContent`
 * (spec 03, Options tables).
 *
 * Invariant: the key travels in a header and never in the address, which ends up in logs. It must not retry.
 */
import type { LlmGenerateOptions } from './declaration.ts';
import { idleMsFor, keyHeaders, newHttpPool, urlUnder } from '../../http.ts';
import type { LlmStage, ProviderAccess } from '../../stage.ts';
import { syntheticIds } from '../call-ids.ts';
import { GENERATE_PROVIDER, renderGenerateRequest, toolNames } from './request.ts';
import { GenerateStream } from './stream.ts';
import { HttpRound } from '../round.ts';

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newLlmGenerate(options: LlmGenerateOptions & ProviderAccess): LlmStage {
  const model = encodeURIComponent(options.model);
  const url = urlUnder(options.baseUrl, `/v1beta/models/${model}:streamGenerateContent?alt=sse`);
  const pool = newHttpPool({ idleMs: idleMsFor(url) });
  const headers = {
    accept: 'text/event-stream',
    ...keyHeaders(url, options.apiKey, { name: 'x-goog-api-key' }),
  };
  return {
    provider: GENERATE_PROVIDER,
    start: (context, request, sink) => {
      const names = toolNames(request);
      const body = renderGenerateRequest(request, options, names);
      return new HttpRound(
        {
          pool,
          request: { url, headers, body },
          newStream: (emit) => new GenerateStream(syntheticIds(request.messages), { names, emit }),
        },
        { context, sink },
      );
    },
    warm: () => pool.warm(url),
    close: () => pool.close(),
  };
}
