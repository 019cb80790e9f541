/**
 * Delivers events to the endpoints of an agent: at least once, by one id, over days and across restarts. Events to be sent lie in the
 * queue's folder; of the processes that look at the folder one sends, the one with the lock.
 */
import { join } from 'node:path';
import type { Clock, Timer, WallClock } from '../../shared/runtime/clock.ts';
import { takeLock } from '../../shared/runtime/file-lock.ts';
import { endpointId, webhookId, type CallEventName } from '../../shared/calls/webhooks/events.ts';
import { queuedFile, type QueuedEvent } from '../../shared/calls/webhooks/queued.ts';
import { webhookKey } from '../../shared/calls/webhooks/secret.ts';
import { WebhookPosts } from './post.ts';
import { WebhookQueue } from './queue.ts';
import { afterAttempt, longestWaitMs, type Answer } from './schedule.ts';
import type { RecordedAgent } from '../../shared/calls/record.ts';
import { createHmac } from 'node:crypto';

/** The signature of Standard Webhooks, version 1: HMAC-SHA256 over id, time of the attempt and body. */
interface Signed {
  readonly id: string;
  /** Whole seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** One signature for each key, parted by blanks: while a secret is changed, a receiver knows the old one or the new one. */
export const signatureOf = ({ id, timestamp, body }: Signed, keys: readonly Buffer[]): string =>
  keys
    .map((key) => createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((digest) => `v1,${digest}`)
    .join(' ');

/** From one look at the folder to the next: another process may have put something there. */
const lookEveryMs = 2_000;
const mostAtOnce = 4;
const usualMostWaiting = 10_000;
const mostFailed = 10_000;

export type WebhookNews =
  | {
      readonly type: 'delivered' | 'given_up' | 'again';
      readonly event: QueuedEvent;
      readonly answer: Answer;
    }
  | { readonly type: 'disabled'; readonly event: QueuedEvent }
  | { readonly type: 'crowded_out'; readonly event: QueuedEvent }
  | { readonly type: 'failed'; readonly error: unknown };

export interface WebhooksOptions {
  readonly dir: string;
  /** Those of the version of an agent that a call began with. */
  readonly endpointsOf: (agent: RecordedAgent) => readonly Endpoint[];
  readonly clock: Clock;
  readonly wallClock: WallClock;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly told: (news: WebhookNews) => void;
  readonly mostWaiting?: number;
}

/** An endpoint that events can be sent to. */
export interface Endpoint {
  /** Id of the agent whose calls it is told of. */
  readonly agent: string;
  readonly url: string;
  readonly secrets: readonly string[];
  readonly events: readonly CallEventName[];
  readonly allowPrivate: boolean;
}

/** How it is with an endpoint. */
interface Traffic {
  running: number;
  /** Milliseconds since 1970. */
  pausedUntil: number;
}

interface Waiting {
  readonly endpoint: string;
  readonly nextAt: number;
  readonly createdAt: number;
}

export interface ToldEvent {
  readonly agent: RecordedAgent;
  readonly call: string;
  readonly type: CallEventName;
  readonly body: string;
}

export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #queue: WebhookQueue;
  readonly #posts: WebhookPosts;
  /** By endpoint, as long as something is the matter. */
  readonly #traffic = new Map<string, Traffic>();
  /** By file. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #underWay = new Map<string, Promise<void>>();
  #letGo: (() => void) | undefined;
  #timer: Timer | undefined;
  #lookAt = -Infinity;
  #isClosed = false;

  constructor(options: WebhooksOptions) {
    this.#options = options;
    this.#queue = new WebhookQueue(options.dir);
    this.#posts = new WebhookPosts(options.clock);
    this.#work();
  }

  /** Keeps an event for each endpoint that wants it, and returns when it is on the disk. @throws where there is no room for it. */
  tell({ agent, call, type, body }: ToldEvent): void {
    const now = this.#options.wallClock.now();
    const id = webhookId(call, type);
    for (const one of this.#options.endpointsOf(agent)) {
      const endpoint = endpointId(one);
      if (!one.events.includes(type) || this.#queue.isDisabled(endpoint)) continue;
      const { host } = new URL(one.url);
      const event = { id, type, call, agent, endpoint, host, createdAt: now, attempts: 0, nextAt: now, body };
      const name = queuedFile(event);
      // Kept again, as its process died before it could note that: what is under way or waits is the same event.
      if (this.#waiting.has(name)) continue;
      this.#queue.keep(event);
      this.#waiting.set(name, event);
    }
    this.#makeRoom();
    this.#soon(0);
  }

  /** Resolves when the attempts that are under way are over. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  /** What waits is sent by the next process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#posts.close();
    await this.settled();
    this.#letGo?.();
    this.#letGo = undefined;
  }

  #soon(inMs: number): void {
    if (this.#isClosed) return;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(inMs, () => this.#work());
  }

  #work(): void {
    try {
      this.#letGo ??= takeLock(join(this.#options.dir, 'lock'));
      if (this.#letGo !== undefined) {
        this.#look();
        this.#sendDue();
      }
    } catch (error) {
      this.#options.told({ type: 'failed', error });
    }
    this.#soon(this.#untilDue());
  }

  #look(): void {
    const now = this.#options.clock.now();
    if (now < this.#lookAt) return;
    this.#lookAt = now + lookEveryMs;
    const wallNow = this.#options.wallClock.now();
    for (const [id, { running, pausedUntil }] of this.#traffic)
      if (running === 0 && pausedUntil <= wallNow) this.#traffic.delete(id);
    this.#takeIn();
  }

  /** Files of others, and of this process in an earlier life. */
  #takeIn(): void {
    const there = new Set(this.#queue.names());
    for (const name of this.#waiting.keys())
      if (!there.has(name) && !this.#underWay.has(name)) this.#waiting.delete(name);
    for (const name of there) {
      if (this.#waiting.has(name)) continue;
      const event = this.#queue.read(name);
      if (event !== undefined) this.#waiting.set(name, event);
    }
    this.#makeRoom();
  }

  #makeRoom(): void {
    const tooMany = this.#waiting.size - (this.#options.mostWaiting ?? usualMostWaiting);
    if (tooMany <= 0) return;
    const idle = [...this.#waiting].filter(([name]) => !this.#underWay.has(name));
    const oldest = idle.toSorted(([, a], [, b]) => a.createdAt - b.createdAt).slice(0, tooMany);
    for (const [name] of oldest) {
      const event = this.#queue.read(name);
      this.#queue.giveUp(name);
      this.#waiting.delete(name);
      if (event !== undefined) this.#options.told({ type: 'crowded_out', event });
    }
    this.#queue.trim(mostFailed);
  }

  #sendDue(): void {
    const now = this.#options.wallClock.now();
    for (const [name, { endpoint: id, nextAt }] of this.#waiting) {
      if (this.#underWay.has(name)) continue;
      // A clock that was set back would keep it for years.
      const isDue = nextAt <= now || nextAt > now + 2 * longestWaitMs;
      if (!isDue || !this.#hasRoom(id, now)) continue;
      const run = this.#attempt(name, id).catch((error: unknown) =>
        this.#options.told({ type: 'failed', error }),
      );
      this.#underWay.set(name, run);
      void run.then(() => {
        this.#underWay.delete(name);
        this.#soon(0);
      });
    }
  }

  #hasRoom(id: string, now: number): boolean {
    const { running, pausedUntil } = this.#trafficOf(id);
    const isPaused = pausedUntil > now && pausedUntil <= now + longestWaitMs;
    return !isPaused && running < mostAtOnce;
  }

  #untilDue(): number {
    const now = this.#options.wallClock.now();
    let next = now + lookEveryMs;
    for (const [name, { nextAt }] of this.#waiting)
      if (nextAt > now && !this.#underWay.has(name)) next = Math.min(next, nextAt);
    return next - now;
  }

  async #attempt(name: string, id: string): Promise<void> {
    const event = this.#queue.read(name);
    if (event === undefined) {
      this.#waiting.delete(name);
      return;
    }
    if (this.#queue.isDisabled(id)) {
      this.#queue.giveUp(name);
      this.#waiting.delete(name);
      return;
    }
    const traffic = this.#trafficOf(id);
    traffic.running += 1;
    try {
      this.#settle(event, await this.#send(event), traffic);
    } finally {
      traffic.running -= 1;
    }
  }

  #trafficOf(id: string): Traffic {
    const known = this.#traffic.get(id) ?? { running: 0, pausedUntil: 0 };
    this.#traffic.set(id, known);
    return known;
  }

  async #send({ id, agent, endpoint, body }: QueuedEvent): Promise<Answer> {
    const found = this.#options.endpointsOf(agent).find((one) => endpointId(one) === endpoint);
    if (found === undefined) return { kind: 'trouble', trouble: 'unknown_endpoint' };
    const { url, allowPrivate, secrets } = found;
    const keys = secrets.flatMap((secret) => webhookKey(secret) ?? []);
    if (keys.length === 0) return { kind: 'trouble', trouble: 'no_secret' };
    const timestamp = Math.floor(this.#options.wallClock.now() / 1000);
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureOf({ id, timestamp, body }, keys),
    };
    return await this.#posts.send({ url, allowPrivate, headers, body });
  }

  #settle(before: QueuedEvent, answer: Answer, traffic: Traffic): void {
    // An attempt that this process broke off says nothing of the endpoint.
    if (this.#isClosed && answer.kind === 'trouble') return;
    const now = this.#options.wallClock.now();
    const last = { at: now, answer: answer.kind === 'status' ? answer.status : answer.trouble };
    const event: QueuedEvent = { ...before, attempts: before.attempts + 1, last };
    const name = queuedFile(event);
    const next = afterAttempt({ attempts: event.attempts, now, chance: this.#options.random() }, answer);
    if (next.type === 'again') {
      const later = { ...event, nextAt: next.at };
      this.#waiting.set(name, later);
      if (next.pauseUntil !== undefined) traffic.pausedUntil = next.pauseUntil;
      this.#queue.keep(later);
      this.#options.told({ type: 'again', event: later, answer });
      return;
    }
    this.#waiting.delete(name);
    if (next.type === 'delivered') this.#queue.remove(name);
    else {
      if (next.type === 'disabled') this.#queue.disable(event);
      this.#queue.keep(event);
      this.#queue.giveUp(name);
      this.#queue.trim(mostFailed);
    }
    this.#options.told(
      next.type === 'disabled' ? { type: 'disabled', event } : { type: next.type, event, answer },
    );
  }
}
