/**
 * The wire of `stt_cloud_a`: results of segments, of which the last of an utterance says so.
 *
 * Invariant: a partial covers the audio since the last final alone, so that finals of an utterance are put after each
 * other. Pure: no sockets, no time.
 */
import type { SttDeepgramOptions } from './declaration.ts';
import { ENGINE_RATE } from '../../../../shared/base/units.ts';
import { urlUnder } from '../../../../shared/net/address.ts';
import type { StageError, Transcript } from '../../stage.ts';
import { MainSpeaker, spokenWords, type Own } from '../main-speaker.ts';
import {
  breach,
  final,
  finalized,
  numberAt,
  objectAt,
  partial,
  pcmBytes,
  ready,
  sendJson,
  stringAt,
  Told,
} from '../wire.ts';
import type { JsonObject, Outgoing, SttWire, TimedTranscript, WireEvent } from '../wire.ts';

/** Every option as the vendor's query has it. The language goes as the file writes it (docs/providers.md, Languages). */
export function deepgramUrl(options: SttDeepgramOptions, language: string): URL {
  const url = urlUnder(options.baseUrl, '/v1/listen');
  const { smartFormat, endpointingMs, utteranceEndMs, diarize = false } = options;
  const query: Record<string, string> = {
    model: options.model,
    language,
    encoding: 'linear16',
    sample_rate: String(ENGINE_RATE),
    channels: '1',
    interim_results: 'true',
    smart_format: String(smartFormat),
    // Without it results wait until a number or a date that may go on is complete.
    ...(smartFormat && { no_delay: 'true' }),
    ...(diarize && { diarize: 'true' }),
    endpointing: endpointingMs === 0 ? 'false' : String(endpointingMs),
    ...(utteranceEndMs !== undefined && { utterance_end_ms: String(utteranceEndMs), vad_events: 'true' }),
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.append(name, value);
  for (const term of options.keyterms ?? []) url.searchParams.append('keyterm', term);
  return url;
}

const nothing: Own = { text: '', isOthers: false };

export class DeepgramWire implements SttWire {
  #pending = '';
  /** Finals came that no end of utterance has followed. */
  #isOpen = false;
  #isFinalizing = false;
  readonly #told = new Told();
  /** Absent where nobody asked who speaks. */
  readonly #speaker: MainSpeaker | undefined;

  constructor({ diarize = false }: { readonly diarize?: boolean } = {}) {
    this.#speaker = diarize ? new MainSpeaker() : undefined;
  }

  opened(): readonly WireEvent[] {
    return [ready];
  }

  audio(pcm: Int16Array): readonly Outgoing[] {
    return [pcmBytes(pcm)];
  }

  finalize(): readonly WireEvent[] {
    this.#isFinalizing = true;
    return [sendJson({ type: 'Finalize' })];
  }

  read(message: JsonObject): readonly WireEvent[] {
    switch (stringAt(message, 'type')) {
      case 'Results':
        return this.#result(message);
      case 'UtteranceEnd':
        // The fallback for noise, in which the pause after the last word is never quiet.
        return this.#isOpen && this.#pending === '' && !this.#isFinalizing ? [this.#end(nothing, false)] : [];
      case 'Error':
        return [breach('the provider takes what it is sent')];
      default:
        return [];
    }
  }

  expired(): readonly Transcript[] {
    this.#isFinalizing = false;
    return this.#pending === '' ? [] : [this.#end({ text: this.#pending, isOthers: false }, true)];
  }

  closed(code: number): StageError {
    if (code === 1008 || code === 1002) return { kind: 'protocol', rule: 'the provider reads the audio' };
    return { kind: 'disconnected' };
  }

  keepAlive(): readonly Outgoing[] {
    return ['{"type":"KeepAlive"}'];
  }

  goodbye(): readonly Outgoing[] {
    return ['{"type":"CloseStream"}'];
  }

  #result(message: JsonObject): readonly WireEvent[] {
    const { alternatives } = objectAt(message, 'channel');
    const first: unknown = Array.isArray(alternatives) ? alternatives[0] : undefined;
    const alternative = objectAt({ first }, 'first');
    // Of a noise there may be no alternative at all: that is no words.
    const heard = stringAt(alternative, 'transcript')?.trim();
    const fromFinalize = message['from_finalize'] === true && this.#isFinalizing;
    if (message['is_final'] !== true && !fromFinalize) {
      const own = this.#own(heard ?? '', alternative, { isFinal: false });
      if (heard !== undefined) this.#pending = own.text;
      const isNews = own.text !== '' || own.isOthers;
      return isNews && !this.#isFinalizing ? [partial(own.text, own)] : [];
    }
    const isRepeat = this.#isRepeat(message, heard ?? '');
    if (isRepeat && !fromFinalize) return [];
    const own = isRepeat ? nothing : this.#own(heard ?? '', alternative, { isFinal: true });
    if (fromFinalize) return this.#confirmed(own);
    const endMs = endOf(message);
    const isNews = own.text !== '' || own.isOthers;
    if (message['speech_final'] === true || message['from_finalize'] === true) {
      const ends = isNews || this.#isOpen;
      this.#pending = '';
      return ends ? [this.#end(own, false, endMs)] : [];
    }
    this.#pending = '';
    if (!isNews) return [];
    this.#isOpen = true;
    return [final(own.text, { speechFinal: false, fromFinalize: false, endMs, isOthers: own.isOthers })];
  }

  #own(text: string, alternative: JsonObject, options: { readonly isFinal: boolean }): Own {
    if (this.#speaker === undefined) return { text, isOthers: false };
    return this.#speaker.own(text, spokenWords(alternative['words'], ['punctuated_word', 'word']), options);
  }

  /** A final of the same audio with the same words. Other audio may well have the same words. */
  #isRepeat(message: JsonObject, text: string): boolean {
    const end = endOf(message);
    if (text === '' || end === undefined) return false;
    const name = JSON.stringify([message['start'], end, text]);
    if (this.#told.has(name)) return true;
    this.#told.add(name);
    return false;
  }

  /** The text may be empty: what was said came before, in results of their own. */
  #confirmed(own: Own): readonly WireEvent[] {
    this.#isFinalizing = false;
    const isNews = own.text !== '' || own.isOthers || this.#isOpen;
    this.#pending = '';
    return isNews ? [this.#end(own, true), finalized] : [finalized];
  }

  #end({ text, isOthers }: Own, fromFinalize: boolean, endMs?: number): TimedTranscript {
    this.#pending = '';
    this.#isOpen = false;
    return final(text, { speechFinal: true, fromFinalize, endMs, isOthers });
  }
}

/** A segment says in seconds where it begins and how long it is. */
function endOf(message: JsonObject): number | undefined {
  const start = numberAt(message, 'start');
  const duration = numberAt(message, 'duration');
  return start === undefined || duration === undefined ? undefined : (start + duration) * 1000;
}
