/**
 * One call of the page: connects the pure call machine to the socket, the microphone and the loudspeaker.
 *
 * Invariant: every event goes through `stepCall` and every effect comes from one of its orders; audio alone passes by.
 * An instance serves one call. It must not touch the document.
 */
import { type AudioListener, AudioProblem, type AudioSession, openAudio } from './audio-session.ts';
import { type CallEvent, type CallOrder, type CallPhase, stepCall } from './call-machine.ts';
import { type CapturedFrame, FRAME_MS, fromPcm16 } from './capture-framer.ts';
import { MessageLog } from './message-log.ts';
import { ResponseTimes } from './response-times.ts';
import { SpeechDetector } from './speech-detector.ts';
import { type Turn, TurnView } from './turn-view.ts';
import { type ClientMessage, decodeServerMessage, type ServerMessage } from './wire.ts';
import type { PlayoutReport } from './worklet-messages.ts';

/** Microphone audio that the network does not take for so long is dropped: late speech is worth nothing. */
const MAX_UNSENT_MS = 2_000;
const MAX_RECEIVED_TYPES = 500;

/** Gives the address to call, or undefined when there is none. */
export type FindAddress = () => Promise<string | undefined>;

export class PageCall {
  readonly log = new MessageLog();
  readonly times = new ResponseTimes();
  /** Types of the messages received, oldest first, bounded. */
  readonly received: string[] = [];
  callerLevel = 0;
  agentLevel = 0;
  lateFrames = 0;
  #phase: CallPhase = { name: 'idle' };
  readonly #findAddress: FindAddress;
  readonly #turn = new TurnView();
  readonly #detector = new SpeechDetector();
  readonly #beganAt = performance.now();
  #openedAt: number | undefined;
  #endedAt: number | undefined;
  #socket: WebSocket | undefined;
  #audio: AudioSession | undefined;
  #timer: number | undefined;
  #droppedFrames = 0;

  constructor(findAddress: FindAddress) {
    this.#findAddress = findAddress;
  }

  get phase(): CallPhase {
    return this.#phase;
  }

  get turn(): Turn {
    return this.#turn.at(this.#audio?.nowMs ?? 0);
  }

  get sampleRate(): number | undefined {
    return this.#audio?.sampleRate;
  }

  /** How long the call has been open or was, in ms. */
  get lengthMs(): number {
    return this.#openedAt === undefined ? 0 : (this.#endedAt ?? performance.now()) - this.#openedAt;
  }

  start(): void {
    this.#take({ type: 'call-asked' });
  }

  hangUp(): void {
    this.#take({ type: 'hang-up-asked' });
  }

  pressKey(digit: string): void {
    this.#take({ type: 'key-pressed', digit });
  }

  #take(event: CallEvent): void {
    const before = this.#phase.name;
    const { phase, orders } = stepCall(this.#phase, event);
    this.#phase = phase;
    if (phase.name === 'open' && before !== 'open') this.#openedAt = performance.now();
    if (phase.name === 'ended' && before !== 'ended') this.#endedAt = performance.now();
    for (const order of orders) this.#perform(order);
  }

  #perform(order: CallOrder): void {
    switch (order.type) {
      case 'open-microphone':
        void this.#openMicrophone();
        return;
      case 'open-socket':
        void this.#openSocket();
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
        this.#release(order.letPlay);
        return;
    }
  }

  async #openMicrophone(): Promise<void> {
    const listener: AudioListener = {
      captured: (frame) => this.#captured(frame),
      reported: (report) => this.#reported(report),
      microphoneLost: () => this.#take({ type: 'microphone-failed', problem: 'missing' }),
    };
    try {
      const audio = await openAudio(listener);
      if (this.#phase.name !== 'preparing') {
        await audio.close(false);
        return;
      }
      this.#audio = audio;
      this.#note(`microphone at ${audio.sampleRate} Hz`);
      this.#take({ type: 'microphone-ready', sampleRate: audio.sampleRate });
    } catch (error) {
      if (!(error instanceof AudioProblem)) throw error;
      this.#take({ type: 'microphone-failed', problem: error.problem });
    }
  }

  async #openSocket(): Promise<void> {
    const address = await this.#findAddress();
    if (this.#phase.name !== 'connecting') return;
    if (address === undefined) {
      this.#take({ type: 'address-missing' });
      return;
    }
    try {
      const socket = new WebSocket(address);
      socket.binaryType = 'arraybuffer';
      socket.onopen = () => {
        this.#note('connected');
        this.#take({ type: 'socket-opened' });
      };
      socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.#receive(event.data);
      socket.onclose = (event) => {
        this.#note(`connection closed with code ${event.code}`);
        this.#take({ type: 'socket-closed', code: event.code });
      };
      this.#socket = socket;
    } catch (error) {
      // An https page may not open a ws:// address; the browser throws instead of failing later.
      console.error('the socket was refused', error);
      this.#take({ type: 'socket-closed', code: 1006 });
    }
  }

  #receive(data: string | ArrayBuffer): void {
    if (typeof data === 'string') {
      const message = decodeServerMessage(data);
      if (message === undefined) {
        this.#note('a message that is not of the protocol was ignored');
        return;
      }
      this.#noteMessage(message);
      this.#take({ type: 'message-received', message });
      return;
    }
    if (this.#phase.name !== 'open' || this.#audio === undefined || data.byteLength === 0) return;
    const samples = fromPcm16(data);
    this.log.audio('received', this.#sinceBegin(), (samples.length / this.#phase.sampleRate) * 1000);
    this.#audio.play(samples);
  }

  #send(message: ClientMessage): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#socket.send(JSON.stringify(message));
    const { type, ...fields } = message;
    const detail = Object.entries(fields)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', ');
    this.log.add('sent', this.#sinceBegin(), { label: type, detail });
  }

  #captured(frame: CapturedFrame): void {
    this.callerLevel = frame.rms;
    if (this.#phase.name !== 'open') return;
    this.#sendAudio(frame.pcm, this.#phase.sampleRate);
    const endMs = this.#toMs(frame.endSample);
    const speech = this.#detector.push(frame.rms, endMs, FRAME_MS);
    if (speech?.type === 'speech-started') {
      this.times.speechStarted(this.#turn.agentPlaying);
      this.#turn.callerStarted();
    } else if (speech?.type === 'speech-ended') {
      this.times.speechEnded(speech.atMs);
      this.#turn.callerEnded(endMs);
    }
  }

  #sendAudio(pcm: Int16Array<ArrayBuffer>, sampleRate: number): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    if (this.#socket.bufferedAmount > (sampleRate * 2 * MAX_UNSENT_MS) / 1000) {
      this.#droppedFrames += 1;
      if (this.#droppedFrames === 1) this.#note('the network is too slow: microphone audio is being dropped');
      return;
    }
    this.#droppedFrames = 0;
    this.#socket.send(pcm);
    this.log.audio('sent', this.#sinceBegin(), FRAME_MS);
  }

  #reported(report: PlayoutReport): void {
    switch (report.type) {
      case 'mark-played':
        this.#take({ type: 'mark-played', id: report.id });
        return;
      case 'sounded':
        this.times.sounded(this.#toMs(report.atSample));
        this.#turn.agentStarted();
        return;
      case 'drained':
        this.times.fellSilent(this.#toMs(report.atSample));
        this.#turn.agentEnded(this.#toMs(report.atSample));
        return;
      case 'level':
        this.agentLevel = report.rms;
        this.lateFrames = report.lateFrames;
        return;
    }
  }

  #clearPlayout(): void {
    if (this.#audio === undefined) return;
    this.#audio.clear();
    this.log.cutAudio('received');
    this.times.cleared();
    this.#turn.cleared(this.#audio.nowMs);
  }

  #release(letPlay: boolean): void {
    this.callerLevel = 0;
    this.agentLevel = 0;
    if (this.#socket !== undefined) {
      this.#socket.onmessage = null;
      this.#socket.close(1000);
    }
    void this.#audio?.close(letPlay);
  }

  #toMs(samples: number): number {
    return (samples / (this.#audio?.sampleRate ?? 1)) * 1000;
  }

  #sinceBegin(): number {
    return performance.now() - this.#beganAt;
  }

  #note(detail: string): void {
    this.log.add('note', this.#sinceBegin(), { label: 'page', detail });
  }

  #noteMessage(message: ServerMessage): void {
    const label = message.type === 'unknown' ? message.name : message.type;
    this.received.push(label);
    if (this.received.length > MAX_RECEIVED_TYPES) this.received.shift();
    this.log.add('received', this.#sinceBegin(), { label, detail: detailOf(message) });
  }
}

function detailOf(message: ServerMessage): string {
  switch (message.type) {
    case 'started':
      return `call ${message.callId}, ${message.sampleRate} Hz, ${message.encoding}`;
    case 'clear':
      return `epoch ${message.epoch}`;
    case 'mark':
      return `id ${message.id}`;
    case 'stop':
      return message.reason;
    case 'error':
      return `${message.code}: ${message.message}${message.fatal ? ' (fatal)' : ''}`;
    case 'unknown':
      return 'of no known type, ignored';
  }
}
