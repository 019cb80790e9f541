/** How each carrier's words about calls that the service makes become events, and which carriers can make them. */
import type { ServerSettings } from '../../../shared/config/server/server.ts';
import type { CarrierName } from '../../../shared/telephony/call-control.ts';
import type { FormParameters } from '../twilio/signature.ts';
import { isMachine } from '../twilio/status.ts';
import { TwilioControl } from '../twilio/control.ts';
import { response, say } from '../twilio/twiml.ts';
import { TelnyxControl } from '../telnyx/control.ts';
import type { Carrier, OutboundCarrier, SipAsCarrier } from '../carrier.ts';
import { textAt } from '../rest.ts';
import type { OutboundEnd, OutboundEvent } from './outbound-call.ts';
import type { OutboundCalls } from './outbound-calls.ts';

/** Empty instructions: the call ends. */
export const hangUpNow = response();

export function outboundCarriers(
  carriers: ReadonlyMap<CarrierName, Carrier>,
  { telnyx }: Pick<ServerSettings, 'telnyx'>,
  sip: SipAsCarrier | undefined,
): ReadonlyMap<CarrierName, OutboundCarrier> {
  const able = new Map<CarrierName, OutboundCarrier>();
  for (const [name, carrier] of carriers) {
    if (carrier instanceof TwilioControl) able.set(name, carrier);
    // Without a connection there is nothing to make calls with.
    else if (carrier instanceof TelnyxControl && telnyx?.control?.connectionId !== '')
      able.set(name, carrier);
  }
  if (sip?.canDial === true) able.set(sip.name, sip);
  return able;
}

/**
 * Twilio asks what to do: it knows who has answered, and of a machine that it has finished (MachineDetection=DetectMessageEnd). A call
 * that nobody remembers, because another process made it, is connected all the same when a person has answered.
 */
export function answerTwilio(
  id: string,
  form: FormParameters,
  {
    carrier,
    outbound,
    shows,
  }: { readonly carrier: TwilioControl; readonly outbound: OutboundCalls; readonly shows: boolean },
): string {
  const field = (name: string): string => form.find(([is]) => is === name)?.[1] ?? '';
  const call = field('CallSid');
  const isPerson = !isMachine(field('AnsweredBy'));
  const numbers = shows ? { from: field('From'), to: field('To') } : {};
  const request = outbound.request(id);
  if (request === undefined)
    return isPerson && outbound.view(id) === undefined ? carrier.connected(call, numbers) : hangUpNow;
  // The carrier says who it is where it was to find out.
  const person = outbound.detection(id) === 'carrier' ? 'person' : 'answered';
  outbound.take(id, { type: isPerson ? person : 'machine', call });
  if (!isPerson && field('AnsweredBy') !== 'fax') outbound.take(id, { type: 'beep', call });
  // Asked once more, because the answer was lost on its way, it is told the same.
  const view = outbound.view(id);
  const phase = view?.call === call ? view.phase : 'over';
  if (isPerson && (phase === 'person' || phase === 'listening'))
    return carrier.connected(call, { ...outbound.parameters(id), ...numbers });
  // Nothing is said to a fax.
  return phase === 'message' ? response(say(request.voicemail ?? '', request.language)) : hangUpNow;
}

const ends: Readonly<Record<string, OutboundEnd>> = {
  user_busy: 'busy',
  call_rejected: 'busy',
  timeout: 'no_answer',
  no_answer: 'no_answer',
  // Somebody had answered, who hung up before it was known who.
  normal_clearing: 'unknown',
  originator_cancel: 'canceled',
};

/** What an event of Telnyx says of the call; undefined where it says nothing new. */
export function telnyxOutboundEvent(
  type: string,
  call: string,
  payload: Readonly<Record<string, unknown>>,
): OutboundEvent | undefined {
  switch (type) {
    case 'call.answered':
      return { type: 'answered', call };
    case 'call.machine.detection.ended': {
      const result = textAt(payload, 'result');
      return { type: result === 'human' || result === 'not_sure' ? 'person' : 'machine', call };
    }
    case 'call.machine.greeting.ended':
      return { type: 'beep', call };
    case 'call.speak.ended':
      return { type: 'spoken', call };
    case 'call.hangup':
      return { type: 'ended', call, reason: ends[textAt(payload, 'hangup_cause')] ?? 'failed' };
    default:
      return undefined;
  }
}
