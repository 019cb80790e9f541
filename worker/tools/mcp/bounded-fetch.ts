/**
 * `fetch` for tool servers over HTTP: an answer is cut at its bound, no redirect is followed, and the stream of a server's
 * own news, which nobody here reads, is not opened.
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';

/** Bytes of one answer, list of tools included. */
const mostAnswerBytes = 1_048_576;

export const boundedFetch: FetchLike = async (url, init) => {
  // Resuming streams is left out as well: a server could keep a client busy with it for ever.
  if (init?.method === 'GET') return new Response(null, { status: 405 });
  const response = await fetch(url, { ...init, redirect: 'error' });
  if (response.body === null) return response;
  let bytes = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      if (bytes > mostAnswerBytes) controller.error(new Error('the answer is too large'));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bound), { status, statusText, headers });
};
