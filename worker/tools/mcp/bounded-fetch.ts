/**
 * `fetch` for tool servers over HTTP: an answer is cut at its bound, no redirect is followed, and the stream of a server's
 * own news, which nobody here reads, is not opened. Reading a message costs time that all calls of a worker share, so their
 * number is bounded as well.
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isTable } from '../../../shared/config/table.ts';
import { largeAnswer, mostMessageBytes } from './message-bounds.ts';

/** Lines of one stream of events; a message takes two of them. */
const mostEventLines = 200;
const newline = 10;

/** The server is there, and what it sent is not read. */
class RefusedAnswerError extends Error {
  override readonly name = 'RefusedAnswerError';
}

/** Stands in for the answer that a request gets no more. */
type StandIn = string | undefined;

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
  const standIn = standInFor(init?.body);
  const body = isStream
    ? response.body.pipeThrough(boundedEvents(standIn))
    : await singleMessage(response.body, standIn);
  return new Response(body, { status, statusText, headers });
};

/** By the id of the request; news has none, and nobody waits for an answer to it. */
function standInFor(body: unknown): StandIn {
  const request: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  const id = isTable(request) ? request['id'] : undefined;
  return typeof id === 'number' ? largeAnswer(id) : undefined;
}

function boundedEvents(standIn: StandIn): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let lines = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines += 1;
      if (bytes <= mostMessageBytes && lines <= mostEventLines) {
        controller.enqueue(chunk);
        return;
      }
      // Behind empty lines, which end the event that was cut.
      if (standIn !== undefined) controller.enqueue(new TextEncoder().encode(`\n\ndata: ${standIn}\n\n`));
      controller.terminate();
    },
  });
}

/** One message is asked for at a time, so that a list of them is no answer. */
async function singleMessage(body: ReadableStream<Uint8Array>, standIn: StandIn): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    // Leaving the loop cancels the rest.
    if (bytes > mostMessageBytes) return standIn ?? '';
    parts.push(part);
  }
  const text = Buffer.concat(parts).toString('utf8');
  if (text.trimStart().startsWith('[')) throw new RefusedAnswerError('a list of messages');
  return text;
}
