/** The files of the history page, and the headers of its answers. They are read once, so that a release that is being replaced is never served in parts. */
import { readFileSync } from 'node:fs';

const names: readonly (readonly [path: string, name: string, type: string])[] = [
  ['/calls', 'calls.html', 'text/html; charset=utf-8'],
  ['/calls/calls.js', 'calls.js', 'text/javascript; charset=utf-8'],
  ['/calls/calls.css', 'calls.css', 'text/css; charset=utf-8'],
  ['/calls/style.css', 'style.css', 'text/css; charset=utf-8'],
  ['/calls/icon.svg', 'icon.svg', 'image/svg+xml'],
];

export interface HistoryFile {
  readonly type: string;
  readonly body: Buffer;
}

/** By path. Throws when the page was not built. */
export const readHistoryFiles = (folder: URL): ReadonlyMap<string, HistoryFile> =>
  new Map(names.map(([path, name, type]) => [path, { type, body: readFileSync(new URL(name, folder)) }]));

/** The page loads nothing from elsewhere; sound comes by its own request, with the token. */
export const historyHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    'media-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};
