/**
 * Both directions of one call's audio, wired together: the caller's way to VAD and STT, and the way of TTS to the transport.
 * It turns what happens to audio into facts for the core and performs the core's orders about audio. It decides nothing.
 */
import { unreachable } from '../../shared/base/assert.ts';
import { operatorRate } from '../../shared/monitor/messages.ts';
import { FRAME_MS, type Millis } from '../../shared/base/units.ts';
import type { CallServices } from './services.ts';
import type { CallJournal } from './journal.ts';
import type { CallAction } from '../core/actions.ts';
import type { CallEvent, PlayoutPosition } from '../core/events.ts';
import { Background } from '../media/background/background.ts';
import { newCallEcho, type CallEcho } from '../media/echo/echo.ts';
import { InboundAudio } from '../media/in/inbound.ts';
import { Murmur } from '../media/out/murmur.ts';
import { LiveVoice } from '../media/out/live-voice.ts';
import { OutboundAudio } from '../media/out/outbound.ts';
import { Playout, type PlayoutSink } from '../media/out/playout.ts';
import { AudioTap } from '../media/tap.ts';
import { SpeechDetector, type SpeechFact } from '../media/vad/speech-detector.ts';
import { speechEvent } from './speech-event.ts';
import { TurnClient } from '../media/vad/turn-client.ts';
import { VadClient } from '../media/vad/vad-client.ts';
import { vadFrameMs } from '../../shared/protocol/mailbox-slot.ts';
import type { TtsEvent, TtsSession } from '../stages/stage.ts';
import type { CallStt } from './stages.ts';
import { lawOf, type CallStart, type CallTransport } from '../transports/transport.ts';

/** Frames at the old end of the ring that may be written over while they are read. */
export const ringMarginFrames = 8;

/** What came late is there after so long, or was lost. */
const arrivesWithinMs = 600;

export interface CallAudioOptions {
  readonly services: CallServices;
  /** The call's mailbox. */
  readonly slot: number;
  readonly start: CallStart;
  readonly transport: CallTransport;
  /** The sessions of the call; a failed one is replaced while the call runs. */
  readonly stages: { readonly stt: CallStt; readonly tts: TtsSession };
  readonly journal?: CallJournal | undefined;
  /** Since when the caller waits for the agent in silence. */
  readonly waitsSince: () => Millis | undefined;
  /** Takes facts for the core. */
  readonly tell: (event: CallEvent) => void;
}

export class CallAudio {
  readonly #options: CallAudioOptions;
  readonly #inbound: InboundAudio;
  readonly #outbound: OutboundAudio;
  readonly #playout: Playout;
  readonly #background: Background | undefined;
  readonly #murmur: Murmur;
  /** Lines of the agent that has the call. */
  #lines: CallServices['tts'];
  readonly #vad: VadClient;
  readonly #echo: CallEcho;
  readonly #detector: SpeechDetector;
  /** Probability from which a frame counts as voice. */
  #threshold: number;
  readonly #turn: TurnClient;
  /** What was heard and sent, for the recorder of the call. */
  readonly tap: AudioTap;
  /** Who speaks to the caller in the agent's place. */
  readonly person: LiveVoice;
  /** The newest question to the turn model. */
  #ask = 0;
  /** First frame of the turn that STT hears, in the call's mailbox. */
  #turnFrom = 0;
  /** Audio of the turn that another worker heard, 16 kHz. */
  #earlierAudio: readonly Int16Array[] = [];
  /** When TTS delivered the first audio of the open context. */
  #audioAt: Millis | undefined;
  #ttsPaused = false;
  /** The core waits until VAD has heard the frame before this one. */
  #lateUntil: number | undefined;
  #lateSince: Millis = 0;

  constructor(options: CallAudioOptions) {
    this.#options = options;
    const { services, stages, start, slot, tell } = options;
    const { sampleRate, encoding, inputRate = sampleRate } = start;
    const detector = new SpeechDetector(services.speech, (fact) => tell(this.#heardFact(fact, detector)), {
      isEcho: () => this.#echo.isEcho(this.#now()),
      isOverAgent: () => this.#echo.isOverAgent(this.#now()),
    });
    this.#detector = detector;
    this.#threshold = services.speech.threshold;
    this.tap = new AudioTap(sampleRate, inputRate);
    this.person = new LiveVoice(sampleRate, operatorRate, services.lufs);
    this.#background = services.background && new Background(services.background, sampleRate);
    this.#murmur = new Murmur(sampleRate);
    this.#lines = services.tts;
    this.#outbound = new OutboundAudio({
      fromRate: stages.tts.sampleRate,
      toRate: sampleRate,
      encoding,
      lufs: services.lufs,
      taken: (pcm) => this.#onSent(pcm),
      backdrops: [...(this.#background ? [this.#background] : []), this.#murmur],
      person: this.person,
    });
    const { leadMs = 0 } = options.transport;
    this.#playout = new Playout(this.#outbound, {
      sink: this.#sink(),
      gridBefore: services.gridBefore,
      // Sound that was sent ahead is heard after a hold: none of it is left by the time a voice is confirmed.
      leadMs: () => (detector.hearsVoice ? 0 : leadMs),
    });
    this.#vad = new VadClient({
      boxes: services.boxes,
      slot,
      machineMs: services.machineMs,
      noise: services.noise,
      wake: services.wake,
      fellBack: (afterMs) => services.metrics.vadFallback.observe(afterMs / 1000),
      isEcho: () => !detector.isConfirmed && this.#echo.isKnownEcho(this.#now()),
      judged: (probability, frameMs, sound) => {
        detector.take(probability, frameMs, sound);
        const isLate = this.#vad.judged < (this.#lateUntil ?? Infinity);
        if (!isLate && probability < this.#threshold) this.#endLate();
      },
      peek: {
        isWanted: (sinceMs) => detector.wantsPeek(sinceMs),
        judged: (probability, sinceMs, sound) => detector.peek(probability, sinceMs, sound),
      },
    });
    this.#turn = new TurnClient({
      boxes: services.boxes,
      slot,
      machineMs: services.machineMs,
      wake: services.wake,
      judged: (probability) => tell({ type: 'turn.judged', ask: this.#ask, probability }),
    });
    this.#inbound = new InboundAudio({
      sampleRate: inputRate,
      encoding,
      vad: this.#vad,
      isTelephone: lawOf(start, options.transport) !== undefined,
      toStt: (pcm, ofLine) => void stages.stt.audio(pcm, ofLine),
      decoded: (pcm, now) => this.tap.heard(pcm, now),
      took: (pcm) => this.#echo.took(pcm),
    });
    this.#echo = newCallEcho({ mode: services.echo, sampleRate, heard: this.#inbound });
  }

  /** Another agent has the call, whose sessions the stages have. The sounds behind its voice, and how echo and noise are dealt with, stay as they were. */
  retune({ speech, tts }: Pick<CallServices, 'speech' | 'tts'>): void {
    this.#lines = tts;
    this.#threshold = speech.threshold;
    this.#detector.retune(speech);
    this.#outbound.retune(this.#options.stages.tts.sampleRate);
  }

  #heardFact(fact: SpeechFact, detector: SpeechDetector): CallEvent {
    const unjudgedMs = this.#unjudgedMs;
    if (fact === 'speech.stopped' && unjudgedMs > 0) this.#awaitJudgement(this.#vad.written);
    return speechEvent(fact, {
      position: this.position,
      isNoEcho: this.#echo.isClear,
      isFaint: detector.isFaint,
      isDoubtful: detector.isDoubtful,
      silenceMs: detector.silenceMs,
      quietMs: detector.quietMs,
      unjudgedMs,
      lastedMs: detector.lastedMs,
      belowCallerDb: detector.belowCallerDb,
    });
  }

  // ---- the caller's audio ----

  /** Takes caller audio in the call's encoding. False, and nothing taken, when the caller is too far ahead of time, or VAD is behind. */
  take(bytes: Uint8Array): boolean {
    return !this.isBehind && this.#inbound.push(bytes, this.#now());
  }

  /** Audio is there that came late, and VAD has enough of it: what it does not get to soon it would leave out. */
  get isBehind(): boolean {
    return this.#lateUntil !== undefined && this.#vad.isBusy;
  }

  /** Sends the caller's audio to STT from now on, beginning with the last moment. A fresh turn forgets the one before. */
  listen({ fresh }: { fresh: boolean }): void {
    if (fresh) {
      this.#turnFrom = this.#vad.frameBefore(this.#inbound.ungivenMs);
      this.#earlierAudio = [];
      this.#options.journal?.listening(this.#turnFrom, this.#vad.generation);
    }
    this.#inbound.listen();
  }

  /** What another worker heard of the running turn: it belongs in front of what is heard here. */
  keepEarlier(audio: readonly Int16Array[]): void {
    this.#earlierAudio = audio;
  }

  /** Gives STT what was heard of the running turn, as far as it is still there. */
  replay(): void {
    const { services, slot, stages } = this.#options;
    for (const pcm of this.#earlierAudio) stages.stt.audio(pcm);
    const mailbox = services.boxes.mailbox(slot);
    const oldest = mailbox.produced - services.boxes.layout.ringFrames + ringMarginFrames;
    const from = Math.max(this.#turnFrom, mailbox.base, oldest);
    for (const pcm of mailbox.copyFrom(from, this.#vad.generation)) stages.stt.audio(pcm);
    this.#inbound.replayed();
  }

  /** Asks the turn model whether the turn is complete; `turn.judged` answers. */
  judge(ask: number): void {
    this.#ask = ask;
    const { produced } = this.#options.services.boxes.mailbox(this.#options.slot);
    this.#turn.ask({ audioMs: Math.max(1, produced - this.#turnFrom) * vadFrameMs });
  }

  /** The client has been speaking for this long and nobody has taken it. */
  allowBacklog(ms: Millis): void {
    this.#inbound.allowBacklog(ms);
    const frames = Math.floor(ms / vadFrameMs);
    if (frames > 0) this.#awaitJudgement(this.#vad.written + frames);
  }

  /** Audio of the caller that is not judged yet: what VAD has of it, and what it gets later. */
  get #unjudgedMs(): Millis {
    const late = Math.max(0, (this.#lateUntil ?? 0) - this.#vad.judged);
    return Math.max(this.#vad.unjudgedMs, late * vadFrameMs);
  }

  /** A silence of the caller counts when VAD has judged the frames before this one. */
  #awaitJudgement(frame: number): void {
    this.#lateUntil = Math.max(frame, this.#lateUntil ?? 0);
    this.#lateSince = this.#now();
  }

  #endLate(): void {
    if (this.#lateUntil === undefined) return;
    this.#lateUntil = undefined;
    this.#options.tell({ type: 'voice.caught_up' });
  }

  /** STT has told words of what it heard. */
  heardWords(): void {
    this.#detector.heardWords();
  }

  stopListening(): void {
    this.#inbound.stopListening();
  }

  /** Looks for results of VAD and of the turn model. With `isAll` no audio of the caller waits to be taken. */
  collectSpeech(isAll: boolean): void {
    this.#vad.collect();
    if (isAll && this.#vad.isIdle && this.#now() - this.#lateSince > arrivesWithinMs) this.#endLate();
    this.#turn.collect();
  }

  /** Frames judged by energy because inference was away. */
  get judgedByEnergy(): number {
    return this.#vad.judgedByEnergy;
  }

  // ---- the agent's audio ----

  /** How far playback of the open context got on the wire. */
  get position(): PlayoutPosition {
    return { context: this.#outbound.context, sentMs: this.#outbound.sentMs };
  }

  /** When the next frame is due, as far as that is known. */
  get nextAt(): Millis {
    return this.#playout.nextAt;
  }

  /** Sends frames that are due. */
  advance(now: Millis): void {
    this.#background?.follow(this.#options.waitsSince, now);
    this.#playout.advance(now);
  }

  /** The client has told it, or a clock for a client that plays what it is sent at its time. */
  markPlayed(id: string): void {
    if (this.#options.transport.isLive !== true) this.#playout.markPlayed(id, this.#now());
  }

  /** Nothing is played any more. */
  silence(): void {
    this.#background?.end();
    this.#murmur.end();
    this.person.clear();
    this.#outbound.clear();
    this.#playout.interrupt();
  }

  /** The TTS session was replaced: nobody has asked the new one to pause. */
  ttsReopened(): void {
    this.#ttsPaused = false;
  }

  perform(action: Extract<CallAction, { type: `playout.${string}` }>): void {
    const outbound = this.#outbound;
    const playout = this.#playout;
    const { transport } = this.#options;
    switch (action.type) {
      case 'playout.murmur': {
        const line = this.#lines.known(action.text);
        if (line !== undefined) this.#murmur.say(line.pcm, this.#options.stages.tts.sampleRate);
        return;
      }
      case 'playout.open':
        this.#murmur.stop();
        outbound.open(action.context, action.from);
        // A worker that dies before the first frame leaves what an earlier one had sent.
        this.#options.journal?.played(outbound.context, outbound.sentSamples);
        playout.interrupt();
        this.#audioAt = undefined;
        this.#relieveTts();
        return;
      case 'playout.pause':
        // A voice that stands still at once fades, too.
        outbound.hold(action.duckMs ?? (outbound.isHeard ? FRAME_MS : 0));
        if (!outbound.held) return;
        playout.interrupt();
        this.#stands();
        return;
      case 'playout.duck':
      case 'playout.resume':
        outbound.release({ softly: action.type === 'playout.duck' });
        playout.advance(this.#now());
        return;
      case 'playout.clear':
        outbound.clear({ fades: transport.isLive === true });
        playout.interrupt(action.wire ? { clearedAt: this.#now() } : {});
        if (action.wire) {
          transport.sendClear(action.epoch);
          this.#stands();
          this.#options.services.metrics.interruptions.inc();
        }
        this.#relieveTts();
        return;
      case 'playout.mark':
        outbound.mark(action.context, action.id);
        playout.flushMarks();
        return;
      case 'playout.finish':
        outbound.finish(action.context);
        playout.advance(this.#now());
        return;
      default:
        unreachable(action);
    }
  }

  /** Takes what TTS says about audio. Anything of a context that is not open ends here. */
  onTts(event: Exclude<TtsEvent, { type: 'error' }>): void {
    const outbound = this.#outbound;
    const { context } = event;
    switch (event.type) {
      case 'audio':
        if (!outbound.write(context, event.pcm)) return;
        this.#audioAt ??= this.#now();
        if (outbound.overfull && !this.#ttsPaused) {
          this.#ttsPaused = true;
          this.#options.stages.tts.pause();
        }
        this.#goOn();
        return;
      case 'spoken':
        if (context !== outbound.context) return;
        this.#options.tell({
          type: 'tts.spoken',
          context,
          chars: event.chars,
          audioMs: outbound.deliveredMs,
        });
        return;
      case 'flushed':
        if (context !== outbound.context) return;
        this.#options.tell({ type: 'tts.flushed', context, audioMs: outbound.deliveredMs });
        outbound.finish(context);
        this.#goOn();
        return;
      case 'word': {
        if (context !== outbound.context) return;
        const { chars, startMs } = event;
        this.#options.tell({ type: 'tts.word', context, chars, startMs: outbound.baseMs + startMs });
        return;
      }
      case 'cancelled':
        return;
      default:
        unreachable(event);
    }
  }

  #goOn(): void {
    this.#playout.advance(this.#now());
    this.#options.services.wakeBy(this.#playout.nextAt);
  }

  /** Nothing of the agent follows for now. */
  #stands(): void {
    if (!this.#outbound.hasBackdrop) this.#options.transport.pause?.();
  }

  #onSent(pcm: Int16Array): void {
    const now = this.#now();
    this.#echo.sent(pcm, now);
    this.tap.sent(pcm, now);
  }

  /** Lets TTS go on once the queue has drained far enough. */
  #relieveTts(): void {
    if (!this.#ttsPaused || !this.#outbound.hasRoom) return;
    this.#ttsPaused = false;
    this.#options.stages.tts.resume();
  }

  #sink(): PlayoutSink {
    const { transport, tell, journal } = this.#options;
    const { metrics } = this.#options.services;
    const { sampleRate } = this.#options.start;
    return {
      stretchBegins: () => this.tap.pausedSending(),
      sendFrame: (frame) => {
        transport.sendAudio(frame, sampleRate);
        journal?.played(this.#outbound.context, this.#outbound.sentSamples);
        metrics.framesSent.inc();
        this.#relieveTts();
      },
      sendBackdrop: (frame) => {
        transport.sendBackdrop(frame, sampleRate);
        // The last of a voice that was cut.
        this.#stands();
      },
      sendMark: (mark) => {
        if (transport.sendMark(mark.id)) tell({ type: 'mark.sent', ...mark });
      },
      started: (context) => tell({ type: 'playout.started', context, audioAt: this.#audioAt ?? this.#now() }),
      drained: (context, sentMs) => tell({ type: 'playout.drained', context, sentMs }),
      late: (byMs) => metrics.frameLateness.observe(byMs / 1000),
      held: () => this.#stands(),
      underrun: () => metrics.underruns.inc(),
      starved: (context, sentMs) => tell({ type: 'playout.starved', context, sentMs }),
      fed: (context) => tell({ type: 'playout.fed', context }),
    };
  }

  #now(): Millis {
    return this.#options.services.clock.now();
  }
}
