/**
 * A SIP call as the engine sees it: RTP on the socket that the supervisor gave, signalling by messages to the supervisor. Audio goes out
 * as the engine paces it, and silence in between, so that ways through translations stay open. The wire has no marks: what was sent is
 * taken for heard after the time that a phone's buffer takes.
 */
import type { RemoteInfo } from 'node:dgram';
import { flag, list, maybe, number, opaque, record, text, time, versionOf } from '../../shared/base/codec.ts';
import { FRAME_MS, type Millis } from '../../shared/base/units.ts';
import type { Law } from '../../shared/audio/law.ts';
import { int16View } from '../../shared/audio/pcm.ts';
import { sipClockRate, sipCodecRate, type SipCodec, type SipMedia } from '../../shared/sip/calls.ts';
import { RtcpReporter } from '../media/rtp/rtcp.ts';
import { freeOpus } from '../media/opus/opus.ts';
import { isRtcp } from '../media/rtp/rtp.ts';
import { Srtcp, type SrtcpPlace } from '../media/rtp/srtp.ts';
import type { CallStart, CallTransport, HeardLine, TransportEnd } from '../transports/transport.ts';
import type { SipCallOptions } from './line.ts';
import { RtpIn } from './rtp-in.ts';
import { RtpOut, rtpOutCodec, type RtpOutState } from './rtp-out.ts';

// Keys that a peer sends twice, as events with the audio and as messages (INFO): both are one press. Of each way the presses that the other
// has not told yet are remembered for a while.

/** A message over UDP may be lost and repeated a few times, and some peers send it when the key is let go. */
const mostApartMs = 5_000;
/** As many as anybody presses in that time. */
const mostWaiting = 32;

type Way = 'audio' | 'message';

export class TwoWays {
  readonly #waiting: { readonly digit: string; readonly way: Way; readonly at: Millis }[] = [];

  /** False for a press that has been told by the other way. */
  isPress(digit: string, way: Way, now: Millis): boolean {
    const waiting = this.#waiting;
    while (waiting[0] !== undefined && (now - waiting[0].at > mostApartMs || waiting.length >= mostWaiting))
      waiting.shift();
    const index = waiting.findIndex((press) => press.digit === digit && press.way !== way);
    if (index >= 0) waiting.splice(index, 1);
    else waiting.push({ digit, way, at: now });
    return index < 0;
  }
}

/** What a phone holds back before it plays, and the way there. */
const playoutMs = 100;
/** A peer that should send and sends nothing for so long is not there any more, whatever signalling says. */
const vanishedMs = 120_000;
/** The last words are on their way before the call is hung up. */
const lingerMs = 200;
/** The fixed interval of RFC 3550, 6.2. */
const reportEveryMs = 5_000;

interface SipCallState {
  phase: 'starting' | 'open' | 'over';
  media: SipMedia;
  /** Of the audio, in Hz, for as long as the call lasts: the engine's, whatever codec both sides change to. */
  rate: number;
  /** The peer has agreed: audio flows. */
  isOpen: boolean;
  /** Where the peer's audio comes from, which is where it wants its own (symmetric RTP). */
  peer: { readonly address: string; readonly port: number } | undefined;
  heardAt: Millis;
  marks: { readonly id: string; readonly at: Millis }[];
  out: RtpOutState | undefined;
  /** Where the peer's encrypted stream stands. */
  srtp: { readonly ssrc: number; readonly index: number } | undefined;
  /** Where the encrypted reports of both sides stand. */
  srtcp: SrtcpPlace;
}

const stateCodec = record<SipCallState>({
  phase: text<SipCallState['phase']>(),
  media: opaque<SipMedia>(),
  rate: number,
  isOpen: flag,
  peer: maybe(opaque<NonNullable<SipCallState['peer']>>()),
  heardAt: time,
  marks: list(record<SipCallState['marks'][number]>({ id: text(), at: time })),
  out: maybe(rtpOutCodec),
  srtp: maybe(opaque<NonNullable<SipCallState['srtp']>>()),
  srtcp: record<SrtcpPlace>({ sent: number, heard: number }),
});

const kind = `sip ${versionOf(stateCodec)}`;

export class SipCall implements CallTransport {
  readonly isLive = true;
  readonly #options: SipCallOptions;
  readonly #state: SipCallState;
  readonly #in: RtpIn;
  readonly #twoWays = new TwoWays();
  readonly #out: RtpOut;
  #ended: TransportEnd | undefined;
  #hangUpAt: Millis | undefined;
  #isClosed = false;
  /** Where the peer has moved from: what is still on its way from there does not bring it back. */
  #left: { readonly address: string; readonly port: number; readonly until: Millis } | undefined;
  readonly #reporter: RtcpReporter;
  #reportAt: Millis;
  #srtcp: Srtcp | undefined;
  readonly #scratch = new Int16Array(960);

  constructor(options: SipCallOptions) {
    this.#options = options;
    const { offer, socket, saved, scope, now, events } = options;
    if (saved !== undefined && saved.kind !== kind)
      throw new TypeError('the saved call is of another version');
    const { media, isOpen } = offer;
    // The session that both sides agreed on while no worker had the call stands in the offer.
    const fresh = {
      phase: 'starting' as const,
      rate: sipCodecRate(media.codec),
      peer: undefined,
      heardAt: now(),
      marks: [],
      out: undefined,
      srtp: undefined,
      srtcp: { sent: 0, heard: 0 },
    };
    const left = saved === undefined ? fresh : stateCodec.read(saved.json, saved.shiftMs);
    this.#state = { ...left, media, isOpen: isOpen || left.phase === 'open' };
    const codec = { rate: left.rate, opus: options.opus };
    this.#in = new RtpIn(
      media,
      {
        audio: (pcm) => void events.audio(pcm),
        key: (digit) => this.#pressed(digit, 'audio'),
        arrived: (packet) => this.#reporter.arrived(packet, now()),
      },
      codec,
    );
    if (left.srtp !== undefined) this.#in.restore(left.srtp);
    // Packets sent since it was saved have used some.
    if (saved !== undefined) left.srtcp.sent += 1_000;
    this.#srtcp = srtcpOf(media, left.srtcp);
    this.#out = new RtpOut(media, {
      random: options.random,
      saved: this.#state.out,
      now: now(),
      ...codec,
      send: (packet, of) => {
        if (this.#send(packet)) this.#reporter.sent(of, now());
      },
    });
    this.#reporter = new RtcpReporter({
      ssrc: this.#out.state.ssrc,
      clockRate: sipClockRate(media.codec),
    });
    this.#reportAt = now() + reportEveryMs;
    socket.on(
      'message',
      scope.bind((packet: Buffer, from: RemoteInfo) => this.#received(packet, from)),
    );
    // A peer that is not there any more is noticed by its silence, or says so itself.
    socket.on('error', () => undefined);
  }

  /** Tells the engine of a new call. */
  begin(): void {
    this.#options.events.started(this.#start());
  }

  restart(): void {
    if (this.#state.phase === 'starting') this.begin();
  }

  #start(): CallStart {
    const { callId, metadata } = this.#options.offer;
    return { callId, sampleRate: this.#state.rate, encoding: 'pcm16', metadata };
  }

  // ---- orders of the engine ----

  get law(): Law | undefined {
    return lawsOf[this.#state.media.codec];
  }

  get heardLine(): HeardLine | undefined {
    const heard = this.#reporter.heard;
    return heard && { ...heard, codec: this.#state.media.codec };
  }

  get bufferedBytes(): number {
    return 0;
  }

  accept(): void {
    if (this.#state.phase !== 'starting') return;
    this.#state.phase = 'open';
    this.#options.line.accept();
  }

  refuse(): void {
    if (this.#state.phase === 'over') return;
    this.#options.line.refuse();
    this.#over('engine');
  }

  sendAudio(frame: Buffer, rate: number): void {
    if (this.#state.phase !== 'open' || rate !== this.#state.rate) return;
    this.#out.frame(int16View(frame, this.#scratch), this.#options.now());
  }

  /** What waits is the agent's, and would never come to its turn in a stream without pauses. */
  sendBackdrop(frame: Buffer, rate: number): void {
    if (this.#state.isOpen && this.#out.waitingMs === 0) this.sendAudio(frame, rate);
  }

  sendClear(): void {
    this.#out.clear();
    this.#state.marks = [];
  }

  sendMark(id: string): boolean {
    if (this.#state.phase !== 'open') return false;
    this.#state.marks.push({ id, at: this.#options.now() + this.#out.waitingMs + playoutMs });
    return true;
  }

  sendKeys(digits: string): boolean {
    return this.#state.phase === 'open' && this.#out.press(digits);
  }

  tell(): void {
    // A phone does not follow what is told of the conversation.
  }

  end(reason: 'ended' | 'shutdown'): void {
    if (this.#state.phase === 'over') return;
    const wait = reason === 'ended' && this.#state.phase === 'open' ? this.#out.waitingMs + lingerMs : 0;
    this.#hangUpAt ??= this.#options.now() + wait;
  }

  fail(): void {
    if (this.#state.phase === 'over') return;
    this.#state.phase = 'over';
    this.#options.line.hangUp();
    // The engine does not come back to a call that broke.
    this.#close();
  }

  inputTaken(): void {
    // Audio that the engine did not take is gone: nobody can make a phone wait.
  }

  save(): { readonly kind: string; readonly json: string } {
    return { kind, json: stateCodec.write({ ...this.#state, out: this.#out.state, srtp: this.#in.place }) };
  }

  tick(now: Millis): void {
    if (this.#hangUpAt !== undefined && now >= this.#hangUpAt && this.#state.phase !== 'over') {
      this.#options.line.hangUp();
      this.#over('engine');
    }
    if (this.#state.phase !== 'over') {
      this.#in.tick(now);
      if (this.#state.isOpen) this.#out.tick(now);
      this.#echoMarks(now);
      this.#noteAbsence(now);
      this.#report(now);
    }
    this.#tellEnd();
  }

  /** A peer on hold owes no audio, and its time begins anew when it comes back. */
  #noteAbsence(now: Millis): void {
    const { isOpen, media, phase } = this.#state;
    if (!isOpen || !media.receives) this.#state.heardAt = now;
    else if (phase === 'open' && now - this.#state.heardAt > vanishedMs) {
      this.#options.line.hangUp();
      this.#over('disconnected');
    }
  }

  #echoMarks(now: Millis): void {
    const { marks } = this.#state;
    while (marks[0] !== undefined && marks[0].at <= now) {
      const mark = marks.shift();
      if (mark !== undefined) this.#options.events.markPlayed(mark.id);
    }
  }

  // ---- the supervisor ----

  /** The peer has acknowledged the answer. */
  opened(): void {
    this.#state.isOpen = true;
    this.#out.open(this.#options.now());
  }

  agreed(media: SipMedia): void {
    const { remote } = this.#state.media;
    const isMoved = remote?.address !== media.remote?.address || remote?.port !== media.remote?.port;
    // Where it said that it moves to counts until it is heard from there.
    if (isMoved) {
      const { peer } = this.#state;
      this.#left = peer && { ...peer, until: this.#options.now() + 50 * FRAME_MS };
      this.#state.peer = undefined;
    }
    const before = this.#state.media.keys;
    if (before?.local !== media.keys?.local || before?.remote !== media.keys?.remote) {
      if (before?.remote !== media.keys?.remote) this.#state.srtcp.heard = 0;
      this.#srtcp = srtcpOf(media, this.#state.srtcp);
    }
    this.#state.media = media;
    this.#in.agreed(media);
    this.#out.agreed(media);
  }

  digit(digit: string): void {
    if (this.#state.phase !== 'over') this.#pressed(digit, 'message');
  }

  #pressed(digit: string, way: 'audio' | 'message'): void {
    const { events, now } = this.#options;
    if (this.#twoWays.isPress(digit, way, now())) events.dtmf(digit);
  }

  closed(reason: 'hangup' | 'disconnected'): void {
    this.#over(reason);
    this.#tellEnd();
  }

  // ---- the wire ----

  #received(packet: Buffer, from: RemoteInfo): void {
    if (this.#state.phase === 'over') return;
    const now = this.#options.now();
    if (isRtcp(packet)) {
      const report = this.#srtcp === undefined ? packet : this.#srtcp.open(packet);
      if (report !== undefined) this.#reporter.read(report, now, this.#options.unixMs());
      return;
    }
    const isPeer = this.#state.peer?.address === from.address && this.#state.peer.port === from.port;
    if (!this.#mayBePeer(from, isPeer, now)) return;
    if (!this.#in.take(packet, now)) return;
    this.#state.heardAt = now;
    if (!isPeer) this.#state.peer = { address: from.address, port: from.port };
  }

  /**
   * The first who sends valid audio is the peer, for its own idea of its address may lie behind a translation. Another port of the same
   * machine becomes it only where the first has fallen silent, and another machine only where the peer has named it, or proves by its keys
   * that it is the peer: a stranger that guesses the port takes over no call, not even a silent one.
   */
  #mayBePeer(from: RemoteInfo, isPeer: boolean, now: Millis): boolean {
    const { remote, keys } = this.#state.media;
    if (isPeer || (remote?.address === from.address && remote.port === from.port)) return true;
    const { address, port, until = 0 } = this.#left ?? {};
    if (this.#state.peer === undefined) return now >= until || address !== from.address || port !== from.port;
    const isKnown = keys !== undefined || [this.#state.peer.address, remote?.address].includes(from.address);
    return isKnown && now - this.#state.heardAt > 50 * FRAME_MS;
  }

  #send(packet: Buffer): boolean {
    const { media, peer } = this.#state;
    const to = peer ?? media.remote;
    if (to === undefined || !media.sends) return false;
    this.#options.socket.send(packet, to.port, to.address, sent);
    return true;
  }

  /** Tells the peer how its audio arrives. */
  #report(now: Millis, last?: () => void): boolean {
    const { media, peer, isOpen } = this.#state;
    const to = peer ?? media.remote;
    if (!isOpen || to === undefined || (now < this.#reportAt && last === undefined)) return false;
    this.#reportAt = now + reportEveryMs;
    const isWhereItSaid = to.port === media.remote?.port;
    const beside = isWhereItSaid ? media.remote.rtcpPort : to.port + 1;
    const port = media.rtcpMux === true ? to.port : beside;
    if (port > 65_535) return false;
    const unixMs = this.#options.unixMs();
    const plain =
      last === undefined ? this.#reporter.report(now, unixMs) : this.#reporter.goodbye(now, unixMs);
    this.#options.socket.send(this.#srtcp?.close(plain) ?? plain, port, to.address, last ?? sent);
    return true;
  }

  // ---- the end ----

  #over(reason: TransportEnd): void {
    if (this.#state.phase === 'over') return;
    this.#state.phase = 'over';
    this.#ended = reason;
  }

  #tellEnd(): void {
    const reason = this.#ended;
    if (reason === undefined) return;
    this.#ended = undefined;
    this.#options.events.ended(reason);
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#options.opus !== undefined) freeOpus(this.#options.opus);
    // A packet is on its way only when the socket says so: a socket that is closed before sends nothing.
    const close = (): void => void this.#options.socket.close();
    if (!this.#report(this.#options.now(), close)) close();
    this.#options.line.over();
  }
}

/** Of codecs that are G.711. */
const lawsOf: Partial<Record<SipCodec, Law>> = { PCMU: 'mulaw', PCMA: 'alaw' };

const srtcpOf = ({ keys }: SipMedia, place: SrtcpPlace): Srtcp | undefined => keys && new Srtcp(keys, place);

/** Without a callback an error on the way to a peer would be thrown. */
const sent = (): void => undefined;
