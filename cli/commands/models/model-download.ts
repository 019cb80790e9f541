/**
 * Fetches one pinned file: goes on where an earlier attempt stopped, takes nothing that has other bytes than the pinned ones,
 * and puts the file in its place in one step, so that a half file is never seen under its name.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import { isLoopbackHost } from '../../../shared/net/loopback.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { PinnedFile } from '../../../shared/installation/model-registry.ts';
import { makeFolder } from '../../../shared/installation/named-files.ts';

/** A server that sends nothing for this long is given up; the next attempt goes on from there. */
const silentMs = 30_000;

export interface DownloadOptions {
  readonly clock: Clock;
  /** Without a slash at the end. */
  readonly source: string;
  readonly progress: (haveBytes: number) => void;
}

export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Plain HTTP is for this machine alone: a checksum keeps bytes right, but not who asked for them private. */
const isAllowed = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));

/** Fetches `model` to `path`. The error says what went wrong and what helps. */
export async function downloadFile(
  model: PinnedFile,
  path: string,
  options: DownloadOptions,
): Promise<Result<void, string>> {
  const address = `${options.source}/${model.path}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !isAllowed(url)) return fail('the source must be an https address');
  makeFolder(dirname(path), 0o777);
  const part = `${path}.part`;
  if (sizeOf(part) > model.bytes) rmSync(part);
  if (sizeOf(part) < model.bytes) {
    const fetched = await fetchRest(url, { ...options, model, part });
    if (!fetched.ok) return fetched;
  }
  if (sizeOf(part) !== model.bytes) return fail('the file ended early; the next attempt goes on from there');
  if ((await sha256Of(part)) !== model.sha256) {
    rmSync(part);
    return fail('the file has another SHA-256 than the pinned one and was deleted');
  }
  renameSync(part, path);
  return ok(undefined);
}

interface Attempt extends DownloadOptions {
  readonly model: PinnedFile;
  readonly part: string;
}

async function fetchRest(url: URL, attempt: Attempt): Promise<Result<void, string>> {
  const have = sizeOf(attempt.part);
  const abort = new AbortController();
  const watch = (): { cancel(): void } => attempt.clock.after(silentMs, () => abort.abort());
  let timer = watch();
  try {
    const headers: Record<string, string> = have > 0 ? { range: `bytes=${have}-` } : {};
    const response = await fetch(url, { headers, signal: abort.signal });
    if (!isAllowed(new URL(response.url))) return fail('the source leads to an address that is not https');
    if (!response.ok || response.body === null) return fail(`${url.host} answered HTTP ${response.status}`);
    const goesOn = response.headers.get('content-range')?.startsWith(`bytes ${have}-`) === true;
    const from = response.status === 206 && goesOn ? have : 0;
    if (response.status === 206 && !goesOn) return fail('the source answered with another part of the file');
    const isPacked = response.headers.has('content-encoding');
    const length = isPacked ? null : response.headers.get('content-length');
    // The page of a network that wants a login first, or of a mirror that has moved.
    if (length !== null && from + Number(length) !== attempt.model.bytes)
      return fail(`${url.host} sends something else than the file: ${length} bytes`);
    await keep(response.body, from, {
      ...attempt,
      seen: () => {
        timer.cancel();
        timer = watch();
      },
    });
    return ok(undefined);
  } catch (error) {
    if (abort.signal.aborted) return fail('the source fell silent; the next attempt goes on from there');
    if (error instanceof TypeError)
      return fail(`${url.host} cannot be reached, or broke off; try again, or name a mirror with --from`);
    throw error;
  } finally {
    timer.cancel();
  }
}

/** Writes what comes behind the first `from` bytes of the part. */
async function keep(
  body: AsyncIterable<Uint8Array>,
  from: number,
  { part, model, progress, seen }: Attempt & { readonly seen: () => void },
): Promise<void> {
  const file = openSync(part, from > 0 ? 'a' : 'w');
  try {
    let have = from;
    for await (const chunk of body) {
      seen();
      // More than the pinned size cannot be the file; what is too much is not even written.
      have += writeSync(file, chunk.subarray(0, model.bytes - have));
      progress(have);
      if (have >= model.bytes) break;
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
