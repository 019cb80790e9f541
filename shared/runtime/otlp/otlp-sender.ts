/**
 * Sends one export at a time to a collector by OTLP/HTTP. An export that it does not take for now is tried again a few times with growing pauses; then it is given
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

export interface OtlpSent {
  readonly outcome: OtlpOutcome;
  /** Of what was sent: spans or points that the collector has thrown away all the same (partial success). */
  readonly rejected: number;
}

const firstPauseMs = 500;
const longestPauseMs = 8_000;
const mostTries = 5;
const mostOfAnswer = 65_536;
/** What OTLP/HTTP names as worth another try. */
const retryable = new Set([429, 502, 503, 504]);

export class OtlpSender {
  readonly #options: OtlpSenderOptions;
  readonly #agent = new Agent({ connections: 1, pipelining: 1 });
  #isClosed = false;

  constructor(options: OtlpSenderOptions) {
    this.#options = options;
  }

  async send(body: string): Promise<OtlpSent> {
    let pauseMs = firstPauseMs;
    for (let tries = 1; ; tries += 1) {
      const { outcome, rejected = 0, againMs } = await this.#post(body);
      const isFinal = outcome === 'sent' || (outcome !== 'unreachable' && !retryable.has(outcome));
      if (isFinal || tries === mostTries || this.#isClosed) return { outcome, rejected };
      await this.#pause(Math.min(longestPauseMs, againMs ?? pauseMs));
      pauseMs *= 2;
    }
  }

  /** No further tries; what is under way may end. */
  close(): void {
    this.#isClosed = true;
  }

  async #post(body: string): Promise<{ outcome: OtlpOutcome; rejected?: number; againMs?: number }> {
    const { url, headers, timeoutMs } = this.#options.target;
    const { origin, pathname, search } = new URL(url);
    const controller = new AbortController();
    const timer = this.#options.clock.after(timeoutMs, () => controller.abort());
    try {
      const answer = await this.#agent.request({
        origin,
        path: pathname + search,
        method: 'POST',
        body,
        signal: controller.signal,
        headers: { ...headers, 'content-type': 'application/json' },
      });
      const text = await beginningOf(answer.body);
      const status = answer.statusCode;
      if (status >= 200 && status <= 299) return { outcome: 'sent', rejected: rejectedIn(text) };
      const seconds = Number(answer.headers['retry-after']);
      return { outcome: status, ...(seconds > 0 && { againMs: seconds * 1000 }) };
    } catch {
      // Every error of the network comes to the same: nobody has taken it.
      return { outcome: 'unreachable' };
    } finally {
      timer.cancel();
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#options.clock.after(ms, resolve));
  }
}

async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const part of body) {
    text += Buffer.from(part).toString('latin1');
    if (text.length > mostOfAnswer) break;
  }
  return text;
}

/** What OTLP calls `partialSuccess`; a number is a text in its JSON, and some write it as one. */
function rejectedIn(answer: string): number {
  const [, count] = /"rejected(?:Spans|DataPoints)"\s*:\s*"?(\d{1,15})/.exec(answer) ?? [];
  return Number(count ?? 0);
}
