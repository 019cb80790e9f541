/**
 * Sends one export at a time to a collector by OTLP/HTTP. What it does not take for now is tried again a few times with growing pauses; then it is given
 * up. Nobody waits for it but the caller of `send`, and nothing is thrown.
 */
import { Agent } from '../undici.ts';
import type { Clock } from '../clock.ts';

export interface OtlpSenderOptions {
  readonly target: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly timeoutMs: number;
  };
  readonly clock: Clock;
}

/** `unreachable`: nobody answered; a number is the status of an answer that is final. */
export type OtlpOutcome = 'sent' | 'unreachable' | number;

const firstPauseMs = 500;
const longestPauseMs = 8_000;
const mostTries = 5;
/** What OTLP/HTTP names as worth another try. */
const retryable = new Set([429, 502, 503, 504]);

export class OtlpSender {
  readonly #options: OtlpSenderOptions;
  readonly #agent = new Agent({ connections: 1, pipelining: 1 });
  #isClosed = false;

  constructor(options: OtlpSenderOptions) {
    this.#options = options;
  }

  async send(body: string): Promise<OtlpOutcome> {
    let pauseMs = firstPauseMs;
    for (let tries = 1; ; tries += 1) {
      const { outcome, againMs } = await this.#post(body);
      const isFinal = outcome === 'sent' || (outcome !== 'unreachable' && !retryable.has(outcome));
      if (isFinal || tries === mostTries || this.#isClosed) return outcome;
      await this.#pause(Math.min(longestPauseMs, againMs ?? pauseMs));
      pauseMs *= 2;
    }
  }

  /** No further tries; what is under way may end. */
  close(): void {
    this.#isClosed = true;
  }

  async #post(body: string): Promise<{ outcome: OtlpOutcome; againMs?: number }> {
    const { url, headers, timeoutMs } = this.#options.target;
    const { origin, pathname, search } = new URL(url);
    const controller = new AbortController();
    const timer = this.#options.clock.after(timeoutMs, () => controller.abort());
    try {
      const answer = await this.#agent.request({
        ...{ origin, path: pathname + search, method: 'POST', body, signal: controller.signal },
        headers: { ...headers, 'content-type': 'application/json' },
      });
      await answer.body.dump({ limit: 65_536, signal: controller.signal });
      const status = answer.statusCode;
      if (status >= 200 && status <= 299) return { outcome: 'sent' };
      const seconds = Number(answer.headers['retry-after']);
      return { outcome: status, ...(seconds > 0 && { againMs: seconds * 1000 }) };
    } catch {
      // Whatever the network says, it comes to the same: nobody has taken it.
      return { outcome: 'unreachable' };
    } finally {
      timer.cancel();
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#options.clock.after(ms, resolve));
  }
}
