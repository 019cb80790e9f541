// @ts-check
/**
 * A voice of tones, as a provider in a package: a server answers `GET {url}/tones?text=Hi&rate=24000&lowest_hz=220` with PCM16 audio,
 * one tone for each letter (`server.mjs` is one).
 *
 * @import { StageContext, StageError, TtsEvent, TtsPackage, TtsSession } from '@voice-agent-service/stage'
 */

/** @typedef {{ url: string, lowestHz: number }} ToneOptions */
/** @typedef {{ options: ToneOptions, sampleRate: number, context: StageContext, sink: (event: TtsEvent) => void }} Scope */
/** @typedef {{ context: number, chars: number, text?: string }} Job */

const firstAudioMs = 5_000;

/** @type {TtsPackage<ToneOptions>} */
export const tts = {
  contract: 1,
  rates: [8_000, 16_000, 24_000],
  options: (table) => {
    const { url, lowest_hz: lowestHz = 220, ...others } = /** @type {Record<string, unknown>} */ (table);
    const issues = Object.keys(others).map((key) => ({ message: 'is not a known key', path: [key] }));
    if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:/.test(url)) {
      issues.push({ message: 'must be an http:// or https:// address', path: ['url'] });
    }
    if (typeof lowestHz !== 'number' || lowestHz < 50 || lowestHz > 1_000) {
      issues.push({ message: 'must be a number of 50 to 1000', path: ['lowest_hz'] });
    }
    return issues.length > 0 ? { issues } : { value: { url, lowestHz } };
  },
  open: (options, { sampleRate }) => ({
    provider: '@example/tone-tts',
    open: (context, sink) => new ToneSession({ options, sampleRate, context, sink }),
    close: () => Promise.resolve(),
  }),
};

/**
 * Speaks one text at a time, in order; a job without text is a flush. Nothing is told from inside a method, and nothing after
 * `close` or an error.
 *
 * @implements {TtsSession}
 */
class ToneSession {
  /** @type {Job[]} */
  #jobs = [];
  /** @type {Map<number, number>} */
  #chars = new Map();
  #abort = new AbortController();
  #isRunning = false;
  #isClosed = false;
  #resumed = Promise.resolve();
  #resume = () => {};

  /** @param {Scope} scope */
  constructor(scope) {
    this.scope = scope;
    this.sampleRate = scope.sampleRate;
  }

  /** @type {TtsSession['speak']} */
  speak(context, text) {
    const chars = (this.#chars.get(context) ?? 0) + text.length;
    this.#chars.set(context, chars);
    this.#add({ context, chars, text });
  }

  /** @type {TtsSession['flush']} */
  flush(context) {
    this.#add({ context, chars: 0 });
    this.#chars.delete(context);
  }

  /** @type {TtsSession['cancel']} */
  cancel(context) {
    const isRunning = this.#jobs[0]?.context === context;
    this.#jobs = this.#jobs.filter((job) => job.context !== context);
    this.#chars.delete(context);
    if (isRunning) this.#abort.abort();
    this.#soon(() => this.#tell({ type: 'cancelled', context }));
  }

  pause() {
    this.#resumed = new Promise((resolve) => (this.#resume = resolve));
  }

  resume() {
    this.#resume();
  }

  close() {
    this.#isClosed = true;
    this.#jobs = [];
    this.#abort.abort();
    this.#resume();
  }

  /** @param {Job} job */
  #add(job) {
    if (this.#isClosed) return;
    this.#jobs.push(job);
    if (!this.#isRunning) this.#soon(() => void this.#run());
    this.#isRunning = true;
  }

  async #run() {
    for (let job = this.#jobs[0]; job !== undefined; job = this.#jobs[0]) {
      this.#abort = new AbortController();
      if (job.text?.trim())
        await this.#play(job.context, job.text).catch(() => this.#fail({ kind: 'disconnected' }));
      // One that was cancelled or failed meanwhile is not the first any more.
      if (this.#jobs[0] !== job) continue;
      this.#jobs.shift();
      const { context, chars } = job;
      this.#tell(job.text === undefined ? { type: 'flushed', context } : { type: 'spoken', context, chars });
    }
    this.#isRunning = false;
  }

  /** @type {(context: number, text: string) => Promise<void>} */
  async #play(context, text) {
    const { options, sampleRate } = this.scope;
    const { signal } = this.#abort;
    const query = { text, rate: String(sampleRate), lowest_hz: String(options.lowestHz) };
    const late = this.#soon(() => this.#fail({ kind: 'timeout', what: 'first audio' }), firstAudioMs);
    try {
      const answer = await fetch(`${options.url}/tones?${String(new URLSearchParams(query))}`, { signal });
      if (!answer.ok) return this.#fail({ kind: 'rejected', status: answer.status });
      let rest = Buffer.alloc(0);
      for await (const chunk of answer.body ?? []) {
        late.cancel();
        await this.#resumed;
        if (signal.aborted) return;
        const bytes = Buffer.concat([rest, chunk]);
        rest = bytes.subarray(bytes.length & ~1);
        const pcm = new Int16Array(bytes.length >> 1).map((_, at) => bytes.readInt16LE(2 * at));
        this.#tell({ type: 'audio', context, pcm });
      }
    } finally {
      late.cancel();
    }
  }

  /** @param {StageError} error */
  #fail(error) {
    if (this.#abort.signal.aborted) return;
    this.#tell({ type: 'error', error });
    this.close();
  }

  /** Everything that a session does on its own runs within the scope of its call. @param {() => void} act */
  #soon(act, afterMs = 0) {
    return this.scope.context.clock.after(afterMs, this.scope.context.bind(act));
  }

  /** @param {TtsEvent} event */
  #tell(event) {
    const { context, sink } = this.scope;
    context.bind(() => this.#isClosed || sink(event))();
  }
}
