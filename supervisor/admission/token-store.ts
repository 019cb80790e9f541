/**
 * Single use of session tokens (docs/tokens.md, Single use), for one supervisor or for all that share a store. The own ledger is asked
 * first: an id that it knows needs no round trip, and it bounds the questions to the store. With a store, a token counts only when the
 * store has said so: no answer is a refusal (it fails closed), but for the streams of carriers, which are proved twice. A store that cannot answer leaves no mark in the ledger, so
 * that the token may be tried again.
 */
import { fail, ok, type Result } from '../../shared/base/result.ts';
import type { Millis } from '../../shared/base/units.ts';
import { skewS } from '../../shared/auth/session-token.ts';
import type { WallClock } from '../../shared/runtime/clock.ts';
import { newRareWarning, type TokenLedger } from './token-ledger.ts';

export type UseFault = 'reused' | 'set_full' | 'store_unavailable';

/** A set that several supervisors share. */
export interface SharedSet {
  /** Adds an id for at least `ttlMs`, if it is not there. The error says why there is no answer; it holds no secret. */
  add(id: string, ttlMs: Millis): Promise<Result<'added' | 'present', string>>;
  /** Takes an id out again; without an answer it stays. */
  remove(id: string): Promise<void>;
  /** Gives the connection up; later questions have no answer. */
  close(): void;
}

/** The part of a log that this file writes to. */
export interface WarningLog {
  warn(fields: Readonly<Record<string, string>>, sentence: string): void;
}

/** What opens one call. `expS`: Unix seconds. `isVouchedFor`: it counts as unused while the store gives no answer. */
export interface Pass {
  readonly sid: string;
  readonly expS: number;
  readonly isVouchedFor?: true;
}

export interface TokenStoreOptions {
  readonly ledger: TokenLedger;
  readonly wallClock: WallClock;
  readonly log: WarningLog;
  /** Absent: every supervisor accepts a token once. */
  readonly shared?: SharedSet;
}

/** Clocks of supervisors may differ by this much and an id is still remembered long enough for all of them. */
const clockMarginS = 60;
const warnEveryS = 60;

export class TokenStore {
  readonly #options: TokenStoreOptions;
  readonly #warnings = newRareWarning(warnEveryS);

  constructor(options: TokenStoreOptions) {
    this.#options = options;
  }

  /**
   * Marks a verified token as used. Call it once the call has its slot; when it fails, give the slot back. Of any number of
   * simultaneous calls for one id, one succeeds. Never rejects.
   */
  async use({ sid, expS, isVouchedFor }: Pass): Promise<Result<void, UseFault>> {
    const { ledger, wallClock, log, shared } = this.#options;
    const nowS = wallClock.now() / 1000;
    const outcome = ledger.use({ sid, expS, nowS });
    if (outcome.kind === 'reused') return fail('reused');
    if (outcome.kind === 'full') {
      if (outcome.shouldWarn) log.warn({}, 'the set of used session tokens is full; new tokens are refused');
      return fail('set_full');
    }
    if (shared === undefined) return ok(undefined);
    const ttlMs = Math.ceil(Math.max(1, expS - nowS + skewS + clockMarginS) * 1000);
    const added = await shared.add(sid, ttlMs);
    if (added.ok) return added.value === 'added' ? ok(undefined) : fail('reused');
    if (this.#warnings.isDue(nowS))
      log.warn({ reason: added.error }, 'the token store gives no answer; session tokens are refused');
    // A telephone call of the carrier's is let in: this host alone still knows that it was here.
    if (isVouchedFor === true) return ok(undefined);
    ledger.release(sid);
    return fail('store_unavailable');
  }

  /** Takes a use back, for a call that never had room: its client may try again. */
  async giveBack({ sid }: Pass): Promise<void> {
    const { ledger, shared } = this.#options;
    ledger.release(sid);
    await shared?.remove(sid);
  }

  close(): void {
    this.#options.shared?.close();
  }
}
