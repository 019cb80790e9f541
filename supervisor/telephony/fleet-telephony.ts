/**
 * Telephone calls of a fleet. A balancer in front of several hosts may bring what a carrier or an operator says to any of them; it is
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
  /** A new call cannot be taken now; not told to other hosts. */
  readonly isClosed?: () => boolean;
}

/** What a host answers another one. The names go over the wire: another release may ask by them. */
const answers = {
  'a.answered': (own: Telephony, id: string, form: FormParameters) => own.twilioAnswered(id, form),
  'a.dialled': (own: Telephony, callId: string, form: FormParameters) => own.twilioDialled(callId, form),
  'a.told': (own: Telephony, handle: string, event: SagaEvent) => own.warm.told(handle, event),
  // A new call is nobody's yet, so that whoever is told of it judges for itself whether there is room.
  'b.told': (own: Telephony, event: TelnyxEvent, { route, isClosed = () => false }: ToldByB) =>
    own.telnyxTold(event, { route, isClosed }),
  'call.goes_elsewhere': (own: Telephony, callId: string) => own.goesElsewhere(callId),
  'made.told': (own: Telephony, id: string, event: OutboundEvent) => own.outbound.told(id, event),
  'made.heard': (own: Telephony, id: string, { by, callId }: Answered) =>
    own.outbound.heard(id, { type: by, call: callId }),
  'made.view': (own: Telephony, id: string) => own.outbound.view(id),
  'made.hang_up': (own: Telephony, id: string) => own.outbound.hangUp(id),
  'made.views': (own: Telephony) => own.outbound.views,
  make: (own: Telephony, request: OutboundRequest, key: string) => own.outbound.make(request, key),
  'operator.said': (own: Telephony, handle: string, type: 'complete' | 'abort') =>
    own.warm.command(handle, type),
  transfers: (own: Telephony) => own.warm.views,
};
type Answers = typeof answers;
type Given<What extends keyof Answers> = Answers[What] extends (
  own: Telephony,
  ...given: infer Rest
) => unknown
  ? Rest
  : never;
type AnswerOf<What extends keyof Answers> = Awaited<ReturnType<Answers[What]>>;

/** A carrier repeats itself for minutes. */
const repeatsMs = 600_000;

export class FleetTelephony {
  /** Of this host. */
  readonly own: Telephony;
  readonly #hosts: Hosts | undefined;

  constructor({ hosts, ...options }: TelephonyOptions & { readonly hosts: Hosts | undefined }) {
    this.own = new Telephony({ ...options, ...(hosts && { claim: (resource) => hosts.claim(resource) }) });
    this.#hosts = hosts;
    hosts?.answerWith((question) => this.#answer(question));
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
    return this.#at(resourceNames.made(id), 'a.answered', [id, form]);
  }

  twilioDialled(callId: string, form: FormParameters): Promise<string> {
    return this.#at(resourceNames.call(callId), 'a.dialled', [callId, form]);
  }

  twilioTold(handle: string, event: SagaEvent): Promise<void> {
    return this.#at(resourceNames.transfer(handle), 'a.told', [handle, event]);
  }

  outboundTold(id: string, event: OutboundEvent): Promise<void> {
    return this.#at(resourceNames.made(id), 'made.told', [id, event]);
  }

  async telnyxTold(event: TelnyxEvent, given: ToldByB): Promise<void> {
    // One that was not answered in time is told to another host.
    const first = await this.#hosts?.claimOnce(resourceNames.event(event.id), repeatsMs);
    if (typeof first === 'object') return;
    await this.#at(resourceNames.ofTelnyx(event), 'b.told', [event, given]);
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
      void this.#at(resourceNames.made(outbound), 'made.heard', [outbound, { by, callId }]).then(reply);
    }
  }

  /** An operator wants a transfer completed or aborted; why that is not done, or undefined. */
  operatorSaid(handle: string, type: 'complete' | 'abort'): Promise<string | undefined> {
    return this.#at(resourceNames.transfer(handle), 'operator.said', [handle, type]);
  }

  transfers(): Promise<readonly TransferView[]> {
    return this.#ofAll('transfers');
  }

  outboundViews(): Promise<readonly OutboundView[]> {
    return this.#ofAll('made.views');
  }

  outboundView(id: string): Promise<OutboundView | undefined> {
    return this.#at(resourceNames.made(id), 'made.view', [id]);
  }

  hangUp(id: string): Promise<boolean> {
    return this.#at(resourceNames.made(id), 'made.hang_up', [id]);
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
    const heard = owner === 'unknown' ? undefined : await asked(hosts, owner.host, 'make', [request, key]);
    return heard === undefined ? fail('unsure') : heard.value;
  }

  /** Asks the host that has a resource, which may be this one. */
  async #at<What extends keyof Answers>(
    resource: string,
    what: What,
    given: Given<What>,
  ): Promise<AnswerOf<What>> {
    const owner = await this.#hosts?.owner(resource);
    if (this.#hosts !== undefined && typeof owner === 'object') {
      const heard = await asked(this.#hosts, owner.host, what, given);
      if (heard !== undefined) return heard.value;
    }
    return (await this.#answer({ what, given })) as AnswerOf<What>;
  }

  async #ofAll<What extends 'transfers' | 'made.views'>(what: What): Promise<AnswerOf<What>> {
    const own = answers[what](this.own);
    const others = (await this.#hosts?.askOthers({ what, given: [] })) ?? [];
    return [...own, ...others.flat()] as unknown as AnswerOf<What>;
  }

  #answer(question: unknown): unknown {
    const { what, given } = question as { readonly what: keyof Answers; readonly given: readonly unknown[] };
    const answer = answers[what] as (own: Telephony, ...given: readonly unknown[]) => unknown;
    return answer(this.own, ...given);
  }
}

async function asked<What extends keyof Answers>(
  hosts: Hosts,
  host: string,
  what: What,
  given: Given<What>,
): Promise<{ readonly value: AnswerOf<What> } | undefined> {
  const heard = await hosts.ask(host, { what, given });
  // What is undefined here is null on the wire.
  return heard && { value: (heard.value ?? undefined) as AnswerOf<What> };
}

/** What a call that another host had goes on with here. */
async function formerly(hosts: Hosts, callId: string): Promise<CarriedCall | undefined> {
  const former = await hosts.moveHere(resourceNames.call(callId));
  if (typeof former === 'string') return undefined;
  const heard = await asked(hosts, former.host, 'call.goes_elsewhere', [callId]);
  return heard === undefined ? nothingKnown : heard.value;
}
