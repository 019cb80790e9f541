/**
 * Digest authentication of peers (RFC 3261, 22; RFC 7616; RFC 8760). Nonces are made of time and a secret of this process, so that
 * nothing is kept for those who only ask; a nonce that was used counts its uses, and no use counts twice.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { isSameSecret } from '../../auth/same-secret.ts';
import type { Millis } from '../../base/units.ts';
import { listOf, type SipRequest } from '../message/message.ts';
import { paramsOf, readUri, type Params } from '../message/fields.ts';
import type { HeaderPair } from '../message/write.ts';

const hashes = { 'SHA-256': 'sha256', MD5: 'md5' } as const;
type Algorithm = keyof typeof hashes;
/** Preferred first. */
const algorithms: readonly Algorithm[] = ['SHA-256', 'MD5'];

const nonceLifeMs = 300_000;
/** Nonces whose uses are remembered; of more the oldest are taken for expired. */
const mostNonces = 4_096;

export interface DigestAccount {
  readonly user: string;
  readonly password: string;
  readonly realm: string;
}

/** What a peer proves its password with. */
export interface DigestProof {
  readonly algorithm: Algorithm;
  readonly isSession: boolean;
  readonly method: string;
  readonly uri: string;
  readonly nonce: string;
  readonly nc: string;
  readonly cnonce: string;
  readonly qop: string;
}

/** The response that proves the password (RFC 7616, 3.4.1). */
export function digestResponse({ user, password, realm }: DigestAccount, proof: DigestProof): string {
  const h = (text: string): string =>
    createHash(hashes[proof.algorithm]).update(text, 'latin1').digest('hex');
  const plain = h(`${user}:${realm}:${password}`);
  const a1 = proof.isSession ? h(`${plain}:${proof.nonce}:${proof.cnonce}`) : plain;
  const a2 = h(`${proof.method}:${proof.uri}`);
  return proof.qop === ''
    ? h(`${a1}:${proof.nonce}:${a2}`)
    : h(`${a1}:${proof.nonce}:${proof.nc}:${proof.cnonce}:${proof.qop}:${a2}`);
}

/** Nonces as they change hands; times are those of the process that saved them. */
export interface SavedNonces {
  readonly secret: string;
  readonly nowMs: Millis;
  readonly uses: [string, number][];
  /** Nonces that were made until then count only where their uses are known. */
  readonly forgottenMs?: Millis;
}

/** `unproved`: nothing, or nothing that this process has asked for. */
export type Verdict = 'proved' | 'unproved' | 'wrong' | 'stale';

export class Digest {
  readonly #account: DigestAccount;
  #secret: Buffer;
  /** What another process called now, where this one goes on with its nonces. */
  #shiftMs = 0;
  /** Times that nonces were used, by nonce. */
  readonly #uses = new Map<string, number>();
  /** When the newest nonce was made whose uses are not remembered any more. */
  #forgottenMs = -1;

  constructor(account: DigestAccount, secret: Buffer = randomBytes(32)) {
    this.#account = account;
    this.#secret = secret;
  }

  /** For a process that goes on with what peers were given. */
  save(now: Millis): SavedNonces {
    return {
      secret: this.#secret.toString('base64'),
      nowMs: now + this.#shiftMs,
      uses: [...this.#uses],
      forgottenMs: this.#forgottenMs,
    };
  }

  restore({ secret, nowMs, uses, forgottenMs = -1 }: SavedNonces, now: Millis): void {
    this.#secret = Buffer.from(secret, 'base64');
    this.#shiftMs = nowMs - now;
    this.#forgottenMs = forgottenMs;
    for (const [nonce, count] of uses) this.#uses.set(nonce, count);
  }

  /** What a peer is asked with, the preferred way first. */
  challenge(now: Millis, { stale }: { readonly stale: boolean }): HeaderPair[] {
    const nonce = this.#nonce(Math.floor(now + this.#shiftMs));
    return algorithms.map((algorithm): HeaderPair => {
      const more = stale ? ', stale=true' : '';
      const text = `Digest realm="${this.#account.realm}", nonce="${nonce}", algorithm=${algorithm}, qop="auth"${more}`;
      return ['WWW-Authenticate', text];
    });
  }

  /** Judges what a request proves. */
  judge(request: SipRequest, now: Millis): Verdict {
    for (const { name, value } of request.headers) {
      if (name !== 'authorization' || !/^digest\s/i.test(value)) continue;
      const params = paramsOf(cutParams(value.slice(7)));
      if (params.get('realm') === this.#account.realm) return this.#judge(request, params, now);
    }
    return 'unproved';
  }

  #judge(request: SipRequest, params: Params, now: Millis): Verdict {
    const { user, realm } = this.#account;
    const [, name = '', sess] = /^(SHA-256|MD5)(-sess)?$/i.exec(params.get('algorithm') ?? 'MD5') ?? [];
    const algorithm = algorithms.find((one) => one === name.toUpperCase());
    const qop = params.get('qop') ?? '';
    const [nonce = '', nc = '', cnonce = ''] = ['nonce', 'nc', 'cnonce'].map((key) => params.get(key) ?? '');
    const uri = params.get('uri') ?? '';
    if (algorithm === undefined || (qop !== '' && qop !== 'auth') || params.get('username') !== user)
      return 'wrong';
    if (!isTarget(uri, request.uri)) return 'wrong';
    const proof = {
      algorithm,
      isSession: sess !== undefined,
      method: request.method,
      uri,
      nonce,
      nc,
      cnonce,
      qop,
    };
    const expected = digestResponse({ ...this.#account, realm }, proof);
    const age = this.#ageOf(nonce, now);
    // Of another process: the right name and password begin anew with it, too.
    if (age === undefined) return 'unproved';
    if (!isSameSecret(expected, (params.get('response') ?? '').toLowerCase())) return 'wrong';
    if (age > nonceLifeMs) return 'stale';
    return this.#use(nonce, qop === '' ? 1 : Number.parseInt(nc, 16)) ? 'proved' : 'stale';
  }

  /** False where this use, or a later one, was there before: somebody repeats what he has read. */
  #use(nonce: string, count: number): boolean {
    const before = this.#uses.get(nonce) ?? (madeAt(nonce) > this.#forgottenMs ? 0 : Infinity);
    if (!(count > before)) return false;
    this.#uses.delete(nonce);
    this.#uses.set(nonce, count);
    for (const oldest of this.#uses.keys()) {
      if (this.#uses.size <= mostNonces) break;
      this.#uses.delete(oldest);
      this.#forgottenMs = Math.max(this.#forgottenMs, madeAt(oldest));
    }
    return true;
  }

  #nonce(now: number): string {
    const time = now.toString(36);
    return `${time}.${createHmac('sha256', this.#secret).update(time).digest('base64url').slice(0, 22)}.${randomBytes(3).toString('hex')}`;
  }

  /** Undefined for a nonce that this process has not made. */
  #ageOf(nonce: string, now: Millis): Millis | undefined {
    const [time = '', mac = ''] = nonce.split('.', 2);
    const expected = createHmac('sha256', this.#secret).update(time).digest('base64url').slice(0, 22);
    return isSameSecret(expected, mac) ? now + this.#shiftMs - madeAt(nonce) : undefined;
  }
}

const madeAt = (nonce: string): Millis => Number.parseInt(nonce.split('.', 1)[0] ?? '', 36);

/** Parts between commas that stand outside quotes. */
const cutParams = (text: string): readonly string[] =>
  listOf({ headers: [{ name: 'x', value: text }], body: Buffer.alloc(0) }, 'x');

/**
 * Trunks rewrite the address that was dialled behind the proof, user and host alike, or prove for the host alone: any address is taken
 * that a proof can be for. That nobody repeats a proof for another call is for the nonce to see to.
 */
const isTarget = (proved: string, asked: string): boolean =>
  proved === asked || readUri(proved) !== undefined;
