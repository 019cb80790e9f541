/**
 * One simulated caller: listens to the greeting, speaks, waits, listens to the answer, now and then talks over it, and
 * starts again. It sends a frame every 20 ms whatever happens, echoes marks when it has played what was before them, and
 * notes what it saw.
 */
import { CallClient } from './client.ts';
import type { Said, UpgradeHead, Wire } from './wire.ts';
import { answer, excuses, framesOfText, greeting, turn } from './script.ts';
import { Story } from './story.ts';
import {
  Distribution,
  FrameWatch,
  frameMs,
  newFrameFindings,
  type FrameFindings,
} from '../report/statistics.ts';

/** Something that should not be, and what its caller did and heard before. */
export interface Incident {
  readonly what: string;
  readonly caller: string;
  /** On the clock of the frames. */
  readonly atMs: number;
  readonly story: string;
}

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
  /** Lines with which the service says that it has no answer. */
  excuses: number;
  talkOvers: number;
  /** Talk-overs that no `clear` followed. */
  unnoticed: number;
  /** Answers that began while the caller was still speaking. */
  premature: number;
  /** `clear` although the caller was silent. */
  unexpectedClears: number;
  /** The first few. */
  readonly incidents: Incident[];
}

export const newFindings = (): Findings => ({
  frames: newFrameFindings(),
  response: new Distribution(),
  clear: new Distribution(),
  answers: 0,
  framesReceived: 0,
  unanswered: 0,
  short: 0,
  excuses: 0,
  talkOvers: 0,
  unnoticed: 0,
  premature: 0,
  unexpectedClears: 0,
  incidents: [],
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
/** So many incidents are told of. */
const mostIncidents = 10;

type State =
  | { readonly name: 'listening'; readonly expected: number; readonly talkOverAt: number }
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
  /** Frames count from the first one of the answer on: the caller may still speak then. */
  #frames = 0;
  readonly #story = new Story();
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
    this.#wait(now);
    this.#story.note(now, 'fell silent');
  }

  #wait(now: number): void {
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
    if (state.name === 'pausing' && now >= state.until) {
      this.#watch.end();
      this.#speak(now);
    } else if (state.name === 'waiting' && now - state.since > answerTimeoutMs) {
      this.#options.findings().unanswered += 1;
      this.#tell('no answer', now);
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
      this.#speak(now);
      return;
    }
    // The last frame may be shared by the tail of the sound and silence.
    const complete = this.#frames >= state.expected - 1;
    if (playedAt === undefined || now < playedAt + (complete ? 100 : 2_000)) return;
    if (!complete) this.#noteShort(state.expected, now);
    this.#watch.end();
    this.#pause(now);
  }

  #noteShort(expected: number, now: number): void {
    const heard = `${this.#frames} of ${expected} frames`;
    if (excuses.some((text) => Math.abs(this.#frames - framesOfText(text)) <= 1)) {
      this.#options.findings().excuses += 1;
      this.#tell(`an excuse, by its length: ${heard}`, now);
    } else {
      this.#options.findings().short += 1;
      this.#tell(`broken off: ${heard}`, now);
    }
  }

  #tell(what: string, now: number): void {
    const { incidents } = this.#options.findings();
    if (incidents.length === mostIncidents) return;
    incidents.push({ what, caller: this.#options.callId, atMs: now, story: this.#story.told(now) });
  }

  #speak(now: number): void {
    const { clips, random } = this.#options;
    const clip = clips[Math.floor(random() * clips.length)] ?? [];
    this.#state = { name: 'speaking', clip, at: 0 };
    this.#story.note(now, this.#talkOver === undefined ? 'spoke' : 'spoke over the answer');
  }

  #pause(now: number): void {
    this.#state = { name: 'pausing', until: now + 200 + this.#options.random() * 1_300 };
  }

  #judgeTalkOver(now: number): void {
    const talkOver = this.#talkOver;
    if (talkOver?.endedAt === undefined || now - talkOver.endedAt < unnoticedAfterMs) return;
    this.#options.findings().unnoticed += 1;
    this.#tell('a talk-over that was not noticed', now);
    this.#talkOver = undefined;
    // The rest of the answer is no answer to what was said over it.
    if (this.#state.name === 'waiting' && (this.#watch.playedAt ?? 0) > now)
      this.#state = listening(answer, Infinity);
  }

  #onAudio(now: number): void {
    const findings = this.#options.findings();
    findings.framesReceived += 1;
    const mayPause = now - this.#spokeAt < mayPauseMs;
    const begins = this.#watch.playedAt === undefined;
    if (begins) this.#frames = 0;
    this.#frames += 1;
    this.#noteAnswer(begins, now);
    this.#watch.frame(now, { findings: findings.frames, mayPause });
  }

  #noteAnswer(begins: boolean, now: number): void {
    const findings = this.#options.findings();
    if (this.#talkOver !== undefined) return;
    if (this.#state.name === 'waiting') {
      if (begins) findings.response.add(now - this.#state.since);
      findings.answers += 1;
      this.#story.note(now, begins ? 'an answer began' : 'listened on');
      this.#state = listening(answer, this.#talkOverTime(now));
    } else if (this.#state.name === 'speaking' && begins) {
      findings.premature += 1;
      this.#story.note(now, 'an answer began too early');
    }
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
        this.#story.note(now, `mark after ${this.#frames} frames`);
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
    this.#story.note(now, `cut after ${this.#frames} frames`);
    if (this.#talkOver !== undefined) findings.clear.add(now - this.#talkOver.confirmedAt);
    else {
      findings.unexpectedClears += 1;
      this.#tell('cut although nobody talked over it', now);
      // The words that cut it are still to be answered.
      if (this.#state.name === 'listening') this.#wait(now);
    }
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
  return { name: 'listening', expected: framesOfText(text), talkOverAt };
}
