/**
 * The listener of operators (spec 03, Warm transfer): what warm transfers there are, joining them, and bringing their callers back. Every
 * request brings the secret, as a bearer token or as the password of Basic authentication; it is compared in constant time.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isSameSecret } from '../../../shared/auth/same-secret.ts';
import { assert } from '../../../shared/base/assert.ts';
import type { Sensitive } from '../../../shared/config/sensitive.ts';
import type { Telephony } from '../../telephony/telephony.ts';
import type { Answer } from '../answer.ts';
import type { Listener } from '../listener.ts';
import { answerHeaders, errorBody, listen, newGuardedServer } from '../listeners.ts';

const notFound: Answer = { status: 404, code: 'not_found', message: 'there is nothing here' };
const unauthorized: Answer = {
  status: 401,
  code: 'unauthorized',
  message: 'the secret must be given as a bearer token or as the password of Basic authentication',
  headers: { 'WWW-Authenticate': 'Bearer, Basic realm="callback"' },
};

/** Why an operator's command is not done, in words. */
const refusals: Readonly<Record<string, string>> = {
  unknown: 'there is no such transfer, or it is over',
  over: 'the transfer is over',
  not_answered: 'nobody is known to have answered: a voicemail is never joined',
  not_possible: 'the transfer is at a step where this cannot be done; ask again',
};

export const callbackListener: Listener = {
  name: 'callback',
  variable: 'SVC_CALLBACK_ADDR',
  isWanted: ({ callback }) => callback !== undefined,
  open: async ({ settings: { callback }, telephony }, { given, isLeaving }) => {
    assert(callback !== undefined, 'the settings ask for the callback listener');
    let answering = 0;
    const { server, silent } = newGuardedServer((request, response) => {
      answering += 1;
      response.once('close', () => (answering -= 1));
      if (isLeaving()) response.setHeader('Connection', 'close');
      serve(request, response, { secret: callback.secret, telephony });
    });
    return {
      server,
      address: await listen(server, given ?? callback.addr),
      connections: () => silent.size + answering,
    };
  },
};

function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { secret, telephony }: { readonly secret: Sensitive<string>; readonly telephony: Telephony },
): void {
  if (!isAllowed(request.headers.authorization, secret.reveal())) {
    refuse(response, unauthorized);
    return;
  }
  const [path = ''] = (request.url ?? '/').split('?');
  if (path === '/transfers' && request.method === 'GET') {
    reply(response, 200, { transfers: telephony.transfers });
    return;
  }
  const [, handle = '', type] = /^\/transfers\/([\w-]{1,64})\/(complete|abort)_warm$/.exec(path) ?? [];
  if (type === undefined || request.method !== 'POST') {
    refuse(response, notFound);
    return;
  }
  const refusal = telephony.operatorSaid(handle, type === 'complete' ? 'complete' : 'abort');
  if (refusal === undefined) reply(response, 202, { handle, accepted: true });
  else
    refuse(response, {
      status: refusal === 'unknown' ? 404 : 409,
      code: refusal,
      message: refusals[refusal] ?? refusal,
    });
}

export function isAllowed(header: string | undefined, secret: string): boolean {
  const [, scheme = '', given = ''] = /^(bearer|basic) +(\S{1,8192})$/i.exec(header ?? '') ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  // Whoever asks has one secret; the name in front of it is anybody's.
  const presented = isBasic
    ? Buffer.from(given, 'base64')
        .toString()
        .replace(/^[^:]*:/, '')
    : given;
  return isSameSecret(presented, secret) && scheme !== '';
}

function reply(response: ServerResponse, status: number, value: unknown): void {
  const body = `${JSON.stringify(value)}\n`;
  response.writeHead(status, answerHeaders(body)).end(body);
}

function refuse(response: ServerResponse, { status, code, message, headers }: Answer): void {
  const body = errorBody(code, message);
  response.writeHead(status, { ...answerHeaders(body), ...headers, Connection: 'close' }).end(body);
}
