/**
 * One simulated caller: listens to the greeting, speaks, waits, listens to the answer, now and then talks over it, and
 * starts again. It sends a frame every 20 ms whatever happens, echoes marks when it has played what was before them, and
 * notes what it saw.
 */
import { CallClient } from './client.ts';
import type { Said, UpgradeHead, Wire } from './wire.ts';
import { answer, framesOfText, greeting, turn } from './script.ts';
import {
  Distribution,
  FrameWatch,
  frameMs,
  newFrameFindings,
  type FrameFindings,
} from '../report/statistics.ts';

/** Counted by all callers of a process together; replaced when a new measurement begins. */
export interface Findings {
  readonly frames: FrameFindings;
  /** From the last frame with sound to the first frame of the answer. */
  readonly response: Distribution;
  /** From the moment the speech was long enough to interrupt to `clear`. */
  readonly clear: Distribution;
  answers: number;
  framesReceived: number;
  /** Turns without an answer in time. */
  unanswered: number;
  /** Answers that ended early although nobody cut them. */
  short: number;
  talkOvers: number;
  /** Talk-overs that no `clear` followed. */
  unnoticed: number;
  /** Answers that began while the caller was still speaking. */
  premature: number;
  /** `clear` although the caller was silent. */
  unexpectedClears: number;
}

export const newFindings = (): Findings => ({
  frames: newFrameFindings(),
  response: new Distribution(),
  clear: new Distribution(),
  answers: 0,
  framesReceived: 0,
  unanswered: 0,
  short: 0,
  talkOvers: 0,
  unnoticed: 0,
  premature: 0,
  unexpectedClears: 0,
});

export interface CallerOptions {
  readonly address: { readonly host: string; readonly port: number };
  readonly start: { readonly sample_rate: number; readonly encoding: string };
  readonly wire: Wire;
  readonly head: UpgradeHead;
  readonly callId: string;
  /** Complete WebSocket frames. */
  readonly clips: readonly (readonly Buffer[])[];
  readonly silence: readonly Buffer[];
  readonly findings: () => Findings;
  readonly random: () => number;
  readonly failed: (reason: string) => void;
}

/** A real client's way from its loudspeaker to the wire. */
const markDelayMs = 15;
const answerTimeoutMs = 6_000;
const talkOverShare = 0.2;
/** A sound that nobody noticed a second after its end was not noticed. */
const unnoticedAfterMs = 1_000;
/** The service may hold its output this long after somebody spoke. */
const mayPauseMs = 1_500;

type State =
  | { readonly name: 'listening'; readonly expected: number; frames: number; readonly talkOverAt: number }
  | { readonly name: 'pausing'; readonly until: number }
  | { readonly name: 'speaking'; readonly clip: readonly Buffer[]; at: number }
  | { readonly name: 'waiting'; readonly since: number };

interface TalkOver {
  readonly confirmedAt: number;
  endedAt: number | undefined;
}

export class Caller {
  readonly #options: CallerOptions;
  readonly #client: CallClient;
  readonly #watch = new FrameWatch();
  #state: State = listening(greeting, Infinity);
  #marks: { readonly id: string; readonly at: number }[] = [];
  #talkOver: TalkOver | undefined;
  #spokeAt = Number.NEGATIVE_INFINITY;
  #silenceAt = 0;
  /** Set by `started`. */
  started = false;
  #stopping = false;

  constructor(options: CallerOptions) {
    this.#options = options;
    const { address, wire, start, callId, head } = options;
    const events = {
      opened: () => {
        for (const message of wire.begin(start, callId)) this.#client.sendMessage(message);
      },
      audio: () => this.#onAudio(performance.now()),
      message: (message: Record<string, unknown>) => this.#onSaid(wire.read(message)),
      closed: (reason: string) => {
        if (!this.#stopping) options.failed(reason);
      },
    };
    this.#client = new CallClient(address, events, head);
  }

  get isOpen(): boolean {
    return this.#client.isOpen && this.started;
  }

  hangUp(): void {
    this.#stopping = true;
    this.#client.sendMessage(this.#options.wire.end);
  }

  destroy(): void {
    this.#stopping = true;
    this.#client.destroy();
  }

  /** Every 20 ms: sends one frame and moves on. */
  tick(now: number): void {
    if (!this.isOpen) return;
    this.#echoMarks(now);
    this.#move(now);
    const state = this.#state;
    if (state.name === 'speaking') this.#sendVoice(state, now);
    else this.#sendSilence();
    this.#judgeTalkOver(now);
  }

  #sendVoice(state: Extract<State, { name: 'speaking' }>, now: number): void {
    const frame = state.clip[state.at];
    if (frame !== undefined) this.#client.sendFrame(frame);
    state.at += 1;
    this.#spokeAt = now;
    if (state.at < state.clip.length) return;
    if (this.#talkOver !== undefined) this.#talkOver.endedAt = now;
    this.#state = { name: 'waiting', since: now };
  }

  #sendSilence(): void {
    const { silence } = this.#options;
    const frame = silence[this.#silenceAt % silence.length];
    if (frame !== undefined) this.#client.sendFrame(frame);
    this.#silenceAt += 1;
  }

  #move(now: number): void {
    const state = this.#state;
    if (state.name === 'pausing' && now >= state.until) this.#speak();
    else if (state.name === 'waiting' && now - state.since > answerTimeoutMs) {
      this.#options.findings().unanswered += 1;
      this.#pause(now);
    } else if (state.name === 'listening') this.#listenOn(state, now);
  }

  #listenOn(state: Extract<State, { name: 'listening' }>, now: number): void {
    const playedAt = this.#watch.playedAt;
    if (now >= state.talkOverAt) {
      this.#options.findings().talkOvers += 1;
      // The first sound was recorded a frame before it is sent.
      this.#talkOver = {
        confirmedAt: now - frameMs + turn.interruptMinSpeechMs,
        endedAt: undefined,
      };
      this.#speak();
      return;
    }
    // The last frame may be shared by the tail of the sound and silence.
    const complete = state.frames >= state.expected - 1;
    if (playedAt === undefined || now < playedAt + (complete ? 100 : 2_000)) return;
    if (!complete) this.#options.findings().short += 1;
    this.#watch.end();
    this.#pause(now);
  }

  #speak(): void {
    const { clips, random } = this.#options;
    const clip = clips[Math.floor(random() * clips.length)] ?? [];
    this.#state = { name: 'speaking', clip, at: 0 };
  }

  #pause(now: number): void {
    this.#state = { name: 'pausing', until: now + 200 + this.#options.random() * 1_300 };
  }

  #judgeTalkOver(now: number): void {
    const talkOver = this.#talkOver;
    if (talkOver?.endedAt === undefined || now - talkOver.endedAt < unnoticedAfterMs) return;
    this.#options.findings().unnoticed += 1;
    this.#talkOver = undefined;
  }

  #onAudio(now: number): void {
    const findings = this.#options.findings();
    findings.framesReceived += 1;
    const state = this.#state;
    const mayPause = now - this.#spokeAt < mayPauseMs;
    if (state.name === 'waiting' && this.#talkOver === undefined) {
      findings.response.add(now - state.since);
      findings.answers += 1;
      this.#watch.end();
      this.#state = listening(answer, this.#talkOverTime(now));
    } else if (
      state.name === 'speaking' &&
      this.#talkOver === undefined &&
      this.#watch.playedAt === undefined
    ) {
      findings.premature += 1;
    }
    if (this.#state.name === 'listening') this.#state.frames += 1;
    this.#watch.frame(now, { findings: findings.frames, mayPause });
  }

  #talkOverTime(now: number): number {
    const { random } = this.#options;
    return random() < talkOverShare ? now + 600 + random() * 2_000 : Infinity;
  }

  #onSaid(said: Said | undefined): void {
    const now = performance.now();
    switch (said?.type) {
      case 'started':
        this.started = true;
        return;
      case 'audio':
        // A carrier is not told that its call has begun.
        this.started = true;
        this.#onAudio(now);
        return;
      case 'mark':
        this.#marks.push({ id: said.id, at: (this.#watch.playedAt ?? now) + markDelayMs });
        return;
      case 'clear':
        this.#onClear(now);
        return;
      case 'failed':
        if (!this.#stopping) this.#options.failed(said.reason);
        return;
      default:
    }
  }

  #onClear(now: number): void {
    const findings = this.#options.findings();
    this.#marks = [];
    this.#watch.end();
    if (this.#talkOver !== undefined) findings.clear.add(now - this.#talkOver.confirmedAt);
    else findings.unexpectedClears += 1;
    this.#talkOver = undefined;
  }

  #echoMarks(now: number): void {
    for (let mark = this.#marks[0]; mark !== undefined && now >= mark.at; mark = this.#marks[0]) {
      this.#marks.shift();
      this.#client.sendMessage(this.#options.wire.mark(mark.id));
    }
  }
}

function listening(text: string, talkOverAt: number): State {
  return { name: 'listening', expected: framesOfText(text), frames: 0, talkOverAt };
}
