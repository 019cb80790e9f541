/** One request to an endpoint. Nothing of an answer but its status and `retry-after` is read, and no redirect is followed. */
import type { Agent as HttpAgent } from 'undici';
import type { Clock } from '../../shared/runtime/clock.ts';
import { isPublicAddress, publicLookup, RefusedAddressError } from '../../shared/runtime/address-guard.ts';
import { Agent } from '../../shared/runtime/undici.ts';
import type { Answer } from './schedule.ts';

const answerWithinMs = 15_000;
const connectWithinMs = 10_000;

export interface Delivery {
  readonly url: string;
  readonly allowPrivate: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export class WebhookPosts {
  readonly #clock: Clock;
  /** The lookup refuses private addresses at each connection, after the name was resolved. */
  readonly #guarded = newAgent({ lookup: publicLookup });
  readonly #open = newAgent({});
  readonly #running = new Set<AbortController>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async send({ url: text, allowPrivate, headers, body }: Delivery): Promise<Answer> {
    const url = new URL(text);
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    // A literal address never passes the lookup.
    const isLiteral = /^[\d.]+$/.test(host) || host.includes(':');
    if (!allowPrivate && isLiteral && !isPublicAddress(host)) return trouble('private_address');
    const controller = new AbortController();
    let isLate = false;
    const timer = this.#clock.after(answerWithinMs, () => {
      isLate = true;
      controller.abort();
    });
    this.#running.add(controller);
    try {
      const response = await (allowPrivate ? this.#open : this.#guarded).request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'voice-agent-service' },
        body,
        signal: controller.signal,
      });
      const { statusCode: status, headers: told } = response;
      // The rest may be endless, or not what its length says: the connection goes with it.
      response.body.on('error', () => undefined).destroy();
      const retryAfter = told['retry-after'];
      return { kind: 'status', status, ...(typeof retryAfter === 'string' && { retryAfter }) };
    } catch (error) {
      if (isLate) return trouble('timeout');
      return trouble(isRefused(error) ? 'private_address' : 'unreachable');
    } finally {
      timer.cancel();
      this.#running.delete(controller);
    }
  }

  /** Ends what runs; the attempts count as made in vain. */
  async close(): Promise<void> {
    for (const controller of this.#running) controller.abort();
    await Promise.all([this.#guarded.destroy(), this.#open.destroy()]);
  }
}

const newAgent = (connect: { readonly lookup?: typeof publicLookup }): HttpAgent =>
  new Agent({ connect: { timeout: connectWithinMs, ...connect }, headersTimeout: 2 * answerWithinMs });

const trouble = (why: Extract<Answer, { kind: 'trouble' }>['trouble']): Answer => ({
  kind: 'trouble',
  trouble: why,
});

function isRefused(error: unknown): boolean {
  if (error instanceof RefusedAddressError) return true;
  return error instanceof Error && error.cause !== undefined && isRefused(error.cause);
}
