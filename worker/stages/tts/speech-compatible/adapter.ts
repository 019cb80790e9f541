/**
 * The TTS stage over any server that answers `POST {base_url}/audio/speech` (docs/providers.md, Speech servers).
 *
 * Invariant: one request at a time, in the order of the text; after an error the session is dead. It must not retry,
 * and no event is emitted from inside a method of the session.
 */
import type { SpeechCompatibleOptions } from './declaration.ts';
import { newHttpPool } from '../../http.ts';
import { urlUnder } from '../../../../shared/net/address.ts';
import { bearerHeaders } from '../../keys.ts';
import { Deadline, Soon } from '../../timers.ts';
import type { StageContext, StageError, TtsEvent, TtsSession, TtsStage } from '../../stage.ts';
import { PieceQueue, type Job } from './piece-queue.ts';
import { SPEECH_RATE, SpeechRequest, type SpeechEndpoint } from './request.ts';
import { isSpeakable } from '../wire.ts';

/** Refused pieces in a row that end a session: the server refuses more than one odd text. */
const REFUSALS_THAT_END = 2;

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newSpeechCompatible(options: SpeechCompatibleOptions & { apiKey?: string }): TtsStage {
  const url = urlUnder(options.baseUrl, '/audio/speech');
  const pool = newHttpPool();
  const headers = { accept: '*/*', ...bearerHeaders(url, options.apiKey) };
  const endpoint: SpeechEndpoint = { pool, url, headers, options };
  const warmUp = new WarmUp(endpoint);
  return {
    provider: 'speech_compatible',
    open: (context, sink) => {
      // A call begins: its greeting shall find a connection.
      pool.warm(context, url);
      warmUp.callStarted(context);
      return new SpeechSession(endpoint, warmUp, { context, sink });
    },
    close: () => pool.close(),
  };
}

/** Speaks `warm_text` to nobody now and then, so that the server keeps its model loaded (docs/reference/agent-file.md, OpenAI-compatible speech). */
class WarmUp {
  readonly #endpoint: SpeechEndpoint;
  #lastMs = Number.NEGATIVE_INFINITY;
  #running: { readonly request: SpeechRequest; readonly deadline: Deadline } | undefined;

  constructor(endpoint: SpeechEndpoint) {
    this.#endpoint = endpoint;
  }

  callStarted(context: StageContext): void {
    const { warmText, warmIntervalMs } = this.#endpoint.options;
    const now = context.clock.now();
    if (warmText === '' || now - this.#lastMs < warmIntervalMs) return;
    this.stop();
    this.#lastMs = now;
    const deadline = new Deadline(context, () => this.#running?.request.deadlinePassed());
    const end = (): void => this.stop();
    const on = { audio: () => undefined, ended: end, refused: end, failed: end };
    const scope = { context, endpoint: this.#endpoint, deadline, isPaused: false, on };
    this.#running = { request: new SpeechRequest(scope, warmText), deadline };
  }

  /** Real text never waits behind a warm-up: such servers often speak one text at a time. */
  stop(): void {
    this.#running?.deadline.close();
    this.#running?.request.abort();
    this.#running = undefined;
  }
}

interface SessionScope {
  readonly context: StageContext;
  readonly sink: (event: TtsEvent) => void;
}

interface Running {
  readonly job: Extract<Job, { type: 'speak' }>;
  readonly request: SpeechRequest;
}

class SpeechSession implements TtsSession {
  readonly sampleRate = SPEECH_RATE;
  readonly #endpoint: SpeechEndpoint;
  readonly #warmUp: WarmUp;
  readonly #scope: SessionScope;
  readonly #deadline: Deadline;
  readonly #soon: Soon;
  readonly #queue = new PieceQueue();
  #running: Running | undefined;
  /** Answers to cancels, and positions of texts that needed no request: emitted after the method returned. */
  #notices: TtsEvent[] = [];
  #refusals = 0;
  #isPaused = false;
  #isClosed = false;

  constructor(endpoint: SpeechEndpoint, warmUp: WarmUp, scope: SessionScope) {
    this.#endpoint = endpoint;
    this.#warmUp = warmUp;
    this.#scope = scope;
    this.#deadline = new Deadline(scope.context, () => this.#running?.request.deadlinePassed());
    this.#soon = new Soon(scope.context, () => this.#settle());
  }

  speak(context: number, text: string): void {
    if (this.#isClosed) return;
    this.#queue.speak(context, text);
    this.#advance();
  }

  flush(context: number): void {
    if (this.#isClosed) return;
    this.#queue.flush(context);
    this.#advance();
  }

  cancel(context: number): void {
    if (this.#isClosed) return;
    this.#queue.cancel(context);
    this.#notices = this.#notices.filter((notice) => notice.type === 'error' || notice.context !== context);
    this.#notices.push({ type: 'cancelled', context });
    if (this.#running?.job.context === context) {
      this.#running.request.abort();
      this.#running = undefined;
    }
    this.#soon.ask();
    this.#advance();
  }

  pause(): void {
    this.#isPaused = true;
    this.#running?.request.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#running?.request.resume();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deadline.close();
    this.#soon.close();
    this.#notices = [];
    this.#running?.request.abort();
    this.#running = undefined;
  }

  /** Starts what comes next. Jobs that need no request leave a notice, so that the order of events is kept. */
  #advance(): void {
    while (!this.#isClosed && this.#running === undefined) {
      const job = this.#queue.take();
      if (job === undefined) break;
      if (job.type === 'flushed') this.#notices.push(job);
      else if (!isSpeakable(job.text)) this.#notices.push(spokenBy(job));
      else this.#start(job);
    }
    if (this.#notices.length > 0) this.#soon.ask();
  }

  #start(job: Running['job']): void {
    this.#warmUp.stop();
    const { context } = this.#scope;
    const request = new SpeechRequest(
      {
        context,
        endpoint: this.#endpoint,
        deadline: this.#deadline,
        isPaused: this.#isPaused,
        on: {
          audio: (pcm) => {
            this.#refusals = 0;
            this.#settle();
            if (this.#running?.job === job) this.#emit({ type: 'audio', context: job.context, pcm });
          },
          ended: () => {
            this.#refusals = 0;
            this.#finish(job);
          },
          refused: (error) => this.#refused(job, error),
          failed: (error) => this.#fail(error),
        },
      },
      job.text.trim(),
    );
    this.#running = { job, request };
  }

  #refused(job: Running['job'], error: StageError): void {
    this.#refusals += 1;
    if (this.#refusals >= REFUSALS_THAT_END) this.#fail(error);
    else this.#finish(job);
  }

  /** The next request goes out before the world hears that this one is done. */
  #finish(job: Running['job']): void {
    this.#running = undefined;
    this.#notices.push(spokenBy(job));
    this.#advance();
    this.#settle();
  }

  #settle(): void {
    for (let next = this.#notices.shift(); next !== undefined; next = this.#notices.shift()) this.#emit(next);
  }

  #fail(error: StageError): void {
    this.#settle();
    this.#emit({ type: 'error', error });
    this.close();
  }

  #emit(event: TtsEvent): void {
    if (!this.#isClosed) this.#scope.sink(event);
  }
}

function spokenBy(job: Running['job']): TtsEvent {
  return { type: 'spoken', context: job.context, chars: job.endChars };
}
