/**
 * The hosts that share a store: which of them has a resource, and questions to that host. A resource is what outsiders name to any host, such
 * as a telephone call or a transfer. The store keeps which host has a resource, under a digest; questions and answers pass through it and are
 * not kept. Each wait is bounded, and no answer is an answer: the host that asks goes on with what it knows itself.
 */
import { randomBytes } from 'node:crypto';
import type { Millis } from '../../shared/base/units.ts';
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import { newRareWarning } from '../admission/token-ledger.ts';
import type { WarningLog } from '../admission/token-store.ts';
import { digestOf, type RedisClient, type RedisLine } from './redis-line.ts';

export interface HostsOptions {
  readonly line: Pick<RedisLine, 'ask' | 'hear'>;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly log: WarningLog;
}

/** What came of a question: the host's answer, or that there was none. */
export type Heard = { readonly value: unknown } | undefined;

/** `unknown`: the store gives no answer. */
export type Owner = { readonly host: string } | 'here' | 'nobody' | 'unknown';

const keyPrefix = 'svc:has:';
const channelPrefix = 'svc:host:';
const everybody = 'svc:hosts';
/** A resource is forgotten after this time; the longest transfer that waits for an operator is, too. */
const keptMs: Millis = 24 * 3_600_000;
/** Long enough for a host that is busy, short enough for a carrier that waits for instructions. */
const answerMs: Millis = 3_000;
const mostWaiting = 4_096;
const warnEveryS = 60;

type Command<T> = (client: RedisClient) => Promise<T>;

interface Waiting {
  readonly take: (value: unknown) => void;
}

export class Hosts {
  /** Names this process. */
  readonly id = randomBytes(9).toString('base64url');
  readonly #options: HostsOptions;
  readonly #warnings = newRareWarning(warnEveryS);
  readonly #waiting = new Map<number, Waiting>();
  #answers: (question: unknown) => unknown = () => undefined;
  #full = (): void => undefined;
  #last = 0;

  constructor(options: HostsOptions) {
    this.#options = options;
    const hear = (message: string): void => this.#hear(message);
    options.line.hear(channelPrefix + this.id, hear);
    options.line.hear(everybody, hear);
  }

  /** What questions of other hosts are answered with. `full`: they are not asked, because too many questions wait. */
  answerWith(answers: (question: unknown) => unknown, { full }: { readonly full: () => void }): void {
    this.#answers = answers;
    this.#full = full;
  }

  /** This host has the resource from now on. */
  claim(resource: string): void {
    void this.#ask((client) =>
      client.set(keyOf(resource), this.id, { expiration: { type: 'PX', value: keptMs } }),
    );
  }

  /** This host has the resource, unless one has it already. */
  async claimOnce(resource: string, forMs: Millis = keptMs): Promise<Owner> {
    const given = { condition: 'NX', GET: true, expiration: { type: 'PX', value: forMs } } as const;
    const owner = await this.#owner((client) => client.set(keyOf(resource), this.id, given));
    return owner === 'nobody' ? 'here' : owner;
  }

  /** This host has the resource from now on, if any has it; returns the host that had it. */
  async moveHere(resource: string): Promise<Owner> {
    const given = { condition: 'XX', GET: true, expiration: { type: 'PX', value: keptMs } } as const;
    return await this.#owner((client) => client.set(keyOf(resource), this.id, given));
  }

  async owner(resource: string): Promise<Owner> {
    return await this.#owner((client) => client.get(keyOf(resource)));
  }

  /** Asks one host. Undefined: it is gone, or does not answer in time. */
  async ask(host: string, question: unknown): Promise<Heard> {
    const [first] = await this.#say(channelPrefix + host, question, 1);
    return first;
  }

  /** Asks all others; the answers that came in time. */
  async askOthers(question: unknown): Promise<readonly unknown[]> {
    return (await this.#say(everybody, question, undefined)).map(({ value }) => value);
  }

  async #owner(command: Command<string | null>): Promise<Owner> {
    const reply = await this.#ask(command);
    if (reply === undefined) return 'unknown';
    if (reply === null) return 'nobody';
    return reply === this.id ? 'here' : { host: reply };
  }

  async #ask<T>(command: Command<T>): Promise<T | undefined> {
    const { line, log, wallClock } = this.#options;
    const reply = await line.ask(command);
    if (reply.ok) return reply.value;
    if (this.#warnings.isDue(wallClock.now() / 1000))
      log.warn(
        { reason: reply.error },
        'the shared store gives no answer; telephone calls of other hosts are unknown here',
      );
    return undefined;
  }

  /** Says a question on a channel and collects the answers; `most`: of how many hosts, undefined: of all others that hear it. */
  async #say(channel: string, question: unknown, most: number | undefined): Promise<{ value: unknown }[]> {
    if (this.#waiting.size >= mostWaiting) {
      this.#full();
      return [];
    }
    this.#last += 1;
    const number = this.#last;
    const answers: { value: unknown }[] = [];
    let expected = Number.POSITIVE_INFINITY;
    return await new Promise((resolve) => {
      const over = (): void => {
        timer.cancel();
        this.#waiting.delete(number);
        resolve(answers);
      };
      const timer = this.#options.clock.after(answerMs, over);
      const look = (): void => {
        if (answers.length >= expected) over();
      };
      this.#waiting.set(number, {
        take: (value) => {
          answers.push({ value });
          look();
        },
      });
      const message = JSON.stringify({ from: this.id, number, question });
      void this.#ask((client) => client.publish(channel, message)).then((hearers) => {
        // Of everybody this host is one.
        expected = most === undefined ? (hearers ?? 1) - 1 : Math.min(most, hearers ?? 0);
        look();
      });
    });
  }

  #hear(message: string): void {
    const said = readMessage(message);
    if (said === undefined || said.from === this.id) return;
    if (said.isAnswer) this.#waiting.get(said.number)?.take(said.value);
    else void this.#reply(said);
  }

  async #reply({ from, number, value: question }: Said): Promise<void> {
    let answer: unknown;
    try {
      answer = await this.#answers(question);
    } catch {
      // The host that asks goes on as without an answer; the fault is this host's own affair.
      return;
    }
    const message = JSON.stringify({ from: this.id, number, answer: answer ?? null });
    await this.#ask((client) => client.publish(channelPrefix + from, message));
  }
}

interface Said {
  readonly from: string;
  readonly number: number;
  readonly isAnswer: boolean;
  readonly value: unknown;
}

const keyOf = (resource: string): string => keyPrefix + digestOf(resource);

/** Another release may say things that this one does not know. */
function readMessage(message: string): Said | undefined {
  let read: unknown;
  try {
    read = JSON.parse(message);
  } catch {
    return undefined;
  }
  if (typeof read !== 'object' || read === null) return undefined;
  const [from, number] = [Reflect.get(read, 'from'), Reflect.get(read, 'number')] as unknown[];
  if (typeof from !== 'string' || typeof number !== 'number') return undefined;
  const isAnswer = 'answer' in read;
  return { from, number, isAnswer, value: Reflect.get(read, isAnswer ? 'answer' : 'question') };
}
