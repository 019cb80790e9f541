/**
 * One request of the speech stage: text out, samples in, with its deadlines (docs/providers.md, Speech servers).
 *
 * Invariant: it ends with exactly one of `ended`, `refused` and `failed`, and with nothing after `abort()`. It must not
 * know about contexts or order.
 */
import type { SpeechCompatibleOptions } from './declaration.ts';
import {
  type Exchange,
  type HttpPool,
  type ResponseHead,
  isSuccess,
  refusedWith,
  mediaTypeOf,
} from '../../http.ts';
import { CONNECT_TIMEOUT_MS } from '../../connect.ts';
import { causeInText, explained } from '../../failure.ts';
import type { Deadline } from '../../timers.ts';
import type { StageContext, StageError } from '../../stage.ts';
import { PcmStream, type PcmResult } from './wav-stream.ts';

/**
 * How the servers behind the presets of `[tts.speech_compatible]` differ in their requests (docs/reference/agent-file.md, OpenAI-compatible
 * speech). Model, audio format and warm-up of a preset are defaults of the configuration and stand there.
 */
interface SpeechPreset {
  /** Request fields beside those that every server takes. */
  readonly fields: Readonly<Record<string, string | number | boolean>>;
  readonly takesSpeed: boolean;
}

const PRESETS: Readonly<Record<SpeechCompatibleOptions['preset'], SpeechPreset>> = {
  generic: { fields: {}, takesSpeed: true },
  /** Speaches delivers the model's own rate unless it is told one. */
  local_a: { fields: { sample_rate: 24_000 }, takesSpeed: true },
  /** Kokoro-FastAPI streams sentence by sentence. */
  local_b: { fields: { stream: true }, takesSpeed: true },
  /** Chatterbox knows no pace. */
  local_c: { fields: {}, takesSpeed: false },
  /** openedai-speech and LocalAI. */
  local_d: { fields: {}, takesSpeed: true },
};

/** JSON text of a request that speaks `text`. */
function renderSpeechRequest(options: SpeechCompatibleOptions, text: string): string {
  const preset = PRESETS[options.preset];
  return JSON.stringify({
    model: options.model,
    input: text,
    ...(options.voice === undefined ? {} : { voice: options.voice }),
    response_format: options.format,
    ...(options.speed === undefined || !preset.takesSpeed ? {} : { speed: options.speed }),
    ...preset.fields,
  });
}

/** The rule that a response's content type breaks, if any: noise must not reach a caller (docs/providers.md, Speech servers). */
function checkSpeechType(contentType: string, sampleRate: number): string | undefined {
  const type = mediaTypeOf(contentType);
  const known = type === '' || type === 'application/octet-stream' || type.startsWith('audio/');
  if (!known) return 'content type of audio';
  if (COMPRESSED.has(type)) return 'audio is not compressed';
  const rate = /;\s*rate=(\d+)/.exec(contentType)?.[1];
  return rate !== undefined && Number(rate) !== sampleRate ? 'sample rate' : undefined;
}

/** What servers send that ignore `response_format`. */
const COMPRESSED: ReadonlySet<string> = new Set(
  ['mpeg', 'mp3', 'ogg', 'opus', 'flac', 'aac', 'mp4', 'webm'].map((name) => `audio/${name}`),
);

/** Rate that these servers deliver, in Hz (docs/providers.md, Speech servers). */
export const SPEECH_RATE = 24_000;
const IDLE_TIMEOUT_MS = 8_000;
const REQUEST_TIMEOUT_MS = 120_000;
/** How long the body of a refusal may take; it only says why. */
const REFUSAL_MS = 500;
const MAX_REFUSAL_BYTES = 8_192;

export interface SpeechEndpoint {
  readonly pool: HttpPool;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: SpeechCompatibleOptions;
}

export interface SpeechRequestScope {
  readonly context: StageContext;
  readonly endpoint: SpeechEndpoint;
  /** The session's deadline; its owner calls `deadlinePassed` when it is due while this request runs. */
  readonly deadline: Deadline;
  readonly isPaused: boolean;
  readonly on: SpeechHandlers;
}

export interface SpeechHandlers {
  audio(pcm: Int16Array): void;
  ended(): void;
  /** The server will not speak this text (400, 422). */
  refused(error: StageError): void;
  failed(error: StageError): void;
}

export class SpeechRequest {
  readonly #scope: SpeechRequestScope;
  readonly #exchange: Exchange;
  readonly #pcm: PcmStream;
  #phase: 'connect' | 'first audio' | 'audio' | 'refusal' | 'over' = 'connect';
  #refusal: { readonly error: StageError; body: string } | undefined;
  #requestDueMs: number;
  #headSeen = false;
  #pausedAtMs: number | undefined;

  constructor(scope: SpeechRequestScope, text: string) {
    this.#scope = scope;
    const { endpoint, context } = scope;
    this.#pcm = new PcmStream({ sampleRate: SPEECH_RATE, wavOnly: endpoint.options.format === 'wav' });
    const now = context.clock.now();
    this.#requestDueMs = now + REQUEST_TIMEOUT_MS;
    this.#pausedAtMs = scope.isPaused ? now : undefined;
    scope.deadline.set(CONNECT_TIMEOUT_MS);
    const body = renderSpeechRequest(endpoint.options, text);
    this.#exchange = endpoint.pool.post(
      context,
      { url: endpoint.url, headers: endpoint.headers, body },
      {
        sent: () => {
          this.#phase = 'first audio';
          this.#watch();
        },
        head: (head) => this.#onHead(head),
        data: (chunk) => {
          if (this.#phase === 'refusal') this.#onRefusal(chunk);
          else this.#deliver(this.#pcm.push(chunk));
        },
        ended: () => this.#onEnd(),
        failed: (error) => {
          // A refusal stays one when its body is cut.
          if (this.#phase === 'refusal') this.#refuse();
          else this.#fail(error);
        },
      },
    );
    if (scope.isPaused) this.#exchange.pause();
  }

  pause(): void {
    if (this.#pausedAtMs !== undefined) return;
    this.#pausedAtMs = this.#scope.context.clock.now();
    this.#exchange.pause();
    this.#watch();
  }

  resume(): void {
    if (this.#pausedAtMs === undefined) return;
    // A server is not slow because nobody reads what it sends.
    this.#requestDueMs += this.#scope.context.clock.now() - this.#pausedAtMs;
    this.#pausedAtMs = undefined;
    this.#watch();
    this.#exchange.resume();
  }

  abort(): void {
    this.#phase = 'over';
    this.#scope.deadline.clear();
    this.#exchange.abort();
  }

  deadlinePassed(): void {
    if (this.#phase === 'over') return;
    if (this.#phase === 'refusal') {
      this.#refuse();
      return;
    }
    const overall = this.#scope.context.clock.now() >= this.#requestDueMs;
    const what = overall ? 'request' : this.#phase === 'audio' ? 'idle' : this.#phase;
    this.#fail({ kind: 'timeout', what });
  }

  /** Sets the deadline of the phase; none while paused, once the server has answered. */
  #watch(): void {
    const { deadline, context, endpoint } = this.#scope;
    if (this.#phase === 'over' || this.#phase === 'connect' || this.#phase === 'refusal') return;
    if (this.#pausedAtMs !== undefined && this.#headSeen) {
      deadline.clear();
      return;
    }
    const limitMs = this.#phase === 'audio' ? IDLE_TIMEOUT_MS : endpoint.options.firstAudioTimeoutMs;
    deadline.setAt(Math.min(context.clock.now() + limitMs, this.#requestDueMs));
  }

  #onHead({ status, contentType, header }: ResponseHead): void {
    this.#headSeen = true;
    const broken = checkSpeechType(contentType, SPEECH_RATE);
    if (!isSuccess(status)) {
      this.#phase = 'refusal';
      this.#refusal = { error: refusedWith(status, header('retry-after'), header('date')), body: '' };
      this.#scope.deadline.set(REFUSAL_MS);
    } else if (broken !== undefined) this.#fail({ kind: 'protocol', rule: broken });
    else if (this.#pausedAtMs !== undefined) this.#watch();
  }

  #onRefusal(chunk: Buffer): void {
    if (this.#refusal === undefined) return;
    this.#refusal.body += chunk.toString('utf8');
    if (this.#refusal.body.length > MAX_REFUSAL_BYTES) this.#refuse();
  }

  /** What the server said of its refusal is there, or has had its time. */
  #refuse(): void {
    if (this.#refusal === undefined) return;
    const error = explained(this.#refusal.error, causeInText(this.#refusal.body));
    this.#refusal = undefined;
    if (error.kind !== 'rejected' || (error.status !== 400 && error.status !== 422)) {
      this.#fail(error);
      return;
    }
    this.abort();
    this.#scope.on.refused(error);
  }

  #deliver(result: PcmResult): void {
    if (this.#phase === 'over') return;
    if ('rule' in result) {
      this.#fail({ kind: 'protocol', rule: result.rule });
      return;
    }
    if (result.length > 0) this.#phase = 'audio';
    // Before the first sample only its own deadline counts: a server that sends a header has not spoken.
    if (this.#phase === 'audio') this.#watch();
    if (result.length > 0) this.#scope.on.audio(result);
  }

  #onEnd(): void {
    if (this.#phase === 'refusal') {
      this.#refuse();
      return;
    }
    this.#deliver(this.#pcm.end());
    if (this.#isOver()) return;
    this.abort();
    this.#scope.on.ended();
  }

  #fail(error: StageError): void {
    if (this.#phase === 'over') return;
    this.abort();
    this.#scope.on.failed(error);
  }

  #isOver(): boolean {
    return this.#phase === 'over';
  }
}
