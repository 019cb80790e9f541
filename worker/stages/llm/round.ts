/**
 * One round over HTTP: the request, its deadlines and its event stream, the same for every LLM provider.
 *
 * Invariant: a round emits exactly one `done` or `error`, and nothing after `cancel()`. It must not retry: whether a
 * round is asked again, and of whom, is decided above it. The stream knows what the events mean.
 */
import type { Exchange, HttpPool, PostRequest, ResponseHead } from '../http.ts';
import { CONNECT_TIMEOUT_MS } from '../connect.ts';
import { isSuccess, mediaTypeOf } from '../http.ts';
import { Deadline } from '../timers.ts';
import type { LlmEvent, LlmRound, StageContext, StageError } from '../stage.ts';
import { isRecord, parseJson } from '../json.ts';
import { rejectionOf } from './rejection.ts';
import { SseParser, isEndMarker, type SseEvent } from './sse.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const FIRST_CONTENT_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 10_000;
/** How long usage may follow the finish reason; the answer is complete already, so the round ends without it. */
const USAGE_WAIT_MS = 250;
/** How long the connection may take to end the response after the end marker before it is given up. */
const DRAIN_MS = 1_000;
/** How long the body of a refusal may take; it only says whether asking again helps. */
const REFUSAL_MS = 500;

const MAX_EVENT_BYTES = 1_048_576;
const MAX_RESPONSE_BYTES = 4_194_304;
const MAX_REFUSAL_BYTES = 65_536;

type Phase = 'connect' | 'headers' | 'refusal' | 'first content' | 'idle' | 'usage' | 'drain' | 'over';

/** What the events of a response mean. Emits its events while it is fed; pure. */
export interface RoundStream {
  /** `done` or `error` was emitted. */
  readonly closed: boolean;
  /** `error` was emitted. */
  readonly failed: boolean;
  /** Text, thoughts or a tool call have arrived. */
  readonly started: boolean;
  /** Thoughts have come, apart from the text. */
  readonly thinksApart: boolean;
  /** The server said why it stopped; only usage and the end may follow. */
  readonly finished: boolean;
  event(event: SseEvent): void;
  /** The body as one JSON text, from a server that does not stream. */
  whole(text: string): void;
  /** The response ended: complete when the server had said why it stopped, else cut. */
  end(): void;
  fail(error: StageError): void;
}

export interface RoundPlan {
  readonly pool: HttpPool;
  readonly request: PostRequest;
  readonly newStream: (emit: (event: LlmEvent) => void) => RoundStream;
}

interface RoundScope {
  readonly context: StageContext;
  readonly sink: (event: LlmEvent) => void;
}

const isWhole = (event: SseEvent): boolean =>
  isEndMarker(event) || event.event === 'error' || isRecord(parseJson(event.data));

export class HttpRound implements LlmRound {
  readonly #deadline: Deadline;
  readonly #stream: RoundStream;
  readonly #parser = new SseParser(MAX_EVENT_BYTES);
  readonly #exchange: Exchange;
  #phase: Phase = 'connect';
  #bytes = 0;
  #refused: ResponseHead | undefined;
  /** Set when the body is not a stream: a refusal, or an answer in one JSON object. */
  #whole: Buffer[] | undefined;

  constructor({ pool, request, newStream }: RoundPlan, { context, sink }: RoundScope) {
    this.#stream = newStream((event) => {
      if (this.#phase !== 'over') sink(event);
    });
    this.#deadline = new Deadline(context, () => this.#onDeadline());
    this.#deadline.set(CONNECT_TIMEOUT_MS);
    this.#exchange = pool.post(context, request, {
      sent: () => this.#enter('headers', HEADERS_TIMEOUT_MS),
      head: (head) => this.#onHead(head),
      data: (chunk) => this.#onData(chunk),
      ended: () => this.#onEnd(),
      failed: (error) => {
        // A refusal stays one when its body is cut.
        if (this.#phase === 'refusal') this.#refuse();
        else this.#stream.fail(error);
        this.#finish();
      },
    });
  }

  cancel(): void {
    this.#finish();
  }

  #enter(phase: Phase, timeoutMs: number): void {
    if (this.#phase === 'over') return;
    this.#phase = phase;
    this.#deadline.set(timeoutMs);
  }

  #onHead(head: ResponseHead): void {
    const type = mediaTypeOf(head.contentType);
    if (!isSuccess(head.status)) {
      this.#refused = head;
      this.#whole = [];
      this.#enter('refusal', REFUSAL_MS);
      return;
    }
    if (type === 'application/json') this.#whole = [];
    else if (type !== '' && type !== 'text/event-stream') {
      this.#stream.fail({ kind: 'protocol', rule: 'content type of a stream' });
      this.#finish();
      return;
    }
    this.#enter('first content', FIRST_CONTENT_TIMEOUT_MS);
  }

  #onData(chunk: Buffer): void {
    if (this.#phase === 'drain' || this.#phase === 'over') return;
    this.#bytes += chunk.length;
    if (this.#phase === 'refusal') {
      if (this.#bytes <= MAX_REFUSAL_BYTES) this.#whole?.push(Buffer.from(chunk));
      else {
        this.#refuse();
        this.#finish();
      }
      return;
    }
    if (this.#bytes > MAX_RESPONSE_BYTES) {
      this.#stream.fail({ kind: 'protocol', rule: 'at most 4 MiB in a response' });
    } else if (this.#whole !== undefined) this.#whole.push(Buffer.from(chunk));
    else if (!this.#tell(chunk)) {
      this.#stream.fail({ kind: 'protocol', rule: 'at most 1 MiB in an event' });
    }
    this.#follow();
  }

  /** Tells the stream the events that the chunk completes; false when one is over its bound. */
  #tell(chunk: Buffer): boolean {
    for (const event of this.#parser.push(chunk)) {
      if (event === 'too-large') return false;
      this.#stream.event(event);
      // The consumer may cancel from inside the sink; the rest of the chunk belongs to nobody then.
      if (this.#isOver()) break;
    }
    return true;
  }

  /** Moves on to the phase that the stream has reached, and its deadline with it. */
  #follow(): void {
    if (this.#phase === 'over') return;
    if (this.#stream.closed) this.#drain();
    else if (this.#phase === 'usage') return;
    else if (this.#stream.finished) this.#enter('usage', USAGE_WAIT_MS);
    else if (this.#stream.started) this.#enter('idle', IDLE_TIMEOUT_MS);
  }

  /** Lets a complete response run out, so that the connection can be used again; an error gives it up. */
  #drain(): void {
    if (this.#stream.failed) this.#finish();
    else this.#enter('drain', DRAIN_MS);
  }

  #onEnd(): void {
    if (this.#phase === 'drain' || this.#phase === 'over') {
      this.#finish();
      return;
    }
    if (this.#phase === 'refusal') this.#refuse();
    else if (this.#whole !== undefined) this.#stream.whole(Buffer.concat(this.#whole).toString('utf8'));
    else {
      const rest = this.#parser.end();
      // The last blank line may be missing. A tail that is not whole was cut in the middle, whatever it says.
      if (rest !== undefined && isWhole(rest)) this.#stream.event(rest);
      this.#stream.end();
    }
    this.#finish();
  }

  #onDeadline(): void {
    if (this.#phase === 'usage') this.#stream.end();
    else if (this.#phase === 'refusal') this.#refuse();
    else if (this.#phase !== 'drain' && this.#phase !== 'over') {
      this.#stream.fail({ kind: 'timeout', what: this.#phase });
    }
    this.#finish();
  }

  #refuse(): void {
    if (this.#refused === undefined) return;
    const text = Buffer.concat(this.#whole ?? []).toString('utf8');
    this.#stream.fail(rejectionOf(this.#refused, parseJson(text)));
  }

  #isOver(): boolean {
    return this.#phase === 'over';
  }

  #finish(): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    this.#deadline.close();
    this.#exchange.abort();
  }
}
