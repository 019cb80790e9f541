/**
 * What Twilio tells of transfers (`/carrier_a/events/<kind>/<handle>`): signed like its webhook, over the whole public address and the
 * form. `leg` and `amd` speak of the destination's leg, `conference` says who has come into it, `parked` that the caller has left it. `dialled`
 * asks what to do with the caller of a cold transfer, `answered` with a call that the service made, and `call` tells the end of that.
 */
import type { OutboundEnd, OutboundEvent } from '../outbound/outbound-call.ts';
import type { SagaEvent } from '../saga.ts';
import type { FormParameters } from './signature.ts';

const eventPath = /\/carrier_a\/events\/(\w+)\/([\w-]{1,64})$/;

const kinds = ['leg', 'amd', 'conference', 'parked', 'dialled', 'answered', 'call'] as const;
export type StatusKind = (typeof kinds)[number];

export interface StatusPath {
  readonly kind: StatusKind;
  readonly handle: string;
}

export function statusPath(path: string): StatusPath | undefined {
  const [, given, handle] = eventPath.exec(path) ?? [];
  const kind = kinds.find((known) => known === given);
  return handle !== undefined && kind !== undefined ? { kind, handle } : undefined;
}

const ended: readonly string[] = ['completed', 'busy', 'no-answer', 'failed', 'canceled'];

export const isOverAtA = (callStatus: string): boolean => ended.includes(callStatus);

/** The event that a form tells; undefined where it says nothing new. The one who answered counts: a leg that is merely answered may be a voicemail. */
export function statusEvent({ kind }: StatusPath, form: FormParameters): SagaEvent | undefined {
  const field = (name: string): string => form.find(([is]) => is === name)?.[1] ?? '';
  if (kind === 'parked') return { type: 'caller.gone' };
  const leg = field('CallSid');
  if (leg === '') return undefined;
  if (kind === 'leg') return isOverAtA(field('CallStatus')) ? { type: 'leg.ended', leg } : undefined;
  if (kind === 'conference')
    return field('StatusCallbackEvent') === 'participant-join' ? { type: 'leg.joined', leg } : undefined;
  const by = field('AnsweredBy');
  if (kind !== 'amd' || by === '') return undefined;
  return { type: isMachine(by) ? 'leg.machine' : 'leg.answered', leg };
}

export const isMachine = (answeredBy: string): boolean =>
  answeredBy.startsWith('machine') || answeredBy === 'fax';

const ends: Readonly<Record<string, OutboundEnd>> = {
  busy: 'busy',
  'no-answer': 'no_answer',
  canceled: 'canceled',
  failed: 'failed',
  // Somebody had answered, who hung up before it was known who.
  completed: 'unknown',
};

/** How a call that the service made has ended; undefined while it has not. */
export function outboundEnded(form: FormParameters): Extract<OutboundEvent, { type: 'ended' }> | undefined {
  const field = (name: string): string => form.find(([is]) => is === name)?.[1] ?? '';
  const reason = ends[field('CallStatus')];
  return reason === undefined ? undefined : { type: 'ended', call: field('CallSid'), reason };
}
