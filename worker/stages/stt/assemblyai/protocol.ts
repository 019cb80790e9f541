/**
 * The wire of `stt_cloud_b`: numbered turns, each message holding the whole turn so far.
 *
 * Invariant: each turn gives one final at most, so that a repeat with better punctuation is not heard twice. Pure.
 */
import type { SttAssemblyAiOptions } from './declaration.ts';
import { ENGINE_RATE } from '../../../../shared/base/units.ts';
import { urlUnder } from '../../../../shared/net/address.ts';
import type { StageError, Transcript } from '../../stage.ts';
import { MainSpeaker, speakerAt, spokenWords, type Own } from '../main-speaker.ts';
import {
  failure,
  final,
  finalized,
  numberAt,
  objectAt,
  partial,
  pcmBytes,
  primarySubtag,
  ready,
  sendJson,
  stringAt,
} from '../wire.ts';
import type { JsonObject, Outgoing, SttWire, WireEvent } from '../wire.ts';

/** Models that always format, hear many languages and take the one that is expected. */
function isFormattingModel(model: string): boolean {
  return model.startsWith('u3') || model.startsWith('universal-3');
}

/** Whether the text of a turn comes a second time, formatted. */
export function repeatsFormatted({ formatTurns, speechModel }: SttAssemblyAiOptions): boolean {
  return formatTurns && !isFormattingModel(speechModel);
}

/** Every option as the vendor's query has it. */
export function assemblyAiUrl(options: SttAssemblyAiOptions, language: string): URL {
  const url = urlUnder(options.baseUrl, '/v3/ws');
  const { speechModel, keyterms, formatTurns, minTurnSilenceMs, maxTurnSilenceMs, diarize = false } = options;
  const formats = isFormattingModel(speechModel);
  const query: Record<string, string> = {
    sample_rate: String(ENGINE_RATE),
    encoding: 'pcm_s16le',
    speech_model: speechModel,
    ...(formats
      ? { language_codes: JSON.stringify([primarySubtag(language)]) }
      : { format_turns: String(formatTurns) }),
    ...(diarize && { speaker_labels: 'true' }),
    ...(minTurnSilenceMs !== undefined && { min_turn_silence: String(minTurnSilenceMs) }),
    ...(maxTurnSilenceMs !== undefined && { max_turn_silence: String(maxTurnSilenceMs) }),
    ...(keyterms !== undefined && keyterms.length > 0 && { keyterms_prompt: JSON.stringify(keyterms) }),
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.append(name, value);
  return url;
}

/** What a code means, of a close or of a message about an error. */
export function assemblyAiError(code: number, reason: string): StageError {
  const isTooMany = /too many/i.test(reason);
  if (code === 3009 || code === 4029 || (code === 1008 && isTooMany))
    return { kind: 'rejected', status: 429 };
  if (code === 1008 || code === 4001) return { kind: 'rejected', status: 401 };
  if (code === 4002 || code === 4003) return { kind: 'rejected', status: 402 };
  if (code === 3006 || code === 3007 || code === 4101) {
    return { kind: 'protocol', rule: 'the provider takes what it is sent' };
  }
  return { kind: 'disconnected' };
}

export class AssemblyAiWire implements SttWire {
  readonly #waitsForFormat: boolean;
  /** Turns up to this one have ended. */
  #ended = -1;
  #turn = -1;
  #text = '';
  /** Where the last word of the turn ends, in milliseconds of the connection's audio. */
  #endMs: number | undefined;
  #isFinalizing = false;
  /** Words were told since the last end. */
  #hasWords = false;
  /** The turn has words, and none is the caller's. */
  #isOthers = false;
  /** Absent where nobody asked who speaks. */
  readonly #speaker: MainSpeaker | undefined;

  constructor(waitsForFormat: boolean, { diarize = false }: { readonly diarize?: boolean } = {}) {
    this.#waitsForFormat = waitsForFormat;
    this.#speaker = diarize ? new MainSpeaker() : undefined;
  }

  audio(pcm: Int16Array): readonly Outgoing[] {
    return [pcmBytes(pcm)];
  }

  finalize(): readonly WireEvent[] {
    this.#isFinalizing = true;
    return [sendJson({ type: 'ForceEndpoint' })];
  }

  read(message: JsonObject): readonly WireEvent[] {
    const type = stringAt(message, 'type');
    if (type === 'Begin') return [ready];
    if (type === 'Turn') return this.#onTurn(message);
    if (type === 'Error' || (message['error'] ?? undefined) !== undefined) {
      const code = numberAt(message, 'error_code') ?? 0;
      return [failure(assemblyAiError(code, stringAt(message, 'error') ?? ''))];
    }
    return type === 'Termination' ? [failure({ kind: 'disconnected' })] : [];
  }

  /** The server has ended the turn by itself, and need not end it once more. */
  isTold(): boolean {
    return this.#hasWords && this.#text === '';
  }

  expired(): readonly Transcript[] {
    this.#isFinalizing = false;
    this.#hasWords = false;
    const text = this.#text;
    this.#text = '';
    return text === '' ? [] : [final(text, { speechFinal: true, fromFinalize: true })];
  }

  closed(code: number, reason: string): StageError {
    return assemblyAiError(code, reason);
  }

  goodbye(): readonly Outgoing[] {
    return ['{"type":"Terminate"}'];
  }

  #onTurn(message: JsonObject): readonly WireEvent[] {
    // A turn without a number is the one that is under way.
    const order = numberAt(message, 'turn_order') ?? Math.max(this.#turn, this.#ended + 1);
    const transcript = stringAt(message, 'transcript')?.trim();
    if (order <= this.#ended) return [];
    const isEnd = message['end_of_turn'] === true;
    const isNewText = order !== this.#turn;
    this.#turn = order;
    const words = wordsOf(message);
    const told = (isEnd ? (transcript ?? words) : (words ?? transcript)) ?? '';
    const isFinal = isEnd && (!this.#waitsForFormat || message['turn_is_formatted'] === true);
    const { text, isOthers } = this.#own(told, message, { isFinal });
    const changed = isNewText || text !== this.#text || isOthers !== this.#isOthers;
    this.#text = text;
    this.#isOthers = isOthers;
    this.#endMs = lastWordEnd(message);
    if (isFinal) return this.#end(order);
    const isNews = changed && (text !== '' || isOthers);
    return isNews && !this.#isFinalizing ? [partial(text, { isOthers })] : [];
  }

  /** Where the words do not say who speaks, the turn does. */
  #own(text: string, message: JsonObject, options: { readonly isFinal: boolean }): Own {
    if (this.#speaker === undefined || text === '') return { text, isOthers: false };
    const speaker = speakerAt(message, 'speaker_label');
    const listed = spokenWords(message['words'], ['text']);
    const words = listed.length > 0 ? listed : text.split(/\s+/).map((word) => ({ text: word, speaker }));
    const isTold = words.some((word) => word.speaker !== undefined);
    return this.#speaker.own(text, isTold ? words : words.map((word) => ({ ...word, speaker })), options);
  }

  #end(order: number): readonly WireEvent[] {
    const text = this.#text;
    const isOthers = this.#isOthers;
    const isFinalizing = this.#isFinalizing;
    const endMs = this.#endMs;
    const isNews = text !== '' || isOthers;
    this.#ended = order;
    this.#text = '';
    this.#isOthers = false;
    this.#isFinalizing = false;
    this.#hasWords = !isFinalizing && (this.#hasWords || isNews);
    const words = isNews
      ? [final(text, { speechFinal: true, fromFinalize: isFinalizing, endMs, isOthers })]
      : [];
    return isFinalizing ? [...words, finalized] : words;
  }
}

function lastWordEnd({ words }: JsonObject): number | undefined {
  const last: unknown = Array.isArray(words) ? words.at(-1) : undefined;
  return numberAt(objectAt({ last }, 'last'), 'end');
}

/** The words so far, the one that is still being spoken included; `transcript` leaves that out. */
function wordsOf(message: JsonObject): string | undefined {
  const { words } = message;
  if (!Array.isArray(words) || words.length === 0) return undefined;
  const texts = words.map((word: unknown) => stringAt(objectAt({ word }, 'word'), 'text')?.trim() ?? '');
  return texts.filter((text) => text !== '').join(' ');
}
