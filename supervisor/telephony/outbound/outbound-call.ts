/**
 * A call that the service makes, as a pure machine: it rings, a person or a machine answers, and then the agent talks, a message is left
 * after the beep, or nobody is troubled further. Events come in, actions go out, time is an argument.
 *
 * Invariant: the agent is connected once, and only to what the carrier does not take for a machine, where it is the one that finds out;
 * nothing is said before the beep; a call whose making has an unknown outcome is never made again.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { CarrierName } from '../../../shared/telephony/call-control.ts';
import type {
  MachineDetection,
  outboundEnds,
  outboundPhases,
} from '../../../shared/telephony/callback-api.ts';
import type { MadeOutcome } from '../carrier.ts';

export type OutboundPhase = (typeof outboundPhases)[number];
export type OutboundEnd = (typeof outboundEnds)[number];

/** Greetings of machines, and a message: whatever takes longer is ended. */
const longestAnswerMs: Millis = 150_000;
/** A carrier that finds out who has answered takes seconds; one that does not tell leaves somebody in silence. */
const longestVerdictMs: Millis = 15_000;
/** A talk whose end the carrier has not told is forgotten. */
const longestTalkMs: Millis = 24 * 3_600_000;

export interface OutboundCall {
  readonly id: string;
  readonly carrier: CarrierName;
  /** Something is said to a machine. */
  readonly hasMessage: boolean;
  readonly detection: MachineDetection;
  readonly beganAt: Millis;
  readonly ringMs: Millis;
  /** The agent has a stream of it, or may have one that nobody tells this process of. */
  isHeard: boolean;
  /** Somebody has answered, and the carrier finds out who. */
  answeredAt: Millis | undefined;
  phase: OutboundPhase;
  end: OutboundEnd | undefined;
  /** The carrier's id; empty as long as nobody knows it. */
  call: string;
}

export type OutboundEvent =
  | { readonly type: 'dialed'; readonly outcome: MadeOutcome }
  /** `answered`: by whom is not known. */
  | { readonly type: 'answered' | 'person' | 'machine' | 'beep' | 'spoken'; readonly call: string }
  /** The carrier has opened its stream. */
  | { readonly type: 'streaming'; readonly call: string }
  | { readonly type: 'ended'; readonly call: string; readonly reason: OutboundEnd }
  | { readonly type: 'hang_up' }
  /** The person or machine that has answered does not hear the agent or the message. */
  | { readonly type: 'unheard' }
  | { readonly type: 'time.passed' };

/** The agent never had a stream of a call that is over now, and was at `before`. A call that the carrier refused to make is none. */
export function wasUnreached({ end, detection }: OutboundCall, before: OutboundPhase): boolean {
  if (before === 'person') return end === 'failed';
  const isListenedTo = detection === 'own' && (before === 'machine' || before === 'message');
  return end !== 'refused' && before !== 'listening' && !isListenedTo;
}

export type OutboundAction = 'connect' | 'say' | 'hang_up';

export const newOutboundCall = (
  given: Pick<OutboundCall, 'id' | 'carrier' | 'hasMessage' | 'detection' | 'beganAt' | 'ringMs' | 'isHeard'>,
): OutboundCall => ({ ...given, phase: 'dialing', end: undefined, call: '', answeredAt: undefined });

export function stepOutbound(
  call: OutboundCall,
  event: OutboundEvent,
  now: Millis,
): readonly OutboundAction[] {
  if (call.phase === 'over') return tooLate(call, event);
  if ('call' in event) {
    // Nothing of another call belongs to this one.
    if (call.call === '') call.call = event.call;
    if (call.call !== event.call) return [];
  }
  const rings = call.phase === 'dialing' || call.phase === 'ringing';
  switch (event.type) {
    case 'dialed':
      return dialed(call, event.outcome);
    case 'answered':
      if (!rings) return [];
      if (call.detection === 'carrier') {
        call.answeredAt ??= now;
        return [];
      }
      call.phase = call.detection === 'own' ? 'listening' : 'person';
      return ['connect'];
    case 'person':
    case 'machine':
      if (!rings && call.phase !== 'listening') return [];
      return event.type === 'machine' ? machine(call) : person(call);
    case 'beep':
      if (call.phase !== 'machine') return [];
      call.phase = 'message';
      // The listener of the call says it, too.
      return call.detection === 'own' ? [] : ['say'];
    case 'streaming':
      call.isHeard = true;
      return [];
    case 'spoken':
      return call.phase === 'message' ? over(call, 'message_left') : [];
    case 'ended':
      over(call, endOf(call, event.reason));
      return [];
    case 'hang_up':
      return over(call, call.phase === 'person' && call.isHeard ? 'talked' : 'canceled');
    case 'unheard':
      return over(call, 'failed');
    case 'time.passed':
      return timePassed(call, now);
  }
}

/** A call that is hung up while the carrier is being asked has no id yet. */
function tooLate(call: OutboundCall, event: OutboundEvent): readonly OutboundAction[] {
  if (event.type !== 'dialed' || event.outcome.kind !== 'ok' || call.call !== '') return [];
  call.call = event.outcome.id;
  return ['hang_up'];
}

/** A person that the service has listened to is connected already. */
function person(call: OutboundCall): readonly OutboundAction[] {
  const isConnected = call.phase === 'listening';
  call.phase = 'person';
  return isConnected ? [] : ['connect'];
}

function machine(call: OutboundCall): readonly OutboundAction[] {
  if (!call.hasMessage) return over(call, 'voicemail');
  call.phase = 'machine';
  return [];
}

function dialed(call: OutboundCall, outcome: MadeOutcome): readonly OutboundAction[] {
  // The carrier may tell of an answer before the request is answered.
  if (call.phase !== 'dialing') return [];
  if (outcome.kind === 'refused') {
    over(call, 'refused');
    return [];
  }
  call.phase = 'ringing';
  if (outcome.kind === 'ok') call.call = outcome.id;
  return [];
}

function timePassed(call: OutboundCall, now: Millis): readonly OutboundAction[] {
  const age = now - call.beganAt;
  if (call.phase === 'person') {
    if (age >= longestTalkMs) over(call, 'unknown');
    return [];
  }
  if (isUndecided(call, now)) return person(call);
  return age >= call.ringMs + longestAnswerMs ? over(call, 'unknown') : [];
}

const isUndecided = ({ phase, answeredAt = Infinity }: OutboundCall, now: Millis): boolean =>
  (phase === 'dialing' || phase === 'ringing') && now - answeredAt >= longestVerdictMs;

function over(call: OutboundCall, end: OutboundEnd): readonly OutboundAction[] {
  call.phase = 'over';
  call.end = end;
  return call.call === '' ? [] : ['hang_up'];
}

/** What the end of the call means where it had come. */
function endOf(call: OutboundCall, reason: OutboundEnd): OutboundEnd {
  const { phase, carrier, detection, isHeard } = call;
  if (phase === 'person') return isHeard ? 'talked' : 'failed';
  if (phase === 'listening') return 'unknown';
  if (phase === 'machine') return 'voicemail';
  // Twilio ends the call behind the message; Telnyx tells first that it was said.
  if (phase === 'message')
    return carrier === 'carrier_a' && detection === 'carrier' ? 'message_left' : 'voicemail';
  return reason;
}
