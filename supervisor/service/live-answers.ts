/**
 * `/live` on the health listener, off by default: the page, the state as JSON, and the end of a call. The page itself holds nothing, so it
 * needs no token; what it asks for does.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readerOf } from '../../shared/auth/tenant-token.ts';
import { operatorName } from '../../shared/monitor/messages.ts';
import { auditOf, type Log } from '../../shared/runtime/log.ts';
import type { LiveView } from './live-view.ts';
import { answerHeaders, decoded, errorBody } from '../http/answer.ts';
import { refusal, refusals, type Answer } from '../http/refusals.ts';
import type { MonitorFile } from '../monitor/page.ts';
import { livePage } from './live-page.ts';

export interface LiveAnswers {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** With the log, which is told who ends calls. */
  readonly live: { readonly view: Pick<LiveView, 'state' | 'stateOf' | 'end'>; readonly log: Log };
  /** Files for operators who listen, by path; absent: nobody may. */
  readonly monitorFiles?: ReadonlyMap<string, MonitorFile> | undefined;
}

/** The role that the token gives, beside those of operators who listen. */
const may = 'live';

/** Whether a request is one of the live view's, and what to do with it. */
export async function answerLive(
  request: IncomingMessage,
  response: ServerResponse,
  { token, now, live: { view, log }, monitorFiles }: LiveAnswers,
): Promise<void> {
  const [path = '/', query = ''] = (request.url ?? '/').split('?');
  const respond = (status: number, body: string): void => {
    response.writeHead(status, answerHeaders(body)).end(body);
  };
  const refuse = (answer: Answer): void => respond(answer.status, errorBody(answer));
  const ended = decoded(/^\/live\/calls\/([^/]{1,400})\/end$/.exec(path)?.[1]);
  const isPost = request.method === 'POST';
  if (path === '/live' && !isPost) {
    const { policy, body } = livePage({ hasMonitor: monitorFiles !== undefined });
    response.setHeader('Content-Security-Policy', policy);
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' });
    response.end(body);
    return;
  }
  const file = monitorFiles?.get(path);
  if (file !== undefined && !isPost) {
    response.writeHead(200, { 'Content-Type': file.type, 'Cache-Control': 'no-store' }).end(file.body);
    return;
  }
  const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const from = request.socket.remoteAddress;
  const reader = readerOf(given, { to: 'live', secret: token, nowS: now() / 1000 });
  if (reader === undefined) {
    if (ended !== undefined) auditOf(log).info({ from, code: 'unauthorized' }, 'an operator is refused');
    response.setHeader('WWW-Authenticate', 'Bearer');
    refuse(refusal('unauthorized', { message: 'the live view needs the bearer token' }));
  } else if (path === '/live/state' && !isPost) {
    const { tenant } = reader;
    const state = await (tenant === undefined ? view.state() : view.stateOf(tenant));
    respond(200, `${JSON.stringify(state)}\n`);
  } else if (ended !== undefined && isPost) {
    const isThere = await view.end(ended, reader);
    const by = operatorName(new URLSearchParams(query).get('by'));
    const fields = { call: ended, what: 'ends', may, ...reader, from, ...(by !== '' && { by }) };
    auditOf(log).info(isThere ? fields : { ...fields, code: 'no_such_call' }, 'an operator and a call');
    if (isThere) respond(202, '{}\n');
    else refuse(refusals.no_such_call);
  } else refuse(refusal('not_found', { message: 'there is /live, /live/state and /live/calls/ID/end' }));
}

export const isLive = (request: IncomingMessage): boolean => /^\/live($|[/?])/.test(request.url ?? '');
