/**
 * Calls of Telnyx (Telnyx media streaming) in the vocabulary of the engine. `start` opens a call in the stream's encoding whose id is
 * the carrier's; media come in any order and are heard in theirs; `stop` hangs up. The audio that is sent is mu-law at 8 kHz, or L16
 * where the stream is. A frame of the kind `error` speaks of what was sent; it is told once, and changes nothing. Pure.
 */
import { fail } from '../../../shared/base/result.ts';
import { list, number, record, text, versionOf } from '../../../shared/base/codec.ts';
import { fittingMetadata, violation, type ServerMessage } from '../../../shared/protocol/call.ts';
import { carrierKeys } from '../../../shared/telephony/twilio/protocol.ts';
import type { TelnyxMessage } from '../../../shared/telephony/telnyx/protocol.ts';
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
import { muLawOf } from '../../../shared/audio/alaw.ts';

interface TelnyxState extends SentMarks {
  streamId: string;
  encoding: TelnyxFormat['name'];
  nextChunk: number;
}

const stateCodec = record<TelnyxState>({
  streamId: text(),
  encoding: text<TelnyxFormat['name']>(),
  nextChunk: number,
  marks: list(text()),
  cleared: number,
});

const newState = (): TelnyxState => ({
  streamId: '',
  encoding: 'PCMU',
  nextChunk: 0,
  marks: [],
  cleared: 0,
});

export const telnyxDialect: NewDialect = ({ signedMetadata, saved, complained }) =>
  new TelnyxDialect(signedMetadata, saved === undefined ? newState() : stateCodec.read(saved, 0), complained);

class TelnyxDialect implements SocketDialect {
  readonly kind = `carrier_b ${versionOf(stateCodec)}`;
  readonly audioComesAs = 'text';
  readonly leadMs = usualLeadMs;
  readonly #callId: string | undefined;
  readonly #showsNumbers: boolean;
  readonly #state: TelnyxState;
  readonly #order: ChunkOrder;
  #complained: Parameters<NewDialect>[0]['complained'];

  constructor(
    signedMetadata: Readonly<Record<string, string>>,
    state: TelnyxState,
    complained: Parameters<NewDialect>[0]['complained'],
  ) {
    this.#complained = complained;
    this.#callId = signedMetadata[carrierKeys.callId];
    this.#showsNumbers = signedMetadata[carrierKeys.numbers] === 'shown';
    this.#state = state;
    this.#order = new ChunkOrder(state.nextChunk);
  }

  hear(frame: string): Heard {
    const message: TelnyxMessage | undefined = readCarrierFrame(frame, 'media_format');
    if (message === undefined) return heard({ type: 'not-json' });
    if (message.event === 'error') this.#complain(message);
    if (message.event === 'connected' || message.event === 'error') return nothing;
    if (message.event === 'start') return heard({ type: 'start', fields: this.#start(message) });
    if (this.#state.streamId === '' || message.stream_id !== this.#state.streamId) return unknown;
    return message.event === 'media' ? this.#media(message) : heardBesideAudio(message, this.#state);
  }

  /** Fifty a second would say no more than the first. */
  #complain({ payload }: TelnyxMessage): void {
    const { code } = payload ?? {};
    this.#complained?.({ call: this.#callId, code: /^\d{1,6}$/.exec(String(code))?.[0] ?? 'unknown' });
    this.#complained = undefined;
  }

  #start(message: TelnyxMessage): StartFields {
    const {
      call_control_id: callId,
      media_format: media,
      custom_parameters: given,
      from,
      to,
    } = message.start ?? {};
    const { stream_id: streamId } = message;
    if (typeof streamId !== 'string' || !isId(streamId) || typeof callId !== 'string' || !isId(callId))
      return fail(violation('start must name its stream and its call'));
    if (this.#callId !== undefined && callId !== this.#callId)
      return fail(violation('start.call_control_id must be the call that this address was made for'));
    const format = formatOf(media?.encoding, media?.sample_rate);
    if (format === undefined)
      return fail(violation('start.media_format must be PCMU or PCMA at 8000 Hz, or L16'));
    const numbers = this.#showsNumbers ? { from, to } : {};
    const fields = startOf({
      sample_rate: format.sampleRate,
      encoding: format.name === 'L16' ? 'pcm16' : 'mulaw',
      call_id: callId,
      metadata: fittingMetadata({ ...texts(given), ...texts(numbers) }),
    });
    // A second `start` is refused as it would be of any client, and changes nothing here.
    if (fields.ok && this.#state.streamId === '') {
      this.#state.streamId = streamId;
      this.#state.encoding = format.name;
    }
    return fields;
  }

  #media({ media }: TelnyxMessage): Heard {
    const { track, chunk, payload } = media ?? {};
    if (typeof payload !== 'string') return unknown;
    if (track !== undefined && track !== 'inbound' && track !== 'inbound_track') return nothing;
    const ready = this.#order.take(Number(chunk ?? Number.NaN), Buffer.from(payload, 'base64'));
    this.#state.nextChunk = this.#order.next;
    if (ready === undefined) return nothing;
    const bytes = heardAs(this.#state.encoding, ready);
    return bytes === undefined ? unknown : { type: 'audio', bytes };
  }

  write(message: ServerMessage | ConversationMessage): string | undefined {
    switch (message.type) {
      case 'clear':
        marksCleared(this.#state);
        return '{"event":"clear"}';
      case 'mark':
        markSent(this.#state, message.id);
        return JSON.stringify({ event: 'mark', mark: { name: message.id } });
      default:
        return undefined;
    }
  }

  /** Base64 needs no escaping. */
  writeAudio(frame: Buffer): string {
    const bytes = this.#state.encoding === 'L16' ? frame.swap16() : frame;
    return `{"event":"media","media":{"payload":"${bytes.toString('base64')}"}}`;
  }

  save(): string {
    return stateCodec.write(this.#state);
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Parameters come as an object, or as a list of names and values. */
function texts(given: unknown): Record<string, string> {
  const pairs: [unknown, unknown][] = Array.isArray(given)
    ? given.map((one: unknown): [unknown, unknown] =>
        isObject(one) ? [Reflect.get(one, 'name'), Reflect.get(one, 'value')] : [undefined, undefined],
      )
    : Object.entries(isObject(given) ? given : {});
  return Object.fromEntries(
    pairs.filter((pair): pair is [string, string] => pair.every((part) => typeof part === 'string')),
  );
}

/** Ids of the carrier: visible and short. */
const isId = (value: string): boolean => /^[\w:.~+/=-]{1,128}$/.test(value);

/** What Telnyx calls its encodings, and how each is heard: mu-law as it is, A-law as mu-law, L16 in the byte order of the network. */
interface TelnyxFormat {
  readonly name: 'PCMU' | 'PCMA' | 'L16';
  readonly sampleRate: number;
}

/** Rates at which a call of L16 can be held. */
const linearRates: readonly number[] = [8_000, 16_000, 22_050, 24_000, 48_000];

function formatOf(encoding: unknown, rate: unknown): TelnyxFormat | undefined {
  const sampleRate = Number(rate);
  if ((encoding === 'PCMU' || encoding === 'PCMA') && sampleRate === 8_000)
    return { name: encoding, sampleRate };
  return encoding === 'L16' && linearRates.includes(sampleRate) ? { name: encoding, sampleRate } : undefined;
}

/** Caller audio in the encoding of the call; undefined where samples are not whole. */
function heardAs(format: TelnyxFormat['name'], payload: Buffer): Buffer | undefined {
  switch (format) {
    case 'PCMU':
      return payload;
    case 'PCMA':
      return muLawOf(payload);
    case 'L16':
      return payload.length % 2 === 0 ? payload.swap16() : undefined;
  }
}

/**
 * Brings chunks of audio into order, which Telnyx does not promise. A chunk that is missing is waited for until a few are behind it,
 * then it is left out; a chunk that comes after its turn is dropped.
 */

/** Chunks that wait for an earlier one: 80 ms. */
const window = 4;
/** So many in a row that come after their turn are not late: the count has begun anew. */
const mostLate = 10;

export class ChunkOrder {
  /** The chunk whose turn it is; 0 before the first. */
  next: number;
  readonly #waiting = new Map<number, Buffer>();
  #late = 0;

  constructor(next = 0) {
    this.next = next;
  }

  /** What can be heard now; without a number a chunk is heard as it comes. */
  take(chunk: number, bytes: Buffer): Buffer | undefined {
    if (!Number.isSafeInteger(chunk) || chunk < 0) return bytes;
    if (this.next === 0) this.next = chunk;
    if (chunk < this.next) {
      this.#late += 1;
      if (this.#late <= mostLate) return undefined;
      this.#waiting.clear();
      this.next = chunk;
    }
    this.#late = 0;
    if (chunk === this.next && this.#waiting.size === 0) {
      this.next += 1;
      return bytes;
    }
    this.#waiting.set(chunk, bytes);
    // A number far ahead of everything that was heard is no gap: the count has jumped.
    if (this.#waiting.size > window) this.next = Math.min(...this.#waiting.keys());
    return this.#drain();
  }

  #drain(): Buffer | undefined {
    const ready: Buffer[] = [];
    for (
      let bytes = this.#waiting.get(this.next);
      bytes !== undefined;
      bytes = this.#waiting.get(this.next)
    ) {
      this.#waiting.delete(this.next);
      ready.push(bytes);
      this.next += 1;
    }
    return ready.length === 0 ? undefined : Buffer.concat(ready);
  }
}
