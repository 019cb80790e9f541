/**
 * A child process with a speech engine: started, watched, and started again when it dies after it had once been ready. One
 * that never becomes ready is the fault of its model and is not tried again.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';

const pingEveryMs = 5_000;
/** Longer than the longest sentence takes on a slow machine. */
const silentMs = 60_000;
/** Loading a large voice from a slow disk. */
const startWithinMs = 120_000;
const firstPauseMs = 200;
const longestPauseMs = 5_000;

export interface EngineOptions<To, From> {
  readonly name: 'recogniser' | 'voice';
  readonly entry: URL;
  readonly setup: To;
  readonly clock: Clock;
  readonly log: { error(fields: object, text: string): void };
  /** The engine is there, for the first time or again. */
  readonly ready: (message: From) => void;
  readonly message: (message: From) => void;
  /** The work that it was at is lost. */
  readonly gone: () => void;
}

interface Typed {
  readonly type: string;
}

export class EngineProcess<To extends Typed, From extends Typed> {
  readonly #options: EngineOptions<To, From>;
  #child: ChildProcess | undefined;
  #isReady = false;
  #isClosed = false;
  #deaths = 0;
  #timer: Timer | undefined;
  #lastSignAt = 0;

  constructor(options: EngineOptions<To, From>) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Resolves when the engine is ready, or with what to tell the user. */
  start(): Promise<Result<void, string>> {
    return new Promise((resolve) => {
      const { name, clock } = this.#options;
      const problem = `the ${name} could not be started: its model does not load, or the engine does not run on this machine; its own words are above`;
      const child = this.#fork();
      const timer = clock.after(startWithinMs, () => child.kill('SIGKILL'));
      child.once('exit', () => {
        timer.cancel();
        resolve(fail(problem));
      });
      child.once('message', () => {
        timer.cancel();
        resolve(ok(undefined));
      });
    });
  }

  /** False when the engine is not there. */
  send(message: To): boolean {
    if (!this.#isReady || this.#isClosed || this.#child?.connected !== true) return false;
    this.#child.send(message, () => undefined);
    return true;
  }

  /** Ends the process; nothing is told any more. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#child?.kill('SIGKILL');
  }

  #fork(): ChildProcess {
    const { entry, setup, log, name } = this.#options;
    const child = fork(entry, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      execArgv: [],
    });
    this.#child = child;
    child.stderr?.on('data', (bytes: Buffer) => {
      // Its output helps while it loads; later on it quotes the text that it was given to speak.
      if (!this.#isReady) process.stderr.write(bytes);
    });
    child.on('message', (message) => this.#take(message as From));
    child.on('error', (error) => log.error({ engine: name, error: error.message }, 'engine process error'));
    child.once('exit', (code, signal) => this.#onExit(code, signal));
    child.send(setup, () => undefined);
    return child;
  }

  #take(message: From): void {
    this.#lastSignAt = this.#options.clock.now();
    if (message.type === 'pong' || this.#isClosed) return;
    if (message.type !== 'ready') {
      this.#options.message(message);
      return;
    }
    this.#isReady = true;
    this.#deaths = 0;
    this.#watch();
    this.#options.ready(message);
  }

  #watch(): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(pingEveryMs, () => {
      const { clock, log, name } = this.#options;
      if (clock.now() - this.#lastSignAt > silentMs) {
        log.error({ engine: name }, 'an engine process hangs and is killed');
        this.#child?.kill('SIGKILL');
        return;
      }
      if (this.#child?.connected === true) this.#child.send({ type: 'ping' }, () => undefined);
      this.#watch();
    });
  }

  #onExit(code: number | null, signal: string | null): void {
    const wasReady = this.#isReady;
    this.#isReady = false;
    this.#timer?.cancel();
    if (this.#isClosed || !(wasReady || this.#deaths > 0)) return;
    const { clock, log, name, gone } = this.#options;
    this.#deaths += 1;
    log.error(
      { engine: name, code, signal, deaths: this.#deaths },
      'an engine process died; it is started again',
    );
    if (wasReady) gone();
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#deaths - 1));
    this.#timer = clock.after(pauseMs, () => this.#fork());
  }
}
