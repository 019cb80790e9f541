/**
 * Decides about every connection that asks for a call (spec 01, Authentication, States, Errors): is the request well formed,
 * are the credentials fine, is there room, may the address have another call, and only then is the token used. What a
 * decision took is given back by one function, whatever becomes of the call. The order matters: a stranger learns
 * nothing about load, and a token that was refused for capacity stays unused.
 */
import type { ServerSettings } from '../shared/config/server.ts';
import { tokenAnswers, type TokenFault } from '../shared/auth/token-fault.ts';
import type { SessionClaims } from '../shared/auth/token-payload.ts';
import { clientAddress } from '../shared/net/client-address.ts';
import type { Clock, WallClock } from '../shared/runtime/clock.ts';
import type { SupervisorMetrics } from '../shared/runtime/metrics.ts';
import { AddressLedger } from './address-ledger.ts';
import type { Admission, AdmissionFacts } from './admission.ts';
import { judgeCredentials, signedMetadata, type RequestHead } from './credentials.ts';
import { ProviderLedger } from './provider-limits.ts';
import type { TokenLedger } from './token-ledger.ts';
import type { TokenStore } from './token-store.ts';

/** An HTTP answer instead of a call. `code` and `message` go into the JSON body. */
export interface Answer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterS?: number;
}

/** A request for an upgrade, as it came. */
export interface Arrival {
  readonly method: string;
  readonly head: RequestHead;
  /** Address of the TCP peer. */
  readonly peer: string | undefined;
}

export type Decision =
  | { readonly kind: 'refused'; readonly answer: Answer }
  | {
      readonly kind: 'admitted';
      /** The request without its token. */
      readonly head: RequestHead;
      readonly signedMetadata: Readonly<Record<string, string>>;
      /** Gives everything back; a second time does nothing. */
      readonly release: () => void;
    };

export interface FrontDoorOptions {
  readonly settings: ServerSettings;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly metrics: SupervisorMetrics;
  readonly admission: Admission;
  readonly facts: () => AdmissionFacts;
  readonly tokenLedger: TokenLedger;
  readonly tokenStore: TokenStore;
  /** Providers of the agent, by canonical name. */
  readonly providers: readonly string[];
  /** Call slots or budgets became free. */
  readonly released: () => void;
}

const badUpgrade: Answer = {
  status: 400,
  code: 'bad_upgrade',
  message: 'the request is not a WebSocket upgrade of version 13',
};
const addressFull: Answer = {
  status: 429,
  code: 'address_full',
  message: 'this address has as many calls as it may have',
  retryAfterS: 1,
};

export class FrontDoor {
  readonly #options: FrontDoorOptions;
  readonly #addresses: AddressLedger;
  readonly #providers: ProviderLedger;

  constructor(options: FrontDoorOptions) {
    this.#options = options;
    const { maxCallsPerAddress } = options.settings.access;
    this.#addresses = new AddressLedger({
      offersPerMinute: undefined,
      maxCalls: maxCallsPerAddress === 0 ? undefined : maxCallsPerAddress,
    });
    this.#providers = new ProviderLedger(options.settings.providerLimits);
  }

  /** Requests that calls sent to a provider since the last report. */
  requested(provider: string, count: number): void {
    this.#providers.requested(provider, this.#options.clock.now(), { count });
  }

  /** Why a call would be refused now whoever asked; undefined when it would not. */
  closedFor(): Answer | undefined {
    const { admission, facts, providers, clock } = this.#options;
    const refusal = admission.refusal(facts());
    if (refusal !== undefined) {
      const { status, reason: code, message, retryAfterS } = refusal;
      return { status, code, message, ...(retryAfterS !== undefined && { retryAfterS }) };
    }
    const budget = this.#providers.refusal(providers, clock.now());
    if (budget === undefined) return undefined;
    const message = 'a provider of this agent has no budget left';
    return { status: 503, code: 'provider_budget', message, retryAfterS: budget.retryAfterS };
  }

  /** Never rejects for anything that a client can send. */
  async decide(arrival: Arrival): Promise<Decision> {
    const { access } = this.#options.settings;
    if (!isWebSocketUpgrade(arrival)) return this.#refuse(badUpgrade);
    const { verdict, head } = judgeCredentials(arrival.head, {
      staticToken: access.wsToken,
      secrets: access.sessionSecrets,
      audience: 'svc-ws',
      nowS: this.#nowS(),
    });
    if (!verdict.ok) return this.#refuseToken(verdict.error);
    const claims = verdict.value.kind === 'session' ? verdict.value.claims : undefined;
    if (claims !== undefined && this.#options.tokenLedger.isUsed(claims.sid, this.#nowS()))
      return this.#refuseToken('reused');
    const closed = this.closedFor();
    if (closed !== undefined) return this.#refuse(closed);
    const address = clientAddress(
      { peer: arrival.peer, headers: arrival.head.headers },
      { trustedProxies: access.trustedProxies, header: access.clientIpHeader },
    );
    const release = this.#take(address);
    if (release === undefined) return this.#refuse(addressFull);
    const fault = claims === undefined ? undefined : await this.#useToken(claims);
    if (fault !== undefined) {
      release();
      return this.#refuseToken(fault);
    }
    return {
      kind: 'admitted',
      head,
      signedMetadata: claims === undefined ? {} : signedMetadata(claims),
      release,
    };
  }

  /** Takes a call slot, the providers' sessions and the address's place; undefined when the address has no place left. */
  #take(address: string): (() => void) | undefined {
    const { clock, admission, providers, released } = this.#options;
    const seat = this.#addresses.seat(address, clock.now());
    if (seat === undefined) return undefined;
    admission.take();
    this.#providers.take(providers);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      seat.release(clock.now());
      admission.release();
      this.#providers.release(providers);
      released();
    };
  }

  async #useToken(claims: SessionClaims): Promise<TokenFault | undefined> {
    const used = await this.#options.tokenStore.use(claims);
    this.#options.metrics.tokens.inc({ outcome: used.ok ? 'used' : used.error });
    return used.ok ? undefined : used.error;
  }

  #refuseToken(fault: TokenFault): Decision {
    return this.#refuse(tokenAnswers[fault]);
  }

  #refuse(answer: Answer): Decision {
    this.#options.metrics.refusals.inc({ reason: answer.code });
    return { kind: 'refused', answer };
  }

  #nowS(): number {
    return Math.floor(this.#options.wallClock.now() / 1000);
  }
}

/** What the WebSocket library would refuse later, refused before it costs a slot or a token. */
function isWebSocketUpgrade({ method, head }: Arrival): boolean {
  const one = (name: string): string => {
    const value = head.headers[name];
    return typeof value === 'string' ? value : '';
  };
  return (
    method === 'GET' &&
    one('upgrade').toLowerCase() === 'websocket' &&
    one('sec-websocket-version') === '13' &&
    /^[+/0-9A-Za-z]{22}==$/.test(one('sec-websocket-key'))
  );
}
