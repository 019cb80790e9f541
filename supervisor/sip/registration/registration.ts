/**
 * One account that is registered elsewhere (RFC 3261, 10.2), as a pure machine: asks, signs in, renews in time, tries again with growing
 * pauses, and takes its binding back at the end. It knows no socket and no name service; every wait is a moment in its state.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { challengeOf, proofOf, type Challenge } from '../../../shared/sip/access/digest-client.ts';
import { timers, type Flow } from '../../../shared/sip/agent/state.ts';
import { hostText } from '../../../shared/sip/agent/client-transaction.ts';
import { readCSeq, readNameAddr, readUri } from '../../../shared/sip/message/fields.ts';
import { headerOf, listOf, type SipResponse } from '../../../shared/sip/message/message.ts';
import { writeRequest, type HeaderPair } from '../../../shared/sip/message/write.ts';

export interface RegistrationAccount {
  /** `sip:user@host`. */
  readonly address: string;
  /** The registrar: `sip:host`. */
  readonly registrar: string;
  /** User part of where calls are to come. */
  readonly user: string;
  readonly signsInAs: string;
  readonly password: string;
  readonly expiresS: number;
}

export interface RegistrationOptions {
  readonly account: RegistrationAccount;
  readonly newToken: () => string;
  /** From 0 to 1: services that lost the same registrar do not come back all at once. */
  readonly chance: () => number;
}

interface Asking {
  readonly branch: string;
  readonly cseq: number;
  readonly bytes: Buffer;
  readonly expiresS: number;
  readonly isProved: boolean;
  /** The nonce was used for the first time. */
  readonly isFresh: boolean;
  repeatAt: Millis | undefined;
  repeatMs: Millis;
  readonly until: Millis;
}

export interface Registration {
  readonly options: RegistrationOptions;
  readonly callId: string;
  readonly tag: string;
  cseq: number;
  /** Where the registrar is; undefined while no way there is known. */
  flow: Flow | undefined;
  challenge: Challenge | undefined;
  /** Uses of the challenge's nonce. */
  uses: number;
  expiresS: number;
  asking: Asking | undefined;
  /** The binding holds until then. */
  heldUntil: Millis | undefined;
  nextAt: Millis | undefined;
  aliveAt: Millis;
  failures: number;
  /** Requests since the last one that a pause or a success came before. */
  inRow: number;
  isLeaving: boolean;
}

export type RegistrationEvent =
  | { readonly type: 'way.found'; readonly flow: Flow }
  | { readonly type: 'way.lost' }
  | { readonly type: 'answered'; readonly response: SipResponse }
  | { readonly type: 'time.passed' }
  /** No more calls are wanted. */
  | { readonly type: 'leave' };

export type RegistrationAction =
  /** Makes or finds the way to the registrar; answered by `way.found` or `way.lost`. */
  | { readonly type: 'find.way' }
  | { readonly type: 'send'; readonly flow: Flow; readonly bytes: Buffer }
  | { readonly type: 'registered'; readonly forS: number }
  /** 0: no answer came. */
  | { readonly type: 'failed'; readonly status: number; readonly againInMs: Millis }
  | { readonly type: 'left' };

const firstPauseMs = 5_000;
const longestPauseMs = 300_000;
/** No call comes in as long as the registrar is away, so that one which is back is noticed within a minute. */
const longestAwayMs = 45_000;
/** Translations forget a way over which nothing goes (RFC 5626, 4.4.1). */
const aliveEveryMs = 25_000;
const longestExpiresS = 86_400;
/** A registrar that is never content is left alone for a while. */
const mostInRow = 5;

export const newRegistration = (options: RegistrationOptions, now: Millis): Registration => ({
  options,
  callId: options.newToken(),
  tag: options.newToken(),
  cseq: 0,
  flow: undefined,
  challenge: undefined,
  uses: 0,
  expiresS: options.account.expiresS,
  asking: undefined,
  heldUntil: undefined,
  nextAt: now,
  aliveAt: now,
  failures: 0,
  inRow: 0,
  isLeaving: false,
});

export function stepRegistration(
  one: Registration,
  event: RegistrationEvent,
  now: Millis,
): readonly RegistrationAction[] {
  switch (event.type) {
    case 'way.found':
      one.flow = event.flow;
      return one.isLeaving ? [] : [ask(one, one.expiresS, now)];
    case 'way.lost':
      one.flow = undefined;
      if (one.isLeaving) return left(one);
      // A binding that leads to a connection that is gone leads nowhere.
      return one.nextAt === undefined || one.heldUntil !== undefined ? failed(one, 0, now) : [];
    case 'answered':
      return answered(one, event.response, now);
    case 'time.passed':
      return timePassed(one, now);
    case 'leave':
      return leave(one, now);
  }
}

/** Whether a response is to the request that is under way. */
export const isAnswerTo = (one: Registration, branch: string): boolean => one.asking?.branch === branch;

function timePassed(one: Registration, now: Millis): RegistrationAction[] {
  const { asking, flow } = one;
  if (asking !== undefined && now >= asking.until) return one.isLeaving ? left(one) : failed(one, 0, now);
  if (asking?.repeatAt !== undefined && now >= asking.repeatAt && flow !== undefined) {
    asking.repeatMs = Math.min(asking.repeatMs * 2, timers.t2);
    asking.repeatAt = now + asking.repeatMs;
    return [{ type: 'send', flow, bytes: asking.bytes }];
  }
  if (one.nextAt !== undefined && now >= one.nextAt && !one.isLeaving) {
    one.nextAt = undefined;
    // The registrar may have moved.
    return [{ type: 'find.way' }];
  }
  if (flow === undefined || one.heldUntil === undefined || now - one.aliveAt < aliveEveryMs) return [];
  one.aliveAt = now;
  return [{ type: 'send', flow, bytes: Buffer.from('\r\n\r\n') }];
}

function ask(one: Registration, expiresS: number, now: Millis): RegistrationAction {
  const { flow, challenge, options } = one;
  const { account, newToken } = options;
  if (flow === undefined) return { type: 'find.way' };
  const branch = `z9hG4bK${newToken()}`;
  one.cseq += 1;
  one.inRow += 1;
  if (challenge !== undefined) one.uses += 1;
  const at = `${hostText(flow.local.address)}:${flow.local.port}`;
  const transport = flow.protocol === 'UDP' ? '' : `;transport=${flow.protocol.toLowerCase()}`;
  const proof: HeaderPair[] =
    challenge === undefined
      ? []
      : [
          proofOf(challenge, {
            user: account.signsInAs,
            password: account.password,
            count: one.uses,
            method: 'REGISTER',
            uri: account.registrar,
            cnonce: newToken(),
          }),
        ];
  const bytes = writeRequest({ method: 'REGISTER', uri: account.registrar }, [
    ['Via', `SIP/2.0/${flow.protocol} ${at};rport;branch=${branch}`],
    ['Max-Forwards', '70'],
    ['From', `<${account.address}>;tag=${one.tag}`],
    ['To', `<${account.address}>`],
    ['Call-ID', one.callId],
    ['CSeq', `${one.cseq} REGISTER`],
    ['Contact', `<sip:${account.user}@${at}${transport}>`],
    ['Expires', String(expiresS)],
    ...proof,
  ]);
  one.asking = {
    branch,
    cseq: one.cseq,
    bytes,
    expiresS,
    isProved: challenge !== undefined,
    isFresh: one.uses === 1,
    repeatAt: flow.protocol === 'UDP' ? now + timers.t1 : undefined,
    repeatMs: timers.t1,
    until: now + timers.giveUp,
  };
  one.aliveAt = now;
  return { type: 'send', flow, bytes };
}

function answered(one: Registration, response: SipResponse, now: Millis): RegistrationAction[] {
  const { asking } = one;
  if (asking === undefined || readCSeq(response)?.number !== asking.cseq) return [];
  const { status } = response;
  if (status < 200) {
    if (asking.repeatAt !== undefined) asking.repeatAt = now + timers.t2;
    return [];
  }
  one.asking = undefined;
  if (status < 300) return asking.expiresS === 0 ? left(one) : registered(one, response, now);
  if (status === 401 || status === 407) return challenged(one, asking, { response, now });
  const least = Number(headerOf(response, 'min-expires') ?? Number.NaN);
  // It wants to be asked less often (RFC 3261, 10.2.8).
  const mayAsk = one.inRow < mostInRow && !one.isLeaving;
  if (status === 423 && mayAsk && least > asking.expiresS && least <= longestExpiresS) {
    one.expiresS = least;
    return [ask(one, least, now)];
  }
  return one.isLeaving ? left(one) : failed(one, status, now, headerOf(response, 'retry-after'));
}

function challenged(
  one: Registration,
  asking: Asking,
  { response, now }: { readonly response: SipResponse; readonly now: Millis },
): RegistrationAction[] {
  const challenge = challengeOf(response);
  one.challenge = challenge;
  one.uses = 0;
  // A nonce may run out between two requests, with or without a word; what is refused with a nonce that is fresh is the password.
  const isRefused = asking.isProved && asking.isFresh && challenge?.isStale !== true;
  if (challenge === undefined || isRefused || one.inRow >= mostInRow) {
    one.challenge = undefined;
    return one.isLeaving ? left(one) : failed(one, response.status, now);
  }
  return [ask(one, asking.expiresS, now)];
}

function registered(one: Registration, response: SipResponse, now: Millis): RegistrationAction[] {
  const forS = Math.min(grantedS(one, response), longestExpiresS);
  one.failures = 0;
  one.inRow = 0;
  one.heldUntil = now + forS * 1000;
  one.nextAt = now + forS * 500;
  return [{ type: 'registered', forS }];
}

/** What was granted stands behind this side's address among the bindings, else in Expires, else it is what was asked for. */
function grantedS(one: Registration, response: SipResponse): number {
  const local = one.flow?.local;
  for (const contact of listOf(response, 'contact')) {
    const address = readNameAddr(contact);
    const uri = address && readUri(address.uri);
    const isOurs = uri?.user === one.options.account.user && uri.host === local?.address.toLowerCase();
    const expires = Number(address?.params.get('expires') ?? Number.NaN);
    if (isOurs && uri.port === local?.port && expires > 0) return expires;
  }
  const expires = Number(headerOf(response, 'expires') ?? Number.NaN);
  return expires > 0 ? expires : one.expiresS;
}

function failed(one: Registration, status: number, now: Millis, retryAfter = ''): RegistrationAction[] {
  one.asking = undefined;
  one.failures += 1;
  one.inRow = 0;
  const isAway = status === 0 || status === 408 || status >= 500;
  const growing = Math.min(
    isAway ? longestAwayMs : longestPauseMs,
    firstPauseMs * 2 ** Math.min(one.failures - 1, 10),
  );
  const wished = Number(/^\d{1,6}/.exec(retryAfter)?.[0] ?? 0) * 1000;
  // A wrong password does not become right by itself, and accounts are locked for trying.
  const least = status === 401 || status === 403 || status === 407 ? longestPauseMs : growing;
  const pause = Math.max(wished, least) * (0.75 + one.options.chance() / 2);
  const againInMs = Math.round(Math.min(pause, 3_600_000));
  one.nextAt = now + againInMs;
  if (one.heldUntil !== undefined && one.heldUntil <= now) one.heldUntil = undefined;
  return [{ type: 'failed', status, againInMs }];
}

function leave(one: Registration, now: Millis): RegistrationAction[] {
  if (one.isLeaving) return [];
  one.isLeaving = true;
  one.inRow = 0;
  one.nextAt = undefined;
  const isHeld = one.heldUntil !== undefined && one.heldUntil > now;
  if (!isHeld || one.flow === undefined) return left(one);
  return [ask(one, 0, now)];
}

function left(one: Registration): RegistrationAction[] {
  one.asking = undefined;
  one.heldUntil = undefined;
  return [{ type: 'left' }];
}
