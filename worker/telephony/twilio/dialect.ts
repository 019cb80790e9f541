/**
 * Calls of Twilio (Twilio Media Streams) in the vocabulary of the engine. `start` opens a mu-law call at 8 kHz whose id is the carrier's
 * and whose metadata are the stream's parameters; media, keys and marks follow; `stop` hangs up. The protocol has no words for an end
 * or a fault: closing the socket lets the carrier go on behind the stream. Pure.
 */
import { fail } from '../../../shared/base/result.ts';
import { list, number, record, text, versionOf } from '../../../shared/base/codec.ts';
import { fittingMetadata, violation, type ServerMessage } from '../../../shared/protocol/call.ts';
import {
  twilioSampleRate,
  carrierKeys,
  type TwilioMessage,
} from '../../../shared/telephony/twilio/protocol.ts';
import type { ConversationMessage } from '../../../shared/protocol/conversation.ts';
import {
  usualLeadMs,
  type Heard,
  type NewDialect,
  type SocketDialect,
} from '../../transports/socket/dialect.ts';
import {
  heard,
  heardBesideAudio,
  nothing,
  readCarrierFrame,
  startOf,
  unknown,
  type StartFields,
} from '../frame.ts';
import { marksCleared, markSent, type SentMarks } from '../../transports/socket/sent-marks.ts';

interface TwilioState extends SentMarks {
  streamSid: string;
}

const stateCodec = record<TwilioState>({ streamSid: text(), marks: list(text()), cleared: number });

export const twilioDialect: NewDialect = ({ signedMetadata, saved }) =>
  new TwilioDialect(
    signedMetadata[carrierKeys.callId],
    saved === undefined ? { streamSid: '', marks: [], cleared: 0 } : stateCodec.read(saved, 0),
  );

class TwilioDialect implements SocketDialect {
  readonly kind = `carrier_a ${versionOf(stateCodec)}`;
  readonly audioComesAs = 'text';
  readonly leadMs = usualLeadMs;
  readonly #callSid: string | undefined;
  readonly #state: TwilioState;

  /** `callSid`: the call that this stream was made for; undefined where the stream's address is fixed. */
  constructor(callSid: string | undefined, state: TwilioState) {
    this.#callSid = callSid;
    this.#state = state;
  }

  hear(frame: string): Heard {
    const message: TwilioMessage | undefined = readCarrierFrame(frame, 'mediaFormat');
    if (message === undefined) return heard({ type: 'not-json' });
    if (message.event === 'connected') return nothing;
    if (message.event === 'start') return heard({ type: 'start', fields: this.#start(message) });
    // Nothing of another stream belongs to this call.
    if (this.#state.streamSid === '' || message.streamSid !== this.#state.streamSid) return unknown;
    return message.event === 'media' ? audioOf(message) : heardBesideAudio(message, this.#state);
  }

  #start({ start }: TwilioMessage): StartFields {
    const { callSid, streamSid, mediaFormat, customParameters } = start ?? {};
    const isMuLaw =
      mediaFormat?.encoding === 'audio/x-mulaw' && Number(mediaFormat.sampleRate) === twilioSampleRate;
    if (typeof streamSid !== 'string' || !isSid(streamSid) || typeof callSid !== 'string' || !isSid(callSid))
      return fail(violation('start must name its stream and its call'));
    if (this.#callSid !== undefined && callSid !== this.#callSid)
      return fail(violation('start.callSid must be the call that this address was made for'));
    if (!isMuLaw) return fail(violation('start.mediaFormat must be audio/x-mulaw at 8000 Hz'));
    const fields = startOf({
      sample_rate: twilioSampleRate,
      encoding: 'mulaw',
      call_id: callSid,
      metadata: fittingMetadata(customParameters),
    });
    // A second `start` is refused as it would be of any client, and changes nothing here.
    if (fields.ok && this.#state.streamSid === '') this.#state.streamSid = streamSid;
    return fields;
  }

  write(message: ServerMessage | ConversationMessage): string | undefined {
    const { streamSid } = this.#state;
    switch (message.type) {
      case 'clear':
        marksCleared(this.#state);
        return JSON.stringify({ event: 'clear', streamSid });
      case 'mark':
        markSent(this.#state, message.id);
        return JSON.stringify({ event: 'mark', streamSid, mark: { name: message.id } });
      default:
        return undefined;
    }
  }

  /** Base64 needs no escaping, and an id of the carrier has none either. */
  writeAudio(frame: Buffer): string {
    return `{"event":"media","streamSid":"${this.#state.streamSid}","media":{"payload":"${frame.toString('base64')}"}}`;
  }

  save(): string {
    return stateCodec.write(this.#state);
  }
}

/** What is spliced into frames: letters and digits, as the carrier makes its ids. */
const isSid = (value: string): boolean => /^[A-Za-z0-9]{1,64}$/.test(value);

function audioOf({ media }: TwilioMessage): Heard {
  const { track, payload } = media ?? {};
  if (typeof payload !== 'string') return unknown;
  // Of what the agent said nobody wants to hear anything.
  if (track !== undefined && track !== 'inbound') return nothing;
  return { type: 'audio', bytes: Buffer.from(payload, 'base64') };
}
