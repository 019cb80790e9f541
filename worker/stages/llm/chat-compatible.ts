/**
 * The LLM stage over any server with an OpenAI-style `POST {base_url}/chat/completions` that streams
 * (spec 03, Chat-compatible LLM behaviour).
 *
 * Invariant: a round emits exactly one `done` or `error`, and nothing after `cancel()`. It must not retry: whether a
 * round is asked again, and of whom, is decided above it.
 */
import type { ChatCompatibleOptions } from '../../../shared/config/stages/chat-compatible.ts';
import type { Exchange, HttpPool, ResponseHead } from '../http.ts';
import {
  CONNECT_TIMEOUT_MS,
  Deadline,
  bearerHeaders,
  isSuccess,
  mediaTypeOf,
  newHttpPool,
  urlUnder,
} from '../http.ts';
import type { LlmEvent, LlmRequest, LlmRound, LlmStage, StageContext } from '../stage.ts';
import { renderChatRequest, syntheticIds } from './chat-request.ts';
import { ChatStream } from './chat-stream.ts';
import { SseParser } from './sse.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const FIRST_CONTENT_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 10_000;
/** How long usage may follow the finish reason; the answer is complete already, so the round ends without it. */
const USAGE_WAIT_MS = 250;
/** How long the connection may take to end the response after the end marker before it is given up. */
const DRAIN_MS = 1_000;

const MAX_EVENT_BYTES = 1_048_576;
const MAX_RESPONSE_BYTES = 4_194_304;

type Phase = 'connect' | 'headers' | 'first content' | 'idle' | 'usage' | 'drain' | 'over';

interface Endpoint {
  readonly pool: HttpPool;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: ChatCompatibleOptions;
}

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newChatCompatible(options: ChatCompatibleOptions & { apiKey?: string }): LlmStage {
  const url = urlUnder(options.baseUrl, '/chat/completions');
  const pool = newHttpPool();
  const headers = { accept: 'text/event-stream', ...bearerHeaders(url, options.apiKey) };
  const endpoint: Endpoint = { pool, url, headers, options };
  return {
    provider: 'chat_compatible',
    start: (context, request, sink) => new ChatRound(endpoint, request, { context, sink }),
    close: () => pool.close(),
  };
}

interface RoundScope {
  readonly context: StageContext;
  readonly sink: (event: LlmEvent) => void;
}

class ChatRound implements LlmRound {
  private readonly deadline: Deadline;
  private readonly stream: ChatStream;
  private readonly parser = new SseParser(MAX_EVENT_BYTES);
  private readonly exchange: Exchange;
  private phase: Phase = 'connect';
  private bytes = 0;
  /** Set when the server answers with one JSON object instead of a stream. */
  private whole: Buffer[] | undefined;

  constructor(endpoint: Endpoint, request: LlmRequest, { context, sink }: RoundScope) {
    this.stream = new ChatStream(syntheticIds(request.messages), (event) => {
      if (this.phase !== 'over') sink(event);
    });
    this.deadline = new Deadline(context, () => this.onDeadline());
    this.deadline.set(CONNECT_TIMEOUT_MS);
    const body = renderChatRequest(request, endpoint.options);
    this.exchange = endpoint.pool.post(
      context,
      { url: endpoint.url, headers: endpoint.headers, body },
      {
        sent: () => this.enter('headers', HEADERS_TIMEOUT_MS),
        head: (head) => this.onHead(head),
        data: (chunk) => this.onData(chunk),
        ended: () => this.onEnd(),
        failed: (error) => {
          this.stream.fail(error);
          this.finish();
        },
      },
    );
  }

  cancel(): void {
    this.finish();
  }

  private enter(phase: Phase, timeoutMs: number): void {
    if (this.phase === 'over') return;
    this.phase = phase;
    this.deadline.set(timeoutMs);
  }

  private onHead({ status, contentType }: ResponseHead): void {
    const type = mediaTypeOf(contentType);
    if (!isSuccess(status)) this.stream.fail({ kind: 'rejected', status });
    else if (type === 'application/json') this.whole = [];
    else if (type !== '' && type !== 'text/event-stream') {
      this.stream.fail({ kind: 'protocol', rule: 'content type of a stream' });
    }
    if (this.stream.closed) this.finish();
    else this.enter('first content', FIRST_CONTENT_TIMEOUT_MS);
  }

  private onData(chunk: Buffer): void {
    if (this.phase === 'drain' || this.phase === 'over') return;
    this.bytes += chunk.length;
    if (this.bytes > MAX_RESPONSE_BYTES) {
      this.stream.fail({ kind: 'protocol', rule: 'at most 4 MiB in a response' });
    } else if (this.whole !== undefined) this.whole.push(Buffer.from(chunk));
    else this.feed(chunk);
    this.follow();
  }

  private feed(chunk: Buffer): void {
    const events = this.parser.push(chunk);
    if (events === 'too-large') {
      this.stream.fail({ kind: 'protocol', rule: 'at most 1 MiB in an event' });
      return;
    }
    // The consumer may cancel from inside the sink; what is left of the chunk belongs to nobody then.
    for (const event of events) if (!this.isOver()) this.stream.event(event);
  }

  /** Moves on to the phase that the stream has reached, and its deadline with it. */
  private follow(): void {
    if (this.phase === 'over') return;
    if (this.stream.closed) this.drain();
    else if (this.phase === 'usage') return;
    else if (this.stream.finished) this.enter('usage', USAGE_WAIT_MS);
    else if (this.stream.started) this.enter('idle', IDLE_TIMEOUT_MS);
  }

  /** Lets a complete response run out, so that the connection can be used again; an error gives it up. */
  private drain(): void {
    if (this.stream.failed) this.finish();
    else this.enter('drain', DRAIN_MS);
  }

  private onEnd(): void {
    if (this.phase === 'drain' || this.phase === 'over') {
      this.finish();
      return;
    }
    if (this.whole !== undefined) this.stream.whole(Buffer.concat(this.whole).toString('utf8'));
    else {
      const rest = this.parser.end();
      // A tail that is no end marker was cut in the middle, whatever it says.
      if (rest?.data.startsWith('[DONE]') === true) this.stream.event(rest);
      this.stream.end();
    }
    this.finish();
  }

  private onDeadline(): void {
    if (this.phase === 'usage') this.stream.end();
    else if (this.phase !== 'drain' && this.phase !== 'over') {
      this.stream.fail({ kind: 'timeout', what: this.phase });
    }
    this.finish();
  }

  private isOver(): boolean {
    return this.phase === 'over';
  }

  private finish(): void {
    if (this.phase === 'over') return;
    this.phase = 'over';
    this.deadline.close();
    this.exchange.abort();
  }
}
