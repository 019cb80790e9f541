/**
 * The wires of `stt_realtime_compat`: one family of messages that four kinds of server speak
 * differently. Audio goes as base64 text; text comes as deltas and a whole.
 *
 * Invariant: deltas of an item are added up, or replace each other where the server says the whole each time, and the
 * completed text replaces both. Pure: no sockets, no time.
 */
import type { SttRealtimeCompatOptions } from './declaration.ts';
import { urlUnder } from '../../../../shared/net/address.ts';
import type { StageError, Transcript } from '../../stage.ts';
import { breach, failure, final, finalized, objectAt, partial, pcmBytes, primarySubtag } from '../wire.ts';
import { nameAt, ready, send, sendJson, statusIn, stringAt, Told } from '../wire.ts';
import type { JsonObject, Outgoing, SttWire, WireEvent } from '../wire.ts';

const DELTA = 'conversation.item.input_audio_transcription.delta';
const COMPLETED = 'conversation.item.input_audio_transcription.completed';
const FAILED = 'conversation.item.input_audio_transcription.failed';
const COMMIT = '{"type":"input_audio_buffer.commit"}';
/** The pause that makes a server of the `nim` kind end the utterance when it does not know the order to. */
const NIM_SILENCE_MS = 800;
const NIM_KEEP_ALIVE_MS = 100;

export type RealtimeSettings = SttRealtimeCompatOptions & { readonly language: string };

/** Where the server listens; `pathAndQuery` replaces everything after the host. */
export function realtimeUrl(options: RealtimeSettings): URL {
  const { baseUrl, pathAndQuery, wire, model = '', language } = options;
  if (pathAndQuery !== undefined) return urlUnder(baseUrl, pathAndQuery);
  const url = urlUnder(baseUrl, '/v1/realtime');
  if (wire === 'speaches') url.searchParams.append('model', model);
  if (wire !== 'vllm') url.searchParams.append('intent', 'transcription');
  if (wire === 'speaches') url.searchParams.append('language', primarySubtag(language));
  return url;
}

export function newRealtimeWire(options: RealtimeSettings): SttWire {
  return options.wire === 'vllm' ? new GenerationWire(options) : new ItemWire(options);
}

/** The message that configures a session, every option in the place that the kind of server looks for it. */
function sessionUpdate(options: RealtimeSettings): JsonObject {
  const { wire, model, prompt, punctuation, sampleRate } = options;
  const language = primarySubtag(options.language);
  const named = model === undefined ? {} : { model };
  const prompted = prompt === undefined ? {} : { prompt };
  switch (wire) {
    case 'openai':
      return {
        type: 'session.update',
        session: {
          type: 'transcription',
          audio: {
            input: {
              format: { type: 'audio/pcm', rate: sampleRate },
              transcription: { ...named, ...languageOf(model, language), ...prompted },
              turn_detection: null,
            },
          },
        },
      };
    case 'nim':
      return {
        type: 'transcription_session.update',
        session: {
          input_audio_format: 'pcm16',
          input_audio_params: { sample_rate_hz: sampleRate, num_channels: 1 },
          input_audio_transcription: { language, ...named, ...prompted },
          recognition_config: { max_alternatives: 1, enable_automatic_punctuation: punctuation },
        },
      };
    case 'speaches':
      return {
        type: 'session.update',
        session: { turn_detection: null, input_audio_transcription: { ...named, language } },
      };
    case 'vllm':
      return { type: 'session.update', ...named };
  }
}

/** The newest models of the hosted service take a list. */
function languageOf(model: string | undefined, language: string): JsonObject {
  const takesList = model === 'gpt-transcribe' || model === 'gpt-live-transcribe';
  return takesList ? { languages: [language] } : { language };
}

function append(pcm: Int16Array): JsonObject {
  return { type: 'input_audio_buffer.append', audio: pcmBytes(pcm).toString('base64') };
}

/** What an error inside the stream stands for; nothing where the session goes on. */
export function realtimeError(error: JsonObject, isReady: boolean): StageError | undefined {
  const status = statusIn(error, ['status', 'code']);
  if (status !== undefined) return { kind: 'rejected', status };
  const names = [stringAt(error, 'type') ?? '', stringAt(error, 'code') ?? ''];
  const has = (pattern: RegExp): boolean => names.some((name) => pattern.test(name));
  if (has(/insufficient_quota/)) return { kind: 'rejected', status: 429, retryable: false };
  if (has(/rate_limit/)) return { kind: 'rejected', status: 429 };
  if (has(/api_key|authentication|unauthorized/)) return { kind: 'rejected', status: 401 };
  if (has(/^server_error$|internal|session_expired|model_load_error/)) return { kind: 'disconnected' };
  if (isReady) return undefined;
  if (has(/invalid_/)) return { kind: 'rejected', status: 400 };
  return { kind: 'protocol', rule: 'the provider takes its configuration' };
}

/** Servers that transcribe items: committed by us (`openai`, `speaches`), or ended by the server (`nim`). */
class ItemWire implements SttWire {
  readonly #options: RealtimeSettings;
  #isReady = false;
  #samplesSinceCommit = 0;
  #item = '';
  #text = '';
  readonly #told = new Told();
  #isFinalizing = false;
  /** The item of the commit that `finalize()` sent; absent until the server names it. */
  #committed: string | undefined;

  constructor(options: RealtimeSettings) {
    this.#options = options;
  }

  audio(pcm: Int16Array): readonly Outgoing[] {
    this.#samplesSinceCommit += pcm.length;
    const message = JSON.stringify(append(pcm));
    // Here a commit hands a piece over; it ends nothing.
    return this.#options.wire === 'nim' ? [message, COMMIT] : [message];
  }

  finalize(): readonly WireEvent[] {
    const { wire, sampleRate, minCommitMs } = this.#options;
    this.#isFinalizing = true;
    this.#committed = undefined;
    if (wire === 'nim') {
      const silence = append(this.#silence(NIM_SILENCE_MS));
      return [sendJson({ ...silence, runtime_config: { force_eou: 'true' } }), send(COMMIT)];
    }
    const missing = Math.ceil((minCommitMs * sampleRate) / 1000) - this.#samplesSinceCommit;
    this.#samplesSinceCommit = 0;
    const padding = missing > 0 ? [sendJson(append(new Int16Array(missing)))] : [];
    return [...padding, send(COMMIT)];
  }

  read(message: JsonObject): readonly WireEvent[] {
    switch (stringAt(message, 'type')) {
      case 'session.created':
      case 'conversation.created':
        return this.#isReady ? [] : [sendJson(sessionUpdate(this.#options))];
      case 'session.updated':
      case 'transcription_session.updated':
        this.#isReady = true;
        return [ready];
      case 'input_audio_buffer.committed':
        if (this.#isFinalizing && this.#options.wire !== 'nim')
          this.#committed ??= nameAt(message, 'item_id');
        return [];
      case DELTA:
        return this.#delta(message);
      case COMPLETED:
        return this.#completed(message);
      case FAILED:
        return this.#failed(message);
      case 'error':
        return this.#error(objectAt(message, 'error'));
      default:
        return [];
    }
  }

  expired(): readonly Transcript[] {
    this.#isFinalizing = false;
    const text = this.#text;
    this.#text = '';
    return text === '' ? [] : [final(text, { speechFinal: true, fromFinalize: true })];
  }

  closed(code: number): StageError {
    return code === 1008 ? { kind: 'rejected', status: 401 } : { kind: 'disconnected' };
  }

  keepAlive(): readonly Outgoing[] {
    if (this.#options.wire !== 'nim') return [];
    return [JSON.stringify(append(this.#silence(NIM_KEEP_ALIVE_MS))), COMMIT];
  }

  #silence(ms: number): Int16Array {
    return new Int16Array(Math.ceil((ms * this.#options.sampleRate) / 1000));
  }

  #delta(message: JsonObject): readonly WireEvent[] {
    const delta = stringAt(message, 'delta') ?? '';
    const item = nameAt(message, 'item_id') ?? '';
    if (this.#told.has(item)) return [];
    if (item !== this.#item || this.#options.deltaReplaces) this.#text = '';
    this.#item = item;
    this.#text += delta;
    const text = this.#text.trim();
    return text === '' || delta === '' || this.#isFinalizing ? [] : [partial(text)];
  }

  #completed(message: JsonObject): readonly WireEvent[] {
    const item = nameAt(message, 'item_id');
    // An item is completed once. Servers of the `nim` kind end utterances, and may name them all alike.
    if (this.#told.has(item)) return [];
    if (this.#options.wire !== 'nim') this.#told.add(item);
    const isSame = item === undefined || item === this.#item;
    const text = (stringAt(message, 'transcript') ?? (isSame ? this.#text : '')).trim();
    if (isSame) this.#text = '';
    const isAnswer =
      this.#isFinalizing && (this.#committed === undefined || item === undefined || item === this.#committed);
    const words = text === '' ? [] : [final(text, { speechFinal: true, fromFinalize: isAnswer })];
    if (!isAnswer) return words;
    this.#isFinalizing = false;
    return [...words, finalized];
  }

  /** Of a noise there are no words, which is no fault of the provider: other calls would be kept from it. */
  #failed(message: JsonObject): readonly WireEvent[] {
    const code = stringAt(objectAt(message, 'error'), 'code');
    if (code === 'audio_unintelligible') return this.#completed({ ...message, transcript: '' });
    return [breach('the provider transcribes what it is sent')];
  }

  #error(error: JsonObject): readonly WireEvent[] {
    if (stringAt(error, 'code') === 'input_audio_buffer_commit_empty' && this.#isFinalizing) {
      return [...this.expired(), finalized];
    }
    const found = realtimeError(error, this.#isReady);
    return found === undefined ? [] : [failure(found)];
  }
}

/** Servers of the `vllm` kind: an utterance is one generation, started and ended by commits. */
class GenerationWire implements SttWire {
  readonly #options: RealtimeSettings;
  #isGenerating = false;
  #isFinalizing = false;
  #isReady = false;
  #text = '';

  constructor(options: RealtimeSettings) {
    this.#options = options;
  }

  audio(pcm: Int16Array): readonly Outgoing[] {
    const message = JSON.stringify(append(pcm));
    if (this.#isGenerating) return [message];
    this.#isGenerating = true;
    return [COMMIT, message];
  }

  /** The end is only told to a generation that runs: the server would keep it for the next one. */
  finalize(): readonly WireEvent[] {
    if (!this.#isGenerating) return [finalized];
    this.#isFinalizing = true;
    return [sendJson({ type: 'input_audio_buffer.commit', final: true })];
  }

  read(message: JsonObject): readonly WireEvent[] {
    switch (stringAt(message, 'type')) {
      case 'session.created':
        this.#isReady = true;
        // This configuration is never answered.
        return [sendJson(sessionUpdate(this.#options)), ready];
      case 'transcription.delta':
        return this.#delta(stringAt(message, 'delta'));
      case 'transcription.done':
        return this.#finish(stringAt(message, 'text'));
      case 'error':
        return [this.#error(message)];
      default:
        return [];
    }
  }

  expired(): readonly Transcript[] {
    this.#isFinalizing = false;
    const text = this.#text.trim();
    this.#text = '';
    return text === '' ? [] : [final(text, { speechFinal: true, fromFinalize: true })];
  }

  closed(code: number): StageError {
    return code === 1008 ? { kind: 'rejected', status: 401 } : { kind: 'disconnected' };
  }

  #delta(delta = ''): readonly WireEvent[] {
    if (this.#options.deltaReplaces) this.#text = '';
    this.#text += delta;
    const text = this.#text.trim();
    return text === '' || delta === '' || this.#isFinalizing ? [] : [partial(text)];
  }

  #finish(whole = this.#text): readonly WireEvent[] {
    // An utterance that is ended twice ends once.
    if (!this.#isGenerating) return [];
    const isFinalizing = this.#isFinalizing;
    this.#isGenerating = false;
    this.#isFinalizing = false;
    this.#text = '';
    const text = whole.trim();
    const words = text === '' ? [] : [final(text, { speechFinal: true, fromFinalize: isFinalizing })];
    return isFinalizing ? [...words, finalized] : words;
  }

  #error(message: JsonObject): WireEvent {
    const code = stringAt(message, 'code') ?? '';
    // After an error of its own making the server transcribes nothing more of this generation.
    if (code === 'processing_error') return failure({ kind: 'disconnected' });
    return failure(
      realtimeError({ code }, this.#isReady) ?? {
        kind: 'protocol',
        rule: 'the provider takes what it is sent',
      },
    );
  }
}
