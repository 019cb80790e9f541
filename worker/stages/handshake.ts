/** What an HTTP answer means that came where a WebSocket was asked for, with the vendor's words for it. */
import type { IncomingMessage } from 'node:http';
import { causeInText, explained } from './failure.ts';
import { isSuccess, refusedWith } from './http.ts';
import type { StageContext, StageError } from './stage.ts';

/** The body only says why; nobody waits long for it. */
const bodyMs = 300;
const mostBytes = 8_192;

/** Tells the error once, as soon as the answer's body is there or has had its time. */
export function readHandshakeRefusal(
  response: IncomingMessage,
  context: StageContext,
  tell: (error: StageError) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  const end = context.bind(() => {
    if (isOver) return;
    isOver = true;
    timer.cancel();
    response.destroy();
    tell(errorOf(response, Buffer.concat(chunks).toString('utf8')));
  });
  const timer = context.clock.after(bodyMs, end);
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= mostBytes) chunks.push(chunk);
    else end();
  });
  response.on('end', end);
  response.on('error', end);
  response.on('close', end);
}

function errorOf({ statusCode = 0, headers }: IncomingMessage, body: string): StageError {
  if (isSuccess(statusCode)) return { kind: 'protocol', rule: 'the server speaks WebSocket' };
  const cause = causeInText(body);
  const told = headers['dg-error'];
  const text = typeof told === 'string' ? told : cause.text;
  const error = refusedWith(statusCode, headers['retry-after'], headers.date);
  return explained(error, { code: cause.code, text }, { beforeCall: true });
}
