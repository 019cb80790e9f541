/**
 * Who gets a session token from the page's own listener. A token is a call, so the answer is no by default: yes for a browser on
 * this machine that asks from this very page, or, with SVC_INSECURE_LISTENERS, for every client. A request for a name that is
 * not of this machine came through a proxy, or from a site that had its name lead here; both look alike.
 */
import { fail, ok, type Result } from '../../shared/base/result.ts';
import { mintSessionToken } from '../../shared/auth/mint.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import { clientAddress } from '../../shared/net/client-address.ts';
import { isLoopbackHost } from '../../shared/net/loopback.ts';
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import { AddressLedger } from '../admission/address-ledger.ts';
import { refusal, refusals, type Answer } from '../http/refusals.ts';
import type { Arrival } from './front-door.ts';

/** It has to last from the click to the upgrade. */
const ttlS = 60;
const tokensPerMinute = 30;
/** What proxies add. */
const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

const foreign = refusal('origin_refused', {
  message: 'tokens are given to the page of this listener alone',
});

export interface PageTokensOptions {
  readonly settings: Pick<ServerSettings, 'access' | 'insecureListeners'>;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  /** A session id that was never used. */
  readonly newId: () => string;
}

export class PageTokens {
  readonly #options: PageTokensOptions;
  readonly #asked = new AddressLedger({ offersPerMinute: tokensPerMinute, maxCalls: undefined });

  constructor(options: PageTokensOptions) {
    this.#options = options;
  }

  /** A token for one call, or the answer instead of it. */
  give({ head, peer }: Pick<Arrival, 'head' | 'peer'>): Result<string, Answer> {
    const { settings, clock, wallClock, newId } = this.#options;
    const { access, insecureListeners } = settings;
    const host = one(head.headers['host']);
    const origin = head.headers['origin'];
    if (origin !== undefined && hostOf(one(origin)) !== host.toLowerCase()) return fail(foreign);
    if (!insecureListeners && !isOfThisMachine(host, head.headers)) return fail(refusals.tokens_closed);
    const address = clientAddress(
      { peer, headers: head.headers },
      { trustedProxies: access.trustedProxies, header: access.clientIpHeader },
    );
    const offer = this.#asked.offer(address, clock.now());
    if (offer.kind === 'refused') return fail(tooMany(offer.retryAfterS));
    const minted = mintSessionToken(
      { aud: audienceOf(head.url), ttlS, sid: newId() },
      { secret: access.sessionSecrets[0]?.reveal() ?? '', nowS: Math.floor(wallClock.now() / 1000) },
    );
    if (!minted.ok) throw new Error(minted.error);
    return ok(minted.value);
  }
}

/** A call by WebRTC needs a token of its own audience, and asks for it by `?transport=webrtc`. */
function audienceOf(url: string): 'svc-ws' | 'svc-webrtc' {
  const query = new URLSearchParams(url.split('?')[1] ?? '');
  return query.get('transport') === 'webrtc' ? 'svc-webrtc' : 'svc-ws';
}

function isOfThisMachine(host: string, headers: Arrival['head']['headers']): boolean {
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '';
  return isLoopbackHost(name) && forwarding.every((header) => headers[header] === undefined);
}

const tooMany = (retryAfterS: number): Answer =>
  refusal('too_many_tokens', { message: `an address gets ${tokensPerMinute} tokens a minute`, retryAfterS });

const one = (value: string | string[] | undefined): string => (typeof value === 'string' ? value : '');

/** `host:port` of an origin, as a Host header writes it; undefined for `null` and for nonsense. */
const hostOf = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined;
