/**
 * What carrier A tells of transfers (`/carrier_a/events/<kind>/<handle>`): signed like its webhook, over the whole public address and the
 * form. `leg` and `amd` speak of the destination's leg, `parked` says that the caller has left the conference.
 */
import type { SagaFact } from '../../telephony/saga.ts';
import type { FormParameters } from './signature.ts';

const eventPath = /\/carrier_a\/events\/(leg|amd|parked)\/([\w-]{1,64})$/;

export interface StatusPath {
  readonly kind: 'leg' | 'amd' | 'parked';
  readonly handle: string;
}

export function statusPath(path: string): StatusPath | undefined {
  const [, kind, handle] = eventPath.exec(path) ?? [];
  return handle !== undefined && (kind === 'leg' || kind === 'amd' || kind === 'parked')
    ? { kind, handle }
    : undefined;
}

const ended: readonly string[] = ['completed', 'busy', 'no-answer', 'failed', 'canceled'];

/** The fact in a form; undefined where it says nothing new. Who answered is what counts: a leg that is merely answered may be a voicemail. */
export function statusFact({ kind }: StatusPath, form: FormParameters): SagaFact | undefined {
  const field = (name: string): string => form.find(([is]) => is === name)?.[1] ?? '';
  if (kind === 'parked') return { type: 'caller.gone' };
  const leg = field('CallSid');
  if (leg === '') return undefined;
  if (kind === 'leg') return ended.includes(field('CallStatus')) ? { type: 'leg.ended', leg } : undefined;
  const by = field('AnsweredBy');
  if (by === '') return undefined;
  return { type: by.startsWith('machine') || by === 'fax' ? 'leg.machine' : 'leg.answered', leg };
}
