/**
 * The wire side of a caller of the WebSocket call protocol, version 1 (docs/call-protocol.md): the handshake up to `started`, and the reading of
 * the server's messages.
 *
 * The decoder is the client's own, written from the description of the protocol, so that a mistake in the server's code is not shared.
 * An address is never repeated in an error, as it may hold a token.
 */
import { WebSocket } from 'ws';
import * as z from 'zod';
import { readTold, toldTypes, type ToldMessage } from './call-conversation.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';

/** How samples travel (docs/call-protocol.md, A call). */
export type CallEncoding = 'pcm16' | 'mulaw';

export interface CallerOptions {
  readonly url: string;
  readonly clock: Clock;
  /** Hz; one of the protocol's rates. */
  readonly sampleRate: number;
  readonly encoding: CallEncoding;
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string;
  readonly callId?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Asks to be told what is heard and said. */
  readonly follow?: boolean;
  /** False: nothing is sent but what `sendAudio` is given. Default true: a frame every 20 ms, silence between speech. */
  readonly microphone?: boolean;
  /** From the start of connecting until `started`. Default 10,000. */
  readonly connectTimeoutMs?: Millis;
  readonly prebufferMs?: Millis;
}

interface HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** The call did not come about. `status` and `retryAfter` are those of the HTTP answer, when there was one. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused';
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;

  constructor(message: string, answer?: HttpAnswer) {
    super(message);
    this.status = answer?.status;
    this.retryAfter = answer?.retryAfter;
  }
}

const serverMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('started'),
    version: z.literal(1),
    call_id: z.string(),
    sample_rate: z.int(),
    encoding: z.enum(['pcm16', 'mulaw']),
  }),
  z.object({ type: z.literal('clear'), epoch: z.int().min(0) }),
  z.object({ type: z.literal('mark'), id: z.string() }),
  z.object({ type: z.literal('stop'), reason: z.enum(['ended', 'shutdown']) }),
  z.object({ type: z.literal('error'), code: z.string(), message: z.string(), fatal: z.boolean() }),
]);
export type ServerMessage = z.infer<typeof serverMessage> | ToldMessage;
const anyMessage = z.looseObject({ type: z.string() });
const knownTypes: readonly string[] = ['started', 'clear', 'mark', 'stop', 'error'];

/** A call that has just started: the socket has no listeners yet. */
export interface StartedCall {
  readonly socket: WebSocket;
  readonly callId: string;
}

/** A text frame of the server; undefined for a type from a later version; a string names the broken rule. */
export function decodeServerMessage(text: string): ServerMessage | string | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return 'a text frame must be JSON';
  }
  const any = anyMessage.safeParse(json);
  if (!any.success) return 'a message must be an object with a string type';
  const { type } = any.data;
  if (toldTypes.includes(type)) {
    const told = readTold(json);
    return 'wrong' in told ? `${type}: ${told.wrong} is not as specified` : told;
  }
  if (!knownTypes.includes(type)) return undefined;
  const message = serverMessage.safeParse(json);
  if (message.success) return message.data;
  return `${type}: ${message.error.issues.map((issue) => issue.path.join('.')).join(', ')} is not as specified`;
}

/**
 * Connects, sends `start` and waits for `started`. `build` is called at once then, because the messages behind `started`
 * may already be there. Rejects with {@link CallRefused}.
 */
export function openCall<T>(options: CallerOptions, build: (call: StartedCall) => T): Promise<T> {
  const { promise, resolve, reject } = later<T>();
  let socket: WebSocket;
  try {
    socket = new WebSocket(options.url, {
      perMessageDeflate: false,
      maxPayload: 4 * 1024 * 1024,
      ...(options.token === undefined ? {} : { headers: { Authorization: `Bearer ${options.token}` } }),
    });
  } catch {
    return Promise.reject(new CallRefused('url: must be a ws:// or wss:// address'));
  }
  const leave = (): void => {
    timer.cancel();
    socket.removeAllListeners();
  };
  const refuse = (message: string, answer?: HttpAnswer): void => {
    leave();
    // A socket that is given up while it connects reports that as an error.
    socket.on('error', () => undefined);
    socket.terminate();
    reject(new CallRefused(message, answer));
  };
  const timeoutMs = options.connectTimeoutMs ?? 10_000;
  const timer = options.clock.after(timeoutMs, () => refuse(`the call did not start within ${timeoutMs} ms`));
  socket.on('open', () => socket.send(startMessage(options)));
  socket.on('unexpected-response', (_request, response) => {
    const status = response.statusCode ?? 0;
    const retryAfter = response.headers['retry-after'];
    const advice = retryAfter === undefined ? '' : ` (Retry-After: ${retryAfter})`;
    refuse(`the server refused the call with HTTP ${status}${advice}`, { status, retryAfter });
  });
  socket.on('error', (error: Error & { code?: string }) =>
    refuse(`the server cannot be reached: ${error.code ?? 'the connection failed'}`),
  );
  socket.on('close', (code: number) =>
    refuse(`the server closed the connection before the call started (${code})`),
  );
  socket.on('message', (data: unknown, isBinary: boolean) => {
    const message = isBinary ? 'no audio may come before started' : decodeServerMessage(String(data));
    const refusal = refusalOf(message, options);
    if (refusal !== undefined) {
      refuse(refusal);
    } else if (typeof message === 'object' && message.type === 'started') {
      leave();
      resolve(build({ socket, callId: message.call_id }));
    }
  });
  return promise;
}

/** Why the first message of the server means that there is no call; undefined for `started` and what may come before it. */
function refusalOf(message: ServerMessage | string | undefined, options: CallerOptions): string | undefined {
  if (message === undefined) return undefined;
  if (typeof message === 'string') return `protocol: ${message}`;
  if (message.type === 'error') {
    return message.fatal ? `the server refused the call: ${message.code}: ${message.message}` : undefined;
  }
  if (message.type === 'stop') return `the server ended the call: ${message.reason}`;
  if (message.type !== 'started') return `protocol: ${message.type} came before started`;
  const same = message.sample_rate === options.sampleRate && message.encoding === options.encoding;
  return same ? undefined : 'protocol: started names another rate or encoding than start';
}

function later<T>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
} {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

function startMessage(options: CallerOptions): string {
  return JSON.stringify({
    type: 'start',
    version: 1,
    sample_rate: options.sampleRate,
    encoding: options.encoding,
    call_id: options.callId,
    metadata: options.metadata,
    ...(options.follow === true && { events: toldTypes }),
  });
}
