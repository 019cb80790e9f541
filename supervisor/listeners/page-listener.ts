/**
 * The listener of the call page (decision 0036): the page's files, what it has to know, a token for each call, and at `/ws` the
 * call protocol itself, so that a page behind a proxy needs one host for everything. A plain GET of `/ws` is answered as an
 * upgrade would be: browsers hide from a page why its WebSocket was refused.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server as NetServer } from 'node:net';
import { assert } from '../../shared/base/assert.ts';
import type { PageSettings } from '../../shared/config/server/page-variables.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { HostPort } from '../../shared/net/address.ts';
import { isLoopbackHost } from '../../shared/net/loopback.ts';
import type { Arrival } from './front-door.ts';
import { answerHeaders, errorBody, refuseUpgrade } from '../http/answer.ts';
import { onlyBy, refusal, refusals, type Answer } from '../http/refusals.ts';
import {
  arrivalOf,
  listen,
  newGuardedServer,
  takeUpgrades,
  type Arrived,
  type OpenListener,
} from './listeners.ts';
import type { Listener } from './listener.ts';
import { isSignaling, type Signaling } from '../webrtc/signaling.ts';
import { signalingOf } from '../webrtc/listener.ts';
import { tokenIngress, websocketPool } from './token-ingress.ts';
import { isShared, pageHeaders, readPageFiles, sharedHeaders, type PageFile } from './page-files.ts';
import type { PageTokens } from './page-tokens.ts';

export interface PageListenerOptions {
  /** Where to listen: an address, or a listening socket that another process gave away. */
  readonly at: HostPort | NetServer;
  /** The folder of the built page. */
  readonly folder: URL;
  readonly agentName: string;
  /** Somebody else's endpoint for tokens. */
  readonly tokenUrl: string | undefined;
  /** The own endpoint for tokens; absent where calls need none or somebody else gives them. */
  readonly tokens: PageTokens | undefined;
  /** Answers WebRTC offers; absent where the page makes none. */
  readonly signaling?: Signaling;
  /** How an upgrade with this head would be refused; undefined when it would not. */
  readonly look: (arrival: Arrival) => Answer | undefined;
  readonly arrived: (arrived: Arrived) => void;
  /** Another process accepts here now: what is still asked on old connections is the last thing asked on them. */
  readonly isLeaving: () => boolean;
}

/** The built page, beside the program. */
const pageFolder = new URL('../web/', import.meta.url);

export const pageListener: Listener = {
  name: 'page',
  variable: 'SVC_PAGE_ADDR',
  isWanted: ({ page }) => page !== undefined,
  ingress: (settings) => {
    const { addr } = wanted(settings);
    const pool = websocketPool(settings);
    return tokenIngress({ pool, audience: 'svc-ws', bind: addr, access: settings.access });
  },
  open: (context, { given, isLeaving }) => {
    const { settings, agentName, pageTokens, look, arrived } = context;
    const { addr, tokenUrl } = wanted(settings);
    return openPageListener({
      ...(offersWebrtc(settings) && { signaling: signalingOf(context) }),
      at: given ?? addr,
      folder: pageFolder,
      tokenUrl,
      agentName,
      tokens: pageTokens,
      look,
      arrived,
      isLeaving,
    });
  },
};

/** Where a caller of the page can have what its offers need: a token, or nothing on a machine's own address or where the operator says so. */
function offersWebrtc({ webrtc, access, page, insecureListeners }: ServerSettings): boolean {
  if (webrtc === undefined) return false;
  if (access.sessionSecrets.length > 0) return true;
  return (
    webrtc.token === undefined && page !== undefined && (insecureListeners || isLoopbackHost(page.addr.host))
  );
}

function wanted({ page }: ServerSettings): PageSettings {
  assert(page !== undefined, 'the settings ask for the page');
  return page;
}

const callsAtWs = refusal('not_found', { message: 'calls are taken at /ws' });
const upgradeRequired = refusal('upgrade_required', {
  message: 'this path speaks the WebSocket call protocol',
});

/** Opens the listener. Rejects when its address cannot be bound or the page was not built. */
async function openPageListener(options: PageListenerOptions): Promise<OpenListener> {
  const files = readPageFiles(options.folder);
  let answering = 0;
  const { server, silent } = newGuardedServer((request, response) => {
    answering += 1;
    response.once('close', () => (answering -= 1));
    for (const [name, value] of Object.entries(pageHeaders(options.tokenUrl)))
      response.setHeader(name, value);
    if (options.isLeaving()) response.setHeader('Connection', 'close');
    answer(request, response, { ...options, files });
  });
  takeUpgrades({ server, silent, listener: 'page' }, (arrived) => {
    if (pathOf(arrived.arrival.head.url) === '/ws') options.arrived(arrived);
    else refuseUpgrade(arrived.socket, callsAtWs);
  });
  return { server, address: await listen(server, options.at), connections: () => silent.size + answering };
}

interface Served extends PageListenerOptions {
  readonly files: ReadonlyMap<string, PageFile>;
}

function answer(request: IncomingMessage, response: ServerResponse, options: Served): void {
  const path = pathOf(request.url ?? '/');
  if (options.signaling !== undefined && isSignaling(path)) {
    options.signaling.answer(request, response);
    return;
  }
  if (path === '/token' && options.tokens !== undefined) giveToken(request, response, options.tokens);
  else if (request.method !== 'GET' && request.method !== 'HEAD') refuse(response, onlyBy('GET'));
  else if (path === '/config.json') sendJson(response, configOf(options));
  else if (path === '/ws') {
    // Pages of others, which may not read why their call was refused, can at least tell that somebody is here.
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    refuse(response, options.look(arrivalOf(request, request.socket, 'page')) ?? upgradeRequired);
  } else {
    const file = options.files.get(path);
    if (file === undefined) refuse(response, refusals.not_found);
    else {
      response
        .writeHead(200, {
          ...(isShared(path) && sharedHeaders),
          'Content-Type': file.type,
          'Content-Length': file.body.length,
        })
        .end(file.body);
    }
  }
}

/** What the page has to know. A `token` without a host is on the page's own. */
const configOf = ({ agentName, tokenUrl, tokens, signaling }: PageListenerOptions): object => ({
  agent: agentName,
  whip: signaling === undefined ? null : 'whip',
  token: tokenUrl ?? (tokens === undefined ? null : 'token'),
});

function giveToken(request: IncomingMessage, response: ServerResponse, tokens: PageTokens): void {
  if (request.method !== 'POST') {
    refuse(response, onlyBy('POST'));
    return;
  }
  const given = tokens.give(arrivalOf(request, request.socket, 'page'));
  if (given.ok) sendJson(response, { token: given.value });
  else refuse(response, given.error);
}

function sendJson(response: ServerResponse, value: object): void {
  const body = `${JSON.stringify(value)}\n`;
  response.writeHead(200, answerHeaders(body)).end(body);
}

function refuse(response: ServerResponse, answer: Answer): void {
  const { status, retryAfterS } = answer;
  const body = errorBody(answer);
  if (retryAfterS !== undefined) response.setHeader('Retry-After', String(retryAfterS));
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (status === 426) response.setHeader('Upgrade', 'websocket');
  response.writeHead(status, answerHeaders(body)).end(body);
}

const pathOf = (url: string): string => url.split('?')[0] ?? '/';
