/**
 * The few things that the demo's HTTP servers share: a bounded JSON body, JSON answers, and errors in the OpenAI shape.
 *
 * Invariant: a message names the field and the rule and never repeats what was sent.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request that is refused; `status` is the HTTP status. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const maxBodyBytes = 1_000_000;

/** The body as an object. Refuses with 413 when it is too large and with 400 when it is not a JSON object. */
export async function readJsonObject(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    if (!(chunk instanceof Buffer)) continue;
    length += chunk.length;
    if (length > maxBodyBytes)
      throw new Refusal(413, 'too_large', `the body must have at most ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return parseObject(Buffer.concat(chunks).toString('utf8'));
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Refusal(400, 'invalid_json', 'the body is not valid JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Refusal(400, 'invalid_json', 'the body must be a JSON object');
  }
  return Object.fromEntries(Object.entries(body));
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(text);
}

/** Ends the response with the error; a response that already started is cut, because its status cannot change. */
export function sendError(response: ServerResponse, error: unknown): void {
  const refusal = error instanceof Refusal ? error : new Refusal(500, 'internal', 'the demo server failed');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const type = refusal.status < 500 ? 'invalid_request_error' : 'server_error';
  if (refusal.status === 429 || refusal.status === 503) response.setHeader('Retry-After', '1');
  sendJson(response, refusal.status, {
    error: { message: refusal.message, type, code: refusal.code, param: null },
  });
}
