/**
 * `svc-supervisor call`: makes one call from the terminal with a recording as the caller's voice, and tells what happened:
 * what was heard and said, where the service tells it.
 *
 * Waits for the greeting, speaks the recording in real time, listens to the answer, hangs up. Must not print tokens or
 * addresses' query parts; everything it prints goes through `io.write`.
 */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import { SAMPLE_RATES, type Millis } from '../../../shared/base/units.ts';
import { newResampler } from '../../../shared/audio/resampler.ts';
import { parseWav, WavError, writeWav } from '../../../shared/audio/wav.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { CallClient, type CallEnd, type CallerEvent } from './caller.ts';
import { readArguments } from '../commands.ts';
import { reasonOfFile, whyUnwritable } from '../../../shared/installation/named-files.ts';
import type { Span } from './call-playout.ts';
import { defaultPace, nextPhase, reportLines, reportOf, speechIn } from './call-report.ts';
import type { CallPace, CallPhase, TimelineEntry } from './call-report.ts';
import { ConversationLines } from './call-conversation.ts';
import { CallRefused, type CallEncoding } from './call-wire.ts';

export interface CallOptions {
  /** Path of the recording. */
  readonly file: string;
  readonly url?: string;
  /** Path of the WAV file to write. */
  readonly out?: string;
  /** Hz. */
  readonly rate?: number;
  readonly encoding?: CallEncoding;
  readonly waitGreeting?: boolean;
  readonly listenS?: number;
  readonly token?: string;
  readonly json?: boolean;
  /** Other waiting times than the usual ones. */
  readonly pace?: Partial<CallPace>;
}

export interface CallIo {
  write(line: string): void;
}

const DEFAULT_URL = 'ws://127.0.0.1:8080';
const MAX_FILE_BYTES = 256 * 1024 * 1024;
const MAX_LISTEN_S = 3600;
/** More entries than this are counted, not kept. */
const MAX_TIMELINE = 1000;

/** Reads the arguments behind `call`. An error is one line for people. */
export function parseCallArguments(args: readonly string[]): Result<CallOptions, string> {
  const parsed = readArguments('call', args);
  if (!parsed.ok) return parsed;
  const { values, given } = parsed.value;
  const [file = ''] = given;
  const rate = values.rate === undefined ? undefined : Number(values.rate);
  if (rate !== undefined && !SAMPLE_RATES.includes(rate)) {
    return fail(`--rate: must be one of ${SAMPLE_RATES.join(', ')}`);
  }
  const { encoding } = values;
  if (encoding !== undefined && encoding !== 'pcm16' && encoding !== 'mulaw') {
    return fail('--encoding: must be pcm16 or mulaw');
  }
  const { url } = values;
  if (url !== undefined && !(URL.canParse(url) && /^(wss?|https?):$/.test(new URL(url).protocol)))
    return fail('--url: must be an address such as ws://127.0.0.1:8080');
  const listenS = values['listen-s'] === undefined ? undefined : Number(values['listen-s']);
  if (listenS !== undefined && !(listenS > 0 && listenS <= MAX_LISTEN_S)) {
    return fail(`--listen-s: must be a number of seconds above 0 and at most ${MAX_LISTEN_S}`);
  }
  return ok({
    file,
    waitGreeting: values['no-wait-greeting'] !== true,
    json: values.json === true,
    ...(url === undefined ? {} : { url }),
    ...(values.out === undefined ? {} : { out: values.out }),
    ...(rate === undefined ? {} : { rate }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(listenS === undefined ? {} : { listenS }),
    ...(values.token === undefined ? {} : { token: values.token }),
  });
}

/**
 * Makes the call; resolves with the exit status: 0 for a call that went as it should, 130 after Ctrl-C, 1 otherwise.
 */
export async function runCall(options: CallOptions, io: CallIo): Promise<number> {
  const rate = options.rate ?? 16_000;
  let pcm: Int16Array;
  try {
    pcm = await readRecording(options.file, rate);
  } catch (error) {
    const reason = error instanceof WavError ? error.message : reasonOfFile(error);
    return failed(`recording: ${options.file}: ${reason}`, { options, io });
  }
  const obstacle = options.out === undefined ? undefined : whyUnwritable(options.out);
  if (obstacle !== undefined)
    return failed(`--out: ${options.out} cannot be written: ${obstacle}`, { options, io });
  const interrupted = new AbortController();
  const onSignal = (): void => interrupted.abort();
  process.once('SIGINT', onSignal);
  try {
    const call = new TerminalCall({ options, rate, pcm, interrupted: interrupted.signal });
    const { client, end, spoken } = await call.run();
    const endMs = call.endMs;
    if (options.out !== undefined) await writeFile(options.out, writeWav(client.playout.heard(endMs), rate));
    const report = reportOf({
      callId: client.callId,
      wire: call.wire,
      agent: client.playout.speech(),
      caller: spoken,
      clears: call.clears,
      marksPlayed: call.marksPlayed,
      errors: call.errors,
      closeCode: end.code,
      stopReason: end.reason,
      endMs,
    });
    if (options.json === true) io.write(JSON.stringify(report));
    else for (const line of reportLines(report)) io.write(line);
    if (interrupted.signal.aborted) return 130;
    return report.errors.length === 0 && end.reason === 'ended' ? 0 : 1;
  } catch (error) {
    const answer = error instanceof CallRefused ? error : undefined;
    return failed(`${hostOf(options.url ?? DEFAULT_URL)}: ${reasonOf(error)}`, { options, io, answer });
  } finally {
    process.off('SIGINT', onSignal);
  }
}

interface TerminalCallOptions {
  readonly options: CallOptions;
  readonly rate: number;
  readonly pcm: Int16Array;
  readonly interrupted: AbortSignal;
}

/** The course of one call: collects what happens and moves from phase to phase, looked at with every frame sent. */
class TerminalCall {
  readonly wire: TimelineEntry[] = [];
  readonly errors: string[] = [];
  clears = 0;
  marksPlayed = 0;
  endMs: Millis = 0;
  readonly #given: TerminalCallOptions;
  readonly #pace: CallPace;
  readonly #speech: Span | undefined;
  #phase: CallPhase = 'greeting';
  #saying = false;
  #sayingSinceMs: Millis | undefined;
  #saidMs: Millis | undefined;
  readonly #conversation = new ConversationLines();
  #isTold = false;

  constructor(given: TerminalCallOptions) {
    const { options } = given;
    this.#given = given;
    this.#speech = speechIn(given.pcm, given.rate);
    this.#pace = {
      ...defaultPace,
      waitGreeting: options.waitGreeting ?? true,
      ...(options.listenS === undefined
        ? {}
        : { listenMs: options.listenS * 1000, noAnswerMs: options.listenS * 1000 }),
      ...options.pace,
    };
  }

  async run(): Promise<{ client: CallClient; end: CallEnd; spoken: Span | undefined }> {
    const { options, rate, interrupted } = this.#given;
    const client = await CallClient.connect(
      {
        url: options.url ?? DEFAULT_URL,
        clock: systemClock,
        sampleRate: rate,
        encoding: options.encoding ?? 'pcm16',
        follow: true,
        ...(options.token === undefined ? {} : { token: options.token }),
      },
      (event) => this.#record(event),
    );
    await new Promise<void>((resolve) => {
      void client.closed.then(() => resolve());
      client.on((event) => {
        if (event.type === 'frame-sent') this.#advance(client, event.atMs);
        if (this.#phase === 'over' || interrupted.aborted) resolve();
      });
    });
    if (interrupted.aborted) this.#note(client.nowMs(), 'interrupted: hanging up');
    // After a close of the server's this resolves at once.
    const end = await client.hangUp();
    return { client, end, spoken: this.#spoken() };
  }

  #advance(client: CallClient, nowMs: Millis): void {
    this.#sayingSinceMs ??= client.speakingSinceMs;
    const spoken = this.#spoken();
    const facts = { saidMs: this.#saidMs, callerEndMs: spoken?.endMs, agent: client.playout.speech() };
    this.#phase = nextPhase(this.#phase, facts, { nowMs, pace: this.#pace });
    if (this.#phase !== 'talking' || this.#saying) return;
    this.#saying = true;
    void client.say(this.#given.pcm).then((said) => {
      this.#saidMs = said?.endMs;
    });
  }

  /** When the speech within the recording goes out; undefined before the recording begins. */
  #spoken(): Span | undefined {
    const startMs = this.#sayingSinceMs;
    if (startMs === undefined || this.#speech === undefined) return undefined;
    return { startMs: startMs + this.#speech.startMs, endMs: startMs + this.#speech.endMs };
  }

  #record(event: CallerEvent): void {
    switch (event.type) {
      case 'clear':
        this.clears++;
        this.#note(event.atMs, `clear (epoch ${event.epoch}): ${Math.round(event.droppedMs)} ms not played`);
        return;
      case 'mark-played':
        this.marksPlayed++;
        // Where the words themselves are told, nobody needs to guess by marks.
        if (!this.#isTold) this.#note(event.atMs, `mark ${this.marksPlayed} played`);
        return;
      case 'told': {
        this.#isTold = true;
        const line = this.#conversation.take(event.message);
        if (line?.isFault === true) this.#problem(event.atMs, line.what);
        else if (line !== undefined) this.#note(event.atMs, line.what);
        return;
      }
      case 'error': {
        this.#problem(event.atMs, `error ${event.code}${event.fatal ? ' (fatal)' : ''}: ${event.message}`);
        return;
      }
      case 'fault': {
        this.#problem(event.atMs, `the server broke the protocol: ${event.rule}`);
        return;
      }
      case 'stop': {
        this.#note(event.atMs, `stop: ${event.reason}`);
        return;
      }
      case 'closed':
        this.endMs = event.atMs;
        this.#note(event.atMs, `connection closed (${event.code})`);
        return;
      case 'audio':
      case 'frame-sent':
      case 'mark':
        return;
    }
  }

  #problem(atMs: Millis, what: string): void {
    if (this.errors.length < MAX_TIMELINE) this.errors.push(what);
    this.#note(atMs, what);
  }

  #note(atMs: Millis, what: string): void {
    if (this.wire.length < MAX_TIMELINE) this.wire.push({ atMs, what });
  }
}

/** Reads a WAV file as mono samples at `rate`. Throws an error whose message is fit to be printed. */
async function readRecording(file: string, rate: number): Promise<Int16Array> {
  if ((await stat(file)).size > MAX_FILE_BYTES)
    throw new WavError('the file must not be larger than 256 MiB');
  const wav = parseWav(await readFile(file));
  if (wav.pcm.length === 0) throw new WavError('the file holds no audio');
  if (!SAMPLE_RATES.includes(wav.sampleRate)) {
    throw new WavError(`the sample rate must be one of ${SAMPLE_RATES.join(', ')} Hz`);
  }
  const resampler = newResampler({ from: wav.sampleRate, to: rate });
  const body = resampler.process(wav.pcm).slice();
  const tail = resampler.flush();
  const pcm = new Int16Array(body.length + tail.length);
  pcm.set(body);
  pcm.set(tail, body.length);
  return pcm;
}

/** The host alone: the rest of an address may hold a token. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'url';
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown failure';
}

function failed(
  message: string,
  told: { readonly options: CallOptions; readonly io: CallIo; readonly answer?: CallRefused | undefined },
): number {
  const { options, io, answer } = told;
  if (options.json === true) {
    io.write(JSON.stringify({ failed: message, status: answer?.status, retryAfter: answer?.retryAfter }));
  } else {
    io.write(message);
  }
  return 1;
}
