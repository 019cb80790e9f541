/**
 * The wire of `stt_cloud_c`: utterances with an id of their own, ended by silence in the audio.
 *
 * Invariant: there is no message that ends an utterance, so a finalize sends the silence that the server waits for, and
 * is answered when nothing that was heard is open any more. Pure: no sockets, no time.
 */
import type { SttGladiaOptions } from './declaration.ts';
import { ENGINE_RATE } from '../../../../shared/base/units.ts';
import { urlUnder } from '../../../../shared/net/address.ts';
import type { StageError, Transcript } from '../../stage.ts';
import {
  breach,
  failure,
  final,
  finalized,
  nameAt,
  numberAt,
  objectAt,
  partial,
  pcmBytes,
  primarySubtag,
  ready,
  send,
  statusIn,
  stringAt,
  Told,
} from '../wire.ts';
import type { JsonObject, Outgoing, SttWire, WireEvent } from '../wire.ts';

/** Longest utterance without a pause, in seconds; the service's own limit is too short for a caller who explains. */
const LONGEST_UTTERANCE_S = 15;
/** What callers may change to: the service ignores `code_switching` with a single language, and with none it guesses among a hundred. */
const OTHER_LANGUAGES = ['en', 'de', 'es', 'fr', 'tr'];
const VOCABULARY_INTENSITY = 0.5;
/** Silence beyond the endpointing that makes the server sure of it. */
const SILENCE_MARGIN_MS = 200;

/** Where a session is asked for. */
export function gladiaUrl({ baseUrl, region }: SttGladiaOptions): URL {
  const url = urlUnder(baseUrl, '/v2/live');
  if (region !== undefined) url.searchParams.append('region', region.replace('_', '-'));
  return url;
}

/** What is asked for: every option as the vendor has it. */
export function gladiaRequest(options: SttGladiaOptions, language: string): JsonObject {
  const { vocabulary } = options;
  const words = vocabulary !== undefined && vocabulary.length > 0 ? vocabulary : undefined;
  const own = primarySubtag(language);
  const languages = [...new Set([own, ...(options.codeSwitching ? OTHER_LANGUAGES : [])])];
  return {
    encoding: 'wav/pcm',
    bit_depth: 16,
    sample_rate: ENGINE_RATE,
    channels: 1,
    model: options.model,
    endpointing: options.endpointingMs / 1000,
    maximum_duration_without_endpointing: LONGEST_UTTERANCE_S,
    language_config: { languages, code_switching: options.codeSwitching },
    ...(words !== undefined && {
      realtime_processing: {
        custom_vocabulary: true,
        custom_vocabulary_config: { vocabulary: words, default_intensity: VOCABULARY_INTENSITY },
      },
    }),
    messages_config: {
      receive_partial_transcripts: true,
      receive_final_transcripts: true,
      receive_speech_events: true,
      receive_errors: true,
      receive_acknowledgments: false,
      receive_lifecycle_events: false,
      receive_pre_processing_events: false,
      receive_realtime_processing_events: false,
      receive_post_processing_events: false,
    },
  };
}

export class GladiaWire implements SttWire {
  readonly #silenceSamples: number;
  /** The utterance that is being heard, with its text so far. */
  #open: { readonly id: string | undefined; readonly text: string } | undefined;
  readonly #told = new Told();
  #isSpeaking = false;
  /** A voice was heard of whose words nothing came yet. */
  #owes = false;
  /** Words were told since the last end. */
  #hasWords = false;
  /** Silence that was put into the audio; the server's times count it. */
  #silenceMs = 0;
  #isFinalizing = false;

  constructor({ endpointingMs }: SttGladiaOptions) {
    this.#silenceSamples = Math.ceil(((endpointingMs + SILENCE_MARGIN_MS) * ENGINE_RATE) / 1000);
  }

  opened(): readonly WireEvent[] {
    return [ready];
  }

  audio(pcm: Int16Array): readonly Outgoing[] {
    return [pcmBytes(pcm)];
  }

  finalize(): readonly WireEvent[] {
    this.#isFinalizing = true;
    return [send(pcmBytes(new Int16Array(this.#silenceSamples)))];
  }

  read(message: JsonObject): readonly WireEvent[] {
    switch (stringAt(message, 'type')) {
      case 'transcript':
        return this.#transcript(objectAt(message, 'data'));
      case 'speech_start':
        this.#isSpeaking = true;
        this.#owes = true;
        return [];
      case 'speech_end':
        this.#isSpeaking = false;
        return [];
      case 'error':
        return [errorOf(message)];
      default:
        return [];
    }
  }

  /** The silence of the caller alone may have ended the utterance; ours is answered by nothing then. */
  isTold(): boolean {
    return this.#hasWords && !this.#owes && this.#open === undefined;
  }

  expired(): readonly Transcript[] {
    this.#close();
    this.#told.add(this.#open?.id);
    const text = this.#open?.text ?? '';
    this.#open = undefined;
    return text === '' ? [] : [final(text, { speechFinal: true, fromFinalize: true })];
  }

  closed(code: number): StageError {
    if (code >= 4400 && code <= 4499) return { kind: 'rejected', status: code - 4000 };
    return { kind: 'disconnected' };
  }

  /** The server leaves after 30 s without audio; an empty piece counts as some. */
  keepAlive(): readonly Outgoing[] {
    return ['{"type":"audio_chunk","data":{"chunk":""}}'];
  }

  goodbye(): readonly Outgoing[] {
    return ['{"type":"stop_recording"}'];
  }

  #transcript(data: JsonObject): readonly WireEvent[] {
    const id = nameAt(data, 'id');
    const utterance = objectAt(data, 'utterance');
    const text = stringAt(utterance, 'text')?.trim() ?? '';
    const place = placeOf(utterance, text);
    // An utterance is final once; what comes late of it is no news.
    if (this.#told.has(id) || (data['is_final'] === true && this.#told.has(place))) return [];
    if (data['is_final'] !== true) {
      this.#open = { id, text };
      return text === '' || this.#isFinalizing ? [] : [partial(text)];
    }
    this.#told.add(id);
    this.#told.add(place);
    if (id === undefined || this.#open?.id === id) this.#open = undefined;
    this.#owes = this.#isSpeaking;
    this.#hasWords ||= text !== '';
    const isFinalizing = this.#isFinalizing;
    const isAnswer = isFinalizing && this.#open === undefined && !this.#isSpeaking;
    const end = numberAt(utterance, 'end');
    const endMs = end === undefined ? undefined : end * 1000 - this.#silenceMs;
    const words = text === '' ? [] : [final(text, { speechFinal: true, fromFinalize: isAnswer, endMs })];
    if (!isAnswer) return words;
    this.#close();
    return [...words, finalized];
  }

  #close(): void {
    this.#isFinalizing = false;
    this.#hasWords = false;
    this.#silenceMs += (this.#silenceSamples * 1000) / ENGINE_RATE;
  }
}

/** The same words of the same audio, whatever they are named. */
function placeOf(utterance: JsonObject, text: string): string | undefined {
  const [start, end] = [numberAt(utterance, 'start'), numberAt(utterance, 'end')];
  return text === '' || start === undefined || end === undefined
    ? undefined
    : JSON.stringify([start, end, text]);
}

function errorOf(message: JsonObject): WireEvent {
  const keys = ['status', 'status_code', 'code'];
  const data = objectAt(message, 'data');
  const status = statusIn(data, keys) ?? statusIn(objectAt(message, 'error'), keys);
  return status === undefined
    ? breach('the provider takes what it is sent')
    : failure({ kind: 'rejected', status });
}
