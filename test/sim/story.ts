/**
 * What the judges know of a call, from facts, orders and the world alone. It is a model of its own: nothing in it is read
 * from the state of the core.
 */
import type { FaultStage } from '../../worker/core/told.ts';
import type { Order } from '../support/core/order.ts';
import type { CallEvent } from '../../worker/core/events.ts';
import type { Client } from './world/client.ts';
import type { Plan } from './plan.ts';
import type { SimLlm } from './world/sim-llm.ts';
import type { SimStt } from './world/sim-stt.ts';
import type { SimTts } from './world/sim-tts.ts';
import type { Note } from './world/sim-world.ts';
import { VoiceHealth } from './world/voice-health.ts';

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
  readonly actions: readonly Order[];
  has(type: Order['type']): boolean;
}

export interface StoryMark {
  /** Where it stands in the audio, and in what was said; 0 for one within a piece. */
  readonly atMs: number;
  readonly saidChars: number;
  sentAt: number | undefined;
  /** It went out right behind a frame. */
  inFlow: boolean;
  echoed: boolean;
}

/** A response by its context. */
export interface StoryResponse {
  readonly context: number;
  /** The request whose text it speaks; undefined for a line. */
  readonly round: number | undefined;
  /** TTS broke off in the response before; this one speaks the rest of it. */
  readonly continues: boolean;
  readonly usersBefore: number;
  /** Another worker had begun it. */
  readonly takenOver: boolean;
  /** Everything given to TTS, and that without fillers. */
  said: string;
  plain: string;
  flushed: boolean;
  /** It begins with the announcement. */
  announced: boolean;
  interruptible: boolean;
  hangUp: boolean;
  /** A farewell that the call ends behind whatever is said into it: certainly, or as far as the judges know. */
  final: 'surely' | 'perhaps' | undefined;
  broken: boolean;
  startedAt: number | undefined;
  drainedAt: number | undefined;
  drainedMs: number;
  reported: { chars: number; ms: number };
  readonly marks: Map<string, StoryMark>;
  echoedChars: number;
  /** The transport has said how much of it was played. */
  acknowledged: boolean;
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

/** What the caller brought into the context. */
export interface Said {
  readonly words: readonly string[];
  /** It must be there, with exactly these words; else it may be there with some of them. */
  readonly exact: boolean;
  readonly needed: boolean;
}

/**
 * Nobody; a possible interruption; one that died and whose words may still count; a turn of the caller's own; one that is over and
 * waits for its text.
 */
export type Mouth = 'none' | 'candidate' | 'aside' | 'own' | 'deciding';

export class Story {
  readonly witnesses: Witnesses;
  readonly violations: Violation[] = [];
  #ending = false;
  readonly #timers = new Map<string, { by: number; rule: string }>();
  openedAt: number | undefined;
  over = false;
  overtime = false;
  mouth: Mouth = 'none';
  voice = false;
  /** The output stands at a sample. */
  held = false;
  /** It goes on softly until it is known what the caller said. */
  ducked = false;
  /** The voice goes on although the words of its turn have ended: it is not the caller's. */
  isBackground = false;
  response: StoryResponse | undefined;
  /** The request that runs. */
  running: number | undefined;
  /** The request that was made before its turn was over, as long as it may still be the answer. */
  speculative: { round: number; words: readonly string[]; hangsUp: boolean } | undefined;
  /** The turn that was decided in this step: since when its answer is owed. */
  decided: { since: number; words: readonly string[]; exact: boolean; needed: boolean } | undefined;
  lastEpoch = 0;
  lastContext = 0;
  lastRound = 0;
  readonly finishedRounds: number[] = [];
  readonly closedContexts: number[] = [];
  readonly users: Said[] = [];
  readonly remembered: Remembered[] = [];
  notesOwed = false;
  /** Keys were pressed that are no entry yet: a turn waits for them. */
  pressing = false;
  echoKnown = false;
  /** From sending a mark to its echo; 0 until one was measured. */
  echoDelayMs = 0;
  newestMark: { id: string; sentAt: number } | undefined;
  lastFrameAt = -Infinity;
  readonly tts: VoiceHealth;
  readonly faults = { stt: 0, llm: 0, tts: 0, call: 0 };
  readonly #failedAt = { stt: 0, llm: 0, tts: 0, call: 0 };
  readonly #failingMs = { stt: 0, llm: 0, tts: 0, call: 0 };
  /** The farewell has been spoken. */
  lastHangUp = false;
  /** The caller spoke into a farewell: into its middle, up to its end, or with something that was answered. */
  parting: 'none' | 'cut' | 'heard' | 'refused' = 'none';

  constructor(witnesses: Witnesses) {
    this.witnesses = witnesses;
    this.tts = new VoiceHealth(witnesses.plan.settings);
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

  get interruptible(): boolean {
    const { response } = this;
    return (
      this.settings.interrupt.enabled && response?.interruptible === true && response.final === undefined
    );
  }

  /** The running response is a farewell. */
  takesLeave(response: StoryResponse): void {
    response.hangUp = true;
    if (this.overtime || this.tts.givenUp) response.final = 'surely';
    else if (this.parting !== 'none' || this.ending) response.final ??= 'perhaps';
  }

  /** The farewell is over, and what waits behind it comes before the end. */
  leaves(): void {
    this.#ending = true;
  }

  /** The call may be on its way to its end; what waits need not be done any more. */
  get ending(): boolean {
    this.#ending ||= this.overtime;
    return this.#ending;
  }

  /** The first text of an answer that is given to TTS here; a filler for it is none. */
  answerIn(actions: readonly Order[]): Extract<Order, { type: 'tts.speak' }> | undefined {
    const { fillers, lateLines } = this.settings;
    const waits = [...fillers, ...lateLines].map(flat);
    return actions
      .filter((action) => action.type === 'tts.speak')
      .find(({ text }) => !waits.includes(flat(text)));
  }

  noteFault(stage: FaultStage, now: number): void {
    const gapMs = Math.min(now - this.#failedAt[stage], 15_000);
    this.#failingMs[stage] = this.faults[stage] === 0 ? 0 : this.#failingMs[stage] + gapMs;
    this.#failedAt[stage] = now;
    this.faults[stage] += 1;
    this.#ending ||= this.isHopeless(stage);
    if (stage === 'tts') this.tts.fault(now);
  }

  /** Failed too often, and for too long. */
  isHopeless(stage: FaultStage): boolean {
    const { limits, outage } = this.settings;
    return this.faults[stage] >= limits.stageFailures && this.#failingMs[stage] >= outage.keepMs;
  }
}

/** Words as they are written, whatever TTS was told to say. */
export const wordsOf = (said: string): string[] =>
  said
    .replaceAll('sequel', 'SQL')
    .split(/\s+/)
    .filter((word) => word !== '');

/** Words of the caller that say something. */
export const telling = (words: readonly string[]): string[] =>
  words.filter((word) => /^(?:say|and)\d*$/.test(word));

/** A line of somebody else is spoken. */
export const isLine = (action: Order): boolean =>
  action.type === 'tts.speak' && action.text.startsWith('line');

/** As it was written, on one line. */
export const flat = (text: string): string => text.replaceAll('sequel', 'SQL').replace(/\s+/g, ' ').trim();

/** STT is asked for the text; asking the next session once more what the last one owed decides nothing. */
export function isDecision({ actions }: Scene): boolean {
  const asked = actions.findIndex(({ type }) => type === 'stt.finalize');
  const reopened = actions.findIndex(({ type }) => type === 'stt.reopen');
  return asked !== -1 && (reopened === -1 || asked < reopened);
}

/** Tools of the answer that runs have answered: the LLM goes on with it. */
export function isRound({ actions, event }: Scene): boolean {
  if (event.type === 'call.resumed') return true;
  const opened = actions.findIndex(({ type }) => type === 'playout.open');
  const answered = actions.findIndex(({ type }) => type === 'tools.answered');
  return opened === -1 || answered > opened;
}

/** A text without the rest of a line that it begins with. */
export function withoutRest(text: string, line: string): string {
  const words = line.split(' ');
  const rest = words
    .map((_, from) => words.slice(from).join(' '))
    .find((part) => part !== '' && text.startsWith(part));
  return rest === undefined ? text : text.slice(rest.length).trim();
}

/** A text without the beginning of a line that it ends with. */
export function withoutBegun(text: string, line: string): string {
  const words = line.split(' ');
  for (let count = words.length - 1; count > 0; count -= 1) {
    const begun = words.slice(0, count).join(' ');
    if (text.endsWith(begun)) return text.slice(0, -begun.length).trim();
  }
  return text;
}
