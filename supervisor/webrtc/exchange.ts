/** One request of signaling and where its answer goes, whether it came by HTTP here or to the supervisor that took over. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AllowedOrigins } from '../../shared/net/origin.ts';
import { sdpLimits } from '../../shared/webrtc/sdp.ts';
import type { RequestHead } from '../admission/credentials.ts';
import { answerHeaders, errorBody } from '../http/answer.ts';
import type { Answer } from '../http/refusals.ts';
import { headOf } from '../listeners/request-form.ts';
import { corsHeaders } from './origin.ts';

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly type: string; readonly text: string } | undefined;
}

export interface Exchange {
  readonly method: string;
  readonly head: RequestHead;
  /** Address of the connection. */
  readonly peer: string | undefined;
  /** The whole body; undefined once it is longer than an offer may be, and where its client went in the middle of it. */
  readonly text: () => Promise<string | undefined>;
  /** Nobody is there to read an answer. */
  readonly isGone: () => boolean;
  readonly onGone: (gone: () => void) => void;
  /** Answers, unless there has been an answer. */
  readonly send: (reply: Reply) => void;
}

export function httpExchange(
  request: IncomingMessage,
  response: ServerResponse,
  allowed: AllowedOrigins | undefined,
): Exchange {
  return {
    method: request.method ?? '',
    head: headOf(request),
    get peer() {
      return request.socket.remoteAddress;
    },
    text: () => readText(request),
    isGone: () => response.destroyed,
    onGone: (gone) => void response.once('close', gone),
    send: ({ status, headers, body }) => {
      if (response.headersSent || response.destroyed) return;
      const { 'Content-Type': _type, 'Content-Length': length, ...common } = answerHeaders(body?.text ?? '');
      response.writeHead(status, {
        ...common,
        ...corsHeaders(request.headers as Record<string, string>, allowed),
        ...headers,
        ...(status !== 204 && { 'Content-Length': length }),
        ...(body !== undefined && { 'Content-Type': body.type }),
      });
      response.end(body?.text);
    },
  };
}

export function refuse(exchange: Exchange, answer: Answer): void {
  const { status, retryAfterS, headers } = answer;
  exchange.send({
    status,
    headers: {
      ...headers,
      ...(retryAfterS !== undefined && { 'Retry-After': String(retryAfterS) }),
      ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    },
    body: { type: 'application/json', text: errorBody(answer) },
  });
}

/** A header that is there once. */
export function headerOf({ head }: Exchange, name: string): string | undefined {
  const value = head.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function readText(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= sdpLimits.bytes) chunks.push(chunk);
    });
    request.on('end', () =>
      resolve(bytes > sdpLimits.bytes ? undefined : Buffer.concat(chunks).toString('utf8')),
    );
    request.on('error', () => resolve(undefined));
  });
}
