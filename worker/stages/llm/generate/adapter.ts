/**
 * The LLM stage over a content generation interface, `POST {base_url}/v1beta/models/{model}:streamGenerateContent`.
 *
 * Invariant: the key travels in a header and never in the address, which ends up in logs. It must not retry.
 */
import type { LlmGenerateOptions } from './declaration.ts';
import { urlUnder } from '../../../../shared/net/address.ts';
import { keyHeaders } from '../../keys.ts';
import type { LlmStage, ProviderAccess } from '../../stage.ts';
import { syntheticIds } from '../call-ids.ts';
import { GENERATE_PROVIDER, renderGenerateRequest, toolNames } from './request.ts';
import { GenerateStream } from './stream.ts';
import { newHttpLlm } from '../http-stage.ts';

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newLlmGenerate(options: LlmGenerateOptions & ProviderAccess): LlmStage {
  const urlOf = ({ baseUrl, model }: LlmGenerateOptions): URL =>
    urlUnder(baseUrl, `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`);
  return newHttpLlm({
    provider: GENERATE_PROVIDER,
    options,
    url: urlOf,
    headers: {
      accept: 'text/event-stream',
      ...keyHeaders(urlOf(options), options.apiKey, { name: 'x-goog-api-key' }),
    },
    ask: (request, asked) => {
      const names = toolNames(request);
      return {
        body: renderGenerateRequest(request, asked, names),
        newStream: (emit) => new GenerateStream(syntheticIds(request.messages), { names, emit }),
      };
    },
  });
}
