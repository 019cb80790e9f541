/**
 * Calls of carrier A (Twilio Media Streams) in the vocabulary of the engine. `start` opens a mu-law call at 8 kHz whose id is the carrier's
 * and whose metadata are the stream's parameters; media, keys and marks follow; `stop` hangs up. The protocol has no words for an end
 * or a fault: closing the socket lets the carrier go on behind the stream.
 */
import { fail, ok } from '../../../shared/base/result.ts';
import { list, number, record, text, versionOf } from '../../../shared/base/codec.ts';
import {
  decodeClientFields,
  fittingMetadata,
  violation,
  type ClientMessage,
  type ServerMessage,
} from '../../../shared/protocol/call.ts';
import { carrierASampleRate, carrierKeys, type CarrierAMessage } from '../../../shared/protocol/carrier-a.ts';
import type { ConversationMessage } from '../../../shared/protocol/conversation.ts';
import { usualLeadMs, type Heard, type NewDialect, type SocketDialect } from '../socket/dialect.ts';
import { readCarrierFrame } from '../socket/carrier-frame.ts';
import { markCameBack, marksCleared, markSent, type SentMarks } from '../socket/sent-marks.ts';

interface CarrierAState extends SentMarks {
  streamSid: string;
}

const stateCodec = record<CarrierAState>({ streamSid: text(), marks: list(text()), cleared: number });

const nothing: Heard = { type: 'nothing' };
const unknown: Heard = { type: 'message', message: { type: 'unknown' } };
const heard = (message: ClientMessage): Heard => ({ type: 'message', message });

export const carrierADialect: NewDialect = ({ signedMetadata, saved }) =>
  new CarrierADialect(
    signedMetadata[carrierKeys.callId],
    saved === undefined ? { streamSid: '', marks: [], cleared: 0 } : stateCodec.read(saved, 0),
  );

class CarrierADialect implements SocketDialect {
  readonly kind = `carrier_a ${versionOf(stateCodec)}`;
  readonly audioComesAs = 'text';
  readonly leadMs = usualLeadMs;
  readonly #callSid: string | undefined;
  readonly #state: CarrierAState;

  /** `callSid`: the call that this stream was made for; undefined where the stream's address is fixed. */
  constructor(callSid: string | undefined, state: CarrierAState) {
    this.#callSid = callSid;
    this.#state = state;
  }

  hear(frame: string): Heard {
    const message: CarrierAMessage | undefined = readCarrierFrame(frame, 'mediaFormat');
    if (message === undefined) return heard({ type: 'not-json' });
    if (message.event === 'connected') return nothing;
    if (message.event === 'start') return heard({ type: 'start', fields: this.#start(message) });
    // Nothing of another stream belongs to this call.
    if (this.#state.streamSid === '' || message.streamSid !== this.#state.streamSid) return unknown;
    switch (message.event) {
      case 'media':
        return audioOf(message);
      case 'dtmf': {
        const key = decodeClientFields({ type: 'dtmf', digit: message.dtmf?.digit });
        // One that nobody knows, such as a flash, is no reason to end a telephone call.
        return key.type === 'dtmf' && !key.digit.ok ? nothing : heard(key);
      }
      case 'mark':
        return markCameBack(this.#state, message.mark?.name)
          ? heard({ type: 'mark', id: ok(String(message.mark?.name)) })
          : nothing;
      case 'stop':
        return heard({ type: 'stop' });
      default:
        // Carriers add events without notice.
        return nothing;
    }
  }

  #start({ start }: CarrierAMessage): Extract<ClientMessage, { type: 'start' }>['fields'] {
    const { callSid, streamSid, mediaFormat, customParameters } = start ?? {};
    const isMuLaw =
      mediaFormat?.encoding === 'audio/x-mulaw' && Number(mediaFormat.sampleRate) === carrierASampleRate;
    if (typeof streamSid !== 'string' || !isSid(streamSid) || typeof callSid !== 'string' || !isSid(callSid))
      return fail(violation('start must name its stream and its call'));
    if (this.#callSid !== undefined && callSid !== this.#callSid)
      return fail(violation('start.callSid must be the call that this address was made for'));
    if (!isMuLaw) return fail(violation('start.mediaFormat must be audio/x-mulaw at 8000 Hz'));
    const read = decodeClientFields({
      type: 'start',
      version: 1,
      sample_rate: carrierASampleRate,
      encoding: 'mulaw',
      call_id: callSid,
      metadata: fittingMetadata(customParameters),
    });
    if (read.type !== 'start') return fail(violation('start must be valid'));
    // A second `start` is refused as it would be of any client, and changes nothing here.
    if (read.fields.ok && this.#state.streamSid === '') this.#state.streamSid = streamSid;
    return read.fields.ok ? ok(read.fields.value) : read.fields;
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

function audioOf({ media }: CarrierAMessage): Heard {
  const { track, payload } = media ?? {};
  if (typeof payload !== 'string') return unknown;
  // Of what the bot said nobody wants to hear anything.
  if (track !== undefined && track !== 'inbound') return nothing;
  return { type: 'audio', bytes: Buffer.from(payload, 'base64') };
}
