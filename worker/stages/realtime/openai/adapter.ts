/** Models behind `openai_realtime`: a socket for each session, whose protocol is in `wire.ts`. */
import WebSocket from 'ws';
import { urlUnder } from '../../../../shared/net/address.ts';
import { systemWallClock } from '../../../../shared/runtime/clock.ts';
import { explained } from '../../failure.ts';
import { keyHeaders } from '../../keys.ts';
import { recordOf } from '../../json.ts';
import { Deadline, Soon } from '../../timers.ts';
import { leave, openSocket } from '../../vendor-socket.ts';
import type { ChatMessage, StageContext, StageError } from '../../stage.ts';
import type {
  RealtimeAccess,
  RealtimeEvent,
  RealtimeModel,
  RealtimeSeed,
  RealtimeSession,
} from '../contract.ts';
import { CallerAudio } from './caller-audio.ts';
import { dialectOf, type RealtimeOpenAiOptions } from './declaration.ts';
import { closeError } from './errors.ts';
import { Outbox } from '../outbox.ts';
import type { RealtimeSettings } from './requests.ts';
import { OpenAiWire, type Effect } from './wire.ts';

/** From the first byte to a session that takes audio. */
const openMs = 5_000;
/** How long an answer that was cancelled is waited for before the next one is asked for. */
const letGoMs = 1_000;
/** A connection on which nothing came for so long is asked whether it lives, and has so long to answer. */
const quietMs = 10_000;
/** From here on messages wait here, where the oldest sound goes, and not in the socket. */
const congestedBytes = 262_144;
/** A piece of sound may be seconds long. */
const maxMessageBytes = 33_554_432;

/** Where the server listens; `pathAndQuery` replaces everything after the host. */
export function realtimeUrl({ baseUrl, pathAndQuery, dialect, model }: RealtimeOpenAiOptions): URL {
  if (pathAndQuery !== undefined) return urlUnder(baseUrl, pathAndQuery);
  const url = urlUnder(baseUrl, dialect.path);
  for (const [name, value] of Object.entries(dialect.query ?? {})) url.searchParams.append(name, value);
  url.searchParams.append(dialect.modelParameter, model);
  return url;
}

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newRealtimeOpenAi({
  apiKey,
  ...settings
}: RealtimeOpenAiOptions & RealtimeAccess): RealtimeModel {
  const url = realtimeUrl(settings);
  const headers = keyHeaders(url, apiKey, settings.dialect.keyHeader);
  return {
    provider: 'openai_realtime',
    open: (context, seed, sink) => {
      const ofCall = { ...settings, dialect: dialectOf(settings, context.law) };
      return new OpenAiSession({ settings: ofCall, url, headers, context, seed, sink });
    },
    close: () => Promise.resolve(),
  };
}

interface SessionScope {
  readonly settings: RealtimeSettings;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly context: StageContext;
  readonly seed: RealtimeSeed;
  readonly sink: (event: RealtimeEvent) => void;
}

class OpenAiSession implements RealtimeSession {
  readonly outputRate: number;
  readonly #scope: SessionScope;
  readonly #wire: OpenAiWire;
  readonly #socket: WebSocket;
  readonly #audio: CallerAudio;
  readonly #outbox = new Outbox();
  readonly #opening: Deadline;
  readonly #letGo: Deadline;
  readonly #quiet: Deadline;
  readonly #soon: Soon;
  readonly #onSent: () => void;
  /** What a method of the session had to tell; it is told soon after. */
  #late: RealtimeEvent[] = [];
  #waitsFor: object | undefined;
  #isInTurn = false;
  #isAsked = false;
  #isClosed = false;

  constructor(scope: SessionScope) {
    const { settings, seed, context, url, headers } = scope;
    this.#scope = scope;
    this.outputRate = settings.dialect.outputRate;
    this.#wire = new OpenAiWire(settings, seed, () => systemWallClock.now());
    this.#audio = new CallerAudio(settings.dialect);
    this.#opening = new Deadline(context, () => this.#fail({ kind: 'timeout', what: 'connect' }));
    this.#letGo = new Deadline(context, () => this.#tellAll(this.#wire.letGo()));
    this.#quiet = new Deadline(context, () => this.#onQuiet());
    this.#soon = new Soon(context, () => this.#tellLate());
    this.#onSent = context.bind(() => this.#pump());
    this.#opening.set(openMs);
    this.#socket = openSocket(
      { url, headers, maxMessageBytes },
      {
        context,
        on: {
          opened: () => this.#alive(),
          alive: () => this.#alive(),
          message: (data) => this.#onMessage(data),
          closed: (code, reason, error) => this.#onClosed(code, reason, error),
        },
      },
    );
  }

  beginTurn(): void {
    this.abandonTurn();
    this.#isInTurn = true;
  }

  audio(pcm: Int16Array, ofLine?: Int16Array): void {
    if (!this.#isInTurn || this.#isClosed) return;
    this.#sendSound(this.#audio.push(pcm, ofLine));
  }

  endTurn(turn: number): void {
    if (!this.#isInTurn) return;
    this.#isInTurn = false;
    this.#sendSound(this.#audio.end());
    this.#audio.begin();
    this.#do(this.#wire.endTurn(turn));
  }

  abandonTurn(): void {
    this.#isInTurn = false;
    if (this.#audio.isSent) this.#do(this.#wire.clear());
    this.#audio.begin();
  }

  respond(answer: number): void {
    this.#do(this.#wire.respond(answer));
  }

  cancel(): void {
    this.#do(this.#wire.cancel());
  }

  append(messages: readonly ChatMessage[]): void {
    this.#do(this.#wire.append(messages));
  }

  truncate(item: string, audioMs: number): void {
    this.#do(this.#wire.truncate(item, audioMs));
  }

  update(changed: Pick<RealtimeSeed, 'instructions' | 'tools'>): void {
    this.#do(this.#wire.update(changed));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#end();
    leave(this.#socket, this.#scope.context.clock, []);
  }

  /** What follows from a method: messages go at once, and events soon. */
  #do(effects: readonly Effect[]): void {
    if (this.#isClosed) return;
    for (const effect of effects) {
      if (effect.type === 'tell') this.#late.push(effect.event);
      else this.#sendLater(effect.message, false);
    }
    if (this.#late.length > 0) this.#soon.ask();
    this.#pump();
    this.#watch();
  }

  /** What follows from a message or from time. */
  #tellAll(effects: readonly Effect[]): void {
    this.#tellLate();
    for (const effect of effects) {
      if (this.#isClosed) return;
      if (effect.type === 'tell') this.#tell(effect.event);
      else if (effect.isSetup === true) this.#socket.send(effect.message, () => undefined);
      else this.#sendLater(effect.message, false);
    }
    if (this.#isClosed) return;
    this.#pump();
    this.#watch();
  }

  #tellLate(): void {
    for (const event of this.#late.splice(0)) if (!this.#isClosed) this.#tell(event);
  }

  #tell(event: RealtimeEvent): void {
    if (event.type === 'error') this.#fail(event.error);
    else {
      if (event.type === 'ready') this.#opening.close();
      this.#scope.sink(event);
    }
  }

  #sendSound(messages: readonly string[]): void {
    if (messages.length === 0) return;
    for (const message of messages) this.#sendLater(message, true);
    this.#pump();
  }

  #sendLater(message: string, isSound: boolean): void {
    if (this.#outbox.push({ message, isSound })) return;
    this.#late.push({ type: 'error', error: { kind: 'timeout', what: 'send' } });
    this.#soon.ask();
  }

  #pump(): void {
    while (!this.#isClosed && this.#wire.isReady && this.#takes()) {
      const message = this.#outbox.shift();
      if (message === undefined) return;
      // A write that fails shows in `closed`.
      this.#socket.send(message, this.#onSent);
    }
  }

  #takes(): boolean {
    return this.#socket.readyState === WebSocket.OPEN && this.#socket.bufferedAmount < congestedBytes;
  }

  /** Gives an answer that was cancelled its time to end. */
  #watch(): void {
    const { waitsFor } = this.#wire;
    if (waitsFor === this.#waitsFor) return;
    this.#waitsFor = waitsFor;
    if (waitsFor === undefined) this.#letGo.clear();
    else this.#letGo.set(letGoMs);
  }

  #alive(): void {
    if (this.#isClosed) return;
    this.#isAsked = false;
    this.#quiet.set(quietMs);
  }

  #onQuiet(): void {
    if (this.#isAsked) {
      this.#fail({ kind: 'timeout', what: 'progress' });
      return;
    }
    this.#isAsked = true;
    this.#socket.ping(undefined, undefined, () => undefined);
    this.#quiet.set(quietMs);
  }

  #onMessage(data: string | Buffer): void {
    if (this.#isClosed) return;
    this.#alive();
    const message = typeof data === 'string' ? parseMessage(data) : undefined;
    if (message === undefined) this.#fail({ kind: 'protocol', rule: 'a message is a JSON object' });
    else this.#tellAll(this.#wire.read(message));
  }

  #onClosed(code: number, reason: string, error: StageError | undefined): void {
    if (this.#isClosed) return;
    const isFrame = error === undefined && code !== 1006;
    this.#fail(
      isFrame
        ? explained(closeError(code), { code: String(code), text: reason })
        : (error ?? { kind: 'disconnected' }),
    );
  }

  #fail(error: StageError): void {
    if (this.#isClosed) return;
    this.#end();
    this.#socket.terminate();
    this.#scope.sink({ type: 'error', error });
  }

  #end(): void {
    this.#isClosed = true;
    for (const timer of [this.#opening, this.#letGo, this.#quiet, this.#soon]) timer.close();
  }
}

/** Not as exact as of a tool's JSON text: seconds of sound are in here, and arguments of tools are a text within it. */
function parseMessage(text: string) {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    // The caller names the rule that was broken.
    return undefined;
  }
}
