/**
 * Requests of peers and their answers (RFC 3261, 17.2): each request is answered once, and a peer that asks again gets the same answer
 * again. Refusals are not remembered: they are given once for each time they are asked for. Peers that nobody knows get hardly more bytes
 * than they have sent, for their address may be forged. Pure.
 */
import { readCSeq, tagOf, topVia } from '../message/fields.ts';
import { headerOf, type SipRequest } from '../message/message.ts';
import { writeAnswer, type Answering, type Source } from '../message/write.ts';
import { timers, type Flow, type ServerTransaction, type Step } from './state.ts';
import { takeSurplus } from './surplus.ts';

/** Names the transaction of a request; an ACK has the name of its INVITE. */
export function transactionKey(request: SipRequest, method = request.method): string {
  const via = topVia(request);
  const branch = via?.params.get('branch') ?? '';
  const name = method === 'ACK' ? 'INVITE' : method;
  const sentBy = `${via?.host ?? ''}:${via?.port ?? 5060}`;
  if (/^z9hG4bK.+/i.test(branch)) return `${branch}\n${sentBy}\n${name}`;
  // Peers of RFC 2543 have no branch that is theirs alone.
  const cseq = readCSeq(request)?.number ?? 0;
  return `${branch}\n${sentBy}\n${name}\n${headerOf(request, 'call-id') ?? ''}\n${tagOf(request, 'from') ?? ''}\n${cseq}`;
}

/** The same for all copies of a first request that came on several ways (RFC 3261, 8.2.2.2). */
export const mergeKey = (request: SipRequest): string =>
  `${headerOf(request, 'call-id') ?? ''}\n${tagOf(request, 'from') ?? ''}\n${headerOf(request, 'cseq') ?? ''}`;

/** Where the answer to a request goes (RFC 3261, 18.2.2; RFC 3581, 4). */
export function answerTo(request: SipRequest, { protocol, source }: Flow): Source {
  const via = topVia(request);
  if (protocol !== 'UDP' || via === undefined || via.params.has('rport')) return source;
  return { address: source.address, port: via.port ?? 5060 };
}

/** Begins a transaction; the request was not seen before. */
export function begin(step: Step, request: SipRequest, flow: Flow): ServerTransaction {
  const transaction: ServerTransaction = {
    key: transactionKey(request),
    request,
    flow,
    phase: 'proceeding',
    answer: undefined,
    toTag: step.state.settings.newToken(),
    repeatAt: undefined,
    repeatMs: timers.t1,
    endsAt: undefined,
  };
  step.state.transactions.set(transaction.key, transaction);
  if (tagOf(request, 'to') === undefined) step.state.merged.set(mergeKey(request), transaction.key);
  return transaction;
}

const sendAnswer = (step: Step, { request, flow }: ServerTransaction, bytes: Buffer): void =>
  void step.actions.push({ type: 'send', flow, to: answerTo(request, flow), bytes });

/** Answers; a final answer is repeated where the way loses messages. Returns the bytes. */
export function answer(step: Step, transaction: ServerTransaction, how: Answering): Buffer {
  const { request, flow } = transaction;
  const bytes = writeAnswer(request, flow.source, { toTag: transaction.toTag, ...how });
  transaction.answer = bytes;
  sendAnswer(step, transaction, bytes);
  if (how.status < 200) return bytes;
  const { now } = step;
  const isLossy = flow.protocol === 'UDP';
  if (request.method !== 'INVITE') {
    transaction.phase = 'completed';
    transaction.endsAt = isLossy ? now + timers.giveUp : now;
  } else if (how.status < 300) {
    transaction.phase = 'accepted';
    transaction.endsAt = now + timers.giveUp;
  } else {
    transaction.phase = 'completed';
    transaction.repeatMs = timers.t1;
    transaction.repeatAt = isLossy ? now + timers.t1 : undefined;
    transaction.endsAt = now + timers.giveUp;
  }
  return bytes;
}

/** The peer asks again: it has not got the answer. */
export function askedAgain(step: Step, transaction: ServerTransaction, flow: Flow): void {
  transaction.flow = flow;
  if (
    transaction.answer !== undefined &&
    transaction.phase !== 'confirmed' &&
    transaction.phase !== 'accepted'
  )
    sendAnswer(step, transaction, transaction.answer);
}

/** An ACK for a refusal. */
export function acknowledged(step: Step, transaction: ServerTransaction): void {
  if (transaction.phase !== 'completed' || transaction.request.method !== 'INVITE') return;
  transaction.phase = 'confirmed';
  transaction.repeatAt = undefined;
  transaction.endsAt = step.now + (transaction.flow.protocol === 'UDP' ? timers.t4 : 0);
}

export function transactionsInTime(step: Step): void {
  const { state, now } = step;
  for (const transaction of state.transactions.values()) {
    if (transaction.endsAt !== undefined && now >= transaction.endsAt) forget(step, transaction);
    else if (transaction.repeatAt !== undefined && now >= transaction.repeatAt) {
      if (transaction.answer !== undefined) sendAnswer(step, transaction, transaction.answer);
      transaction.repeatMs = Math.min(transaction.repeatMs * 2, timers.t2);
      transaction.repeatAt = now + transaction.repeatMs;
    }
  }
}

function forget({ state }: Step, transaction: ServerTransaction): void {
  state.transactions.delete(transaction.key);
  const merge = mergeKey(transaction.request);
  if (state.merged.get(merge) === transaction.key) state.merged.delete(merge);
}

/** A request that may be refused. */
export interface Refusable {
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly size: number;
  /** The gate has let it in. */
  readonly isLetIn?: boolean;
}

/** Refuses without keeping anything. Everybody is answered; a peer that nobody knows may get less than the whole answer. */
export function refuseOnce(step: Step, asked: Refusable, how: Answering): void {
  const { request, flow } = asked;
  if (request.method === 'ACK') return;
  const toTag = step.state.settings.newToken();
  const write = (more: Partial<Answering>): Buffer =>
    writeAnswer(request, flow.source, { toTag, ...how, ...more });
  const { bytes, isCut } = isTrusted(step, asked)
    ? { bytes: write({}), isCut: false }
    : forStranger(step, asked, how, write);
  step.actions.push({ type: 'send', flow, to: answerTo(request, flow), bytes });
  const { method } = request;
  step.actions.push({
    type: 'request.refused',
    address: flow.source.address,
    method,
    status: how.status,
    isCut,
  });
}

/** Over a connection the address is proved. */
const isTrusted = ({ state }: Step, { flow, isLetIn }: Refusable): boolean =>
  flow.protocol !== 'UDP' || isLetIn === true || state.settings.gate.knows(flow.source.address);

/**
 * An answer for an address that may be forged: the longest form that is no longer than the request, else one that the allowance for such
 * addresses has room for, else the bare status, which is longer by its tag and the address at most.
 */
function forStranger(
  { state, now }: Step,
  { flow, size }: Refusable,
  { status, headers = [] }: Answering,
  write: (more: Partial<Answering>) => Buffer,
): { readonly bytes: Buffer; readonly isCut: boolean } {
  // Of several ways to sign in the last one is known to everybody.
  const lean = write({ headers: headers.slice(-1) });
  const forms = [write({}), lean, write({ headers: headers.slice(-1), isShort: true })];
  const fitting = forms.find((form) => form.length <= size);
  if (fitting !== undefined) return { bytes: fitting, isCut: false };
  const { address } = flow.source;
  if (takeSurplus(state.surplus, { address, bytes: lean.length - size, now }))
    return { bytes: lean, isCut: false };
  // Without its challenge 401 asks for nothing.
  const bare = write({ status: status === 401 ? 503 : status, headers: [], isShort: true });
  return { bytes: bare, isCut: true };
}
