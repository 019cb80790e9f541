/**
 * HTTP as the adapters of networked providers share it: one pool per stage, and how failures are named.
 *
 * Invariant: an exchange ends with exactly one `ended` or `failed`, and with nothing after `abort()`. No handler runs
 * inside `post()`; every one of them runs in the scope of the call that asked. It never retries, never follows a
 * redirect, and puts neither addresses nor payloads into a failure.
 */
import type { Agent as HttpAgent, Dispatcher } from 'undici';
import { Agent, errors } from '../../shared/runtime/undici.ts';
import { connectionError, cutError, newConnector } from './connect.ts';
import { publicLookup, refusalOf } from './fence.ts';
import type { StageContext, StageError } from './stage.ts';

/** Ends what a call leaves behind in the pool when its own deadlines ended with it; above every stage's own limit. */
const BACKSTOP_MS = 150_000;
/** Upper bound of what a server may ask to keep an idle connection. */
const MAX_KEEP_ALIVE_MS = 600_000;

/** Longest wait that a provider's advice may ask for. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** Connections that are opened ahead at one time. */
const MAX_WARMING = 8;
const WARM_TIMEOUT_MS = 10_000;
const MAX_WARM_BYTES = 65_536;

export interface PostRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ResponseHead {
  readonly status: number;
  /** Lower-case media type with its parameters; empty when the server sent none. */
  readonly contentType: string;
  /** Value of a header by its lower-case name; empty when the server sent none. */
  readonly header: (name: string) => string;
}

export interface ExchangeHandlers {
  /** A connection is there and the request is on its way. */
  sent(): void;
  head(head: ResponseHead): void;
  /** The chunk is only valid during the call. */
  data(chunk: Buffer): void;
  ended(): void;
  failed(error: StageError): void;
}

/** One request and its response. */
export interface Exchange {
  abort(): void;
  /** Stops reading the body, so that backpressure reaches the server; one chunk that was read already may follow. */
  pause(): void;
  resume(): void;
}

export interface HttpPool {
  post(context: StageContext, request: PostRequest, handlers: ExchangeHandlers): Exchange;
  /** Opens a connection to the host of the address unless one is idle there; says nothing about the outcome. */
  warm(context: StageContext, url: URL): void;
  close(): Promise<void>;
}

export interface HttpPoolOptions {
  /** How long an idle connection is kept when the server names no time, in milliseconds; default 4,000. */
  readonly idleMs?: number;
}

/**
 * A pool with keep-alive for one stage; hundreds of calls share it. TLS sessions are resumed. It speaks HTTP/1.1 alone:
 * over HTTP/2 hundreds of calls would share one connection, and with it each of its losses.
 */
export function newHttpPool({ idleMs = 4_000 }: HttpPoolOptions = {}): HttpPool {
  const newAgent = (connect: ReturnType<typeof newConnector>): HttpAgent =>
    new Agent({
      connect,
      headersTimeout: BACKSTOP_MS,
      bodyTimeout: BACKSTOP_MS,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: Math.max(idleMs, MAX_KEEP_ALIVE_MS),
      allowH2: false,
    });
  const open = newAgent(newConnector());
  let fenced: HttpAgent | undefined;
  const agentOf = ({ isPublicOnly }: StageContext): HttpAgent =>
    isPublicOnly === true ? (fenced ??= newAgent(newConnector(publicLookup, refusalOf))) : open;
  const warming = new Set<object>();
  return {
    post: (context, request, handlers) => post(agentOf(context), request, { context, handlers }),
    warm: (context, url) => {
      const agent = agentOf(context);
      const stats = agent.stats[url.origin];
      const hasIdle = stats !== undefined && 'free' in stats && stats.free > 0;
      // Without TLS there is next to nothing to save, and such servers are near.
      const saves = url.protocol === 'https:';
      if (saves && !hasIdle && warming.size < MAX_WARMING) warm(agent, url, warming);
    },
    close: async () => {
      await Promise.all([open.destroy(), fenced?.destroy()]);
    },
  };
}

/** Asks the host what it allows, without a credential: the connection and its TLS session stay for the next request. */
function warm(agent: HttpAgent, url: URL, warming: Set<object>): void {
  const mark = {};
  warming.add(mark);
  const over = (): void => void warming.delete(mark);
  let bytes = 0;
  agent.dispatch(
    {
      origin: url.origin,
      path: url.pathname,
      method: 'OPTIONS',
      headersTimeout: WARM_TIMEOUT_MS,
      bodyTimeout: WARM_TIMEOUT_MS,
    },
    {
      onRequestStart: () => undefined,
      onResponseStart: () => undefined,
      onResponseData: (controller, chunk) => {
        bytes += chunk.length;
        if (bytes > MAX_WARM_BYTES) controller.abort(abortedByUs);
      },
      onResponseEnd: over,
      onResponseError: over,
    },
  );
}

interface ExchangeScope {
  readonly context: StageContext;
  readonly handlers: ExchangeHandlers;
}

class AbortedByUs extends Error {
  override readonly name = 'AbortedByUs';
}

/** One for all: a stack would be made and read for each answer that a caller talks over. */
const abortedByUs = new AbortedByUs();

/** The undici side of an exchange: what was asked of it before a connection existed is applied when it does. */
class RunningExchange implements Exchange {
  over = false;
  #controller: Dispatcher.DispatchController | undefined;
  #paused = false;

  attach(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.over) controller.abort(abortedByUs);
    else if (this.#paused) controller.pause();
  }

  abort(): void {
    this.over = true;
    this.#controller?.abort(abortedByUs);
  }

  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#controller?.resume();
  }
}

function post(agent: HttpAgent, request: PostRequest, scope: ExchangeScope): Exchange {
  const { context, handlers } = scope;
  const exchange = new RunningExchange();
  const fail = context.bind((error: StageError) => {
    if (exchange.over) return;
    exchange.abort();
    handlers.failed(error);
  });
  let dispatching = true;
  const handler = newDispatchHandler(exchange, scope, (error) => {
    // undici reports some failures from inside dispatch; the contract wants them after it.
    if (dispatching) context.clock.after(0, () => fail(error));
    else fail(error);
  });
  agent.dispatch(
    {
      origin: request.url.origin,
      path: request.url.pathname + request.url.search,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': 'identity', ...request.headers },
      body: request.body,
    },
    handler,
  );
  dispatching = false;
  return exchange;
}

function newDispatchHandler(
  exchange: RunningExchange,
  { context, handlers }: ExchangeScope,
  fail: (error: StageError) => void,
): Dispatcher.DispatchHandler {
  const sent = context.bind(() => handlers.sent());
  const head = context.bind((found: ResponseHead) => handlers.head(found));
  const data = context.bind((chunk: Buffer) => handlers.data(chunk));
  const ended = context.bind(() => handlers.ended());
  let hasAnswered = false;
  return {
    onRequestStart: (controller) => {
      exchange.attach(controller);
      // A reused connection starts the request inside dispatch; `sent` only re-arms deadlines, so it may run there.
      if (!exchange.over) sent();
    },
    onResponseStart: (_controller, status, headers) => {
      if (status < 200 || exchange.over) return;
      hasAnswered = true;
      const encoding = firstOf(headers['content-encoding']).toLowerCase();
      if (encoding !== '' && encoding !== 'identity') fail({ kind: 'protocol', rule: 'content encoding' });
      else {
        const header = (name: string): string => firstOf(headers[name]);
        head({ status, contentType: header('content-type').toLowerCase(), header });
      }
    },
    onResponseData: (_controller, chunk) => {
      if (!exchange.over) data(chunk);
    },
    onResponseEnd: () => {
      if (exchange.over) return;
      exchange.over = true;
      ended();
    },
    onResponseError: (_controller, error) => {
      if (!exchange.over) fail(hasAnswered ? cutError(errorOf(error)) : errorOf(error));
    },
  };
}

const firstOf = (value: string | string[] | undefined): string =>
  (typeof value === 'string' ? value : (value?.[0] ?? '')).trim();

function errorOf(error: Error): StageError {
  if (error instanceof errors.ConnectTimeoutError) return { kind: 'timeout', what: 'connect' };
  if (error instanceof errors.HeadersTimeoutError) return { kind: 'timeout', what: 'headers' };
  if (error instanceof errors.BodyTimeoutError) return { kind: 'timeout', what: 'idle' };
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) {
    return { kind: 'protocol', rule: 'http response' };
  }
  return connectionError(error);
}

/** `rejected` for every status that is no success; redirects count, because a credential must not follow them. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * What a `Retry-After` header asks for, in milliseconds. A date is read against the `Date` of the same answer, so that
 * no clock of this machine matters.
 */
export function retryAfterMsOf(advice: string | undefined, date: string | undefined): number | undefined {
  if (advice === undefined) return undefined;
  const waitMs = /^\d{1,9}$/.test(advice.trim())
    ? Number(advice) * 1000
    : Date.parse(advice) - Date.parse(date ?? '');
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(0, waitMs), MAX_RETRY_AFTER_MS);
}

/** The error of a refusal, with what its headers advise; empty advice is none. */
export function refusedWith(
  status: number,
  advice: string | undefined,
  date: string | undefined,
): StageError {
  const retryAfterMs = retryAfterMsOf(advice === '' ? undefined : advice, date);
  return { kind: 'rejected', status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** The media type without its parameters. */
export function mediaTypeOf(contentType: string): string {
  return contentType.split(';', 1)[0]?.trim() ?? '';
}

/** How long to keep a connection: hosted services hold theirs for a minute, small local servers for seconds. */
export function idleMsFor(url: URL): number {
  return url.protocol === 'https:' ? 55_000 : 4_000;
}
