/**
 * The health listener (docs/operate/runbook.md). Bodies carry counts only. Metrics off a loopback address need the token,
 * because they tell a stranger what the service is worth attacking for. The address of the listener counts: behind a
 * sidecar or a forwarded port strangers come from loopback as well.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server as NetServer } from 'node:net';
import { isSameSecret } from '../../shared/auth/same-secret.ts';
import { isLoopbackHost } from '../../shared/net/loopback.ts';
import { systemWallClock } from '../../shared/runtime/clock.ts';
import type { HostPort } from '../../shared/net/address.ts';
import { isHistory, type CallHistory } from '../calls/history/history.ts';
import { answerLive, isLive, type LiveAnswers } from './live-answers.ts';
import { answerHeaders, errorBody } from '../http/answer.ts';
import { onlyBy, refusal, refusals, type Answer } from '../http/refusals.ts';
import { listen, newGuardedServer, takeUpgrades, type OpenListener } from '../listeners/listeners.ts';
import type { MonitorDoor } from '../monitor/door.ts';

export interface HealthOptions {
  readonly addr: HostPort;
  /** A listening socket that another process gave away, instead of binding `addr`. */
  readonly given?: NetServer;
  readonly metrics: boolean;
  readonly metricsToken: string | undefined;
  /** Opens the live view; absent: there is none. */
  readonly liveToken?: string | undefined;
  /** Why a call would be refused now; `starting` before the children are ready. */
  readonly unready: () => string | undefined;
  readonly counts: () => Readonly<Record<string, number>>;
  readonly live?: LiveAnswers['live'];
  /** Operators who want to listen come there; absent: nobody may. */
  readonly monitor?: Pick<MonitorDoor, 'arrived' | 'files'> | undefined;
  /** The page of calls that are over; absent: there is none. */
  readonly history?: Pick<CallHistory, 'answer'> | undefined;
  readonly renderMetrics: () => Promise<{ contentType: string; body: string }>;
  /** Another process accepts here now: what is still asked on old connections is the last thing asked on them. */
  readonly isLeaving: () => boolean;
}

export async function openHealthListener(options: HealthOptions): Promise<OpenListener> {
  let answering = 0;
  const { server, silent } = newGuardedServer((request, response) => {
    answering += 1;
    response.once('close', () => (answering -= 1));
    if (options.isLeaving()) response.setHeader('Connection', 'close');
    answer(request, response, options).catch(() => {
      if (!response.headersSent) refuse(response, refusals.internal);
    });
  });
  const { monitor } = options;
  if (monitor !== undefined)
    takeUpgrades({ server, silent, listener: 'health' }, (arrived) => monitor.arrived(arrived));
  const address = await listen(server, options.given ?? options.addr);
  return { server, address, connections: () => silent.size + answering };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: HealthOptions,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0];
  const { liveToken: token, live } = options;
  if (token !== undefined && live !== undefined && isLive(request)) {
    await answerLive(request, response, {
      token,
      live,
      now: () => systemWallClock.now(),
      monitorFiles: options.monitor?.files,
    });
    return;
  }
  if (options.history !== undefined && isHistory(request)) {
    await options.history.answer(request, response);
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    refuse(response, onlyBy('GET'));
  } else if (path === '/healthz') {
    respond(response, 200, json({ alive: 1 }));
  } else if (path === '/readyz') {
    const reason = options.unready();
    // Counts only: the reason is a name with the count 1.
    const why = reason === undefined ? {} : { [reason]: 1 };
    const body = { ready: reason === undefined ? 1 : 0, ...why, ...options.counts() };
    respond(response, reason === undefined ? 200 : 503, json(body));
  } else if (path === '/metrics' && options.metrics) {
    await answerMetrics(request, response, options);
  } else {
    refuse(response, refusal('not_found', { message: `there is ${pathsOf(options).join(', ')}` }));
  }
}

const pathsOf = ({ metrics, liveToken, history }: HealthOptions): string[] => [
  ...['/healthz', '/readyz'],
  ...(metrics ? ['/metrics'] : []),
  ...(liveToken === undefined ? [] : ['/live']),
  ...(history === undefined ? [] : ['/calls']),
];

async function answerMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  options: HealthOptions,
): Promise<void> {
  const open = isLoopbackHost(options.addr.host) && options.metricsToken === undefined;
  if (!open && options.metricsToken === undefined) {
    refuse(response, refusals.metrics_closed);
    return;
  }
  if (!open && !bearerIs(request, options.metricsToken ?? '')) {
    response.setHeader('WWW-Authenticate', 'Bearer');
    refuse(response, refusal('unauthorized', { message: 'metrics need the bearer token' }));
    return;
  }
  const { contentType, body } = await options.renderMetrics();
  response.setHeader('Content-Type', contentType);
  response.setHeader('Cache-Control', 'no-store');
  response.end(body);
}

function bearerIs(request: IncomingMessage, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  return isSameSecret(given, token);
}

function refuse(response: ServerResponse, answer: Answer): void {
  respond(response, answer.status, errorBody(answer));
}

function respond(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, answerHeaders(body));
  response.end(body);
}

const json = (body: Readonly<Record<string, number>>): string => `${JSON.stringify(body)}\n`;
