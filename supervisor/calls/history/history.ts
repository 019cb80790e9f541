/**
 * `/calls` on the health listener, off by default: the page of calls that are over, their records, and what was recorded of them. The page
 * itself holds nothing, so it needs no token; what it asks for does. The process that keeps records answers, so nothing here waits for a
 * database; who has read what is a line of the log.
 */
import { writeJson } from '../../../shared/base/exact-json.ts';
import { open, type FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isSameSecret } from '../../../shared/auth/same-secret.ts';
import { callEnds } from '../../../shared/calls/ends.ts';
import type { RecordsQuestion } from '../../../shared/calls/messages.ts';
import type { CallRecord } from '../../../shared/calls/record.ts';
import { foldersOfRecording } from '../../../shared/installation/kept-recordings.ts';
import { recordingFiles } from '../../../shared/recording/layout.ts';
import { auditOf, type Log } from '../../../shared/runtime/log.ts';
import { answerHeaders, errorBody } from '../../http/answer.ts';
import { onlyBy, refusal, refusals, type Answer } from '../../http/refusals.ts';
import { historyHeaders, readHistoryFiles } from './files.ts';
import { readQuery } from './query.ts';

const folder = new URL('../web/', import.meta.url);
const noToken = refusal('unauthorized', { message: 'records of calls need the bearer token' });
const notHere = refusal('not_found', {
  message: 'there is /calls, /calls/about, /calls/list, /calls/record/ID and /calls/sound/ID',
});
const sounds = [
  [recordingFiles.wav, 'audio/wav'],
  [recordingFiles.opus, 'audio/ogg'],
] as const;

export interface CallHistoryOptions {
  readonly token: string;
  /** Asks the process that keeps records; undefined where it does not answer. */
  readonly ask: (question: RecordsQuestion) => Promise<unknown>;
  /** Folder of recordings; absent: there are none on this machine. */
  readonly recordings: string | undefined;
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
    else if (!this.#mayRead(request)) {
      response.setHeader('WWW-Authenticate', 'Bearer');
      this.#audit.info({ from: request.socket.remoteAddress }, 'records of calls are refused');
      refuse(response, noToken);
    } else if (path === '/calls/about') json(response, { ends: callEnds });
    else if (path === '/calls/list') await this.#list(searchParams, response);
    else await this.#one(path, request, response);
  }

  #mayRead({ headers }: IncomingMessage): boolean {
    const given = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
    return isSameSecret(given, this.#options.token);
  }

  async #list(search: URLSearchParams, response: ServerResponse): Promise<void> {
    const query = readQuery(search);
    if (!query.ok) {
      refuse(response, refusal('bad_request', { message: query.error }));
      return;
    }
    const page = await this.#options.ask({ kind: 'list', query: query.value });
    if (page === undefined) refuse(response, refusals.records_away);
    else json(response, page);
  }

  async #one(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, what, part] = /^\/calls\/(record|sound)\/([^/]{1,400})$/.exec(path) ?? [];
    const id = decoded(part);
    if (id === undefined) {
      refuse(response, notHere);
      return;
    }
    const found = await this.#options.ask({ kind: 'get', id });
    if (found === undefined || found === null) {
      refuse(response, found === null ? refusals.no_such_record : refusals.records_away);
      return;
    }
    const record = found as CallRecord;
    const from = request.socket.remoteAddress;
    const sound = await this.#sound(record);
    this.#audit.info({ record: record.id, call: record.call_id, what, from }, 'a record of a call is read');
    if (what === 'sound' && sound !== undefined) {
      await play(sound, response);
      return;
    }
    await sound?.file.close();
    if (what === 'sound') refuse(response, refusals.no_such_record);
    else json(response, { record, hasSound: sound !== undefined });
  }

  /** What was recorded of a call, where it is on this machine. */
  async #sound({ links }: CallRecord): Promise<Sound | undefined> {
    const { recordings } = this.#options;
    if (recordings === undefined || links.recording === undefined) return undefined;
    for (const folder of foldersOfRecording(recordings, links.recording))
      for (const [name, type] of sounds) {
        const file = await opened(join(folder, name));
        if (file !== undefined) return { file, type };
      }
    return undefined;
  }
}

interface Sound {
  readonly file: FileHandle;
  readonly type: string;
}

async function opened(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch {
    return undefined;
  }
}

async function play({ file, type }: Sound, response: ServerResponse): Promise<void> {
  const { size } = await file.stat();
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': String(size) });
  try {
    await pipeline(file.createReadStream(), response);
  } catch {
    // The browser left, or the file went away: the connection says so.
    response.destroy();
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

/** An id as it stands in a path. */
function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

export const isHistory = (request: IncomingMessage): boolean => /^\/calls($|[/?])/.test(request.url ?? '');
