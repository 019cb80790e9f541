/**
 * Relays for clients and for the service itself, as the provider of them gives them (docs/webrtc.md, Where UDP does not get through; RTCIceServer).
 *
 * Invariant: a client that gets credentials has at least half of their lifetime before it; fetched credentials are kept for a minute at most, and are
 * fetched once at a time. Neither secrets nor credentials are logged or told in errors.
 */
import { createHmac } from 'node:crypto';
import type { TurnSettings } from '../../../shared/config/server/reach/turn-variables.ts';
import type { IceServer } from '../../../shared/webrtc/turn-url.ts';
import type { Clock, WallClock } from '../../../shared/runtime/clock.ts';
import { fetchIceServers } from './fetched.ts';

export interface IceServersOptions {
  readonly settings: TurnSettings;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly newId: () => string;
  readonly fetch: typeof globalThis.fetch;
  /** The provider gives none; `reason` holds nothing of what it said but a status. */
  readonly failed: (reason: string) => void;
}

/** A call of the service lasts as long as it may, and nobody can give a relay other credentials. */
const ownTtlS = 86_400;
const keptMs = 60_000;
/** After a failure the provider is asked again so much later; a flood of offers asks it once. */
const againMs = 2_000;

interface Kept {
  readonly servers: Promise<readonly IceServer[]>;
  freshUntil: number;
}

export class IceServers {
  readonly #options: IceServersOptions;
  readonly #kept = new Map<number, Kept>();

  constructor(options: IceServersOptions) {
    this.#options = options;
  }

  /** For a client. Empty where the provider gives none now. */
  forClient(): Promise<readonly IceServer[]> {
    return this.#servers(this.#options.settings.ttlS);
  }

  /** For the service's own relays. */
  forService(): Promise<readonly IceServer[]> {
    return this.#servers(ownTtlS);
  }

  #servers(ttlS: number): Promise<readonly IceServer[]> {
    const { provider } = this.#options.settings;
    if (provider.name !== 'self_hosted_turn') return this.#fetched(ttlS);
    const expiresS = Math.floor(this.#options.wallClock.now() / 1000) + ttlS;
    const username = `${expiresS}:${this.#options.newId()}`;
    const credential = createHmac('sha1', provider.secret.reveal()).update(username).digest('base64');
    return Promise.resolve([{ urls: provider.urls, username, credential }]);
  }

  #fetched(ttlS: number): Promise<readonly IceServer[]> {
    const { clock, settings, fetch, failed } = this.#options;
    const kept = this.#kept.get(ttlS);
    if (kept !== undefined && clock.now() < kept.freshUntil) return kept.servers;
    const fresh: Kept = {
      servers: fetchIceServers(settings.provider, { ttlS, fetch }).catch((error: unknown) => {
        fresh.freshUntil = clock.now() + againMs;
        failed(error instanceof Error ? error.message : 'unknown');
        return [];
      }),
      freshUntil: clock.now() + Math.min(keptMs, (ttlS * 1000) / 2),
    };
    this.#kept.set(ttlS, fresh);
    return fresh.servers;
  }
}
