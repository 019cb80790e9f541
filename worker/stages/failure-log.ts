/**
 * Failures of providers and servers for the people who run the service: each cause is told once, with what to change, then
 * counted and told again at intervals, and told a last time when it has not come for an interval.
 *
 * Invariant: bounded, whatever fails and however often: so many causes, a line for each of them per interval.
 */
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';

const repeatAfterMs = 60_000;
const mostCauses = 128;

/** One failure, ready to be shown: nothing in it is secret or a caller's. */
export interface Failure {
  /** `stt`, `llm`, `tts`, `mcp`, `tool` or `before_call`. */
  readonly stage: string;
  readonly role?: string;
  /** Canonical name of the provider; of a server or tool its name in the file; of the server before calls the agent's. */
  readonly provider: string;
  /** Its vendor, where it is known: `Deepgram`. */
  readonly vendor?: string;
  readonly host?: string;
  /** `rejected 401`, `timeout connect`, `disconnected`, `protocol`. */
  readonly reason: string;
  readonly status?: number;
  /** The rule of the protocol that was broken. */
  readonly rule?: string;
  /** The vendor's code, or that of the system. */
  readonly code?: string | undefined;
  /** The vendor's words, redacted and shortened. */
  readonly text?: string | undefined;
  readonly advice?: string;
}

/** Takes a cause when it is new, and then at intervals with how often it has come since it was told last. */
export type TellFailure = (failure: Failure, times: number) => void;

/** Takes a cause that has not come for an interval, and how often it had come in all. */
export type TellOver = (failure: Failure, times: number) => void;

interface Known {
  failure: Failure;
  untold: number;
  times: number;
}

export class FailureLog {
  readonly #clock: Clock;
  readonly #tell: TellFailure;
  readonly #tellOver: TellOver;
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock, tell: TellFailure, tellOver: TellOver = () => undefined) {
    this.#clock = clock;
    this.#tell = tell;
    this.#tellOver = tellOver;
  }

  note(failure: Failure): void {
    const { stage, role = '', provider, reason, rule = '', code = '' } = failure;
    const id = JSON.stringify([stage, role, provider, reason, rule, code]);
    const known = this.#known.get(id);
    if (known !== undefined) {
      known.failure = failure;
      known.untold += 1;
      known.times += 1;
      return;
    }
    // More causes than there are reasons to fail come from a server that makes up codes.
    if (this.#known.size >= mostCauses) return;
    this.#known.set(id, { failure, untold: 0, times: 1 });
    this.#tell(failure, 1);
    this.#tellLater(id);
  }

  #tellLater(id: string): void {
    this.#clock.after(repeatAfterMs, () => {
      const known = this.#known.get(id);
      if (known === undefined) return;
      if (known.untold === 0) {
        // Quiet for a whole interval: when it comes again it is news.
        this.#known.delete(id);
        this.#tellOver(known.failure, known.times);
        return;
      }
      this.#tell(known.failure, known.untold);
      known.untold = 0;
      this.#tellLater(id);
    });
  }
}

/** It was waited for as long as the agent file allows; a provider that does not answer has failed. */
const isSlowTool = ({ stage, reason }: Failure): boolean =>
  (stage === 'mcp' || stage === 'tool') && reason === 'timeout answer';

/** Writes failures into a log, where `role` is that of the process. */
export const newFailureLog = (clock: Clock, log: Log): FailureLog =>
  new FailureLog(
    clock,
    ({ role: providerRole, ...failure }, times) => {
      const fields = { ...failure, providerRole, times };
      if (isSlowTool(failure)) log.warn(fields, 'a tool is slow');
      else log.warn(fields, 'a provider or server has failed');
    },
    ({ stage, role: providerRole, provider, host, reason }, times) =>
      log.info(
        { stage, provider, host, reason, providerRole, times },
        'a provider or server has not failed for a minute',
      ),
  );

/** Who failed, as people know it: `llm Groq (chat_compatible) at api.groq.com`. */
export function shownSource({ stage, role, provider, vendor, host }: Omit<Failure, 'reason'>): string {
  const name = vendor === undefined ? provider : `${vendor} (${provider})`;
  return `${stage}${role === 'secondary' ? ' secondary' : ''} ${name}${host === undefined ? '' : ` at ${host}`}`;
}

/** One line for people. */
export function shownFailure(failure: Failure, times = 1): string {
  return `${shownSource(failure)}: ${shownCause(failure)}${times > 1 ? ` (${times} times)` : ''}`;
}

/** What happened and what to change. */
export function shownCause({
  reason,
  rule,
  code,
  text,
  advice,
}: Omit<Failure, 'stage' | 'provider'>): string {
  const words = [rule, code, text].filter((part) => part !== undefined).join(': ');
  return `${reason}${words === '' ? '' : ` (${words})`}${advice === undefined ? '' : `; ${advice}`}`;
}
