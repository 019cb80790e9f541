/**
 * `/calls` on the health listener, off by default: the page of calls that are over, their records, and what was recorded of them. The page
 * itself holds nothing, so it needs no token; what it asks for does. The process that keeps records answers, so nothing here waits for a
 * database; who has read what is a line of the log.
 */
import { writeJson } from '../../../shared/base/exact-json.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { callEnds } from '../../../shared/calls/ends.ts';
import type { RecordsQuestion } from '../../../shared/calls/messages.ts';
import { readerOf, type Reader } from '../../../shared/auth/tenant-token.ts';
import type { CallRecord } from '../../../shared/calls/record.ts';
import { foldersOfRecording } from '../../../shared/installation/kept-recordings.ts';
import { openRecordingFile, type RecordingFile } from '../../../shared/installation/recording-file.ts';
import type { RecordingKeys } from '../../../shared/recording/keys.ts';
import { recordingFiles } from '../../../shared/recording/layout.ts';
import { Unreadable } from '../../../shared/recording/sealed.ts';
import { auditOf, type Log } from '../../../shared/runtime/log.ts';
import { answerHeaders, decoded, errorBody } from '../../http/answer.ts';
import { onlyBy, refusal, refusals, type Answer } from '../../http/refusals.ts';
import { readQuery, readRange } from './query.ts';
import { readFileSync } from 'node:fs';

/**
 * The files of the history page, and the headers of its answers. They are read once, so that a release that is being replaced is never served
 * in parts.
 */
const names: readonly (readonly [path: string, name: string, type: string])[] = [
  ['/calls', 'calls.html', 'text/html; charset=utf-8'],
  ['/calls/calls.js', 'calls.js', 'text/javascript; charset=utf-8'],
  ['/calls/calls.css', 'calls.css', 'text/css; charset=utf-8'],
  ['/calls/style.css', 'style.css', 'text/css; charset=utf-8'],
  ['/calls/icon.svg', 'icon.svg', 'image/svg+xml'],
];

interface HistoryFile {
  readonly type: string;
  readonly body: Buffer;
}

/** By path. Throws when the page was not built. */
const readHistoryFiles = (folder: URL): ReadonlyMap<string, HistoryFile> =>
  new Map(names.map(([path, name, type]) => [path, { type, body: readFileSync(new URL(name, folder)) }]));

/** The page loads nothing from elsewhere; sound comes by its own request, with the token. */
const historyHeaders: Readonly<Record<string, string>> = {
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

const folder = new URL('../web/', import.meta.url);
const noToken = refusal('unauthorized', { message: 'records of calls need the bearer token' });
const notHere = refusal('not_found', {
  message:
    'there is /calls, /calls/about, /calls/list, /calls/record/ID, /calls/sound/ID and /calls/waveform/ID',
});
const sounds = [
  [recordingFiles.wav, 'audio/wav'],
  [recordingFiles.opus, 'audio/ogg'],
] as const;
const waveforms = [[recordingFiles.waveform, 'application/octet-stream']] as const;

export interface CallHistoryOptions {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Asks the process that keeps records; undefined where it does not answer. */
  readonly ask: (question: RecordsQuestion) => Promise<unknown>;
  /** Folder of recordings, and what reads them; absent: there are none on this machine. */
  readonly recordings: { readonly dir: string; readonly keys: RecordingKeys | undefined } | undefined;
  readonly log: Log;
}

export class CallHistory {
  readonly #options: CallHistoryOptions;
  readonly #files = readHistoryFiles(folder);
  readonly #audit: Log;

  constructor(options: CallHistoryOptions) {
    this.#options = options;
    this.#audit = auditOf(options.log);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    for (const [name, value] of Object.entries(historyHeaders)) response.setHeader(name, value);
    const file = this.#files.get(path);
    if (request.method !== 'GET') refuse(response, onlyBy('GET'));
    else if (file !== undefined) response.writeHead(200, { 'Content-Type': file.type }).end(file.body);
    else await this.#answerReader(path, searchParams, { request, response });
  }

  async #answerReader(path: string, search: URLSearchParams, exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const reader = this.#readerOf(request);
    if (reader === undefined) {
      response.setHeader('WWW-Authenticate', 'Bearer');
      this.#audit.info({ from: request.socket.remoteAddress }, 'records of calls are refused');
      refuse(response, noToken);
    } else if (path === '/calls/about') json(response, { ends: callEnds });
    else if (path === '/calls/list') await this.#list(search, { response, reader });
    else await this.#one(path, { ...exchange, reader });
  }

  #readerOf({ headers }: IncomingMessage): Reader | undefined {
    const { token, now } = this.#options;
    const given = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
    return readerOf(given, { to: 'calls', secret: token, nowS: now() / 1000 });
  }

  async #list(
    search: URLSearchParams,
    { response, reader }: Pick<Reading, 'response' | 'reader'>,
  ): Promise<void> {
    const query = readQuery(search);
    if (!query.ok) {
      refuse(response, refusal('bad_request', { message: query.error }));
      return;
    }
    const page = await this.#options.ask({ kind: 'list', query: { ...query.value, ...reader } });
    if (page === undefined) refuse(response, refusals.records_away);
    else json(response, page);
  }

  async #one(path: string, { request, response, reader }: Reading): Promise<void> {
    const [, what, part] = /^\/calls\/(record|sound|waveform)\/([^/]{1,400})$/.exec(path) ?? [];
    const id = decoded(part);
    if (id === undefined) {
      refuse(response, notHere);
      return;
    }
    const found = await this.#options.ask({ kind: 'get', id, ...reader });
    if (found === undefined || found === null) {
      refuse(response, found === null ? refusals.no_such_record : refusals.records_away);
      return;
    }
    const record = found as CallRecord;
    const from = request.socket.remoteAddress;
    this.#audit.info(
      { record: record.id, call: record.call_id, what, from, ...reader },
      'a record of a call is read',
    );
    if (what === 'record') json(response, { record, hasSound: await this.#hasSound(record) });
    else await this.#play(record, what === 'sound' ? sounds : waveforms, { request, response });
  }

  async #hasSound(record: CallRecord): Promise<boolean> {
    try {
      const found = await this.#open(record, sounds);
      await found?.file.close();
      return found !== undefined;
    } catch (error) {
      // Its request says why it cannot be read.
      if (error instanceof Unreadable) return true;
      throw error;
    }
  }

  async #play(record: CallRecord, names: FileNames, { request, response }: Exchange): Promise<void> {
    try {
      const found = await this.#open(record, names);
      if (found === undefined) refuse(response, refusals.no_such_record);
      else await play(found, request, response);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      refuse(
        response,
        refusal('recording_unreadable', { message: `the recording cannot be read: ${error.message}` }),
      );
    }
  }

  /** What was recorded of a call, where it is on this machine. @throws Unreadable */
  async #open({ links }: CallRecord, names: FileNames): Promise<Found | undefined> {
    const { recordings } = this.#options;
    if (recordings === undefined || links.recording === undefined) return undefined;
    for (const folder of await foldersOfRecording(recordings.dir, links.recording))
      for (const [name, type] of names) {
        const file = await openRecordingFile(folder, name, recordings.keys);
        if (file !== undefined) return { file, type };
      }
    return undefined;
  }
}

interface Reading extends Exchange {
  readonly reader: Reader;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

type FileNames = readonly (readonly [name: string, type: string])[];

interface Found {
  readonly file: RecordingFile;
  readonly type: string;
}

async function play(
  { file, type }: Found,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { size } = file;
    const range = readRange(request.headers.range, size);
    const { from, to } = range ?? { from: 0, to: size };
    if (from >= to && range !== undefined) {
      refuse(response, refusal('no_such_part', { headers: { 'Content-Range': `bytes */${size}` } }));
      return;
    }
    response.writeHead(range === undefined ? 200 : 206, {
      'Content-Type': type,
      'Content-Length': String(to - from),
      'Accept-Ranges': 'bytes',
      ...(range !== undefined && { 'Content-Range': `bytes ${from}-${to - 1}/${size}` }),
    });
    await pipeline(file.read(from, to), response);
  } catch {
    // The browser left, or the file went away or is damaged: the connection says so.
    response.destroy();
  } finally {
    await file.close();
  }
}

function json(response: ServerResponse, value: unknown): void {
  const body = `${writeJson(value)}\n`;
  response.writeHead(200, answerHeaders(body)).end(body);
}

function refuse(response: ServerResponse, answer: Answer): void {
  const body = errorBody(answer);
  response.writeHead(answer.status, { ...answerHeaders(body), ...answer.headers }).end(body);
}

export const isHistory = (request: IncomingMessage): boolean => /^\/calls($|[/?])/.test(request.url ?? '');
