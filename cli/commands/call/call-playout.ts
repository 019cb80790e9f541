/**
 * The caller's loudspeaker, which plays the agent's audio on virtual time (docs/call-protocol.md, Playing and marks).
 *
 * Frames play one after the other in real time; a mark is due when the audio before it has finished playing; `clear` drops
 * what has not been played, marks included. Time is an argument in milliseconds since `started`, and never runs
 * backwards. Must not know sockets, clocks or files.
 */
import { assert } from '../../../shared/base/assert.ts';
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';
import { rmsDbfs } from '../../../shared/audio/pcm.ts';

/** A stretch of time, since `started`. */
export interface Span {
  readonly startMs: Millis;
  readonly endMs: Millis;
}

/** A stretch of agent speech: when it was played, and when its first audio came in. */
export interface AgentSpan extends Span {
  readonly arrivedMs: Millis;
}

export interface PlayoutOptions {
  /** Hz. */
  readonly sampleRate: number;
  /** How much is held back after a pause, so that a frame that comes late leaves no hole. Default 40. */
  readonly prebufferMs?: Millis;
  /** Audio that waits beyond this is refused. Default 60,000. */
  readonly maxWaitingMs?: Millis;
  /** What was played after this time is no longer kept. Default 1,800,000. */
  readonly maxHeardMs?: Millis;
}

interface Piece {
  /** First sample, counted from `started`. */
  readonly at: number;
  pcm: Int16Array;
}

const MAX_MARKS = 10_000;
/** Louder than this is speech; synthesisers leave their pauses close to digital silence. */
const SPEECH_DBFS = -50;
/** A shorter pause, as between two sentences, does not end a stretch of speech. */
const SPAN_GAP_MS = 500;

export class CallPlayout {
  readonly #rate: number;
  readonly #prebufferMs: Millis;
  readonly #maxWaitingMs: Millis;
  readonly #maxHeardMs: Millis;
  readonly #pieces: Piece[] = [];
  #marks: { readonly id: string; readonly end: number }[] = [];
  #speech: { startMs: Millis; endMs: Millis; arrivedMs: Millis }[] = [];
  /** A clear came: what follows is another stretch of speech, however short the pause. */
  #cut = false;
  /** The sample behind the last one that waits or was played. */
  #end = 0;

  constructor(options: PlayoutOptions) {
    this.#rate = options.sampleRate;
    this.#prebufferMs = options.prebufferMs ?? 40;
    this.#maxWaitingMs = options.maxWaitingMs ?? 60_000;
    this.#maxHeardMs = options.maxHeardMs ?? 1_800_000;
  }

  /** Takes audio that came in now; copies it. False when too much waits already: then nothing of it plays. */
  push(pcm: Int16Array, nowMs: Millis): boolean {
    if (this.waitingMs(nowMs) > this.#maxWaitingMs) return false;
    if (pcm.length === 0) return true;
    if (this.#end <= this.#sampleAt(nowMs)) this.#end = this.#sampleAt(nowMs + this.#prebufferMs);
    const at = this.#end;
    this.#end += pcm.length;
    if (this.#msAt(this.#end) <= this.#maxHeardMs) this.#pieces.push({ at, pcm: pcm.slice() });
    const frame = (this.#rate * FRAME_MS) / 1000;
    for (let from = 0; from < pcm.length; from += frame) {
      const part = pcm.subarray(from, from + frame);
      if (rmsDbfs(part) < SPEECH_DBFS) continue;
      this.#heardSpeech({ at: at + from, length: part.length, arrivedMs: nowMs });
    }
    return true;
  }

  /** Remembers a mark behind everything that was pushed. False when there are too many of them. */
  mark(id: string): boolean {
    if (this.#marks.length >= MAX_MARKS) return false;
    this.#marks.push({ id, end: this.#end });
    return true;
  }

  /** Drops what has not been played, and all marks that are not due. Gives the milliseconds of audio dropped. */
  clear(nowMs: Millis): Millis {
    const now = this.#sampleAt(nowMs);
    const droppedMs = this.waitingMs(nowMs);
    while (this.#pieces.length > 0) {
      const last = this.#pieces.at(-1);
      assert(last !== undefined, 'a list that is not empty has a last piece');
      if (last.at + last.pcm.length <= now) break;
      if (last.at < now) {
        last.pcm = last.pcm.slice(0, now - last.at);
        break;
      }
      this.#pieces.pop();
    }
    this.#end = Math.min(this.#end, now);
    this.#marks = [];
    this.#speech = this.#speech.filter((span) => span.startMs < nowMs);
    const running = this.#speech.at(-1);
    if (running !== undefined) running.endMs = Math.min(running.endMs, nowMs);
    this.#cut = true;
    return droppedMs;
  }

  /** The marks whose audio has finished by now, in order; each is given once. */
  finishedMarks(nowMs: Millis): readonly string[] {
    const now = this.#sampleAt(nowMs);
    const due = this.#marks.filter((mark) => mark.end <= now);
    if (due.length > 0) this.#marks = this.#marks.slice(due.length);
    return due.map((mark) => mark.id);
  }

  /** When the next mark is due; undefined without marks. */
  nextMarkMs(): Millis | undefined {
    const next = this.#marks[0];
    // One sample later than due: the division must not make it come a hair too early.
    return next === undefined ? undefined : this.#msAt(next.end + 1);
  }

  /** How much audio still waits, in milliseconds; audio that is held back after a pause counts. */
  waitingMs(nowMs: Millis): Millis {
    return Math.max(0, this.#msAt(this.#end) - nowMs);
  }

  /** The agent's speech by energy; the last stretch may end in the future. */
  speech(): readonly AgentSpan[] {
    return this.#speech;
  }

  /** What the caller has heard from `started` until now: silence where nothing played. */
  heard(nowMs: Millis): Int16Array {
    const length = this.#sampleAt(Math.min(nowMs, this.#maxHeardMs));
    const all = new Int16Array(length);
    for (const { at, pcm } of this.#pieces) {
      if (at < length) all.set(pcm.subarray(0, length - at), at);
    }
    return all;
  }

  #heardSpeech(part: { readonly at: number; readonly length: number; readonly arrivedMs: Millis }): void {
    const startMs = this.#msAt(part.at);
    const endMs = this.#msAt(part.at + part.length);
    const last = this.#speech.at(-1);
    if (last !== undefined && !this.#cut && startMs - last.endMs < SPAN_GAP_MS) {
      last.endMs = endMs;
      return;
    }
    this.#cut = false;
    this.#speech.push({ startMs, endMs, arrivedMs: part.arrivedMs });
  }

  #sampleAt(ms: Millis): number {
    return Math.floor((ms * this.#rate) / 1000);
  }

  #msAt(sample: number): Millis {
    return (sample * 1000) / this.#rate;
  }
}
