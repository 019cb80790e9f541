/**
 * The files of the call page, and the headers that every answer of its listener has. Only names of a fixed table are served, so
 * no request can reach another file; they are read once, so that a release that is being replaced is never served in parts.
 */
import { existsSync, readFileSync } from 'node:fs';

const script = 'text/javascript; charset=utf-8';
const widgetPath = '/widget.js';
const workletsPath = '/worklets.js';
/** Meant for pages of other sites, which may only load worklets that they may read. */
export const sharedHeaders: Readonly<Record<string, string>> = {
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Access-Control-Allow-Origin': '*',
};
export const isShared = (path: string): boolean => path === widgetPath || path === workletsPath;
const names: readonly (readonly [path: string, name: string, type: string])[] = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/index.html', 'index.html', 'text/html; charset=utf-8'],
  ['/style.css', 'style.css', 'text/css; charset=utf-8'],
  ['/icon.svg', 'icon.svg', 'image/svg+xml'],
  ['/favicon.ico', 'icon.svg', 'image/svg+xml'],
  [widgetPath, 'widget.js', script],
  ['/app.js', 'app.js', script],
  [workletsPath, 'worklets.js', script],
];
/** For those who look into the page with a debugger; packages leave them out. */
const maps: typeof names = [
  ['/app.js.map', 'app.js.map', 'application/json'],
  ['/worklets.js.map', 'worklets.js.map', 'application/json'],
];

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

/** By path. Throws when the page was not built. */
export function readPageFiles(folder: URL): ReadonlyMap<string, PageFile> {
  try {
    const present = maps.filter(([, name]) => existsSync(new URL(name, folder)));
    return new Map(
      [...names, ...present].map(([path, name, type]) => [
        path,
        { type, body: readFileSync(new URL(name, folder)) },
      ]),
    );
  } catch (error) {
    throw new Error('the files of the call page are missing: build the service again', { cause: error });
  }
}

/** The page loads nothing from elsewhere, connects to its own host and to where it gets tokens, and is shown in no frame. */
export function pageHeaders(tokenUrl: string | undefined): Readonly<Record<string, string>> {
  const elsewhere = tokenUrl === undefined || tokenUrl.startsWith('/') ? [] : [new URL(tokenUrl).origin];
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    ["connect-src 'self'", ...elsewhere].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy': 'microphone=(self), speaker-selection=(self)',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  };
}
