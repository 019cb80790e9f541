/**
 * What the adapters of networked providers share: one HTTP pool per stage, deadlines, and how failures are named.
 *
 * Invariant: an exchange ends with exactly one `ended` or `failed`, and with nothing after `abort()`. No handler runs
 * inside `post()`; every one of them runs in the scope of the call that asked. It never retries, never follows a
 * redirect, and puts neither addresses nor payloads into a failure.
 */
import { Agent, errors } from 'undici';
import type { Dispatcher } from 'undici';
import { isLoopbackHost } from '../../shared/net/loopback.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import type { StageContext, StageError } from './stage.ts';

/** Longest wait for a connection, TLS included, in milliseconds (spec 03, Provider stage contracts). */
export const CONNECT_TIMEOUT_MS = 3_000;

/** Ends what a call leaves behind in the pool when its own deadlines ended with it; above every stage's own limit. */
const BACKSTOP_MS = 150_000;

export interface PostRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ResponseHead {
  readonly status: number;
  /** Lower-case media type with its parameters; empty when the server sent none. */
  readonly contentType: string;
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
  close(): Promise<void>;
}

/** A pool with keep-alive for one stage; hundreds of calls share it. */
export function newHttpPool(): HttpPool {
  const agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: BACKSTOP_MS,
    bodyTimeout: BACKSTOP_MS,
  });
  return {
    post: (context, request, handlers) => post(agent, request, { context, handlers }),
    close: () => agent.destroy(),
  };
}

interface ExchangeScope {
  readonly context: StageContext;
  readonly handlers: ExchangeHandlers;
}

class AbortedByUs extends Error {
  override readonly name = 'AbortedByUs';
}

/** The undici side of an exchange: what was asked of it before a connection existed is applied when it does. */
class RunningExchange implements Exchange {
  over = false;
  private controller: Dispatcher.DispatchController | undefined;
  private paused = false;

  attach(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.over) controller.abort(new AbortedByUs());
    else if (this.paused) controller.pause();
  }

  abort(): void {
    this.over = true;
    this.controller?.abort(new AbortedByUs());
  }

  pause(): void {
    this.paused = true;
    this.controller?.pause();
  }

  resume(): void {
    this.paused = false;
    this.controller?.resume();
  }
}

function post(agent: Agent, request: PostRequest, scope: ExchangeScope): Exchange {
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
  return {
    onRequestStart: (controller) => {
      exchange.attach(controller);
      // A reused connection starts the request inside dispatch; `sent` only re-arms deadlines, so it may run there.
      if (!exchange.over) sent();
    },
    onResponseStart: (_controller, status, headers) => {
      if (status < 200 || exchange.over) return;
      const encoding = firstOf(headers['content-encoding']);
      if (encoding !== '' && encoding !== 'identity') fail({ kind: 'protocol', rule: 'content encoding' });
      else head({ status, contentType: firstOf(headers['content-type']) });
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
      if (!exchange.over) fail(errorOf(error));
    },
  };
}

function firstOf(value: string | string[] | undefined): string {
  const text = typeof value === 'string' ? value : (value?.[0] ?? '');
  return text.trim().toLowerCase();
}

function errorOf(error: Error): StageError {
  if (error instanceof errors.ConnectTimeoutError) return { kind: 'timeout', what: 'connect' };
  if (error instanceof errors.HeadersTimeoutError) return { kind: 'timeout', what: 'headers' };
  if (error instanceof errors.BodyTimeoutError) return { kind: 'timeout', what: 'idle' };
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) {
    return { kind: 'protocol', rule: 'http response' };
  }
  return { kind: 'disconnected' };
}

/** `rejected` for every status that is no success; redirects count, because a credential must not follow them. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The media type without its parameters. */
export function mediaTypeOf(contentType: string): string {
  return contentType.split(';', 1)[0]?.trim() ?? '';
}

/** Appends a path to a base URL that may or may not end in a slash. */
export function urlUnder(baseUrl: string, path: string): URL {
  return new URL(baseUrl.replace(/\/+$/, '') + path);
}

/**
 * The bearer header, or none without a key.
 *
 * @throws Error when the key holds characters that no header may carry, or would leave this machine unencrypted
 *   (spec 03, Stage tables). The message never holds the key or the address.
 */
export function bearerHeaders(url: URL, apiKey: string | undefined): Record<string, string> {
  if (apiKey === undefined || apiKey === '') return {};
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new Error('api_key_env: the key must be printable ASCII');
  const encrypted = url.protocol === 'https:' || url.protocol === 'wss:';
  if (!encrypted && !isLoopbackHost(url.hostname)) {
    throw new Error('api_key_env: a key is only sent over TLS or to a loopback host');
  }
  return { authorization: `Bearer ${apiKey}` };
}

/**
 * One deadline that moves often: a timer that fires early looks at the due time and arms itself again, so that moving
 * the deadline costs no timer.
 */
export class Deadline {
  private readonly clock: Clock;
  private readonly passed: () => void;
  private readonly onTimer: () => void;
  private timer: Timer | undefined;
  private firesAtMs = 0;
  private dueMs: number | undefined;

  constructor(context: StageContext, passed: () => void) {
    this.clock = context.clock;
    this.passed = passed;
    this.onTimer = context.bind(() => this.look());
  }

  /** Moves the deadline to `delayMs` from now. */
  set(delayMs: number): void {
    this.setAt(this.clock.now() + delayMs);
  }

  setAt(dueMs: number): void {
    this.dueMs = dueMs;
    if (this.timer !== undefined && this.firesAtMs <= dueMs) return;
    this.timer?.cancel();
    this.arm(dueMs);
  }

  /** Without a deadline from here on. A timer that is still armed finds nothing to do. */
  clear(): void {
    this.dueMs = undefined;
  }

  close(): void {
    this.dueMs = undefined;
    this.timer?.cancel();
    this.timer = undefined;
  }

  private arm(dueMs: number): void {
    this.firesAtMs = dueMs;
    this.timer = this.clock.after(Math.max(0, dueMs - this.clock.now()), this.onTimer);
  }

  private look(): void {
    this.timer = undefined;
    if (this.dueMs === undefined) return;
    if (this.clock.now() < this.dueMs) {
      this.arm(this.dueMs);
      return;
    }
    this.dueMs = undefined;
    this.passed();
  }
}

/** Runs `action` once, soon after the method that asked for it returned, however often it is asked for. */
export class Soon {
  private readonly clock: Clock;
  private readonly onTimer: () => void;
  private timer: Timer | undefined;

  constructor(context: StageContext, action: () => void) {
    this.clock = context.clock;
    this.onTimer = context.bind(() => {
      this.timer = undefined;
      action();
    });
  }

  ask(): void {
    this.timer ??= this.clock.after(0, this.onTimer);
  }

  close(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }
}
