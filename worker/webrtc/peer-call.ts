/**
 * The shell of one WebRTC call: the peer connection on one side, the engine's contract on the other, between them the machine of
 * call-machine.ts. Caller audio goes through the jitter buffer and the decoder, agent audio through the encoder.
 *
 * Invariant: `ended` is told to the engine from a tick or an event of the connection, never from inside one of its own orders, and
 * nothing after it. This file must not decide when a call is over, and owns no timer.
 */
import type { Millis } from '../../shared/base/units.ts';
import { HeardSource } from '../media/rtp/heard-source.ts';
import { JitterBuffer } from '../media/rtp/jitter-buffer.ts';
import { KeyReader } from '../media/rtp/keys.ts';
import { opusClockRate, opusPacketMs, type OpusDecoder, type OpusEncoder } from '../media/opus/opus.ts';
import type { ConversationEvent } from '../core/told.ts';
import type { CallTransport, HeardLine, TransportEvents } from '../transports/transport.ts';
import { Channel, clearMessage, startedMessage, stopMessage } from './channel.ts';
import {
  isHeard,
  isOpen,
  isOver,
  savedPeerCall,
  step,
  type PeerCallAction,
  type PeerCallEnd,
  type PeerCallEvent,
  type PeerCallState,
} from './call-machine.ts';
import { LossGuard } from './loss-guard.ts';
import { MediaOut } from './media-out.ts';
import { PlayoutClock } from './playout-clock.ts';
import { RtcpReporter, type ClientReport } from '../media/rtp/rtcp.ts';
import { isRtcp, readRtp, type ReadRtp } from './rtp.ts';

/** The connection as the call needs it. */
export interface CallPeer {
  send(packet: Buffer): boolean;
  /** A message of the data channel; lost where there is none. */
  say(text: string): void;
  close(): void;
}

/** What an offer says of its media. */
export interface PeerMedia {
  /** Payload type of Opus in both directions. */
  readonly opus: number;
  readonly telephoneEvent?: { readonly payloadType: number; readonly clockRate: number } | undefined;
}

export interface PeerCallOptions {
  readonly state: PeerCallState;
  readonly events: TransportEvents;
  readonly codec: { readonly decoder: OpusDecoder; readonly encoder: OpusEncoder };
  readonly media: PeerMedia;
  /** Of what is sent; its numbers begin anywhere. */
  readonly ssrc: number;
  readonly firstSequence: number;
  readonly firstTimestamp: number;
  /** Monotonic milliseconds, the same clock as `tick`'s argument. */
  readonly now: () => Millis;
  /** The time of day, for reports. */
  readonly unixMs: () => Millis;
  /** The connection is established. */
  readonly connected: () => void;
  /** The client reported how the agent's audio arrives. */
  readonly reported: (report: ClientReport) => void;
  /** The call is over: what was lost and late of the caller's audio. */
  readonly measured: (stats: JitterBuffer['stats']) => void;
}

/** Reports of both directions go out this often. */
const reportEveryMs = 2_500;
/** Sound is made up for a hole of so many frames; the rest of a longer one is silence. */
const longestConcealed = 6;
/** No packet of speech is larger; the rest is no Opus. */
const mostPayloadBytes = 1_500;

export class PeerCall implements CallTransport {
  readonly isLive = true;
  readonly #options: PeerCallOptions;
  readonly #state: PeerCallState;
  readonly #earlier: JitterBuffer['stats'][] = [];
  #jitter: JitterBuffer;
  #reporter: RtcpReporter;
  #guard: LossGuard;
  #media: PeerMedia;
  #keys = new KeyReader();
  readonly #channel: Channel;
  readonly #marks = new PlayoutClock();
  readonly #out: MediaOut;
  #peer: CallPeer | undefined;
  #ended: PeerCallEnd | undefined;
  #reportAt: Millis;
  #source = new HeardSource();
  /** The engine took no audio; it says when it does again. */
  #isRefused = false;

  constructor(options: PeerCallOptions) {
    this.#options = options;
    this.#state = options.state;
    const { ssrc, codec } = options;
    this.#jitter = newJitterBuffer();
    this.#reporter = new RtcpReporter({ ssrc, clockRate: opusClockRate });
    this.#guard = new LossGuard(options.now());
    this.#media = options.media;
    this.#channel = new Channel(options.now());
    if (options.state.isResumed) this.#channel.reset();
    this.#reportAt = options.now() + reportEveryMs;
    this.#out = new MediaOut({
      ssrc,
      clockRate: opusClockRate,
      payloadType: options.media.opus,
      firstSequence: options.firstSequence,
      firstTimestamp: options.firstTimestamp,
      encode: (pcm) => (pcm === undefined ? codec.encoder.encodeSilence() : codec.encoder.encode(pcm)),
      send: (packet, { timestamp, bytes }) => {
        if (this.#peer?.send(packet) === true) this.#reporter.sent({ timestamp, bytes }, options.now());
      },
    });
  }

  /** Gives the call its connection, before any event of it. */
  attach(peer: CallPeer): void {
    this.#peer = peer;
  }

  /**
   * The client has made another connection for this call: from here on it is heard and spoken to there. Its packets have other numbers
   * and another clock; those to it go on as they were.
   */
  moveTo(peer: CallPeer, media: PeerMedia): void {
    if (isOver(this.#state)) {
      peer.close();
      return;
    }
    this.#peer?.close();
    this.#peer = peer;
    this.#media = media;
    this.#out.payloadType = media.opus;
    this.#beginLine();
    this.#keys = new KeyReader();
    const earlier = this.#reporter.heard;
    this.#reporter = new RtcpReporter({ ssrc: this.#options.ssrc, clockRate: opusClockRate, earlier });
    this.#guard = new LossGuard(this.#options.now());
    this.#source = new HeardSource();
    this.#channel.reset();
    this.happened('peer.moved');
  }

  get heardLine(): HeardLine | undefined {
    const heard = this.#reporter.heard;
    return heard && { ...heard, codec: 'opus' };
  }

  get bufferedBytes(): number {
    return 0;
  }

  // ---- From the connection and from signaling ----

  /** What became of the connection, or what the client wants of it. */
  happened(
    type:
      | 'peer.connected'
      | 'peer.left'
      | 'peer.closed'
      | 'peer.awaited'
      | 'peer.missed'
      | 'peer.moved'
      | 'signaling.ended',
  ): void {
    this.#step({ type });
    this.#tellEnd();
  }

  packet(packet: Buffer): void {
    if (isOver(this.#state)) return;
    const now = this.#options.now();
    this.#step({ type: 'media.arrived' }, now);
    if (isRtcp(packet)) this.#onReport(packet, now);
    else this.#onRtp(packet, now);
    this.#tellEnd();
  }

  /** A message of the data channel. */
  text(text: string): void {
    if (isOver(this.#state)) return;
    const request = this.#channel.hear(text, this.#options.now());
    switch (request.type) {
      case 'nothing':
        return;
      case 'answer':
        this.#peer?.say(request.json);
        return;
      case 'start':
        if (!isOpen(this.#state)) return;
        for (const one of [startedMessage(this.#state.start), ...this.#channel.takeEarly()])
          this.#peer?.say(one);
        return;
      case 'dtmf':
        if (isHeard(this.#state)) this.#options.events.dtmf(request.digit);
        break;
      case 'typed':
        if (isHeard(this.#state)) this.#options.events.typed(request.typed);
        break;
      case 'stop':
        this.#peer?.say(stopMessage('ended'));
        this.#step({ type: 'signaling.ended' });
    }
    this.#tellEnd();
  }

  #onReport(packet: Buffer, now: Millis): void {
    const report = this.#reporter.read(packet, now, this.#options.unixMs());
    if (report === undefined) return;
    this.#marks.noteWay(report);
    this.#guard.reported(report.lost, now);
    this.#options.reported(report);
  }

  #onRtp(packet: Buffer, now: Millis): void {
    const rtp = readRtp(packet);
    const { telephoneEvent } = this.#media;
    if (rtp !== undefined && rtp.payloadType === telephoneEvent?.payloadType)
      this.#onKey(rtp, telephoneEvent.clockRate);
    if (rtp?.payloadType !== this.#media.opus) return;
    if (rtp.payload.length === 0 || rtp.payload.length > mostPayloadBytes) return;
    const source = this.#source.take(rtp.ssrc);
    if (source === 'other') return;
    if (source === 'new') this.#beginLine();
    this.#reporter.arrived(rtp, now);
    this.#jitter.push(rtp, now);
    this.#hear(now);
  }

  /** What comes from here on has other numbers and timestamps than what came before. */
  #beginLine(): void {
    this.#earlier.push(this.#jitter.stats);
    this.#jitter = newJitterBuffer();
  }

  #onKey(packet: ReadRtp, clockRate: number): void {
    const digit = this.#keys.take(packet, clockRate);
    if (digit !== undefined && isHeard(this.#state)) this.#options.events.dtmf(digit);
  }

  // ---- From the engine ----

  accept(): void {
    this.#step({ type: 'call.accepted' });
    if (isOpen(this.#state) && this.#channel.isStarted) this.#peer?.say(startedMessage(this.#state.start));
  }

  restart(): void {
    if (this.#state.phase.name !== 'over') this.#options.events.started(this.#state.start);
  }

  refuse(): void {
    this.#step({ type: 'call.refused' });
  }

  save(): { kind: string; json: string } {
    return savedPeerCall(this.#state);
  }

  sendAudio(frame: Buffer, rate: number): void {
    if (!isOpen(this.#state) || rate !== this.#state.start.sampleRate) return;
    this.sendBackdrop(frame, rate);
    this.#marks.audioSent(this.#options.now());
  }

  sendBackdrop(frame: Buffer, rate: number): void {
    if (!isOpen(this.#state) || rate !== this.#state.start.sampleRate) return;
    const pcm = new Int16Array(frame.buffer, frame.byteOffset, frame.length >> 1);
    this.#out.frame(pcm, this.#options.now());
  }

  pause(): void {
    if (isOpen(this.#state)) this.#out.pause();
  }

  /** Audio that is not sent is not heard, and the client's own buffer is short. A client that follows the conversation is told. */
  sendClear(epoch: number): void {
    this.#marks.cleared();
    if (isOpen(this.#state) && this.#channel.isStarted) this.#peer?.say(clearMessage(epoch));
  }

  sendMark(id: string): boolean {
    if (!isOpen(this.#state)) return false;
    this.#marks.sent(id, this.#options.now());
    return true;
  }

  /** A client without a data channel follows nothing of the conversation. */
  tell(event: ConversationEvent): void {
    const message = isOpen(this.#state) ? this.#channel.told(event) : undefined;
    if (message !== undefined) this.#peer?.say(message);
  }

  end(reason: 'ended' | 'shutdown'): void {
    if (!isOver(this.#state) && this.#channel.isStarted) this.#peer?.say(stopMessage(reason));
    this.#step({ type: 'call.ended' });
  }

  fail(): void {
    this.#step({ type: 'call.failed' });
  }

  inputTaken(): void {
    this.#isRefused = false;
    this.#hear(this.#options.now());
  }

  tick(now: Millis): void {
    if (!isOver(this.#state)) this.#work(now);
    this.#tellEnd();
  }

  #work(now: Millis): void {
    this.#step({ type: 'time.passed' }, now);
    this.#hear(now);
    if (!isOpen(this.#state)) return;
    for (let id = this.#marks.takePlayed(now); id !== undefined; id = this.#marks.takePlayed(now))
      this.#options.events.markPlayed(id);
    // A mark may have ended the call.
    if (!isOpen(this.#state)) return;
    this.#out.tick(now);
    if (now < this.#reportAt) return;
    this.#reportAt = now + reportEveryMs;
    this.#options.codec.encoder.guard(this.#guard.isNeeded(now));
    this.#peer?.send(this.#reporter.report(now, this.#options.unixMs()));
  }

  // ---- The caller's audio ----

  /** Gives the engine what is due. Audio from before the engine knows the call is not heard. */
  #hear(now: Millis): void {
    if (this.#isRefused) return;
    for (let pulled = this.#jitter.pull(now); pulled.kind !== 'nothing'; pulled = this.#jitter.pull(now)) {
      if (!isHeard(this.#state)) continue;
      const { decoder } = this.#options.codec;
      if (pulled.kind === 'payload') this.#give(decoder.decode(pulled.payload));
      else {
        const ms = (pulled.ticks * 1000) / opusClockRate;
        const isSilence = pulled.row > longestConcealed && pulled.next === undefined;
        this.#give(isSilence ? this.#silence(ms) : decoder.recover(ms, pulled.next));
      }
      if (this.#isRefused || isOver(this.#state)) return;
    }
  }

  #silence(ms: Millis): Int16Array {
    return new Int16Array(Math.round((this.#state.start.inputRate * ms) / 1000));
  }

  #give(pcm: Int16Array): void {
    const bytes = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
    // Audio that a full engine does not take is lost, as it would be in a full network.
    if (!this.#options.events.audio(bytes)) this.#isRefused = true;
  }

  // ---- The machine ----

  #step(event: PeerCallEvent, now: Millis = this.#options.now()): void {
    for (const action of step(this.#state, event, now)) this.#perform(action);
  }

  #perform(action: PeerCallAction): void {
    switch (action.type) {
      case 'notify.connected':
        this.#options.connected();
        return;
      case 'notify.started':
        this.#options.events.started(this.#state.start);
        return;
      case 'close':
        this.#close();
        return;
      case 'notify.ended':
        this.#ended = action.reason;
        return;
    }
  }

  #close(): void {
    const { codec, now, unixMs, measured } = this.#options;
    this.#peer?.send(this.#reporter.goodbye(now(), unixMs()));
    this.#peer?.close();
    codec.decoder.free();
    codec.encoder.free();
    for (const stats of [...this.#earlier, this.#jitter.stats]) measured(stats);
  }

  #tellEnd(): void {
    const reason = this.#ended;
    if (reason === undefined) return;
    this.#ended = undefined;
    this.#options.events.ended(reason);
  }
}

const newJitterBuffer = (): JitterBuffer =>
  new JitterBuffer({
    clockRate: opusClockRate,
    frameTicks: opusClockRate / 50,
    ticksOf: (payload) => (opusPacketMs(payload) * opusClockRate) / 1000,
  });
