/**
 * The call page: the built files of `dist/web` and the address of the service, on loopback.
 *
 * Invariant: only names of a fixed table are served, so no request can reach another file; the page may load nothing from elsewhere
 * and connect only to the service.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

const files: ReadonlyMap<string, readonly [name: string, type: string]> = new Map([
  ['/', ['index.html', 'text/html; charset=utf-8']],
  ['/index.html', ['index.html', 'text/html; charset=utf-8']],
  ['/style.css', ['style.css', 'text/css; charset=utf-8']],
  ['/icon.svg', ['icon.svg', 'image/svg+xml']],
  ['/favicon.ico', ['icon.svg', 'image/svg+xml']],
  ['/app.js', ['app.js', 'text/javascript; charset=utf-8']],
  ['/app.js.map', ['app.js.map', 'application/json']],
  ['/capture-worklet.js', ['capture-worklet.js', 'text/javascript; charset=utf-8']],
  ['/capture-worklet.js.map', ['capture-worklet.js.map', 'application/json']],
  ['/playout-worklet.js', ['playout-worklet.js', 'text/javascript; charset=utf-8']],
  ['/playout-worklet.js.map', ['playout-worklet.js.map', 'application/json']],
]);

export interface PageOptions {
  /** The folder of the built page. */
  readonly folder: URL;
  /** Asked at every request, because the service may start later, on a port of its own choice. */
  readonly wsUrl: () => string;
}

function securityHeaders(wsUrl: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self' ${new URL(wsUrl).origin} ws://127.0.0.1:* ws://localhost:*`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy': 'microphone=(self)',
    'Cache-Control': 'no-store',
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: PageOptions,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  const wsUrl = options.wsUrl();
  const send = (status: number, type: string, body: string | Buffer): void => {
    response.writeHead(status, { ...securityHeaders(wsUrl), 'Content-Type': type });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
  const file = files.get(path);
  if (request.method !== 'GET' && request.method !== 'HEAD')
    send(405, 'text/plain', 'This page takes GET.\n');
  else if (path === '/config.json') send(200, 'application/json', JSON.stringify({ wsUrl, agent: 'demo' }));
  else if (file === undefined) send(404, 'text/plain', 'There is nothing here.\n');
  else send(200, file[1], await readFile(new URL(file[0], options.folder)));
}

/** The server, not yet listening. A file that was not built answers 404. */
export function pageServer(options: PageOptions): Server {
  return createServer((request, response) => {
    answer(request, response, options).catch(() => {
      if (!response.headersSent) response.writeHead(404, { 'Content-Type': 'text/plain' });
      response.end('This file is not built.\n');
    });
  });
}
