/** What a failed request says of the session that it went to. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { isUnsent } from '../unsent.ts';
import { cutOff } from './message-bounds.ts';

/**
 * `untaken`: the server does not know the session any more, as after a restart, so that nothing of the request was done. `unknown`: it is
 * gone, and what became of the request is not known. `suspect`: the request failed, and a session that was there may be lost.
 */
export type Loss = 'untaken' | 'unknown' | 'suspect';

/** Statuses of one who knows no such session, or not who asks in it. */
const unknownSession: readonly unknown[] = [400, 401, 404, 410];
/** Of a server that is away, or of what stands before it. */
const away: readonly unknown[] = [502, 503];

/** Of JSON-RPC and of the protocol, for requests that were not taken. */
const isRefusal = (code: unknown): boolean =>
  typeof code === 'number' && code <= -32_000 && code >= -32_700 && code !== cutOff;
const sessionWords = [
  /\bsession\b.{0,80}\b(?:not|no longer|unknown|invalid|expired|missing|required|lost|gone|terminated|closed)\b/i,
  /\b(?:no|unknown|invalid|expired|missing|lost|terminated|closed)(?: (?:such|valid|active|known|mcp))* session\b/i,
  /\b(?:not (?:yet |been )?|un)initiali[sz]ed\b/i,
];

export function lossOf(error: unknown, { transport }: Pick<Client, 'transport'>): Loss | undefined {
  if (!(error instanceof Error)) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  if (unknownSession.includes(code) || error.name === 'UnauthorizedError') return 'untaken';
  if (away.includes(code)) return transport?.sessionId === undefined ? 'suspect' : 'unknown';
  if (code === cutOff) return 'unknown';
  if (isRefusal(code) && sessionWords.some((words) => words.test(error.message.slice(0, longestMessage))))
    return 'untaken';
  // What fetch says of a connection that could not be had, or broke.
  if (error instanceof TypeError) return isUnsent(error) ? 'untaken' : 'unknown';
  return undefined;
}

const longestMessage = 500;
