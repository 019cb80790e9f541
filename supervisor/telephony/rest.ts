/**
 * One request to a carrier's API and what is known afterwards: an answer, that nothing went out, or that nobody knows. A request that
 * may have been done is tried again only where that does no harm, and no redirect is followed; what the answer says is bounded, and neither addresses nor credentials get into anything it tells.
 */
import type { Millis } from '../../shared/base/units.ts';
import { Agent } from '../../shared/runtime/undici.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { CarrierOutcome, ControlCapabilities } from '../../shared/telephony/call-control.ts';

/** Of one request; a command that takes several stays within its budget of 40 s. */
const answerTimeoutMs = 10_000;
const connectTimeoutMs = 3_000;
const mostAnswerBytes = 65_536;
/** Longer is a silence that somebody hears. */
const longestPatienceMs: Millis = 2_000;
/** Between what is asked for again, which ends when the caller has waited long enough. */
const pausesMs: readonly Millis[] = [500, 2_000, 6_000];
const longestPersistenceMs: Millis = 20_000;

export interface RestRequest {
  /** POST unless it is given; a GET has no body. */
  readonly method?: 'GET';
  readonly url: string;
  readonly authorization: string;
  readonly contentType: string;
  readonly body: string;
  /** Done twice it is done once, so that it is asked for until the carrier says what became of it. */
  readonly again?: boolean;
  /** It is of no use any more. */
  readonly isVain?: () => boolean;
}

export type RestAnswer =
  /** `retryAfterS`: when the carrier, which has too much to do, may be asked again. */
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly body: unknown;
      readonly retryAfterS?: number;
    }
  /** `reason`: the error's code, for the log. */
  | { readonly kind: 'unsent'; readonly reason?: string }
  | { readonly kind: 'lost'; readonly reason?: string };

export type AskRest = (request: RestRequest) => Promise<RestAnswer>;

/** Codes of errors that come before a request is written. */
const unsentCodes: readonly string[] = [
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
];

function notAnswered(error: unknown): RestAnswer {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  if (typeof code !== 'string') return { kind: 'lost' };
  return { kind: unsentCodes.includes(code) ? 'unsent' : 'lost', reason: code };
}

/** A way to ask, with connections of its own. */
export function newRest(): { readonly ask: AskRest; readonly close: () => void } {
  const agent = new Agent({ connect: { timeout: connectTimeoutMs } });
  const ask: AskRest = async ({ url, authorization, contentType, body, method = 'POST' }) => {
    const { origin, pathname, search } = new URL(url);
    try {
      const response = await agent.request({
        origin,
        path: pathname + search,
        method,
        body: method === 'GET' ? null : body,
        headers: { authorization, 'content-type': contentType, accept: 'application/json' },
        headersTimeout: answerTimeoutMs,
        bodyTimeout: answerTimeoutMs,
      });
      const { statusCode: status, headers } = response;
      const retryAfterS = Number(headers['retry-after'] ?? Number.NaN);
      const isTold = Number.isFinite(retryAfterS) && retryAfterS >= 0;
      return {
        kind: 'answered',
        status,
        body: await readBody(response.body),
        ...(isTold && { retryAfterS }),
      };
    } catch (error) {
      return notAnswered(error);
    }
  };
  return { ask, close: () => void agent.destroy() };
}

/** An answer that cannot be read, or breaks off, is empty: the status says whether the command was taken. */
async function readBody(body: AsyncIterable<Buffer> & { destroy(): void }): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > mostAnswerBytes) {
        body.destroy();
        return undefined;
      }
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The same, for a carrier that is asked too much at once: it has done nothing, and is asked once more when it says so, as long as a
 * caller can wait for that.
 */
export const patient =
  (ask: AskRest, wait: (ms: Millis) => Promise<void>): AskRest =>
  async (request) => {
    const answer = await ask(request);
    if (answer.kind !== 'answered' || answer.status !== 429) return answer;
    const ms = (answer.retryAfterS ?? 1) * 1000;
    if (ms > longestPatienceMs) return answer;
    await wait(ms);
    return await ask(request);
  };

/** The same, for commands that do no harm when they are done twice: a carrier's short trouble leaves nobody in silence. */
export const persistent =
  (
    ask: AskRest,
    { clock, wait }: { readonly clock: Clock; readonly wait: (ms: Millis) => Promise<void> },
  ): AskRest =>
  async (request) => {
    const until = clock.now() + longestPersistenceMs;
    let answer = await ask(request);
    for (const ms of request.again === true ? pausesMs : []) {
      if (isSettled(answer) || clock.now() + ms > until) break;
      await wait(ms);
      if (request.isVain?.() === true) break;
      answer = await ask(request);
    }
    return answer;
  };

const isSettled = (answer: RestAnswer): boolean =>
  answer.kind === 'answered' && answer.status <= 499 && ![408, 429].includes(answer.status);

/** Numbers of carriers for "this call is over", which is how most calls end. */
const overCodes: readonly string[] = ['20404', '21220', '90018'];

/** What a carrier refused or did not answer is told by its status and its own number for it; its words may hold a caller's number. */
export const tellingFaults =
  (ask: AskRest, log: Pick<Log, 'warn'>): AskRest =>
  async (request) => {
    const answer = await ask(request);
    const fault = faultOf(answer);
    const { host, pathname } = new URL(request.url);
    if (fault !== undefined)
      log.warn({ host, ...subjectOf(pathname), ...fault }, 'a carrier refused a command or did not answer');
    return answer;
  };

/** What was asked, and of which call, by the address: `/Calls/ID.json` at Twilio, `/calls/ID/actions/ACTION` at Telnyx. */
function subjectOf(path: string): { readonly asked: string; readonly call?: string } {
  const [, call, action = 'Calls'] = /\/calls\/([^/]+?)(?:\.json|\/actions\/(\w+))$/i.exec(path) ?? [];
  return call === undefined
    ? { asked: path.split('/').at(-1) ?? '' }
    : { asked: action, call: decodeURIComponent(call) };
}

function faultOf(answer: RestAnswer): object | undefined {
  if (answer.kind !== 'answered') return { outcome: answer.kind, reason: answer.reason };
  const { status, body } = answer;
  const code = codesOf(body).find((one) => /^\d{1,6}$/.test(one));
  if (status <= 299 || (code !== undefined && overCodes.includes(code))) return undefined;
  return { status, code };
}

/** The numbers of what a carrier says is wrong, as texts: Twilio tells one, Telnyx a list. */
export function codesOf(body: unknown): string[] {
  const field = (of: unknown, name: string): unknown =>
    typeof of === 'object' && of !== null ? Reflect.get(of, name) : undefined;
  const errors = field(body, 'errors');
  return [body, ...(Array.isArray(errors) ? (errors as unknown[]) : [])]
    .map((one) => field(one, 'code'))
    .filter((code) => typeof code === 'string' || typeof code === 'number')
    .map(String);
}

/** What became of a command, by the status of its answer (4xx is definite, 5xx and silence are not). */
export function outcomeOf(answer: RestAnswer): CarrierOutcome {
  if (answer.kind === 'unsent') return { kind: 'refused', code: 'unavailable' };
  if (answer.kind === 'lost') return { kind: 'unknown' };
  const { status } = answer;
  if (status >= 200 && status <= 299) return { kind: 'ok' };
  if (status === 401 || status === 403 || status === 429) return { kind: 'refused', code: 'unavailable' };
  if (status === 400) return { kind: 'refused', code: 'invalid_argument' };
  // A request that took too long on its way may have been read.
  if (status >= 400 && status <= 499 && status !== 408) return { kind: 'refused', code: 'rejected' };
  return { kind: 'unknown' };
}

/** What both carriers' controls work with. */
export interface ControlGiven {
  readonly capabilities: ControlCapabilities;
  readonly ask: AskRest;
  readonly nowS: () => number;
}

/** A text field of an answer; empty where there is none. */
export function textAt(body: unknown, ...path: readonly string[]): string {
  let value = body;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return '';
    value = Reflect.get(value, key);
  }
  return typeof value === 'string' ? value : '';
}
