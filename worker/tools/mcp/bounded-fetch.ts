/**
 * `fetch` for tool servers over HTTP: an answer is cut at its bound, no redirect is followed, and the stream of a server's
 * own news, which nobody here reads, is not opened. Reading a message costs time that all calls of a worker share, so their
 * number is bounded as well.
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { mostMessageBytes } from './message-bounds.ts';

/** Lines of one stream of events; a message takes two of them. */
const mostEventLines = 200;
const newline = 10;

/** The server is there, and what it sent is not read. */
class RefusedAnswerError extends Error {
  override readonly name = 'RefusedAnswerError';
}

export const boundedFetch: FetchLike = async (url, init) => {
  // Resuming streams is left out as well: a server could keep a client busy with it for ever.
  if (init?.method === 'GET') return new Response(null, { status: 405 });
  const response = await fetch(url, { ...init, redirect: 'manual' });
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    throw new RefusedAnswerError('the server redirects');
  }
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const body = response.body.pipeThrough(newBound(isStream ? mostEventLines : Infinity));
  return new Response(isStream ? body : await singleMessage(body), { status, statusText, headers });
};

function newBound(mostLines: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let lines = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines += 1;
      if (bytes > mostMessageBytes || lines > mostLines)
        controller.error(new RefusedAnswerError('the answer is too large'));
      else controller.enqueue(chunk);
    },
  });
}

/** One message is asked for at a time, so that a list of them is no answer. */
async function singleMessage(body: ReadableStream<Uint8Array>): Promise<string> {
  const text = await new Response(body).text();
  if (text.trimStart().startsWith('[')) throw new RefusedAnswerError('a list of messages');
  return text;
}
