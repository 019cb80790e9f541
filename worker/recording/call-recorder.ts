/**
 * Records one call: sound from the tap, lines of the transcript, facts. Everything goes into the call's ring, which never waits for the
 * disk; what finds no room is lost, counted, and marked in the transcript where it is missing.
 *
 * Invariant: places of sound count from the beginning of the call, in whichever worker it is.
 */
import { present } from '../../shared/base/present.ts';
import type { Millis } from '../../shared/base/units.ts';
import { Redaction } from '../../shared/calls/privacy/redaction.ts';
import type { Redactor } from '../../shared/calls/privacy/redactor.ts';
import type { RecordingDefinition, RecordingPolicy } from '../../shared/recording/agent-file.ts';
import type { EntryKind, RecordingRing } from '../../shared/recording/ring.ts';
import type { CallObserver, CallStep, ObservedCall } from '../call/observer.ts';
import type { ToolBook } from '../core/settings.ts';
import { mayBeRecorded } from '../core/delivery/conversation.ts';
import type { CallState } from '../core/state.ts';
import type { AudioTap } from '../media/tap.ts';
import type { TransportEnd } from '../transports/transport.ts';
import { headLine, stepLine, WatchedTools } from './facts.ts';
import { Transcript, type TranscriptLine } from './transcript.ts';

export interface CallRecorderOptions {
  readonly call: ObservedCall;
  readonly ring: RecordingRing;
  readonly definition: RecordingDefinition;
  readonly privacy?: Redactor | undefined;
  readonly agent: string;
  readonly policy?: RecordingPolicy | undefined;
  readonly now: Millis;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
  /** Names the folder of the recording. */
  readonly name: string;
  /** So much was not written for want of room. */
  readonly lost: (what: 'audio' | 'lines') => void;
}

const encoder = new TextEncoder();

export class CallRecorder implements CallObserver {
  readonly #options: CallRecorderOptions;
  readonly #ring: RecordingRing;
  readonly #transcript: Transcript;
  /** Of each agent that the call has had. */
  readonly #tools: WatchedTools[] = [];
  #stopListening: () => void = () => undefined;
  /** Entries that found no room since the last line that says so. */
  #lostSound = 0;
  #lostLines = 0;
  #lostFacts = false;
  /** Without its first entry, nothing of a recording may be put in: it would be taken for the one before. */
  #isOpen = false;
  /** What is said now must not be kept. */
  #isPaused = false;
  #keepTail: (now: Millis) => void = () => undefined;

  constructor(options: CallRecorderOptions) {
    this.#options = options;
    this.#ring = options.ring;
    this.#transcript = new Transcript(new Redaction({ ...options.definition, privacy: options.privacy }));
  }

  watchTools(book: ToolBook): ToolBook {
    if (!this.#options.definition.facts) return book;
    const watched = new WatchedTools(book);
    this.#tools.push(watched);
    return watched;
  }

  begins({ state, tap, now }: { state: CallState; tap: AudioTap; now: Millis }): void {
    const { call, definition, name, agent, policy } = this.#options;
    const { start, startedAt, isResumed } = call;
    const since = now - startedAt;
    this.#transcript.begin({ ...state.keys, ...state.setup }, now);
    this.#isOpen = this.#push('open', since, name);
    if (!this.#isOpen) return;
    if (isResumed) this.#line({ type: 'taken_up' }, now);
    else {
      const started = new Date(this.#options.wallNow() - since).toISOString();
      const { callId, sampleRate: rate, route } = start;
      const { audio } = definition;
      const { audioFormat: audio_format, keepDays: keep_days } = policy ?? {};
      const kept = present({ route: route === '' ? undefined : route, audio_format, keep_days });
      this.#line({ type: 'call', call: callId, agent, started, rate, audio, ...kept }, now);
    }
    this.#pause(!mayBeRecorded(state), now);
    if (definition.audio) this.#listen(tap, now);
    if (!definition.facts) return;
    this.#headFact(state, { now, isTaken: isResumed });
  }

  /** What the core goes on from. */
  #headFact(state: CallState, { now, isTaken }: { readonly now: Millis; readonly isTaken: boolean }): void {
    const { call, agent } = this.#options;
    const { start, startedAt } = call;
    const { callId, metadata } = start;
    const { settings } = state.setup;
    this.#fact(headLine({ call: callId, agent, metadata, settings, state, startedAt, isTaken }), now);
  }

  stepped(step: CallStep): void {
    const { fact, orders, now, state } = step;
    const { definition } = this.#options;
    if (!this.#isOpen) return;
    if (definition.transcript) {
      this.#line(this.#transcript.fact(fact, now), now);
      for (const order of orders) {
        if (order.type === 'told')
          this.#line(
            this.#transcript.told(order.event, () => heardOf(state)),
            now,
          );
        if (order.type === 'call.end') this.#line({ type: 'ends', reason: order.reason }, now);
      }
    }
    // Words told in the step that pauses were said before it, and those told in the step that goes on were said in the pause.
    this.#pause(!mayBeRecorded(state), now);
    if (!definition.facts) return;
    const asked = this.#tools.flatMap((tools) => tools.takeAsked());
    // The settings of another agent, or node, come with it: the core goes on from here as in another worker.
    const isOther = fact.type === 'node.equipped' || orders.some(({ type }) => type === 'agent.enter');
    if (isOther) this.#headFact(state, { now, isTaken: true });
    else this.#fact(stepLine({ fact, orders, now }, { state, asked }), now);
  }

  ended(end: TransportEnd, now: Millis): void {
    this.#stopListening();
    if (!this.#isOpen) return;
    if (this.#isPaused) this.#keepTail(now);
    this.#line({ type: 'ended', end, ...(this.#lostFacts && { factsIncomplete: true }) }, now);
    this.#push('end', this.#since(now), '');
  }

  #pause(isPaused: boolean, now: Millis): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    this.#transcript.isPaused = isPaused;
    this.#line({ type: isPaused ? 'recording_paused' : 'recording_resumed' }, now);
  }

  #listen(tap: AudioTap, now: Millis): void {
    const { call } = this.#options;
    // Two workers have clocks of their own; the call's age is the same in both.
    const base = Math.round((this.#since(now) * call.start.sampleRate) / 1000);
    const keep = (kind: 'heard' | 'sent', pcm: Int16Array, at: number): void => {
      // A hole in the file is silence.
      if (this.#isPaused) return;
      const bytes = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
      if (this.#ring.push(kind, base + at, bytes)) return;
      if (this.#lostSound === 0) this.#options.lost('audio');
      this.#lostSound += pcm.length;
    };
    this.#keepTail = (at) => {
      const end = Math.round((this.#since(at) * call.start.sampleRate) / 1000);
      this.#ring.push('heard', Math.max(0, end - 1), new Uint8Array(2));
    };
    this.#stopListening = tap.listen(
      { heard: (pcm, at) => keep('heard', pcm, at), sent: (pcm, at) => keep('sent', pcm, at) },
      now,
      this.#since(now),
    );
  }

  #since(now: Millis): Millis {
    return now - this.#options.call.startedAt;
  }

  #line(line: TranscriptLine | undefined, now: Millis): void {
    if (line === undefined) return;
    const at = Math.round(this.#since(now));
    if (this.#lostSound > 0 || this.#lostLines > 0) {
      const { sampleRate } = this.#options.call.start;
      const soundMs = Math.round((this.#lostSound * 1000) / sampleRate);
      const gap = { at, type: 'lost', soundMs, lines: this.#lostLines };
      if (this.#push('line', at, `${JSON.stringify(gap)}\n`)) this.#lostSound = this.#lostLines = 0;
    }
    if (!this.#push('line', at, `${JSON.stringify({ at, ...line })}\n`)) this.#lostLines += 1;
  }

  #fact(text: string, now: Millis): void {
    // Facts after one that is missing cannot be replayed.
    if (this.#lostFacts) return;
    if (!this.#push('fact', this.#since(now), `${text}\n`)) this.#lostFacts = true;
  }

  #push(kind: EntryKind, at: number, text: string): boolean {
    const isThere = this.#ring.push(kind, at, encoder.encode(text));
    if (!isThere) this.#options.lost('lines');
    return isThere;
  }
}

/** What the agent said last, as far as the caller heard it. */
function heardOf(state: CallState): string {
  const last = state.conversation.history.messages.findLast(({ role }) => role === 'assistant');
  return last?.role === 'assistant' ? last.text : '';
}
