/**
 * Call control at Telnyx: its REST API in JSON. Command ids make a repeated command harmless for one call. A transfer that is refused
 * because a stream is active is repeated once behind the end of the stream, under the id with the suffix `r1`.
 */
import type { TelnyxAccount, TelnyxSettings } from '../../../shared/telephony/telnyx/variables.ts';
import type { CarrierOutcome, ControlCapabilities } from '../../../shared/telephony/call-control.ts';
import { streamSegment } from '../twilio/segment.ts';
import { bound } from '../away.ts';
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
import { marks } from '../resource-names.ts';
import { languagesOfB, spokenLanguage } from '../spoken-language.ts';
import { codesOf, outcomeOf, textAt, type ControlGiven, type RestAnswer, type RestRequest } from '../rest.ts';

const ringTimeoutS = 30;
const keyMs = 250;
/** "A media stream is active." */
const streamActive = '90045';
/** "Call has already ended." */
const callEnded = '90018';
/** What the carrier would say of a call that it has told the end of. */
const ended: RestAnswer = { kind: 'answered', status: 422, body: { errors: [{ code: callEnded }] } };
/** Without these somebody waits for nothing; by its command id the carrier does each once. */
const repeated: readonly string[] = ['answer', 'reject', 'hangup', 'streaming_start'];
const over: CarrierOutcome = { kind: 'refused', code: 'rejected', gone: true };

interface TelnyxGiven extends ControlGiven {
  /** Resolves when a summary has had its time. */
  readonly longestSummary: () => Promise<void>;
  /** The carrier is about to be asked for the stream of a call. The function returned says that it will not open it. */
  readonly asksForStream: (callId: string) => () => void;
}

export class TelnyxControl implements Carrier, WarmCarrier, OutboundCarrier {
  readonly name = 'carrier_b';
  readonly capabilities: ControlCapabilities;
  readonly #settings: TelnyxSettings;
  readonly #account: TelnyxAccount;
  readonly #given: TelnyxGiven;
  /** Legs that hear a summary, and the promise that waits for its end. */
  readonly #speaking = new Map<string, () => void>();
  /** Calls and legs that are over: nothing is asked for them any more. */
  readonly #over = new Set<string>();

  constructor(settings: TelnyxSettings, account: TelnyxAccount, given: TelnyxGiven) {
    this.#settings = settings;
    this.#account = account;
    this.capabilities = given.capabilities;
    this.#given = given;
  }

  async hangUp(callId: string, commandId: string): Promise<CarrierOutcome> {
    const answer = await this.#act(callId, 'hangup', { command_id: commandId });
    return isCallOver(answer) ? over : outcomeOf(answer);
  }

  async transfer(callId: string, { commandId, to, from }: ColdTransfer): Promise<ColdOutcome> {
    const fields = {
      to,
      ...(from !== undefined && { from }),
      timeout_secs: ringTimeoutS,
      // Comes back with what is told of the leg, and names its caller.
      target_leg_client_state: base64(`svc:to:${callId}`),
    };
    const first = await this.#act(callId, 'transfer', { ...fields, command_id: commandId });
    if (!hasCode(first, streamActive)) return outcomeOf(first);
    const stopped = outcomeOf(await this.#act(callId, 'streaming_stop', { command_id: `${commandId}s1` }));
    if (stopped.kind !== 'ok') return stopped;
    const second = outcomeOf(
      await this.#act(callId, 'transfer', { ...fields, command_id: `${commandId}r1` }),
    );
    // The stream is gone: the agent cannot say that it was refused.
    if (second.kind === 'ok') return second;
    return { kind: 'unknown', ...(second.kind === 'refused' && { isAlone: true }) };
  }

  async pressKeys(
    callId: string,
    { commandId, digits }: { readonly commandId: string; readonly digits: string },
  ): Promise<CarrierOutcome> {
    const fields = { digits, duration_millis: keyMs, command_id: commandId };
    return outcomeOf(await this.#act(callId, 'send_dtmf', fields));
  }

  /** Takes an incoming call. `state` comes back with what the carrier tells of it. */
  async answer(callId: string, state: string): Promise<CarrierOutcome> {
    const fields = { client_state: base64(state), command_id: `answer-${keyOf(callId)}` };
    const answer = await this.#act(callId, 'answer', fields);
    return isCallOver(answer) ? over : outcomeOf(answer);
  }

  /** Does not take an incoming call: the caller hears that it is busy. */
  async reject(callId: string): Promise<CarrierOutcome> {
    const fields = { cause: 'USER_BUSY', command_id: `reject-${keyOf(callId)}` };
    return outcomeOf(await this.#act(callId, 'reject', fields));
  }

  /** Connects a call to the agent, on a path of its own. */
  async startStream(
    callId: string,
    {
      commandId,
      parameters,
    }: { readonly commandId: string; readonly parameters: Readonly<Record<string, string>> },
  ): Promise<CarrierOutcome> {
    if (this.#over.has(callId)) return over;
    const secret = this.#settings.streamToken?.reveal() ?? '';
    const segment = streamSegment(base64url(callId), { secret, nowS: this.#given.nowS() });
    if (segment === undefined) return { kind: 'refused', code: 'invalid_argument' };
    const isRefused = this.#given.asksForStream(callId);
    const given = Object.entries(parameters).map(([name, value]) => ({ name, value }));
    const answer = await this.#act(callId, 'streaming_start', {
      stream_url: `${this.#settings.publicUrl}/${segment}`,
      stream_track: 'inbound_track',
      stream_codec: 'PCMU',
      // Without the mode the carrier takes files of sound, one a second.
      stream_bidirectional_mode: 'rtp',
      stream_bidirectional_codec: 'PCMU',
      stream_bidirectional_sampling_rate: 8_000,
      stream_auth_token: secret,
      ...(given.length > 0 && { custom_parameters: given }),
      command_id: commandId,
    });
    const outcome = isCallOver(answer) ? over : outcomeOf(answer);
    if (outcome.kind === 'refused') isRefused();
    return outcome;
  }

  async stopStream(callId: string): Promise<void> {
    await this.#act(callId, 'streaming_stop', { command_id: `taken-${keyOf(callId)}` });
  }

  async park(
    callId: string,
    { tag, commandId }: { readonly tag: string; readonly commandId: string },
  ): Promise<MadeOutcome> {
    const { holdAudioUrl = '' } = this.#account;
    return made(
      await this.#post('/conferences', {
        call_control_id: callId,
        name: nameOf(tag),
        start_conference_on_create: false,
        ...(holdAudioUrl !== '' && { hold_audio_url: holdAudioUrl }),
        beep_enabled: 'never',
        client_state: base64(`svc:caller:${tag}`),
        command_id: commandId,
      }),
      'id',
    );
  }

  async ring({ tag, commandId, ...ring }: Ring): Promise<MadeOutcome> {
    return await this.#call(ring, {
      answering_machine_detection: 'detect',
      client_state: base64(`svc:leg:${tag}`),
      command_id: commandId,
    });
  }

  /** What has answered, and a machine's beep, are told of the call. */
  async dial({ id, detection, ...dial }: Dial): Promise<MadeOutcome> {
    return await this.#call(dial, {
      ...(detection === 'carrier' && { answering_machine_detection: 'greeting_end' }),
      client_state: base64(`${detection === 'carrier' ? marks.outbound : marks.unscreened}${id}`),
      command_id: `out-${id}`,
    });
  }

  async #call(
    { to, from, ringS }: Pick<Ring, 'to' | 'from' | 'ringS'>,
    fields: object,
  ): Promise<MadeOutcome> {
    const connection = { connection_id: this.#account.connectionId, to, from, timeout_secs: ringS };
    const outcome = made(await this.#post('/calls', { ...connection, ...fields }), 'call_control_id');
    if (outcome.kind === 'ok') this.begins(outcome.id);
    return outcome;
  }

  async connect(
    callId: string,
    { id, parameters }: { readonly id: string; readonly parameters: Readonly<Record<string, string>> },
  ): Promise<CarrierOutcome> {
    return await this.startStream(callId, { commandId: `out-${id}-stream`, parameters });
  }

  async say(
    callId: string,
    { id, text, language }: { readonly id: string; readonly text: string; readonly language: string },
  ): Promise<CarrierOutcome> {
    return outcomeOf(await this.#speak(callId, { text, language, commandId: `out-${id}-say` }));
  }

  async join(legId: string, { conference, text, language, commandId }: Join): Promise<CarrierOutcome> {
    if (text !== '') {
      const spoken = new Promise<void>((resolve) => this.#speaking.set(legId, resolve));
      const said = outcomeOf(await this.#speak(legId, { text, language, commandId: `${commandId}s1` }));
      if (said.kind === 'ok') await Promise.race([spoken, this.#given.longestSummary()]);
      this.#speaking.delete(legId);
      // Both wait for each other, with a summary or without; where the leg is over the carrier says so below.
    }
    return outcomeOf(
      await this.#about(legId, `/conferences/${encodeURIComponent(conference)}/actions/join`, {
        call_control_id: legId,
        start_conference_on_enter: true,
        end_conference_on_exit: true,
        beep_enabled: 'never',
        command_id: commandId,
      }),
    );
  }

  /** The carrier's basic voice has to be told a language that it speaks. */
  #speak(
    callId: string,
    given: { readonly text: string; readonly language: string; readonly commandId: string },
  ): Promise<RestAnswer> {
    const language = spokenLanguage(given.language, languagesOfB) ?? 'en-US';
    const fields = { payload: given.text, voice: 'female', language, command_id: given.commandId };
    return this.#act(callId, 'speak', fields);
  }

  /** The carrier has said all of what a leg was to hear. */
  spoken(legId: string): void {
    this.#speaking.get(legId)?.();
  }

  /** The carrier tells of a call or a leg that it is there. A call that was over bore the same id. */
  begins(callId: string): void {
    this.#over.delete(callId);
  }

  /** The carrier tells that a call or a leg is over. */
  ended(callId: string): void {
    this.#over.add(callId);
    bound(this.#over);
    this.spoken(callId);
  }

  async putBack(
    callId: string,
    given: { readonly conference: string; readonly tag: string; readonly commandId: string },
  ): Promise<CarrierOutcome> {
    const { tag, commandId } = given;
    const conference = given.conference === '' ? await this.#conferenceOf(tag) : given.conference;
    if (conference === undefined) return { kind: 'unknown' };
    if (conference !== '') {
      const left = outcomeOf(
        await this.#about(
          callId,
          `/conferences/${encodeURIComponent(conference)}/actions/leave`,
          { call_control_id: callId, command_id: `${commandId}l1` },
          { again: true },
        ),
      );
      if (left.kind === 'unknown') return left;
    }
    return await this.startStream(callId, { commandId, parameters: {} });
  }

  /** The conference of a transfer whose making got no answer, by its name. Empty: there is none; undefined: nobody knows. */
  async #conferenceOf(tag: string): Promise<string | undefined> {
    const answer = await this.#get(`/conferences?filter[name]=${encodeURIComponent(nameOf(tag))}`);
    if (answer.kind !== 'answered' || answer.status !== 200) return undefined;
    const { data } = (answer.body ?? {}) as { readonly data?: unknown };
    const made: unknown[] = Array.isArray(data) ? data : [];
    // The newest counts; one that is over cannot be left any more, which does no harm.
    return made.map((one) => textAt({ one }, 'one', 'id')).find((id) => id !== '') ?? '';
  }

  async isOver(callId: string): Promise<boolean> {
    const answer = await this.#get(`/calls/${encodeURIComponent(callId)}`);
    if (answer.kind !== 'answered') return false;
    const { data } = (answer.body ?? {}) as { readonly data?: { readonly is_alive?: unknown } };
    return isCallOver(answer) || data?.is_alive === false;
  }

  #act(callId: string, action: string, fields: object): Promise<RestAnswer> {
    const path = `/calls/${encodeURIComponent(callId)}/actions/${action}`;
    return this.#about(callId, path, fields, { again: repeated.includes(action) });
  }

  /** Asks for something that a call has to be there for, as long as it is. */
  async #about(callId: string, path: string, fields: object, { again = false } = {}): Promise<RestAnswer> {
    const isVain = (): boolean => this.#over.has(callId);
    if (isVain()) return ended;
    const answer = await this.#request(path, { again, isVain, body: JSON.stringify(fields) });
    return isVain() ? ended : answer;
  }

  #post(path: string, fields: object): Promise<RestAnswer> {
    return this.#request(path, { body: JSON.stringify(fields) });
  }

  #get(path: string): Promise<RestAnswer> {
    return this.#request(path, { method: 'GET', body: '' });
  }

  #request(
    path: string,
    request: Pick<RestRequest, 'again' | 'isVain' | 'method' | 'body'>,
  ): Promise<RestAnswer> {
    const { apiUrl, apiKey } = this.#account;
    return this.#given.ask({
      ...request,
      url: apiUrl + path,
      authorization: `Bearer ${apiKey.reveal()}`,
      contentType: 'application/json',
    });
  }
}

/** Of a conference. */
const nameOf = (tag: string): string => `svc-${tag}`;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');
/** The newest characters of an id are the ones that differ. */
const keyOf = (callId: string): string => base64url(callId).slice(-40);

function made(answer: RestAnswer, id: string): MadeOutcome {
  const outcome = outcomeOf(answer);
  if (outcome.kind !== 'ok') return outcome;
  const found = answer.kind === 'answered' ? textAt(answer.body, 'data', id) : '';
  // It was made, and nobody can name it.
  return found === '' ? { kind: 'unknown' } : { kind: 'ok', id: found };
}

/** The carrier says that the call has ended, or knows it no more. */
const isCallOver = (answer: RestAnswer): boolean =>
  hasCode(answer, callEnded) || (answer.kind === 'answered' && answer.status === 404);

/** Whether a refusal is for this reason; codes come as texts or numbers. */
function hasCode(answer: RestAnswer, code: string): boolean {
  if (answer.kind !== 'answered' || answer.status < 400 || answer.status > 499) return false;
  return codesOf(answer.body).includes(code);
}
