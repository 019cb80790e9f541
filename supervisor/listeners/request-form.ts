/**
 * Whether the form of a request is right, before anybody asks who sent it: what HTTP wants of every request (RFC 9112, 3.2), and what a
 * WebSocket upgrade has to hold (RFC 6455, 4.2.1). An upgrade that the WebSocket library would refuse later is refused here, before it costs a slot
 * or a token, and in the form of our own answers.
 */
import type { IncomingMessage } from 'node:http';
import { isTooLarge } from '../../shared/auth/session-token.ts';
import { tokenAnswers } from '../../shared/auth/token-fault.ts';
import { refusal, refusals, type Answer } from '../http/refusals.ts';
import { presentedBy, otherProtocols, type RequestHead } from '../admission/credentials.ts';

/** Largest request head. */
const maxHeadBytes = 8 * 1024;
/** Larger heads are read up to here, because a token that makes one too large has an answer of its own. */
export const parsedHeadBytes = 64 * 1024;

export const headTooLarge = refusal('head_too_large', {
  message: `a request head has at most ${maxHeadBytes} bytes`,
});
const badHost = refusal('bad_request', { message: 'a request names its host once' });
const oldHttp = refusal('bad_upgrade', {
  message: 'an upgrade needs HTTP/1.1; a proxy in between may speak HTTP/1.0',
});
const badVersion = refusal('bad_upgrade', {
  message: 'this port speaks version 13 of the WebSocket protocol',
  headers: { 'Sec-WebSocket-Version': '13' },
});
const badProtocols = refusal('bad_upgrade', {
  message: 'Sec-WebSocket-Protocol is a list of different names',
});

/** The head of a request with every `Authorization` line: Node keeps the first one alone. */
export function headOf(request: IncomingMessage): RequestHead {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) headers[name] = value;
  const authorizations = request.headersDistinct['authorization'];
  if (authorizations !== undefined && authorizations.length > 1) headers['authorization'] = authorizations;
  return { url: request.url ?? '/', headers };
}

/** What is wrong with a request of any kind; undefined when nothing is. */
export function requestFault(request: IncomingMessage): Answer | undefined {
  const { rawHeaders, url = '' } = request;
  // A name and its value, with the colon, the space and the end of the line.
  const bytes = rawHeaders.reduce((sum, text) => sum + text.length + 2, url.length);
  if (bytes > maxHeadBytes)
    return presentedBy(headOf(request)).some(isTooLarge) ? tokenAnswers.too_large : headTooLarge;
  const hosts = rawHeaders.filter(
    (_, index) => rawHeaders[index - 1]?.toLowerCase() === 'host' && index % 2 === 1,
  );
  const [host] = hosts;
  if (host === undefined) return request.httpVersion === '1.0' ? undefined : badHost;
  return hosts.length === 1 && isHost(host) ? undefined : badHost;
}

const isHost = (text: string): boolean => /^(\[[\da-f:.]+\]|[^\s/\\?#@,:[\]]+)(:\d{0,5})?$/i.test(text);

/** What is wrong with a request for an upgrade; undefined when nothing is. */
export function upgradeFault(request: IncomingMessage): Answer | undefined {
  const { headers } = request;
  const fault = requestFault(request);
  if (fault !== undefined) return fault;
  if (request.httpVersion === '1.0') return oldHttp;
  if (request.method !== 'GET' || !listOf(headers.upgrade).some((one) => one.toLowerCase() === 'websocket'))
    return refusals.bad_upgrade;
  if (headers['sec-websocket-version'] !== '13') return badVersion;
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')) return refusals.bad_upgrade;
  const protocols = listOf(otherProtocols(headOf(request)));
  const isRight = new Set(protocols).size === protocols.length && protocols.every(isName);
  return isRight ? undefined : badProtocols;
}

const listOf = (value = ''): string[] =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

const isName = (text: string): boolean => /^[\w!#$%&'*+.^`|~-]+$/.test(text);
