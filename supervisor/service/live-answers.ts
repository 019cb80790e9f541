/**
 * `/live` on the health listener, off by default: the page, the state as JSON, and the end of a call. The page itself holds nothing, so it
 * needs no token; what it asks for does.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isSameSecret } from '../../shared/auth/same-secret.ts';
import type { LiveView } from './live-view.ts';
import { answerHeaders, errorBody } from '../http/answer.ts';
import { refusal, refusals, type Answer } from '../http/refusals.ts';
import type { MonitorFile } from '../monitor/page.ts';
import { livePage } from './live-page.ts';

export interface LiveAnswers {
  readonly token: string;
  readonly live: Pick<LiveView, 'state' | 'end'>;
  /** Files for operators who listen, by path; absent: nobody may. */
  readonly monitorFiles?: ReadonlyMap<string, MonitorFile> | undefined;
}

/** Whether a request is one of the live view's, and what to do with it. */
export async function answerLive(
  request: IncomingMessage,
  response: ServerResponse,
  { token, live, monitorFiles }: LiveAnswers,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0] ?? '/';
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
  if (!isSameSecret(given, token)) {
    response.setHeader('WWW-Authenticate', 'Bearer');
    refuse(refusal('unauthorized', { message: 'the live view needs the bearer token' }));
  } else if (path === '/live/state' && !isPost) respond(200, `${JSON.stringify(await live.state())}\n`);
  else if (ended !== undefined && isPost) {
    if (await live.end(ended)) respond(202, '{}\n');
    else refuse(refusals.no_such_call);
  } else refuse(refusal('not_found', { message: 'there is /live, /live/state and /live/calls/ID/end' }));
}

/** The id of a call, which its client may have chosen, as it stands in a path. */
function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

export const isLive = (request: IncomingMessage): boolean => /^\/live($|[/?])/.test(request.url ?? '');
