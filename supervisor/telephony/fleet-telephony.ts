/**
 * Telephone calls of a fleet. A balancer in front of several hosts may bring the request of a carrier or an operator to any of them; it is
 * passed on to the host that has the transfer, the call or the call that was made. Where that host is gone, or nobody can tell which it
 * is, this one does what it would do after a death: it knows nothing of the call. Without a shared store there is one host.
 */
import type { Release } from '../handover/open-offer.ts';
import { fail, type Result } from '../../shared/base/result.ts';
import type { CarriedCall, CarrierOutcome, ControlCommand } from '../../shared/telephony/call-control.ts';
import type { ToWorker } from '../../shared/protocol/ipc.ts';
import type { OutboundRequest, OutboundView, TransferView } from '../../shared/telephony/callback-api.ts';
import type { Hosts } from '../fleet/hosts.ts';
import type { FormParameters } from './twilio/signature.ts';
import type { TelnyxEvent } from './telnyx/webhook.ts';
import { nothingKnown } from './away.ts';
import type { OutboundEvent } from './outbound/outbound-call.ts';
import type { OutboundRefusal } from './outbound/outbound-calls.ts';
import type { SagaEvent } from './saga.ts';
import { callOf, type StreamRequest } from './streams.ts';
import { Telephony, type TelephonyOptions } from './telephony.ts';
import { resourceNames } from './resource-names.ts';

/** The service has listened to who answers. */
type Answered = Pick<Extract<ControlCommand, { type: 'answered' }>, 'by' | 'callId'>;

interface ToldByB {
  readonly route?: string | undefined;
  /** The agent of a new call, as it was chosen. */
  readonly chosen?: string | undefined;
  /** A new call cannot be taken now; not told to other hosts. */
  readonly isClosed?: () => boolean;
}

/** What a host answers another one, by question. The names go over the wire: another release may ask by them. */
const answersOf = (own: Telephony) => ({
  'a.answered': (id: string, form: FormParameters) => own.twilioAnswered(id, form),
  'a.dialled': (callId: string, form: FormParameters) => own.twilioDialled(callId, form),
  'a.told': (handle: string, event: SagaEvent) => own.warm.told(handle, event),
  // A new call is nobody's yet, so the host that is told of it judges for itself whether there is room.
  'b.told': (event: TelnyxEvent, { route, chosen, isClosed = () => false }: ToldByB) =>
    own.telnyxTold(event, { route, chosen, isClosed }),
  'call.goes_elsewhere': (callId: string) => own.goesElsewhere(callId),
  'made.told': (id: string, event: OutboundEvent) => own.outbound.told(id, event),
  'made.heard': (id: string, { by, callId }: Answered) => own.outbound.heard(id, { type: by, call: callId }),
  'made.view': (id: string) => own.outbound.view(id),
  'made.hang_up': (id: string) => own.outbound.hangUp(id),
  'made.views': () => own.outbound.views,
  make: (request: OutboundRequest, key: string) => own.outbound.make(request, key),
  'operator.said': (handle: string, type: 'complete' | 'abort') => own.warm.command(handle, type),
  transfers: () => own.warm.views,
});

type Answers = ReturnType<typeof answersOf>;
type What = keyof Answers;

interface Question<W extends What> {
  readonly what: W;
  readonly given: Parameters<Answers[W]>;
}

type AnswerTo<W extends What> = Awaited<ReturnType<Answers[W]>>;

/** A carrier repeats itself for minutes. */
const repeatsMs = 600_000;

export class FleetTelephony {
  /** Of this host. */
  readonly own: Telephony;
  readonly #answers: Answers;
  readonly #hosts: Hosts | undefined;

  constructor({ hosts, ...options }: TelephonyOptions & { readonly hosts: Hosts | undefined }) {
    this.own = new Telephony({ ...options, ...(hosts && { claim: (resource) => hosts.claim(resource) }) });
    this.#answers = answersOf(this.own);
    this.#hosts = hosts;
    const full = (): void => options.metrics.limits.inc({ limit: 'host_questions' });
    hosts?.answerWith((question) => this.#answer(question as Question<What>), { full });
  }

  /** A stream is let in: `then` gets what its call goes on with, at once where nobody else may have it, and what its end is told to. */
  greet(
    request: StreamRequest,
    release: Release,
    then: (request: StreamRequest, over: Release) => void,
  ): void {
    const over: Release = (end) => {
      release(end);
      this.own.streamOver(request);
    };
    const [hosts, callId] = [this.#hosts, callOf(request)];
    if (hosts === undefined || callId === undefined) then(this.own.greet(request), over);
    else void formerly(hosts, callId).then((carried) => then(this.own.greet(request, carried), over));
  }

  twilioAnswered(id: string, form: FormParameters): Promise<string> {
    return this.#at(resourceNames.made(id), { what: 'a.answered', given: [id, form] });
  }

  twilioDialled(callId: string, form: FormParameters): Promise<string> {
    return this.#at(resourceNames.call(callId), { what: 'a.dialled', given: [callId, form] });
  }

  twilioTold(handle: string, event: SagaEvent): Promise<void> {
    return this.#at(resourceNames.transfer(handle), { what: 'a.told', given: [handle, event] });
  }

  outboundTold(id: string, event: OutboundEvent): Promise<void> {
    return this.#at(resourceNames.made(id), { what: 'made.told', given: [id, event] });
  }

  async telnyxTold(event: TelnyxEvent, given: ToldByB): Promise<void> {
    // One that was not answered in time is told to another host.
    const first = await this.#hosts?.claimOnce(resourceNames.event(event.id), repeatsMs);
    if (typeof first === 'object') return;
    await this.#at(resourceNames.ofTelnyx(event), { what: 'b.told', given: [event, given] });
  }

  /** What a call wants, answered as a worker is. */
  answer(
    command: ControlCommand,
    send: (answer: Extract<ToWorker, { type: 'control.answer' }>) => void,
  ): void {
    const reply = (outcome: CarrierOutcome): void =>
      send({ type: 'control.answer', commandId: command.commandId, outcome });
    if (command.type !== 'answered') this.own.ask(command, reply);
    else {
      const { outbound, by, callId } = command;
      void this.#at(resourceNames.made(outbound), {
        what: 'made.heard',
        given: [outbound, { by, callId }],
      }).then(reply);
    }
  }

  /** An operator wants a transfer completed or aborted; why that is not done, or undefined. */
  operatorSaid(handle: string, type: 'complete' | 'abort'): Promise<string | undefined> {
    return this.#at(resourceNames.transfer(handle), { what: 'operator.said', given: [handle, type] });
  }

  async transfers(): Promise<readonly TransferView[]> {
    return [...this.own.warm.views, ...(await this.#ofOthers<TransferView>('transfers'))];
  }

  async outboundViews(): Promise<readonly OutboundView[]> {
    return [...this.own.outbound.views, ...(await this.#ofOthers<OutboundView>('made.views'))];
  }

  outboundView(id: string): Promise<OutboundView | undefined> {
    return this.#at(resourceNames.made(id), { what: 'made.view', given: [id] });
  }

  hangUp(id: string): Promise<boolean> {
    return this.#at(resourceNames.made(id), { what: 'made.hang_up', given: [id] });
  }

  /** Makes a call. One that was asked for with a key is made by the host that took the key first, and by no other. */
  async make(
    request: OutboundRequest,
    key: string | undefined,
  ): Promise<Result<OutboundView, OutboundRefusal>> {
    const hosts = this.#hosts;
    if (hosts === undefined || key === undefined) return await this.own.outbound.make(request, key);
    const owner = await hosts.claimOnce(resourceNames.key(key));
    if (owner === 'here' || owner === 'nobody') return await this.own.outbound.make(request, key);
    const heard =
      owner === 'unknown'
        ? undefined
        : await asked(hosts, owner.host, { what: 'make', given: [request, key] });
    return heard === undefined ? fail('unsure') : heard.value;
  }

  /** Asks the host that has a resource, which may be this one. */
  async #at<W extends What>(resource: string, question: Question<W>): Promise<AnswerTo<W>> {
    const owner = await this.#hosts?.owner(resource);
    if (this.#hosts !== undefined && typeof owner === 'object') {
      const heard = await asked(this.#hosts, owner.host, question);
      if (heard !== undefined) return heard.value;
    }
    return (await this.#answer(question)) as AnswerTo<W>;
  }

  async #ofOthers<View>(what: 'transfers' | 'made.views'): Promise<readonly View[]> {
    const others = (await this.#hosts?.askOthers({ what, given: [] })) ?? [];
    return others.flat() as View[];
  }

  #answer({ what, given }: Question<What>): unknown {
    const answer: (...given: never[]) => unknown = this.#answers[what];
    return answer(...(given as never[]));
  }
}

async function asked<W extends What>(
  hosts: Hosts,
  host: string,
  question: Question<W>,
): Promise<{ readonly value: AnswerTo<W> } | undefined> {
  const heard = await hosts.ask(host, question);
  // An undefined answer is null on the wire.
  return heard && { value: (heard.value ?? undefined) as AnswerTo<W> };
}

/** What a call that another host had goes on with here. */
async function formerly(hosts: Hosts, callId: string): Promise<CarriedCall | undefined> {
  const former = await hosts.moveHere(resourceNames.call(callId));
  if (typeof former === 'string') return undefined;
  const heard = await asked(hosts, former.host, { what: 'call.goes_elsewhere', given: [callId] });
  return heard === undefined ? nothingKnown : heard.value;
}
