/**
 * The listener of operators (docs/telephony.md, Warm transfers): what warm transfers there are, joining them, bringing their callers back, and calls
 * that the service makes. Every request brings the secret, as a bearer token or as the password of Basic authentication, compared in
 * constant time; only the page of the desk, which holds nothing, is anybody's. `shared/telephony/callback-api.ts` has the shapes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isSameSecret } from '../../../shared/auth/same-secret.ts';
import { assert } from '../../../shared/base/assert.ts';
import type { Sensitive } from '../../../shared/config/sensitive.ts';
import { answerOfAgents } from '../../agents/answers.ts';
import type { Agents } from '../../agents/agents.ts';
import type { FleetTelephony } from '../fleet-telephony.ts';
import type { Listener } from '../../listeners/listener.ts';
import { answerHeaders, errorBody } from '../../http/answer.ts';
import { refusal, refusals, type Answer } from '../../http/refusals.ts';
import { listen, newGuardedServer } from '../../listeners/listeners.ts';
import { readBody } from '../../http/request-body.ts';
import { makeCall, type Reply } from './calls.ts';
import { deskPage, deskPolicy } from './desk-page.ts';

const mostBodyBytes = 32 * 1024;

const unauthorized = refusal('unauthorized', {
  headers: { 'WWW-Authenticate': 'Bearer, Basic realm="callback"' },
});

/** Why an operator's command is not done. A host of another version may know other reasons. */
const operatorRefusals: Readonly<Record<string, Answer>> = {
  unknown: refusals.unknown,
  over: refusals.over,
  not_answered: refusals.not_answered,
};

export const callbackListener: Listener = {
  name: 'callback',
  variable: 'SVC_CALLBACK_ADDR',
  isWanted: ({ callback }) => callback !== undefined,
  open: async ({ settings: { callback }, telephony, agents, health }, { given, isLeaving }) => {
    assert(callback !== undefined, 'the settings ask for the callback listener');
    let answering = 0;
    const { server, silent } = newGuardedServer((request, response) => {
      answering += 1;
      response.once('close', () => (answering -= 1));
      const served = { secret: callback.secret, telephony, agents, unready: health.unready };
      // The transfers are another process's, which answers on a new connection.
      if (isLeaving()) refuse(response.setHeader('Connection', 'close'), refusals.restarting);
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
  readonly telephony: FleetTelephony;
  readonly agents: Agents | undefined;
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
    refuse(response, refusals.other_site);
    return;
  }
  if (path === '/calls' && request.method === 'POST') {
    readBody(request, mostBodyBytes, (body) => {
      if (body === undefined) refuse(response, refusals.too_large);
      else void makeCall(body.toString(), request.headers, served).then((made) => send(response, made));
    });
    return;
  }
  void answerOf(path, request.method, served).then((answer) => send(response, answer));
}

async function answerOf(path: string, method: string | undefined, served: Served): Promise<Reply> {
  const { telephony } = served;
  const ofAgents = await answerOfAgents(path, method, served.agents);
  if (ofAgents !== undefined) return ofAgents;
  if (method === 'GET' && path === '/transfers')
    return { status: 200, value: { transfers: await telephony.transfers() } };
  if (method === 'GET' && path === '/calls')
    return { status: 200, value: { calls: await telephony.outboundViews() } };
  const [, handle = '', command] = /^\/transfers\/([\w-]{1,64})\/(complete|abort)_warm$/.exec(path) ?? [];
  if (command !== undefined && method === 'POST') {
    const reason = await telephony.operatorSaid(handle, command === 'complete' ? 'complete' : 'abort');
    if (reason === undefined) return { status: 202, value: { handle, accepted: true } };
    return operatorRefusals[reason] ?? refusals.not_possible;
  }
  const [, id = '', end] = /^\/calls\/([\w-]{1,64})(\/hang_up)?$/.exec(path) ?? [];
  const view = id === '' ? undefined : await telephony.outboundView(id);
  if (view === undefined) return refusals.not_found;
  if (end === undefined) return method === 'GET' ? { status: 200, value: view } : refusals.not_found;
  if (method !== 'POST') return refusals.not_found;
  return (await telephony.hangUp(id))
    ? { status: 202, value: { id, accepted: true } }
    : refusal('over', { message: 'the call is over' });
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

function refuse(response: ServerResponse, answer: Answer): void {
  const { status, headers, retryAfterS } = answer;
  const body = errorBody(answer);
  const retry = retryAfterS === undefined ? {} : { 'Retry-After': String(retryAfterS) };
  response.writeHead(status, { ...answerHeaders(body), ...headers, ...retry, Connection: 'close' }).end(body);
}
