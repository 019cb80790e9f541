/**
 * The LLM stage over any server with an OpenAI-style `POST {base_url}/chat/completions` that streams.
 *
 * Invariant: a round emits exactly one `done` or `error`, and nothing after `cancel()`. It must not retry: whether a
 * round is asked again, and of whom, is decided above it.
 */
import type { ChatCompatibleOptions } from './declaration.ts';
import { urlUnder } from '../../../../shared/net/address.ts';
import { bearerHeaders } from '../../keys.ts';
import type { LlmStage, ProviderAccess } from '../../stage.ts';
import { syntheticIds } from '../call-ids.ts';
import { renderChatRequest } from './request.ts';
import { CHAT_PROVIDER, ChatStream } from './stream.ts';
import { newHttpLlm } from '../http-stage.ts';

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newChatCompatible(options: ChatCompatibleOptions & ProviderAccess): LlmStage {
  const url = urlUnder(options.baseUrl, '/chat/completions');
  return newHttpLlm({
    provider: CHAT_PROVIDER,
    options,
    url: () => url,
    headers: { accept: 'text/event-stream', ...bearerHeaders(url, options.apiKey) },
    ask: (request, asked) => ({
      body: renderChatRequest(request, asked),
      newStream: (emit) => new ChatStream(syntheticIds(request.messages), emit),
    }),
  });
}
