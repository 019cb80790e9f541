/**
 * The look-up before a call: one POST to the operator's server, which says what the call is to be (docs/before-call.md).
 *
 * Invariant: it is over within the time of the agent file whatever the server does. It is asked once more where a connection failed, and never
 * after an answer; no redirect is followed, no more than a bounded answer is read, and private addresses are refused at the connection itself.
 */
import { randomUUID } from 'node:crypto';
import type { Agent as HttpAgent, Dispatcher } from 'undici';
import {
  mostAnswerBytes,
  readBeforeCallAnswer,
  type BeforeCallAnswer,
  type BeforeCallFacts,
} from '../../shared/agents/before-call-answer.ts';
import type { BeforeCallDefinition } from '../../shared/agents/before-call.ts';
import { webhookHeaders } from '../../shared/auth/webhook-signature.ts';
import { parseJson } from '../../shared/base/exact-json.ts';
import { present } from '../../shared/base/present.ts';
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import type { WorkerMetrics } from '../../shared/runtime/metrics.ts';
import { Agent } from '../../shared/runtime/undici.ts';
import { directionOf } from '../../shared/telephony/call-control.ts';
import { carrierKeys } from '../../shared/telephony/twilio/protocol.ts';
import { callerOf, saidOf, signedOf } from '../agent-link/caller-identity.ts';
import type { AdmittedStart } from '../call/admission.ts';

import type { FailureLog } from '../stages/failure-log.ts';
import type { StageError } from '../stages/stage.ts';
import { publicLookup, refuseLiteral, RefusedAddressError } from '../../shared/runtime/address-guard.ts';
import { requestError, tooSlow, toolFailure, type ToolSite } from '../tools/tool-failure.ts';
import { isUnsent } from '../tools/unsent.ts';

/** What became of a look-up. */
export type LookedUp =
  | { readonly kind: 'answered'; readonly answer: BeforeCallAnswer }
  /** `refuse`: the call is not to begin without an answer. */
  | { readonly kind: 'failed'; readonly refuse: boolean };

/** Asks about a call that is to begin. Never fails. */
export type LookUpCall = (start: AdmittedStart) => Promise<LookedUp>;

export interface LookUpSite {
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly metrics: Pick<WorkerMetrics, 'beforeCalls' | 'beforeCallTime'>;
  readonly failures: Pick<FailureLog, 'note'>;
  readonly showsNumbers: boolean;
  /** Name of the agent that was asked for, and whose it is. */
  readonly agent: string;
  readonly tenant?: string | undefined;
}

/** Failures of a connection that was there, before it brought an answer. */
const brokenCodes: readonly string[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/** The answer is none that is good. */
class BadAnswerError extends Error {
  override readonly name = 'BadAnswerError';
  readonly told: StageError;

  constructor(told: StageError) {
    super('the answer before a call is not good');
    this.told = told;
  }
}

const rule = (text: string): BadAnswerError => new BadAnswerError({ kind: 'protocol', rule: text });

export class LookUps {
  readonly #definition: BeforeCallDefinition;
  readonly #site: LookUpSite;
  readonly #http: HttpAgent;

  constructor(definition: BeforeCallDefinition, site: LookUpSite) {
    this.#definition = definition;
    this.#site = site;
    const lookup = definition.allowPrivate ? {} : { lookup: publicLookup };
    this.#http = new Agent({ connect: { timeout: definition.timeoutMs, ...lookup } });
  }

  readonly ask: LookUpCall = async (start) => {
    const { timeoutMs, onFailure } = this.#definition;
    const { clock, metrics } = this.#site;
    const controller = new AbortController();
    const timer = clock.after(timeoutMs, () => controller.abort());
    const beganAt = clock.now();
    try {
      const answer = await this.#askTwice(this.#bodyOf(start), controller.signal);
      metrics.beforeCalls.inc({ outcome: 'answered' });
      return { kind: 'answered', answer };
    } catch (error) {
      this.#tellFailure(controller.signal.aborted ? tooSlow : errorOf(error));
      metrics.beforeCalls.inc({ outcome: onFailure === 'refuse' ? 'refused' : 'failed' });
      return { kind: 'failed', refuse: onFailure === 'refuse' };
    } finally {
      timer.cancel();
      // Stops reading an answer that was enough.
      controller.abort();
      metrics.beforeCallTime.observe((clock.now() - beganAt) / 1000);
    }
  };

  /** Releases the connections. */
  async close(): Promise<void> {
    await this.#http.destroy();
  }

  #bodyOf(start: AdmittedStart): string {
    const { metadata } = start;
    const { showsNumbers, wallClock, agent, tenant } = this.#site;
    const { from, to } = callerOf(start, { showsNumbers }) ?? {};
    const facts: BeforeCallFacts = {
      call_id: start.callId,
      session_id: start.sessionId,
      transport: metadata[carrierKeys.transport] ?? 'websocket',
      agent,
      direction: directionOf(metadata),
      ...present({ tenant, from, to, session: signedOf(metadata), metadata: saidOf(metadata) }),
    };
    const timestamp = new Date(wallClock.now()).toISOString();
    return JSON.stringify({ type: 'call.before', timestamp, data: facts });
  }

  async #askTwice(body: string, signal: AbortSignal): Promise<BeforeCallAnswer> {
    const id = `msg_${randomUUID()}`;
    const response = await this.#post(id, body, signal).catch(async (error: unknown) => {
      if (signal.aborted || !isConnectionError(error)) throw error;
      return await this.#post(id, body, signal);
    });
    return await readAnswer(response);
  }

  async #post(id: string, body: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { url, secretHeaders, signingKeys, allowPrivate } = this.#definition;
    if (!allowPrivate) refuseLiteral(url);
    const atS = Math.floor(this.#site.wallClock.now() / 1000);
    return await this.#http.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      signal,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...Object.fromEntries([...secretHeaders].map(([name, value]) => [name, value.reveal()])),
        'accept-encoding': 'identity',
        ...webhookHeaders({ id, atS, body }, signingKeys.reveal()),
      },
      body,
    });
  }

  #tellFailure(error: StageError): void {
    const { url, secretHeaders } = this.#definition;
    const site: ToolSite = {
      stage: 'before_call',
      name: this.#site.agent,
      url,
      addressAt: 'before_call.url',
      keyAt: 'before_call.headers_env',
      hasKey: secretHeaders.size > 0,
      secrets: [...secretHeaders.values()].map((secret) => secret.reveal()),
    };
    this.#site.failures.note(toolFailure(site, error));
  }
}

function errorOf(error: unknown): StageError {
  if (error instanceof BadAnswerError) return error.told;
  if (error instanceof RefusedAddressError) return { kind: 'protocol', rule: 'a public address' };
  return requestError(error);
}

function isConnectionError(error: unknown): boolean {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return isUnsent(error) || (typeof code === 'string' && brokenCodes.includes(code));
}

async function readAnswer(response: Dispatcher.ResponseData): Promise<BeforeCallAnswer> {
  const { statusCode: status, headers, body } = response;
  const drop = (error: BadAnswerError): never => {
    body.on('error', () => undefined).destroy();
    throw error;
  };
  if (status >= 300 && status < 400) return drop(rule('a redirect is not followed'));
  if (status < 200 || status > 299) return drop(new BadAnswerError({ kind: 'rejected', status }));
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    return drop(rule('an encoding that was asked for'));
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    // A body without an encoding consists of buffers; undici's type does not say so.
    const part = chunk as Buffer;
    bytes += part.length;
    if (bytes > mostAnswerBytes) return drop(rule('an answer has at most 64 KiB'));
    chunks.push(part);
  }
  const answer = readBeforeCallAnswer(parsed(Buffer.concat(chunks).toString('utf8')));
  if (answer === undefined) throw rule('an answer is a JSON object');
  return answer;
}

/** Without a body the server has nothing to say. */
function parsed(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
