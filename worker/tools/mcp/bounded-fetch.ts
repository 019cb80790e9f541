/**
 * `fetch` for tool servers over HTTP: an answer is cut at its bound, no redirect is followed, and the stream of a server's
 * own news, which nobody here reads, is not opened. Reading a message costs time that all calls of a worker share, so their
 * number is bounded as well.
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { publicLookup, refuseLiteral } from '../../../shared/runtime/address-guard.ts';
import { Agent } from '../../../shared/runtime/undici.ts';
import { isTable } from '../../../shared/config/table.ts';
import { largeAnswer, lostAnswer, mostMessageBytes } from './message-bounds.ts';
import { exactBody, readableMessage } from './messages.ts';

/** Lines of one stream of events; a message takes two of them. */
const mostEventLines = 200;

/** The server is there, and what it sent is not read. */
class RefusedAnswerError extends Error {
  override readonly name = 'RefusedAnswerError';
}

/** Id of the request that is answered; news has none, and nobody waits for an answer to it. */
type Asked = number | undefined;

/** Connections of servers that reach public addresses alone, for all of a process. */
let publicAgent: Agent | undefined;
const newPublicAgent = (): Agent => new Agent({ connect: { lookup: publicLookup } });

export const newBoundedFetch =
  ({ isPublicOnly = false }: { readonly isPublicOnly?: boolean } = {}): FetchLike =>
  async (url, init) => {
    // Resuming streams is left out as well: a server could keep a client busy with it for ever.
    if (init?.method === 'GET') return new Response(null, { status: 405 });
    const sent = typeof init?.body === 'string' ? { body: exactBody(init.body) } : {};
    if (isPublicOnly) refuseLiteral(new URL(url));
    const way: object = isPublicOnly ? { dispatcher: (publicAgent ??= newPublicAgent()) } : {};
    const response = await fetch(url, { ...init, ...sent, ...way, redirect: 'manual' });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new RefusedAnswerError('the server redirects');
    }
    if (response.body === null) return response;
    const { status, statusText } = response;
    const headers = new Headers(response.headers);
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
    const asked = askedIn(init?.body);
    const body = isStream
      ? ReadableStream.from(boundedEvents(response.body, asked)).pipeThrough(new TextEncoderStream())
      : await singleMessage(response.body, asked);
    const isMessage = typeof body === 'string' && body.trimStart().startsWith('{');
    // Servers call it by other names.
    if (response.ok && isMessage) headers.set('content-type', 'application/json');
    return new Response(body, { status, statusText, headers });
  };

function askedIn(body: unknown): Asked {
  const request: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  const id = isTable(request) ? request['id'] : undefined;
  return typeof id === 'number' ? id : undefined;
}

/** Events with messages as they can be read. An event that is too long, and a stream that ends before it has answered, end the request. */
async function* boundedEvents(stream: ReadableStream<Uint8Array>, asked: Asked): AsyncGenerator<string> {
  const reader = new EventReader(asked);
  const decoder = new TextDecoder();
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += chunk.length;
      yield* reader.take(decoder.decode(chunk, { stream: true }));
      if (bytes <= mostMessageBytes && reader.lines <= mostEventLines) continue;
      if (asked !== undefined) yield eventOf(largeAnswer(asked));
      return;
    }
  } catch {
    // The connection broke.
    yield* unanswered(reader, asked);
    return;
  }
  yield* unanswered(reader, asked);
}

function* unanswered({ isAnswered }: EventReader, asked: Asked): Generator<string> {
  if (asked !== undefined && !isAnswered) yield eventOf(lostAnswer(asked));
}

const eventOf = (message: string): string => `data: ${message.replaceAll('\n', '\ndata: ')}\n\n`;

class EventReader {
  lines = 0;
  isAnswered = false;
  readonly #asked: Asked;
  #rest = '';
  #data: string[] = [];

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  /** The events that are complete. */
  *take(text: string): Generator<string> {
    // The second half of the end of a line may be yet to come.
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      this.lines += 1;
      if (line !== '')
        this.#data.push(...(/^data(?:: ?|$)/.test(line) ? [line.replace(/^data:? ?/, '')] : []));
      else if (this.#data.length > 0) {
        const message = readableMessage(this.#data.join('\n'), this.#asked);
        this.#data = [];
        this.isAnswered ||= this.#answers(message);
        yield eventOf(message);
      }
    }
  }

  #answers(text: string): boolean {
    try {
      const message: unknown = JSON.parse(text);
      return isTable(message) && !('method' in message) && message['id'] === this.#asked;
    } catch {
      return false;
    }
  }
}

/** One message is asked for at a time, so that a list of several is no answer. */
async function singleMessage(body: ReadableStream<Uint8Array>, asked: Asked): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    // Leaving the loop cancels the rest.
    if (bytes > mostMessageBytes) return asked === undefined ? '' : largeAnswer(asked);
    parts.push(part);
  }
  const text = Buffer.concat(parts).toString('utf8');
  const message = readableMessage(text, asked);
  if (message.trimStart().startsWith('[')) throw new RefusedAnswerError('a list of messages');
  return message;
}
