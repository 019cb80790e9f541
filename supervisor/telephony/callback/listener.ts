/**
 * The listener of operators (docs/telephony.md, Warm transfers): what warm transfers there are, joining them, bringing their callers back, and calls
 * that the service makes. Every request brings the secret, as a bearer token or as the password of Basic authentication, compared in
 * constant time; only the page of the desk, which holds nothing, is anybody's. `shared/telephony/callback-api.ts` has the shapes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isSameSecret } from '../../../shared/auth/same-secret.ts';
import { assert } from '../../../shared/base/assert.ts';
import type { Sensitive } from '../../../shared/config/sensitive.ts';
import type { TelephonyEverywhere } from '../everywhere.ts';
import { restarting, type Answer } from '../../listeners/answer.ts';
import type { Listener } from '../../listeners/listener.ts';
import { answerHeaders, errorBody } from '../../listeners/answer.ts';
import { listen, newGuardedServer } from '../../listeners/listeners.ts';
import { readBody } from '../../listeners/request-body.ts';
import { makeCall, type Reply } from './calls.ts';
import { deskPage, deskPolicy } from './desk-page.ts';

const mostBodyBytes = 32 * 1024;

const tooLarge: Answer = { status: 413, code: 'too_large', message: 'the body is too large' };
const elsewhere: Answer = {
  status: 403,
  code: 'other_site',
  message: 'a page of another site must not send this',
};
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
  open: async ({ settings: { callback }, telephony, health }, { given, isLeaving }) => {
    assert(callback !== undefined, 'the settings ask for the callback listener');
    let answering = 0;
    const { server, silent } = newGuardedServer((request, response) => {
      answering += 1;
      response.once('close', () => (answering -= 1));
      const served = { secret: callback.secret, telephony, unready: health.unready };
      // The transfers are another process's, which answers on a new connection.
      if (isLeaving()) refuse(response.setHeader('Connection', 'close'), restarting);
      else serve(request, response, served);
    });
    return {
      server,
      address: await listen(server, given ?? callback.addr),
      connections: () => silent.size + answering,
    };
  },
};

interface Served {
  readonly secret: Sensitive<string>;
  readonly telephony: TelephonyEverywhere;
  readonly unready: () => string | undefined;
}

function serve(request: IncomingMessage, response: ServerResponse, served: Served): void {
  const [path = ''] = (request.url ?? '/').split('?');
  if (path === '/desk' && request.method === 'GET') {
    const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': deskPolicy };
    response.writeHead(200, { ...answerHeaders(deskPage), ...headers }).end(deskPage);
    return;
  }
  if (!isAllowed(request.headers.authorization, served.secret.reveal())) {
    refuse(response, unauthorized);
    return;
  }
  // A browser that was given the secret once would send it along for any page.
  if (
    request.method === 'POST' &&
    ['cross-site', 'same-site'].includes(String(request.headers['sec-fetch-site']))
  ) {
    refuse(response, elsewhere);
    return;
  }
  if (path === '/calls' && request.method === 'POST') {
    readBody(request, mostBodyBytes, (body) => {
      if (body === undefined) refuse(response, tooLarge);
      else void makeCall(body.toString(), request.headers, served).then((made) => send(response, made));
    });
    return;
  }
  void answerOf(path, request.method, served).then((answer) => send(response, answer));
}

async function answerOf(path: string, method: string | undefined, { telephony }: Served): Promise<Reply> {
  if (method === 'GET' && path === '/transfers')
    return { status: 200, value: { transfers: await telephony.transfers() } };
  if (method === 'GET' && path === '/calls')
    return { status: 200, value: { calls: await telephony.outboundViews() } };
  const [, handle = '', command] = /^\/transfers\/([\w-]{1,64})\/(complete|abort)_warm$/.exec(path) ?? [];
  if (command !== undefined && method === 'POST') {
    const refusal = await telephony.operatorSaid(handle, command === 'complete' ? 'complete' : 'abort');
    if (refusal === undefined) return { status: 202, value: { handle, accepted: true } };
    const message = refusals[refusal] ?? refusal;
    return { status: refusal === 'unknown' ? 404 : 409, code: refusal, message };
  }
  const [, id = '', end] = /^\/calls\/([\w-]{1,64})(\/hang_up)?$/.exec(path) ?? [];
  const view = id === '' ? undefined : await telephony.outboundView(id);
  if (view === undefined) return notFound;
  if (end === undefined) return method === 'GET' ? { status: 200, value: view } : notFound;
  if (method !== 'POST') return notFound;
  return (await telephony.hangUp(id))
    ? { status: 202, value: { id, accepted: true } }
    : { status: 409, code: 'over', message: 'the call is over' };
}

function send(response: ServerResponse, given: Reply): void {
  if ('value' in given) reply(response, given.status, given.value);
  else refuse(response, given);
}

export function isAllowed(header: string | undefined, secret: string): boolean {
  const [, scheme = '', given = ''] = /^(bearer|basic) +(\S{1,8192})$/i.exec(header ?? '') ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  // An operator has one secret; the name in front of it may be any.
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

function refuse(response: ServerResponse, { status, code, message, headers, retryAfterS }: Answer): void {
  const body = errorBody(code, message);
  const retry = retryAfterS === undefined ? {} : { 'Retry-After': String(retryAfterS) };
  response.writeHead(status, { ...answerHeaders(body), ...headers, ...retry, Connection: 'close' }).end(body);
}
