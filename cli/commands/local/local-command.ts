/**
 * The command `local`: a speech server on this machine, for agents without any account. Models are checked before anything
 * starts; sockets open when the engines are ready; a first signal lets what is under way end, a second one does not.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import { isLoopbackHost } from '../../../shared/net/loopback.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { usageError } from '../commands.ts';
import { parseLocalArguments, type LocalArguments } from './arguments.ts';
import { EngineProcess } from './engine-process.ts';
import { EngineHearing } from './hearing.ts';
import type {
  FromRecognizer,
  FromVoice,
  RecognizerFiles,
  ToRecognizer,
  ToVoice,
  VoiceFiles,
} from './messages.ts';
import { newRecognizerServer, type RecognizerServer } from './recognizer-server.ts';
import { hasSherpa, sherpaBeside, sherpaInstall } from './sherpa.ts';
import { EngineSpeaking } from './speaking.ts';
import { findRecognizer, findVoice, type Found } from './speech-models.ts';
import { voiceNames } from './speech-request.ts';
import { newSpeechServer } from './speech-server.ts';
import {
  recognizerModels,
  voiceModels,
  type models as pinnedModels,
} from '../../../shared/installation/model-registry.ts';
import { modelsFolder } from '../../../shared/installation/turn-model.ts';
import type { Millis } from '../../../shared/base/units.ts';

const mostWaitingTexts = 32;
const stopWithinMs = 5_000;
/** The clients' close frames have this long. */
const goodbyeMs = 50;

export interface LocalCommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cores: number;
  readonly clock: Clock;
  readonly newLog: () => Log;
  readonly write: (line: string) => void;
  readonly writeError: (line: string) => void;
  readonly exit: (status: number) => void;
}

interface Models {
  readonly recognizer: Found<RecognizerFiles> | undefined;
  readonly voice: Found<VoiceFiles> | undefined;
}

/** Resolves with the exit status, or with undefined while it serves. */
export async function runLocal(
  args: readonly string[],
  options: LocalCommandOptions,
): Promise<1 | 2 | undefined> {
  const parsed = parseLocalArguments(args, { cores: options.cores });
  if (!parsed.ok) {
    options.writeError(usageError('local', parsed.error));
    return 2;
  }
  const models = findModels(parsed.value, options);
  if (!models.ok) {
    options.writeError(models.error);
    return 1;
  }
  const service = new LocalSpeech(parsed.value, models.value, options);
  const started = await service.start();
  if (!started.ok) {
    options.writeError(started.error);
    return 1;
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => service.stop());
  return undefined;
}

function findModels(args: LocalArguments, { env }: LocalCommandOptions): Result<Models, string> {
  if (!hasSherpa())
    return fail(
      `the speech engine is not installed; in the folder of the service run: ${sherpaInstall}, or, where npm has installed the service: ${sherpaBeside} (it has espeak-ng in it, GPL-3.0-or-later)`,
    );
  const folder = args.models ?? modelsFolder(env['SVC_MODELS_DIR'], env);
  const where = args.models === undefined ? 'the folder of models' : '--models';
  const advice = (name: keyof typeof pinnedModels): string =>
    `; "svc-supervisor models pull ${name}" fetches one, --models names another folder`;
  const recognizer =
    args.without === 'stt'
      ? ok(undefined)
      : findRecognizer(folder, { name: args.sttModel, preferred: recognizerModels });
  if (!recognizer.ok) return fail(`${where}: ${recognizer.error}${advice('zipformer-en')}`);
  const voice =
    args.without === 'tts'
      ? ok(undefined)
      : findVoice(folder, { name: args.ttsModel, preferred: voiceModels });
  if (!voice.ok) return fail(`${where}: ${voice.error}${advice('piper-ljspeech')}`);
  return ok({ recognizer: recognizer.value, voice: voice.value });
}

/** Takes the port, or says why not. */
function listen(
  server: Server,
  at: { host: string; port: number; option: string },
): Promise<Result<string, string>> {
  return new Promise((resolve) => {
    server.once('error', (error) => {
      const code = 'code' in error ? String(error.code) : error.message;
      resolve(
        fail(
          `${at.option}: cannot listen on ${at.host.includes(':') ? `[${at.host}]` : at.host}:${at.port} (${code})`,
        ),
      );
    });
    server.listen(at.port, at.host, () => {
      const { port } = server.address() as AddressInfo;
      resolve(ok(`${at.host.includes(':') ? `[${at.host}]` : at.host}:${port}`));
    });
  });
}

class LocalSpeech {
  readonly #args: LocalArguments;
  readonly #models: Models;
  readonly #options: LocalCommandOptions;
  readonly #log: Log;
  readonly #recognizer: EngineProcess<ToRecognizer, FromRecognizer> | undefined;
  readonly #voice: EngineProcess<ToVoice, FromVoice> | undefined;
  readonly #speaking: EngineSpeaking | undefined;
  readonly #recognizerServer: RecognizerServer | undefined;
  readonly #speechServer: Server;
  #voices: readonly string[] = [];
  #isStopping = false;
  #hasLeft = false;

  constructor(args: LocalArguments, models: Models, options: LocalCommandOptions) {
    this.#args = args;
    this.#models = models;
    this.#options = options;
    this.#log = options.newLog();
    const { clock } = options;
    if (models.recognizer !== undefined) {
      const recognizer = this.#newRecognizer(models.recognizer.files);
      this.#recognizer = recognizer.engine;
      this.#recognizerServer = newRecognizerServer({
        hearing: recognizer.hearing,
        maxStreams: args.maxStreams,
        clock,
      });
    }
    if (models.voice !== undefined) {
      const voice = this.#newVoice(models.voice.files);
      this.#voice = voice.engine;
      this.#speaking = voice.speaking;
    }
    this.#speechServer = newSpeechServer({
      speaking: this.#speaking,
      model: models.voice?.name ?? 'none',
      voices: () => this.#voices,
      health: () => this.#health(),
    });
  }

  #newRecognizer(files: RecognizerFiles): {
    engine: EngineProcess<ToRecognizer, FromRecognizer>;
    hearing: EngineHearing;
  } {
    const hearing: EngineHearing = new EngineHearing(() => engine);
    const engine: EngineProcess<ToRecognizer, FromRecognizer> = new EngineProcess({
      name: 'recogniser',
      entry: new URL('./commands/local/recognizer-process.js', import.meta.url),
      setup: { type: 'setup', files, threads: this.#args.threads },
      clock: this.#options.clock,
      log: this.#log,
      ready: () => this.#log.info({ engine: 'recogniser' }, 'engine ready'),
      message: (message) => hearing.take(message),
      gone: () => hearing.lost(),
    });
    return { engine, hearing };
  }

  #newVoice(files: VoiceFiles): { engine: EngineProcess<ToVoice, FromVoice>; speaking: EngineSpeaking } {
    const speaking: EngineSpeaking = new EngineSpeaking(() => engine, { mostWaiting: mostWaitingTexts });
    const engine: EngineProcess<ToVoice, FromVoice> = new EngineProcess({
      name: 'voice',
      entry: new URL('./commands/local/voice-process.js', import.meta.url),
      setup: { type: 'setup', files, threads: this.#args.threads },
      clock: this.#options.clock,
      log: this.#log,
      ready: (message) => {
        if (message.type === 'ready') this.#voices = voiceNames(files.kind, message.speakers);
        this.#log.info({ engine: 'voice' }, 'engine ready');
      },
      message: (message) => speaking.take(message),
      gone: () => speaking.lost(),
    });
    return { engine, speaking };
  }

  #health(): { isReady: boolean } & Readonly<Record<string, unknown>> {
    const isReady =
      (this.#recognizer?.isReady ?? true) && (this.#voice?.isReady ?? true) && !this.#isStopping;
    return {
      isReady,
      stt: this.#recognizer && {
        model: this.#models.recognizer?.name,
        ready: this.#recognizer.isReady,
        streams: this.#recognizerServer?.streams,
        max_streams: this.#args.maxStreams,
      },
      tts: this.#voice && {
        model: this.#models.voice?.name,
        ready: this.#voice.isReady,
        waiting: this.#speaking?.waiting,
      },
    };
  }

  /** Starts the engines, then opens the sockets. */
  async start(): Promise<Result<void, string>> {
    const { host, sttPort, ttsPort } = this.#args;
    if (!isLoopbackHost(host))
      this.#log.warn('these servers ask nobody for a key, and --host is not a loopback address');
    const engines = await Promise.all([this.#recognizer?.start(), this.#voice?.start()]);
    for (const engine of engines) if (engine?.ok === false) return this.#giveUp(engine.error);
    if (this.#recognizerServer !== undefined) {
      const stt = await listen(this.#recognizerServer.http, { host, port: sttPort, option: '--stt-port' });
      if (!stt.ok) return this.#giveUp(stt.error);
      this.#log.info(
        { url: `ws://${stt.value}`, model: this.#models.recognizer?.name },
        'recogniser listening',
      );
    }
    const tts = await listen(this.#speechServer, { host, port: ttsPort, option: '--tts-port' });
    if (!tts.ok) return this.#giveUp(tts.error);
    this.#log.info({ url: `http://${tts.value}/v1`, model: this.#models.voice?.name }, 'voice listening');
    this.#log.info({ health: `http://${tts.value}/health` }, 'ready');
    return ok(undefined);
  }

  #giveUp(error: string): Result<void, string> {
    this.#close();
    return fail(error);
  }

  #close(): void {
    this.#recognizer?.close();
    this.#voice?.close();
  }

  /** Ends when what is under way has ended, or at once when asked again. */
  stop(): void {
    if (this.#isStopping) {
      this.#leave();
      return;
    }
    this.#isStopping = true;
    this.#log.info('stopping');
    this.#speechServer.close();
    this.#recognizerServer?.http.close();
    whenIdle(() => (this.#recognizerServer?.finishing ?? 0) + (this.#speaking?.waiting ?? 0), {
      clock: this.#options.clock,
      withinMs: stopWithinMs,
      done: () => this.#leave(),
    });
  }

  #leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#recognizerServer?.close();
    this.#close();
    this.#log.info('stopped');
    this.#options.clock.after(goodbyeMs, () => this.#options.exit(0));
  }
}

/** Waiting for work to end, for a while. */
const lookEveryMs = 50;

/** Calls `done` once, as soon as `open` is 0, or when `withinMs` are over. */
export function whenIdle(
  open: () => number,
  options: { readonly clock: Clock; readonly withinMs: Millis; readonly done: () => void },
): void {
  const { clock, withinMs, done } = options;
  const giveUpAt = clock.now() + withinMs;
  const look = (): void => {
    if (open() === 0 || clock.now() >= giveUpAt) done();
    else clock.after(lookEveryMs, look);
  };
  look();
}
