/**
 * Calls of RTVI clients (Pipecat's) in the vocabulary of the engine. `client-ready` opens a call of 24 kHz, which is what stock clients
 * play whatever a frame says, and `bot-ready` answers it. The protocol has neither marks nor a flush: what was sent is played, so
 * audio goes out with a small lead and the clock says what was heard. It has no words for an end: the socket is closed. Pure.
 *
 * Clients in browsers speak protobuf in binary frames, Pipecat's own and its evals JSON in text frames. Both are read at any time, and the
 * kind of the first frame is that of everything that goes out.
 */
import { ok } from '../../shared/base/result.ts';
import { maybe, record, text, versionOf } from '../../shared/base/codec.ts';
import { SAMPLE_RATES, FRAME_MS, ENGINE_RATE, type Millis } from '../../shared/base/units.ts';
import {
  callSampleRates,
  decodeClientFields,
  type ClientMessage,
  type ServerMessage,
} from '../../shared/protocol/call.ts';
import type { ConversationMessage } from '../../shared/protocol/conversation.ts';
import {
  decodeRtviFrame,
  encodeRtviAudio,
  encodeRtviMessage,
  type RtviFrame,
} from '../../shared/rtvi/frame.ts';
import {
  audioIn,
  evalRequest,
  isAudioType,
  mayBeAudio,
  formatOf,
  keysOf,
  readRtviRequest,
  rtviAudioText,
  rtviKeys,
  rtviMessage,
  rtviOutputRate,
  rtviEventsIn,
  rtviVersion,
  typedIn,
  type RtviFormat,
  type RtviRequest,
  type TextAudio,
} from '../../shared/rtvi/messages.ts';
import type { ConversationEvent } from '../core/told.ts';
import type { MessageToClient } from '../../shared/protocol/beside-the-call.ts';
import {
  usualLeadMs,
  type Heard,
  type NewDialect,
  type Outgoing,
  type SocketDialect,
  type Unpacked,
} from '../transports/socket/dialect.ts';
import {
  narrate,
  narrateProgress,
  narrationCodec,
  newNarration,
  voiceSent,
  type NarrationState,
} from './narration.ts';

/** Brings a frame's audio to the rate of the call; undefined for audio that nobody can read. */
export type ConvertAudio = (frame: Extract<RtviFrame, { type: 'audio' }>) => Buffer | undefined;

/** A client whose audio nobody can read has a deaf agent, and is told why once. */
const unreadable = `audio must be 16-bit PCM of at most 8 channels at ${SAMPLE_RATES.join(', ')} Hz`;

/** From the network to the loudspeaker, beyond the lead. */
const delayMs = 60;
/** What was said is told at most this often. */
const progressEveryMs = 200;

interface RtviState {
  /** The id of `client-ready`; undefined before it. */
  readyId: string | undefined;
  /** The version to answer with. */
  version: string;
  format: RtviFormat;
  /** Undefined before the first frame. */
  frames: 'binary' | 'text' | undefined;
  textAudio: TextAudio;
  readonly narration: NarrationState;
}

const stateCodec = record<RtviState>({
  readyId: maybe(text()),
  version: text(),
  format: { shape: 'f', write: String, read: (json) => (json === 1 ? 1 : 2) },
  frames: maybe(text<NonNullable<RtviState['frames']>>()),
  textAudio: text<TextAudio>(),
  narration: narrationCodec,
});

const newState = (textAudio: TextAudio): RtviState => ({
  readyId: undefined,
  version: rtviVersion,
  format: 2,
  frames: undefined,
  textAudio,
  narration: newNarration(),
});

const nothing = { type: 'nothing' } as const;
const heard = (message: ClientMessage): Heard => ({ type: 'message', message });
const errorResponse = (id: string, error: string): string => rtviMessage('error-response', { error }, id);

/** What the address of a client of Pipecat's evals asks for. */
function textAudioOf(metadata: Readonly<Record<string, string>>): TextAudio {
  if (metadata[rtviKeys.evalAudio] === 'true') return 'eval-bot-audio';
  return metadata[rtviKeys.evalSilence] === 'true' ? 'none' : 'bot-tts-audio';
}

/** `newConverter`: makes what brings caller audio to a rate, for one call. */
export const rtviDialect =
  (newConverter: (toRate: number) => ConvertAudio): NewDialect =>
  ({ signedMetadata, wallNow, saved }) => {
    const outputRate = Number(signedMetadata[rtviKeys.outputRate]);
    return new RtviDialect({
      outputRate: callSampleRates.includes(outputRate) ? outputRate : rtviOutputRate,
      events: rtviEventsIn(signedMetadata[rtviKeys.events]),
      convert: newConverter(ENGINE_RATE),
      wallNow: wallNow ?? (() => 0),
      state: saved === undefined ? newState(textAudioOf(signedMetadata)) : stateCodec.read(saved, 0),
    });
  };

interface RtviCall {
  readonly outputRate: number;
  /** What the client asked for beside what RTVI tells. */
  readonly events: ReturnType<typeof rtviEventsIn>;
  readonly convert: ConvertAudio;
  readonly wallNow: () => number;
  readonly state: RtviState;
}

class RtviDialect implements SocketDialect {
  readonly kind = `rtvi ${versionOf(stateCodec)}`;
  readonly audioComesAs = 'packed';
  readonly leadMs = usualLeadMs;
  readonly playout = { delayMs };
  readonly #call: RtviCall;
  #progressAt: Millis = 0;
  #hasToldUnreadable = false;

  constructor(call: RtviCall) {
    this.#call = call;
  }

  unpack(bytes: Buffer): Unpacked {
    this.#call.state.frames ??= 'binary';
    const frame = decodeRtviFrame(bytes);
    if (frame === undefined) return { type: 'broken' };
    if (frame.type === 'message') return { type: 'text', bytes: Buffer.from(frame.json) };
    return frame.type === 'other' ? nothing : this.#audio(frame);
  }

  #audio(frame: Parameters<ConvertAudio>[0]): Unpacked & Heard {
    // Stock clients send nothing before they are ready; messages of others are of no call yet.
    if (this.#call.state.readyId === undefined) return nothing;
    const bytes = this.#call.convert(frame);
    if (bytes !== undefined) return { type: 'audio', bytes };
    if (this.#hasToldUnreadable) return nothing;
    this.#hasToldUnreadable = true;
    return this.#answered(rtviMessage('error', { error: unreadable, fatal: false }));
  }

  /** A message as a frame of the kind that the client sends. */
  #frame(json: string): Outgoing {
    return this.#call.state.frames === 'text' ? json : encodeRtviMessage(json);
  }

  #answered(json: string): Extract<Heard, { type: 'answer' }> {
    return { type: 'answer', frame: this.#frame(json) };
  }

  #refused(id: string, error: string): Heard {
    return this.#answered(errorResponse(id, error));
  }

  textCame(): void {
    this.#call.state.frames ??= 'text';
  }

  hearAudio(json: string): Heard | undefined {
    const request = mayBeAudio(json) ? readRtviRequest(json) : undefined;
    if (typeof request !== 'object' || !isAudioType(request.type)) return undefined;
    const audio = audioIn(request.data);
    return audio === undefined
      ? this.#refused(request.id, `${request.type} must have base64 audio, sampleRate and numChannels`)
      : this.#audio({ type: 'audio', ...audio });
  }

  hear(json: string): Heard {
    const request = readRtviRequest(json);
    if (request === undefined) return heard({ type: 'not-json' });
    if (request === 'other') return nothing;
    const { id, type, data } = request;
    if (type === 'client-ready') return this.#ready(request);
    if (this.#call.state.readyId === undefined && evalRequest(data) === undefined)
      return this.#refused(id, 'client-ready must be the first message');
    switch (type) {
      case 'disconnect-bot':
        return heard({ type: 'stop' });
      case 'send-text': {
        const typed = typedIn(data);
        return typed === undefined
          ? this.#refused(id, 'send-text.content must be a string')
          : heard({ type: 'text', typed: ok(typed) });
      }
      case 'append-to-context':
        return this.#append(request);
      case 'dtmf': {
        const keys = keysOf(data);
        if (keys === undefined) return this.#refused(id, 'dtmf must name keys of 0-9, * and #');
        return several(keys.map((digit) => heard({ type: 'dtmf', digit: ok(digit) })));
      }
      case 'client-message':
        return this.#custom(request);
      default:
        return this.#refused(id, `Unsupported type ${type.slice(0, 64)}`);
    }
  }

  /** A second one is answered again and changes nothing. */
  #ready({ id, data }: RtviRequest): Heard {
    const format = formatOf(data['version']);
    const isFirst = this.#call.state.readyId === undefined;
    this.#call.state.readyId = id;
    if (!isFirst) return this.#answered(this.#readyMessage());
    this.#call.state.format = format ?? 2;
    this.#call.state.version = format === 1 ? String(data['version']) : rtviVersion;
    const start = startOf(this.#call.outputRate);
    if (format !== undefined) return start;
    return several([this.#refused(id, `This service speaks RTVI ${rtviVersion} and 1.x`), start]);
  }

  #readyMessage(): string {
    const { version, readyId } = this.#call.state;
    return rtviMessage('bot-ready', { version, about: { library: 'voice-agent-service' } }, readyId);
  }

  /** Of clients before `send-text`; those that wait for an answer wait for this one. */
  #append({ id, data }: RtviRequest): Heard {
    const { role, content, run_immediately: runs } = data;
    if (role !== 'user' || typeof content !== 'string')
      return this.#refused(id, 'append-to-context takes text of the role user');
    const answer = runs === true ? 'speech' : 'none';
    return several([
      heard({ type: 'text', typed: ok({ text: content, answer }) }),
      this.#answered(rtviMessage('server-response', { t: 'append-to-context', d: {}, result: true }, id)),
    ]);
  }

  /** A message of the page's own, which only an agent process can know the meaning of. */
  #custom({ id, data }: RtviRequest): Heard {
    const asked = evalRequest(data);
    if (asked === 'stop') return heard({ type: 'stop' });
    if (asked !== undefined) {
      if (asked !== 'ignored') this.#call.state.textAudio = asked;
      return nothing;
    }
    const { t: name, d } = data;
    if (typeof name !== 'string') return this.#refused(id, 'client-message.t must be a string');
    const unheard = this.#frame(errorResponse(id, 'no agent takes messages of clients in this call'));
    return { type: 'to-agent', message: { name, id, data: d }, unheard };
  }

  write(message: ServerMessage | ConversationMessage): Outgoing | undefined {
    switch (message.type) {
      case 'started':
        return this.#frame(this.#readyMessage());
      case 'error':
        return this.#frame(
          rtviMessage('error', { error: ownWords[message.code] ?? message.message, fatal: message.fatal }),
        );
      default:
        return undefined;
    }
  }

  writeMessage({ data, answers }: MessageToClient): Outgoing {
    return this.#frame(
      answers === undefined
        ? rtviMessage('server-message', data)
        : rtviMessage('server-response', { t: answers.name, d: data }, answers.id),
    );
  }

  writeAudio(frame: Buffer): Outgoing | undefined {
    const { outputRate, state } = this.#call;
    voiceSent(state.narration, FRAME_MS);
    return state.frames === 'text'
      ? rtviAudioText(state.textAudio, frame, outputRate)
      : encodeRtviAudio(frame, outputRate);
  }

  tell(event: ConversationEvent): Outgoing[] {
    const { narration, format } = this.#call.state;
    const { wallNow, events } = this.#call;
    return narrate(narration, event, { format, wallMs: wallNow(), events }).map((json) => this.#frame(json));
  }

  due(now: Millis): readonly Outgoing[] {
    if (now < this.#progressAt) return none;
    this.#progressAt = now + progressEveryMs;
    const { narration, format } = this.#call.state;
    return narrateProgress(narration, { format, behindMs: usualLeadMs + delayMs }).map((json) =>
      this.#frame(json),
    );
  }

  save(): string {
    return stateCodec.write(this.#call.state);
  }
}

/** Faults whose usual words name a message that these clients do not know. */
const ownWords: Readonly<Record<string, string>> = { start_timeout: 'no client-ready arrived in time' };

const none: readonly Outgoing[] = [];
const several = (all: readonly Heard[]): Heard => ({ type: 'several', all });

/** The start of a call with a client of this protocol. */
function startOf(sampleRate: number): Heard {
  const read = decodeClientFields({ type: 'start', version: 1, sample_rate: sampleRate });
  return read.type === 'start' && read.fields.ok
    ? heard({ type: 'start', fields: ok({ ...read.fields.value, inputRate: ENGINE_RATE }) })
    : heard(read);
}
