/**
 * The commands `webhooks`: what waits for endpoints or was given up, and sending it again. They work on the folder in which the service keeps
 * events; a running service looks at it every few seconds.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import {
  afresh,
  endpointOfFile,
  readQueued,
  webhookFolders,
  writeQueued,
  type QueuedEvent,
} from '../../../shared/calls/webhooks/queued.ts';
import { shownSecret } from '../../../shared/calls/webhooks/secret.ts';
import { webhooksFolder } from '../../../shared/calls/spool.ts';
import { callsVariables } from '../../../shared/calls/variables.ts';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { readArguments, usageError } from '../commands.ts';

export interface WebhooksCommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cores: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly randomBytes: (length: number) => Buffer;
  readonly write: (line: string) => void;
  readonly writeError: (line: string) => void;
}

type Name = 'webhooks list' | 'webhooks replay' | 'webhooks secret';
type Folder = keyof typeof webhookFolders;

const secretBytes = 32;

/** Returns the exit status. */
export function runWebhooks(name: Name, args: readonly string[], options: WebhooksCommandOptions): 0 | 1 | 2 {
  if (name === 'webhooks secret') {
    options.write(shownSecret(options.randomBytes(secretBytes)));
    return 0;
  }
  const folder = folderOf(options);
  if (!folder.ok) {
    options.writeError(folder.error);
    return 1;
  }
  return name === 'webhooks list' ? list(args, folder.value, options) : replay(args, folder.value, options);
}

function folderOf({ env, cores }: WebhooksCommandOptions): Result<string, string> {
  const parsed = parseServerSettings(env, { cores });
  const name = callsVariables.callsDb.name;
  if (!parsed.ok) return fail(parsed.error.map(({ message }) => message).join('\n'));
  const { calls } = parsed.value.settings;
  if (calls === undefined) return fail(`${name} must be set: without it nobody is told of calls`);
  const folder = join(resolve(calls.spool), webhooksFolder);
  return existsSync(folder) ? ok(folder) : fail('there are no events: the service has kept none here');
}

interface Found {
  readonly path: string;
  readonly name: string;
  readonly event: QueuedEvent;
}

/** The events of a folder, the oldest first. Files that cannot be read are left out. */
function eventsIn(dir: string, folder: Folder): Found[] {
  const found = readdirSync(join(dir, webhookFolders[folder])).flatMap((name): Found[] => {
    if (endpointOfFile(name) === undefined) return [];
    const path = join(dir, webhookFolders[folder], name);
    // The service may just have sent it.
    const event = existsSync(path) ? readQueued(readFileSync(path, 'utf8')) : fail('unreadable');
    return event.ok ? [{ path, name, event: event.value }] : [];
  });
  return found.toSorted((a, b) => a.event.createdAt - b.event.createdAt);
}

const time = (ms: number): string => new Date(ms).toISOString();

function rowOf(folder: 'waiting' | 'failed', { event }: Found): string {
  const { id, type, call, host, attempts, last, createdAt, nextAt } = event;
  const answer = last === undefined ? '' : `, last answer ${last.answer}`;
  const state = folder === 'failed' ? 'given up' : `next ${time(nextAt)}`;
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  return `${time(createdAt)}  ${type}  ${id}  record ${call}  ${host}  ${state}, ${tries}${answer}`;
}

function list(args: readonly string[], dir: string, { write }: WebhooksCommandOptions): 0 | 2 {
  const parsed = readArguments('webhooks list', args);
  if (!parsed.ok) return 2;
  const waiting = parsed.value.values.failed === true ? [] : eventsIn(dir, 'waiting');
  const failed = eventsIn(dir, 'failed');
  for (const one of waiting) write(rowOf('waiting', one));
  for (const one of failed) write(rowOf('failed', one));
  for (const endpoint of readdirSync(join(dir, webhookFolders.disabled))) {
    const host = readFileSync(join(dir, webhookFolders.disabled, endpoint), 'utf8');
    write(`endpoint ${endpoint} at ${host} answered 410 and gets no events`);
  }
  write(`${waiting.length} waiting, ${failed.length} given up`);
  return 0;
}

function replay(args: readonly string[], dir: string, options: WebhooksCommandOptions): 0 | 1 | 2 {
  const { write, writeError, now } = options;
  const parsed = readArguments('webhooks replay', args);
  if (!parsed.ok) return 2;
  const { values, given } = parsed.value;
  const [id] = given;
  if ((id === undefined) === (values.all !== true)) {
    writeError(usageError('webhooks replay', 'either [ID] or --all must be given'));
    return 2;
  }
  const wanted = eventsIn(dir, 'failed').filter(
    ({ event }) => id === undefined || event.id === id || event.call === id,
  );
  if (wanted.length === 0 && id !== undefined) {
    writeError('no event that was given up has this id');
    return 1;
  }
  for (const { path, name, event } of wanted) {
    rmSync(join(dir, webhookFolders.disabled, event.endpoint), { force: true });
    const waiting = join(dir, webhookFolders.waiting, name);
    // As the service writes it, which may be another user.
    const { mode } = statSync(path);
    writeFileSync(`${waiting}.part`, writeQueued(afresh(event, now())), { mode });
    renameSync(`${waiting}.part`, waiting);
    rmSync(path, { force: true });
  }
  write(wanted.length === 1 ? '1 event is sent again' : `${wanted.length} events are sent again`);
  return 0;
}
