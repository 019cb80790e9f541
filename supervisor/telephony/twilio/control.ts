/**
 * Call control at Twilio: its REST API, form-encoded. It has no idempotency keys, so that a request without an answer has an unknown
 * outcome and is not repeated, but for the end of a call. An update of a call replaces its instructions, which ends its stream.
 */
import type { TwilioAccount, TwilioSettings } from '../../../shared/telephony/twilio/variables.ts';
import type { CarrierOutcome, ControlCapabilities } from '../../../shared/telephony/call-control.ts';
import { streamSegment } from './segment.ts';
import { isOverAtA, type StatusKind } from './status.ts';
import type {
  Carrier,
  ColdOutcome,
  ColdTransfer,
  Dial,
  Join,
  MadeOutcome,
  OutboundCarrier,
  Ring,
  WarmCarrier,
} from '../carrier.ts';
import { codesOf, outcomeOf, textAt, type ControlGiven, type RestAnswer, type RestRequest } from '../rest.ts';
import { connectStream, dialConference, dialNumber, pause, playDigits, response, say } from './twiml.ts';

/** How long the destination of a cold transfer rings. */
const ringTimeoutS = 30;

export class TwilioControl implements Carrier, WarmCarrier, OutboundCarrier {
  readonly name = 'carrier_a';
  readonly capabilities: ControlCapabilities;
  readonly #settings: TwilioSettings;
  readonly #account: TwilioAccount;
  readonly #given: ControlGiven;

  constructor(settings: TwilioSettings, account: TwilioAccount, given: ControlGiven) {
    this.#settings = settings;
    this.#account = account;
    this.capabilities = given.capabilities;
    this.#given = given;
  }

  async hangUp(callId: string): Promise<CarrierOutcome> {
    return this.#done(await this.#ofCall(callId, { Status: 'completed' }, { again: true }));
  }

  async transfer(callId: string, { to, from }: ColdTransfer): Promise<ColdOutcome> {
    // Without a stream to come back to the call ends behind the dialling.
    const action = this.#settings.resumesStream ? this.#eventUrl('dialled', callId) : undefined;
    const dial = dialNumber(to, { callerId: from, action, timeoutS: ringTimeoutS });
    return this.#done(await this.#ofCall(callId, { Twiml: response(dial) }));
  }

  /** The stream ends, the keys are pressed, and the call comes back on another stream. */
  async pressKeys(callId: string, { digits }: { readonly digits: string }): Promise<CarrierOutcome> {
    const keys = playDigits(digits.replaceAll('W', 'ww'));
    return this.#done(await this.#ofCall(callId, { Twiml: response(keys, this.#stream(callId)) }));
  }

  async park(callId: string, { tag }: { readonly tag: string }): Promise<CarrierOutcome> {
    const dial = dialConference(conferenceOf(tag), {
      starts: false,
      action: this.#eventUrl('parked', tag),
      joinsTo: this.#eventUrl('conference', tag),
    });
    return this.#done(await this.#ofCall(callId, { Twiml: response(dial) }));
  }

  async ring({ to, from, tag, ringS, acceptS }: Ring): Promise<MadeOutcome> {
    const answer = await this.#send('Calls.json', {
      To: to,
      From: from,
      Timeout: String(ringS),
      Twiml: response(pause(acceptS)),
      StatusCallback: this.#eventUrl('leg', tag),
      MachineDetection: 'Enable',
      AsyncAmd: 'true',
      AsyncAmdStatusCallback: this.#eventUrl('amd', tag),
    });
    return this.#made(answer);
  }

  /** The carrier asks what to do once somebody has answered, or it knows who; of a machine, behind its beep. */
  async dial({ id, to, from, ringS, detection }: Dial): Promise<MadeOutcome> {
    const answer = await this.#send('Calls.json', {
      To: to,
      From: from,
      Timeout: String(ringS),
      Url: this.#eventUrl('answered', id),
      ...(detection === 'carrier' && { MachineDetection: 'DetectMessageEnd' }),
      StatusCallback: this.#eventUrl('call', id),
    });
    return this.#made(answer);
  }

  /** Instructions that connect a call to the agent. */
  connected(callId: string, parameters: Readonly<Record<string, string | undefined>>): string {
    return response(this.#stream(callId, parameters));
  }

  /** The destination is in the conference once it has heard the summary, which the conference tells. */
  async join(
    legId: string,
    { tag, text, language }: Join,
  ): Promise<CarrierOutcome | { readonly kind: 'ok'; readonly meets: true }> {
    const summary = text === '' ? [] : [say(text, language)];
    const dial = dialConference(conferenceOf(tag), { starts: true });
    const outcome = this.#done(await this.#ofCall(legId, { Twiml: response(...summary, dial) }));
    return outcome.kind === 'ok' ? { kind: 'ok', meets: true } : outcome;
  }

  async putBack(callId: string): Promise<CarrierOutcome> {
    return this.#done(await this.#ofCall(callId, { Twiml: response(this.#stream(callId)) }));
  }

  async isOver(callId: string): Promise<boolean> {
    const answer = await this.#ofCall(callId, {}, { method: 'GET' });
    if (answer.kind !== 'answered') return false;
    return answer.status === 404 || (answer.status === 200 && isOverAtA(textAt(answer.body, 'status')));
  }

  #made(answer: RestAnswer): MadeOutcome {
    const outcome = this.#done(answer);
    if (outcome.kind !== 'ok') return outcome;
    const id = answer.kind === 'answered' ? textAt(answer.body, 'sid') : '';
    // It rings, and nobody can name it.
    return id === '' ? { kind: 'unknown' } : { kind: 'ok', id };
  }

  #eventUrl(kind: StatusKind, tag: string): string {
    const base = this.#settings.publicUrl.replace(/^wss:/, 'https:').replace(/\/stream$/, '');
    return `${base}/events/${kind}/${tag}`;
  }

  #stream(callId: string, parameters: Readonly<Record<string, string | undefined>> = {}): string {
    const { publicUrl, streamSecret } = this.#settings;
    const secret = streamSecret?.reveal();
    const segment =
      secret === undefined ? undefined : streamSegment(callId, { secret, nowS: this.#given.nowS() });
    return connectStream(segment === undefined ? publicUrl : `${publicUrl}/${segment}`, parameters);
  }

  /** An update that the carrier cannot make of a call that is over answers 400 as well: the number was fine. */
  #done(answer: RestAnswer): CarrierOutcome {
    if (answer.kind !== 'answered') return outcomeOf(answer);
    const { status, body } = answer;
    const isOver = status === 404 || (status === 400 && codesOf(body).includes(notInProgress));
    return isOver ? { kind: 'refused', code: 'rejected', gone: true } : outcomeOf(answer);
  }

  #ofCall(
    callId: string,
    fields: Readonly<Record<string, string>>,
    more: Pick<RestRequest, 'again' | 'method'> = {},
  ): Promise<RestAnswer> {
    return this.#send(`Calls/${encodeURIComponent(callId)}.json`, fields, more);
  }

  #send(
    path: string,
    fields: Readonly<Record<string, string>>,
    more: Pick<RestRequest, 'again' | 'method'> = {},
  ): Promise<RestAnswer> {
    const { apiUrl, accountSid, user, password } = this.#account;
    return this.#given.ask({
      ...more,
      url: `${apiUrl}/2010-04-01/Accounts/${accountSid}/${path}`,
      authorization: `Basic ${Buffer.from(`${user}:${password.reveal()}`).toString('base64')}`,
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams(fields).toString(),
    });
  }
}

const conferenceOf = (tag: string): string => `svc-${tag}`;

const notInProgress = '21220';
