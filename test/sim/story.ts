/**
 * What the judges know of a call, from facts, orders and the world alone. It is a model of its own: nothing in it is read
 * from the state of the core.
 */
import type { CallAction } from '../../worker/core/actions.ts';
import type { CallEvent } from '../../worker/core/events.ts';
import type { Client } from './client.ts';
import type { Plan } from './plan.ts';
import type { SimTts } from './sim-tts.ts';
import type { Note, SimLlm, SimStt } from './stages.ts';

export interface Violation {
  readonly at: number;
  readonly rule: string;
  readonly detail: string;
}

export interface Witnesses {
  readonly plan: Plan;
  readonly client: Client;
  readonly tts: SimTts;
  readonly stt: SimStt;
  readonly llm: SimLlm;
}

/** One step of the core as the judges see it. */
export interface Scene {
  readonly now: number;
  readonly event: CallEvent;
  readonly note: Note;
  readonly actions: readonly CallAction[];
  has(type: CallAction['type']): boolean;
}

export interface StoryMark {
  readonly saidChars: number;
  sentAt: number | undefined;
  echoed: boolean;
}

/** A response by its context. */
export interface StoryResponse {
  readonly context: number;
  readonly round: number | undefined;
  /** TTS broke off in the response before; this one speaks the rest of it. */
  readonly continues: boolean;
  readonly usersBefore: number;
  said: string;
  flushed: boolean;
  stopped: boolean;
  hangUp: boolean;
  broken: boolean;
  startedAt: number | undefined;
  drainedAt: number | undefined;
  drainedMs: number;
  reported: { chars: number; ms: number };
  readonly marks: Map<string, StoryMark>;
  echoedChars: number;
  heldFrom: number | undefined;
  /** When the output last went on after having been held. */
  resumedAt: number | undefined;
}

/** What the context may hold of a response that is over: a number of whole words between two bounds. */
export interface Remembered {
  readonly words: readonly string[];
  readonly usersBefore: number;
  readonly usersAfter: number;
  /** The response that was broken off and goes on in this one. */
  readonly continues: Remembered | undefined;
  bounds(): { least: number; most: number };
}

export type Mouth = 'none' | 'candidate' | 'fading' | 'turn' | 'pausing' | 'finalizing';

export class Story {
  readonly witnesses: Witnesses;
  readonly violations: Violation[] = [];
  readonly #timers = new Map<string, { by: number; rule: string }>();
  openedAt: number | undefined;
  over = false;
  mouth: Mouth = 'none';
  voice = false;
  response: StoryResponse | undefined;
  running: number | undefined;
  lastEpoch = 0;
  lastContext = 0;
  readonly finishedRounds: number[] = [];
  readonly closedContexts: number[] = [];
  readonly users: string[] = [];
  readonly remembered: Remembered[] = [];
  notesOwed = false;
  echoKnown = false;
  /** From sending a mark to its echo; 0 until one was measured. */
  echoDelayMs = 0;
  newestMark: { id: string; sentAt: number } | undefined;
  readonly faultsInARow = { stt: 0, llm: 0, tts: 0, call: 0 };

  constructor(witnesses: Witnesses) {
    this.witnesses = witnesses;
  }

  get settings(): Plan['settings'] {
    return this.witnesses.plan.settings;
  }

  fail(now: number, rule: string, detail = ''): void {
    this.violations.push({ at: now, rule, detail });
  }

  demand(now: number, holds: boolean, rule: string): void {
    if (!holds) this.fail(now, rule);
  }

  /** Something must happen by then; `done` says that it has, or that it need not any more. */
  await(name: string, by: number, rule: string): void {
    this.#timers.set(name, { by: by + 60, rule });
  }

  awaits(name: string): boolean {
    return this.#timers.has(name);
  }

  done(name: string): void {
    this.#timers.delete(name);
  }

  checkTimers(now: number): void {
    if (this.over) return;
    for (const { by, rule } of this.#timers.values()) if (now > by) this.fail(now, rule);
  }

  /** The response may not be cut or held any more. */
  get farewell(): boolean {
    return this.response?.hangUp === true;
  }

  get interruptible(): boolean {
    return this.settings.interrupt.enabled && !this.farewell;
  }

  get ending(): boolean {
    const { stt, llm } = this.faultsInARow;
    return (
      this.overtime || stt >= this.settings.limits.stageFailures || llm >= this.settings.limits.stageFailures
    );
  }

  overtime = false;
  /** The farewell has been spoken. */
  lastHangUp = false;
}
