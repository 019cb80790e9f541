/**
 * Decides about every connection that asks for a call (spec 01, Authentication, States, Errors): is the request well formed,
 * are the credentials fine, may this web page ask, is there room, may the address have another call, and only then is the token used. What a
 * decision took is given back by one function, whatever becomes of the call. The order matters: a stranger learns
 * nothing about load, and a token that was refused for capacity stays unused.
 */
import type { ServerSettings } from '../shared/config/server.ts';
import { tokenAnswers, type TokenFault } from '../shared/auth/token-fault.ts';
import type { SessionClaims } from '../shared/auth/token-payload.ts';
import type { HostPort } from '../shared/net/address.ts';
import { clientAddress } from '../shared/net/client-address.ts';
import type { WallClock } from '../shared/runtime/clock.ts';
import type { SupervisorMetrics } from '../shared/runtime/metrics.ts';
import type { Admission, AdmissionFacts } from './admission.ts';
import type { Answer } from './answer.ts';
import type { CallSeats } from './call-seats.ts';
import { judgeCredentials, signedMetadata, type RequestHead } from './credentials.ts';
import { originRefusal } from './origins.ts';
import type { TokenLedger } from './token-ledger.ts';
import type { TokenStore } from './token-store.ts';

/** A request for an upgrade, as it came. */
export interface Arrival {
  readonly listener: 'websocket' | 'page';
  /** What is wrong with its form; absent when nothing is. */
  readonly fault?: Answer;
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
  readonly wallClock: WallClock;
  readonly metrics: SupervisorMetrics;
  readonly admission: Admission;
  readonly seats: CallSeats;
  readonly facts: () => AdmissionFacts;
  readonly tokenLedger: TokenLedger;
  readonly tokenStore: TokenStore;
}

/** A request that has passed its credentials and found the service open. */
interface Asked {
  readonly claims: SessionClaims | undefined;
  readonly address: string;
  readonly rest: () => RequestHead;
}

const addressFull: Answer = {
  status: 429,
  code: 'address_full',
  message: 'this address has as many calls as it may have',
  retryAfterS: 1,
};

export class FrontDoor {
  readonly #options: FrontDoorOptions;

  constructor(options: FrontDoorOptions) {
    this.#options = options;
  }

  /** Why a call would be refused now whoever asked; undefined when it would not. */
  closedFor(): Answer | undefined {
    const { admission, facts, seats } = this.#options;
    const refusal = admission.refusal(facts());
    if (refusal !== undefined) return refusal;
    const budget = seats.budgetRefusal();
    if (budget === undefined) return undefined;
    const message = 'a provider of this agent has no budget left';
    return { status: 503, code: 'provider_budget', message, retryAfterS: budget.retryAfterS };
  }

  /** Why the service is not ready: nobody would be let in, or no session token would be. */
  unready(): Answer | undefined {
    const { settings, tokenLedger } = this.#options;
    const takesSessions = settings.access.sessionSecrets.length > 0;
    const isFull = takesSessions && tokenLedger.isFull(this.#nowS());
    return this.closedFor() ?? (isFull ? tokenAnswers.set_full : undefined);
  }

  /** Never rejects for anything that a client can send. */
  async decide(arrival: Arrival): Promise<Decision> {
    if (arrival.fault !== undefined) return this.#refuse(arrival.fault);
    const asked = this.#ask(arrival);
    if ('answer' in asked) return this.#refuse(asked.answer);
    const { claims, address, rest } = asked;
    const release = this.#options.seats.take(address);
    if (release === undefined) return this.#refuse(addressFull);
    const fault = claims === undefined ? undefined : await this.#useToken(claims);
    if (fault !== undefined) {
      release();
      return this.#refuse(tokenAnswers[fault]);
    }
    return {
      kind: 'admitted',
      head: rest(),
      signedMetadata: claims === undefined ? {} : signedMetadata(claims),
      release,
    };
  }

  /** How an upgrade with this head would be refused now; undefined when it would not. Nothing is taken, used or counted. */
  look(arrival: Arrival): Answer | undefined {
    const asked = this.#ask(arrival);
    if ('answer' in asked) return asked.answer;
    return this.#options.seats.hasRoomFor(asked.address) ? undefined : addressFull;
  }

  /** Everything that is decided before something is taken. */
  #ask(arrival: Arrival): { readonly answer: Answer } | Asked {
    const { access } = this.#options.settings;
    const { verdict, rest } = judgeCredentials(arrival.head, {
      staticToken: access.wsToken,
      secrets: access.sessionSecrets,
      audience: 'svc-ws',
      nowS: this.#nowS(),
    });
    if (!verdict.ok) return { answer: tokenAnswers[verdict.error] };
    const foreign = originRefusal(arrival.head.headers, { bind: this.#bindOf(arrival), access });
    if (foreign !== undefined) return { answer: foreign };
    const claims = verdict.value.kind === 'session' ? verdict.value.claims : undefined;
    if (claims !== undefined && this.#options.tokenLedger.isUsed(claims.sid, this.#nowS()))
      return { answer: tokenAnswers.reused };
    const closed = this.closedFor();
    if (closed !== undefined) return { answer: closed };
    const address = clientAddress(
      { peer: arrival.peer, headers: arrival.head.headers },
      { trustedProxies: access.trustedProxies, header: access.clientIpHeader },
    );
    return { claims, address, rest };
  }

  #bindOf({ listener }: Arrival): HostPort {
    const { ws, page } = this.#options.settings;
    return listener === 'page' && page !== undefined ? page.addr : ws.addr;
  }

  async #useToken(claims: SessionClaims): Promise<TokenFault | undefined> {
    const used = await this.#options.tokenStore.use(claims);
    this.#options.metrics.tokens.inc({ outcome: used.ok ? 'used' : used.error });
    return used.ok ? undefined : used.error;
  }

  #refuse(answer: Answer): Decision {
    this.#options.metrics.refusals.inc({ reason: answer.code });
    return { kind: 'refused', answer };
  }

  #nowS(): number {
    return Math.floor(this.#options.wallClock.now() / 1000);
  }
}
