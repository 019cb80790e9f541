/**
 * One call from a browser: connects the pure call machine to the socket, the microphone and the loudspeaker.
 *
 * Invariant: every event goes through `stepCall` and every effect comes from one of its orders; audio alone passes by. `ended` is
 * emitted exactly once. An instance serves one call.
 */
import { AgentVoice, type VoiceChange } from './agent-voice.ts';
import {
  type AudioListener,
  AudioProblem,
  type AudioSession,
  openAudio,
  WorkletsOutOfReach,
} from './audio-session.ts';
import {
  type CallEvent,
  type CallOrder,
  type CallOutcome,
  type CallPhase,
  stepCall,
} from './call-machine.ts';
import { callState, type CallState } from './call-state.ts';
import { type CapturedFrame, FRAME_MS, fromPcm16 } from './audio/capture-framer.ts';
import { Conversation } from './conversation.ts';
import { askWhy, TokenRefused } from './door.ts';
import type { LineKind } from './line/line-kind.ts';
import type { Line, LineListener } from './line/line.ts';
import { openLine, socketUrl } from './line/open-line.ts';
import { ResponseTimes } from './response-times.ts';
import { SpeechDetector } from './audio/speech-detector.ts';
import { TurnView } from './turn-view.ts';
import { CallFailed, DEFAULTS, type VoiceCallEvents, type VoiceCallOptions } from './voice-call-options.ts';
import { type ClientMessage, decodeServerMessage, type ServerMessage, type TypedAnswer } from './wire.ts';
import { embeddedWorklets } from './audio/worklet-source.ts';
import type { PlayoutReport } from './audio/worklet-messages.ts';

/**
 * Typed events without the DOM's ceremony. Invariant: a listener that throws harms neither the others nor whoever emits; its error is reported
 * as an uncaught one.
 */
class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(detail: never) => void>>();

  /** Calls `listener` at every event of this name. Returns a function that ends it. */
  on<Name extends keyof Events>(name: Name, listener: (detail: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  protected emit<Name extends keyof Events>(name: Name, detail: Events[Name]): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        (listener as (detail: Events[Name]) => void)(detail);
      } catch (error) {
        reportError(error);
      }
    }
  }
}

/** A promise that is settled from outside, as `Promise.withResolvers`, which older browsers lack. */
interface PromiseWithResolversOf<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

function withResolvers(): PromiseWithResolversOf<void> {
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

export class VoiceCall extends Emitter<VoiceCallEvents> {
  /** What has been said, as far as the service tells. */
  readonly conversation = new Conversation();
  readonly #options: VoiceCallOptions;
  readonly #turn = new TurnView();
  readonly #voice: AgentVoice;
  readonly #detector = new SpeechDetector();
  readonly #times = new ResponseTimes((ms) => this.emit('response', { ms }));
  readonly #audioListener: AudioListener = {
    captured: (frame) => this.#captured(frame),
    reported: (report) => this.#reported(report),
    microphoneLost: () => this.#take({ type: 'microphone-failed', problem: 'missing' }),
    gestureNeeded: () => this.emit('gesture-needed', undefined),
  };
  #phase: CallPhase = { name: 'idle' };
  #shown: CallState = 'idle';
  #start: PromiseWithResolversOf<void> | undefined;
  #line: Line | undefined;
  #lineKind: LineKind | undefined;
  #token: string | undefined;
  #audio: AudioSession | undefined;
  readonly #abandoned = new AbortController();
  #timer: number | undefined;
  #isMuted = false;
  #volume = 1;
  #inputLevel = 0;
  #outputLevel = 0;
  #lateFrames = 0;

  constructor(options: VoiceCallOptions) {
    super();
    this.#options = options;
    this.#voice = new AgentVoice(options.events ?? DEFAULTS.events);
  }

  get state(): CallState {
    return this.#shown;
  }

  /** How the call ended; undefined until it has. */
  get outcome(): CallOutcome | undefined {
    return this.#phase.name === 'ended' ? this.#phase.outcome : undefined;
  }

  /** Level of the microphone, 0 to 1. */
  get inputLevel(): number {
    return this.#inputLevel;
  }

  /** Level of what is played, 0 to 1. */
  get outputLevel(): number {
    return this.#outputLevel;
  }

  /** Hz, for both directions; undefined before the microphone is there. */
  get sampleRate(): number | undefined {
    return this.#audio?.sampleRate;
  }

  /** What the call goes by; undefined before it is connected. */
  get line(): LineKind | undefined {
    return this.#lineKind;
  }

  /** How often audio of the agent came too late to be played without a gap. */
  get lateFrames(): number {
    return this.#lateFrames;
  }

  /** Times from the end of the caller's speech to the first sound of the answer. */
  get responses(): Pick<ResponseTimes, 'count' | 'lastMs' | 'medianMs'> {
    return this.#times;
  }

  get muted(): boolean {
    return this.#isMuted;
  }

  /** A muted call sends silence. */
  set muted(isMuted: boolean) {
    this.#isMuted = isMuted;
    this.#audio?.mute(isMuted);
  }

  /**
   * Asks for the microphone, connects and resolves once the call is open. Rejects with {@link CallFailed} when it ends before. Call it
   * from a click or a key press: browsers let no page sound before one.
   */
  start(): Promise<void> {
    if (this.#start === undefined) {
      this.#start = withResolvers();
      this.#take({ type: 'call-asked' });
    }
    return this.#start.promise;
  }

  hangUp(): void {
    this.#take({ type: 'hang-up-asked' });
  }

  /** Sends a key press: 0-9, `*`, `#`, A-D. */
  sendDigit(digit: string): void {
    if (!/^[0-9*#A-Da-d]$/.test(digit)) throw new RangeError('a digit is one of 0-9, *, # and A-D');
    this.#take({ type: 'key-pressed', digit });
  }

  /** Says something without the microphone, at most 4,096 characters of it. `answer`: aloud, as text alone, or `none` for now. */
  sendText(text: string, { answer = 'speech' }: { readonly answer?: TypedAnswer } = {}): void {
    this.#take({ type: 'text-typed', text, answer });
  }

  /** How loud the agent is played, 0 to 1. */
  set volume(volume: number) {
    this.#volume = volume;
    this.#audio?.setVolume(volume);
  }

  get volume(): number {
    return this.#volume;
  }

  /** Goes on with another microphone; undefined is the one of the system. Rejects when it is not to be had. */
  async useMicrophone(deviceId: string | undefined): Promise<void> {
    await this.#audio?.useMicrophone(deviceId);
  }

  /** Resolves with false where the browser leaves the choice to the system. */
  async useSpeaker(deviceId: string | undefined): Promise<boolean> {
    return (await this.#audio?.useSpeaker(deviceId)) ?? false;
  }

  #take(event: CallEvent): void {
    const before = this.#phase.name;
    const { phase, orders } = stepCall(this.#phase, event);
    this.#phase = phase;
    for (const order of orders) this.#perform(order);
    this.#look();
    if (phase.name === before) return;
    if (phase.name === 'open') this.#start?.resolve();
    if (phase.name === 'ended') this.#finish(phase.outcome);
  }

  /** Tells a new state. */
  #look(): void {
    const state = callState(this.#phase, this.#turn.at(this.#audio?.nowMs ?? 0));
    if (state === this.#shown) return;
    this.#shown = state;
    this.emit('state', state);
  }

  #finish(outcome: CallOutcome): void {
    this.conversation.close();
    this.emit('ended', outcome);
    this.#start?.reject(new CallFailed(outcome));
  }

  #perform(order: CallOrder): void {
    switch (order.type) {
      case 'open-microphone':
        void this.#openMicrophone();
        return;
      case 'open-socket':
        void this.#connect();
        return;
      case 'ask-why':
        void askWhy(socketUrl(this.#options.url), this.#token).then((outcome) =>
          this.#take({ type: 'refusal-known', outcome }),
        );
        return;
      case 'send':
        this.#send(order.message);
        return;
      case 'play-mark':
        this.#audio?.mark(order.id);
        return;
      case 'clear-playout':
        this.#clearPlayout();
        return;
      case 'arm-timer':
        window.clearTimeout(this.#timer);
        if (order.afterMs === undefined) return;
        this.#timer = window.setTimeout(() => this.#take({ type: 'time-ran-out' }), order.afterMs);
        return;
      case 'release':
        this.#inputLevel = 0;
        this.#outputLevel = 0;
        this.#abandoned.abort();
        this.#line?.close();
        void this.#audio?.close(order.letPlay);
        return;
    }
  }

  async #openMicrophone(): Promise<void> {
    const { microphone, speaker, workletUrl, whip } = this.#options;
    const embedded = workletUrl === undefined ? embeddedWorklets() : undefined;
    try {
      const audio = await openAudio(this.#audioListener, {
        microphone,
        speaker,
        workletUrl: workletUrl ?? embedded ?? '',
        isWide: whip !== undefined,
        abandoned: this.#abandoned.signal,
      });
      if (this.#phase.name !== 'preparing') {
        await audio.close(false);
        return;
      }
      this.#audio = audio;
      audio.mute(this.#isMuted);
      audio.setVolume(this.#volume);
      this.#note(`microphone at ${audio.sampleRate} Hz`);
      this.#take({ type: 'microphone-ready', sampleRate: audio.sampleRate });
    } catch (error) {
      if (error instanceof WorkletsOutOfReach)
        this.#take({ type: 'preparation-failed', outcome: { kind: 'down' } });
      else if (error instanceof AudioProblem)
        this.#take({ type: 'microphone-failed', problem: error.problem });
      else throw error;
    } finally {
      if (embedded !== undefined) URL.revokeObjectURL(embedded);
    }
  }

  async #connect(): Promise<void> {
    const listener: LineListener = {
      opened: () => {
        this.#note('connected');
        this.#take({ type: 'socket-opened' });
      },
      received: (data) => this.#receive(data),
      closed: (code) => {
        this.#note(`connection closed with code ${code}`);
        this.#take({ type: 'socket-closed', code });
      },
      moving: (isMoving) => {
        this.#note(isMoving ? 'connection lost; making another one' : 'connected again');
        this.emit('network', { slow: false, moving: isMoving });
      },
      lost: (packets) => (this.#lateFrames = packets),
      slow: (isSlow) => this.emit('network', { slow: isSlow, moving: false }),
      stuck: () => this.#take({ type: 'network-stuck' }),
    };
    const { signal: abandoned } = this.#abandoned;
    try {
      if (this.#audio === undefined) return;
      const opened = await openLine(this.#options, { audio: this.#audio, listener, abandoned });
      if (this.#phase.name !== 'connecting') {
        opened.line.close();
        return;
      }
      ({ line: this.#line, kind: this.#lineKind, token: this.#token } = opened);
      opened.line.begin?.();
    } catch (error) {
      if (abandoned.aborted) return;
      const outcome: CallOutcome = error instanceof TokenRefused ? error.outcome : { kind: 'no-token' };
      if (!(error instanceof TokenRefused)) console.error('no token was given', error);
      this.#take({ type: 'preparation-failed', outcome });
    }
  }

  #receive(data: string | ArrayBuffer): void {
    if (typeof data === 'string') {
      const message = decodeServerMessage(data);
      if (message === undefined) this.#note('a message that is not of the protocol was ignored');
      else this.#receiveMessage(message);
      return;
    }
    if (this.#phase.name !== 'open' || this.#audio === undefined || data.byteLength === 0) return;
    const samples = fromPcm16(data);
    this.emit('wire', { direction: 'received', audioMs: (samples.length / this.#phase.sampleRate) * 1000 });
    this.#audio.play(samples);
  }

  #receiveMessage(message: ServerMessage): void {
    this.emit('wire', { direction: 'received', message });
    if (message.type === 'event' && this.#phase.name !== 'ended') {
      const { event } = message;
      const line = this.conversation.take(event);
      this.emit('event', event);
      if (line !== undefined) {
        this.emit('conversation', line);
        if (line.who === 'caller') this.emit('user-text', { text: line.text, final: line.state !== 'open' });
      }
      if (this.#audio !== undefined) this.#heard(this.#voice.told(event.type, this.#audio.nowMs));
      if (event.type === 'bot.text') this.emit('bot-text', { epoch: event.epoch, text: event.text });
      if (event.type === 'turn.metrics') this.emit('metrics', { epoch: event.epoch, metrics: event.metrics });
    }
    if (message.type === 'clear') this.emit('interrupted', { epoch: message.epoch });
    this.#take({ type: 'message-received', message });
  }

  #send(message: ClientMessage): void {
    const { callId, metadata, events = DEFAULTS.events } = this.#options;
    const sent: ClientMessage =
      message.type !== 'start'
        ? message
        : {
            ...message,
            ...(callId !== undefined && { call_id: callId }),
            ...(metadata !== undefined && { metadata }),
            ...(events.length > 0 && { events }),
          };
    if (this.#line?.send(sent) === true) this.emit('wire', { direction: 'sent', message: sent });
  }

  #captured(frame: CapturedFrame): void {
    this.#inputLevel = frame.rms;
    if (this.#phase.name !== 'open') return;
    if (this.#line?.sendAudio(frame.pcm, this.#phase.sampleRate) === true)
      this.emit('wire', { direction: 'sent', audioMs: FRAME_MS });
    const endMs = this.#toMs(frame.endSample);
    const speech = this.#detector.push(frame.rms, endMs, FRAME_MS);
    if (speech?.type === 'speech-started') {
      this.#times.speechStarted(this.#turn.agentPlaying);
      this.#turn.callerStarted();
    } else if (speech?.type === 'speech-ended') {
      this.#times.speechEnded(speech.atMs);
      this.#turn.callerEnded(endMs);
    }
    this.#look();
  }

  #reported(report: PlayoutReport): void {
    switch (report.type) {
      case 'mark-played':
        this.#take({ type: 'mark-played', id: report.id });
        return;
      case 'sounded':
        this.#heard(this.#voice.sounded(this.#toMs(report.atSample)));
        break;
      case 'drained':
        this.#heard(this.#voice.fellSilent(this.#toMs(report.atSample)));
        break;
      case 'level':
        this.#outputLevel = report.rms;
        if (this.#lineKind !== 'webrtc') this.#lateFrames = report.lateFrames;
        break;
    }
    this.#look();
  }

  #heard(change: VoiceChange | undefined): void {
    if (change?.type === 'started') {
      this.#times.sounded(change.atMs);
      this.#turn.agentStarted();
    } else if (change?.type === 'ended') {
      this.#times.fellSilent(change.atMs);
      this.#turn.agentEnded(change.atMs);
    }
  }

  #clearPlayout(): void {
    if (this.#audio === undefined) return;
    this.#audio.clear();
    this.#times.cleared();
    this.#turn.cleared(this.#audio.nowMs);
  }

  #toMs(samples: number): number {
    return (samples / (this.#audio?.sampleRate ?? 1)) * 1000;
  }

  #note(note: string): void {
    this.emit('wire', { direction: 'note', note });
  }
}
