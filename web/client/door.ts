/**
 * Tells apart why a call was not taken. A browser hides the HTTP answer to a WebSocket from the page, so the answers come from plain
 * requests: of the endpoint for tokens before the call, and of the call's own address after a refusal.
 */
import type { CallOutcome } from './call-machine.ts';
import type { LineKind } from './line/line-kind.ts';
import { parseObject } from './wire.ts';

/** Thrown by the function that gives tokens, to say how the call ends without one. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
  readonly outcome: CallOutcome;

  constructor(outcome: CallOutcome) {
    super(`no token: ${outcome.kind}`);
    this.outcome = outcome;
  }
}

/** What an HTTP status says about a call. */
function outcomeOfStatus(status: number): CallOutcome {
  if (status === 401 || status === 403 || status === 413) return { kind: 'unauthorised' };
  if (status === 429 || status === 503) return { kind: 'busy' };
  // A proxy answers so when the service behind it is gone.
  return status === 502 || status === 504 ? { kind: 'down' } : { kind: 'refused' };
}

/**
 * A giver of tokens that asks an endpoint: POST, answered with `{"token": "..."}`. Cookies go with it, so that a backend knows who
 * asks. For a call by WebRTC, whose tokens have an audience of their own, `?transport=webrtc` is added.
 */
export function tokenFrom(address: string | URL): (line?: LineKind) => Promise<string> {
  return async (line) => {
    const endpoint = new URL(address, location.href);
    if (line === 'webrtc') endpoint.searchParams.set('transport', line);
    let response: Response;
    try {
      response = await fetch(endpoint, { method: 'POST', credentials: 'include', cache: 'no-store' });
    } catch (error) {
      console.warn('the endpoint for tokens does not answer', error);
      throw new TokenRefused({ kind: 'down' });
    }
    if (!response.ok) {
      const outcome = outcomeOfStatus(response.status);
      throw new TokenRefused(outcome.kind === 'refused' ? { kind: 'no-token' } : outcome);
    }
    const token = parseObject(await response.text())?.get('token');
    if (typeof token !== 'string' || token === '') throw new TokenRefused({ kind: 'no-token' });
    return token;
  };
}

/** Why the WebSocket at `url` was refused. The token is unused, or the answer would not be about it. */
export async function askWhy(url: string, token: string | undefined): Promise<CallOutcome> {
  const address = url.replace(/^ws/, 'http');
  try {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const response = await fetch(address, { headers, cache: 'no-store', credentials: 'omit' });
    return outcomeOfStatus(response.status);
  } catch (error) {
    console.debug('the address of the call does not say why it refused', error);
  }
  try {
    // The answer of another origin cannot be read, but somebody has to be there to give one.
    await fetch(address, { mode: 'no-cors', cache: 'no-store', credentials: 'omit' });
    return { kind: 'refused' };
  } catch (error) {
    console.debug('nobody answers at the address of the call', error);
    return { kind: 'down' };
  }
}
