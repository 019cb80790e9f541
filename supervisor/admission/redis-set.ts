/**
 * A set of ids in a Redis or Valkey server: one `SET NX PX` for each id, under a digest of the id. An answer comes within the
 * time limit or not at all; nothing is queued for a connection that is gone, and a connection that stays silent is given up
 * for a new one. No error of the client leaves this file with more than its code, because its text may hold addresses.
 */
import { createHash } from 'node:crypto';
import type * as redis from '@redis/client';
import { fail, ok } from '../../shared/base/result.ts';
import type { Result } from '../../shared/base/result.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { RedisTarget } from '../../shared/net/redis-url.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { SharedSet } from './token-store.ts';

export interface RedisSetOptions {
  readonly clock: Clock;
  /** Longest wait for an answer. */
  readonly timeoutMs?: Millis;
}

type Added = Result<'added' | 'present', string>;
type CreateClient = typeof redis.createClient;
type Client = ReturnType<typeof newClient>;

const defaultTimeoutMs = 1_000;
const connectTimeoutMs = 2_000;
const keyPrefix = 'svc:token:';
const maxWaiting = 4_096;
/** Answers missing in a row after which the connection is thought dead. */
const silentAnswers = 5;
const firstRetryMs = 50;
const longestRetryMs = 2_000;

export class RedisSet implements SharedSet {
  readonly #target: RedisTarget;
  readonly #clock: Clock;
  readonly #timeoutMs: Millis;
  #createClient: CreateClient | undefined;
  #client: Client | undefined;
  #isClosed = false;
  #waiting = 0;
  #unanswered = 0;
  /** Why there is no connection. */
  #fault = 'not connected yet';

  /** Begins to connect; until that is done there are no answers. */
  constructor(target: RedisTarget, { clock, timeoutMs = defaultTimeoutMs }: RedisSetOptions) {
    this.#target = target;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    void this.#open();
  }

  /** Whether ids can be added right now, as far as is known. */
  get isReady(): boolean {
    return this.#client?.isReady ?? false;
  }

  async add(id: string, ttlMs: Millis): Promise<Added> {
    const client = this.#client;
    if (this.#isClosed) return fail('closed');
    if (client?.isReady !== true) return fail(this.#fault);
    if (this.#waiting >= maxWaiting) return fail('too many answers are awaited');
    const key = keyPrefix + createHash('sha256').update(id).digest('base64url');
    this.#waiting += 1;
    const answer = client
      .set(key, '1', { condition: 'NX', expiration: { type: 'PX', value: ttlMs } })
      .then((reply): Added => this.#answered(reply === null ? 'present' : 'added'))
      .catch((error: unknown): Added => fail(faultCode(error)))
      .finally(() => (this.#waiting -= 1));
    return await this.#inTime(client, answer);
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  /** The package is a third of a supervisor's start, and few have a store: it is loaded by those alone. */
  async #open(): Promise<void> {
    try {
      this.#createClient = (await import('@redis/client')).createClient;
    } catch (error) {
      this.#fault = faultCode(error);
    }
    if (!this.#isClosed) this.#connect();
  }

  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client?.isOpen === true) client.destroy();
  }

  #answered(value: 'added' | 'present'): Added {
    this.#unanswered = 0;
    return ok(value);
  }

  #inTime(client: Client, answer: Promise<Added>): Promise<Added> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(this.#timeoutMs, () => {
        this.#missed(client);
        resolve(fail('timeout'));
      });
      answer.finally(() => timer.cancel()).then(resolve, reject);
    });
  }

  #missed(client: Client): void {
    this.#unanswered += 1;
    if (this.#unanswered < silentAnswers || this.#client !== client) return;
    this.#drop();
    this.#fault = 'timeout';
    this.#connect();
  }

  #connect(): void {
    this.#unanswered = 0;
    if (this.#createClient === undefined) return;
    const client = newClient(this.#createClient, this.#target);
    const note = (error: unknown): void => {
      if (this.#client === client) this.#fault = faultCode(error);
    };
    client.on('error', note);
    this.#client = client;
    client.connect().catch(note);
  }
}

function newClient(createClient: CreateClient, target: RedisTarget) {
  const { host, port, isTls, username, password, database } = target;
  const socket = {
    host,
    port,
    connectTimeout: connectTimeoutMs,
    reconnectStrategy: (retries: number) =>
      Math.min(firstRetryMs * 2 ** Math.min(retries, 10), longestRetryMs),
  };
  return createClient({
    RESP: 2,
    socket: isTls ? { ...socket, tls: true } : socket,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: password.reveal() }),
    database,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    commandsQueueMaxLength: maxWaiting,
  });
}

/** The code of a system error, or the first word of the server's own reply; else the class of the error. */
function faultCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return /^[A-Z]{3,20}(?= )/.exec(error.message)?.[0] ?? error.constructor.name;
}
