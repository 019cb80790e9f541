/**
 * The line to a Redis or Valkey server that the hosts of a fleet share. An answer comes within the time limit or not at all; nothing is
 * queued for a connection that is gone, and a connection that stays silent is given up for a new one. No error of the client leaves this
 * file with more than its code, because its text may hold addresses.
 */
import { createHash } from 'node:crypto';
import type * as redis from '@redis/client';
import { fail, ok, type Result } from '../../shared/base/result.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { RedisTarget } from '../../shared/net/redis-url.ts';
import { afterOthers, type Clock } from '../../shared/runtime/clock.ts';

export interface RedisLineOptions {
  readonly clock: Clock;
  /** Longest wait for an answer. */
  readonly timeoutMs?: Millis;
}

/** What stands in keys: ids and addresses may say something about people, and have any characters. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

type CreateClient = typeof redis.createClient;
export type RedisClient = ReturnType<typeof newClient>;

const defaultTimeoutMs = 1_000;
const connectTimeoutMs = 2_000;
const maxWaiting = 4_096;
/** Answers missing in a row after which the connection is thought dead. */
const silentAnswers = 5;
const firstRetryMs = 50;
const longestRetryMs = 2_000;
/** A connection that only listens would not notice that nobody speaks any more. */
const pingEveryMs = 10_000;
const longestSilenceMs = 30_000;

export class RedisLine {
  readonly #target: RedisTarget;
  readonly #clock: Clock;
  readonly #timeoutMs: Millis;
  readonly #heard: (readonly [channel: string, hear: (message: string) => void])[] = [];
  #createClient: CreateClient | undefined;
  #client: RedisClient | undefined;
  #listener: RedisClient | undefined;
  #isClosed = false;
  #waiting = 0;
  #unanswered = 0;
  /** Why there is no connection. */
  #fault = 'not connected yet';

  /** Begins to connect; until that is done there are no answers. */
  constructor(target: RedisTarget, { clock, timeoutMs = defaultTimeoutMs }: RedisLineOptions) {
    this.#target = target;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    void this.#open();
  }

  /** Whether there are answers right now, as far as is known. */
  get isReady(): boolean {
    return this.#client?.isReady ?? false;
  }

  /** Asks one resource. The error says why there is no answer; it holds no secret. Never rejects. */
  async ask<T>(command: (client: RedisClient) => Promise<T>): Promise<Result<T, string>> {
    const client = this.#client;
    if (this.#isClosed) return fail('closed');
    if (client?.isReady !== true) return fail(this.#fault);
    if (this.#waiting >= maxWaiting) return fail('too many answers are awaited');
    this.#waiting += 1;
    const answer = command(client)
      .then((reply): Result<T, string> => {
        this.#unanswered = 0;
        return ok(reply);
      })
      .catch((error: unknown): Result<T, string> => fail(faultCode(error)))
      .finally(() => (this.#waiting -= 1));
    return await this.#inTime(client, answer);
  }

  /** Hears what is said on a channel, for as long as the line is there; on a connection of its own, as the protocol wants it. */
  hear(channel: string, hear: (message: string) => void): void {
    this.#heard.push([channel, hear]);
    if (this.#listener === undefined) this.#listen();
    else void this.#listener.subscribe(channel, hear).catch(() => undefined);
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
    if (this.#listener?.isOpen === true) this.#listener.destroy();
  }

  /** The package is a third of a supervisor's start, and few have a store: it is loaded by those alone. */
  async #open(): Promise<void> {
    try {
      this.#createClient = (await import('@redis/client')).createClient;
    } catch (error) {
      this.#fault = faultCode(error);
    }
    if (this.#isClosed) return;
    this.#connect();
    this.#listen();
  }

  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client?.isOpen === true) client.destroy();
  }

  #inTime<T>(client: RedisClient, answer: Promise<Result<T, string>>): Promise<Result<T, string>> {
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      const late = (): void => {
        if (isAnswered) return;
        this.#missed(client);
        resolve(fail('timeout'));
      };
      // An answer that lies there unread is in time: this process was late, and not the server.
      const timer = this.#clock.after(this.#timeoutMs, () => afterOthers(late));
      answer
        .finally(() => {
          isAnswered = true;
          timer.cancel();
        })
        .then(resolve, reject);
    });
  }

  #missed(client: RedisClient): void {
    this.#unanswered += 1;
    if (this.#unanswered < silentAnswers || this.#client !== client) return;
    this.#drop();
    this.#fault = 'timeout';
    this.#connect();
  }

  #connect(): void {
    this.#unanswered = 0;
    if (this.#createClient === undefined) return;
    const client = newClient(this.#createClient, this.#target, { listens: false });
    const note = (error: unknown): void => {
      if (this.#client === client) this.#fault = faultCode(error);
    };
    client.on('error', note);
    this.#client = client;
    client.connect().catch(note);
  }

  #listen(): void {
    if (this.#createClient === undefined || this.#heard.length === 0) return;
    const client = newClient(this.#createClient, this.#target, { listens: true });
    client.on('error', () => undefined);
    this.#listener = client;
    client.connect().catch(() => undefined);
    // The client subscribes again, by itself, on every connection that follows.
    for (const [channel, hear] of this.#heard) void client.subscribe(channel, hear).catch(() => undefined);
  }
}

function newClient(
  createClient: CreateClient,
  target: RedisTarget,
  { listens }: { readonly listens: boolean },
) {
  const { host, port, isTls, username, password, database } = target;
  const socket = {
    host,
    port,
    connectTimeout: connectTimeoutMs,
    ...(listens && { socketTimeout: longestSilenceMs }),
    reconnectStrategy: (retries: number) =>
      Math.min(firstRetryMs * 2 ** Math.min(retries, 10), longestRetryMs),
  };
  return createClient({
    RESP: 2,
    socket: isTls ? { ...socket, tls: true } : socket,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: password.reveal() }),
    database,
    // Questions are not kept for later; channels are subscribed to as soon as that can be.
    disableOfflineQueue: !listens,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    commandsQueueMaxLength: maxWaiting,
    ...(listens && { pingInterval: pingEveryMs }),
  });
}

/** The code of a system error, or the first word of the server's own reply; else the class of the error. */
function faultCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return /^[A-Z]{3,20}(?= )/.exec(error.message)?.[0] ?? error.constructor.name;
}
