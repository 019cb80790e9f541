/**
 * Everything that the core of one call was told and what it ordered, as lines of JSON: enough to run the core again and find the same
 * orders. The tools of a call are functions, so what the core learned from them stands here as well, once for each question. Pure.
 */
import { parseJson } from '../../shared/base/exact-json.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { CallAction } from '../core/actions.ts';
import type { CallEvent } from '../core/events.ts';
import type { CallSettings, ToolBook } from '../core/settings.ts';
import { encodeHistory, encodeState, stateVersion } from '../core/snapshot.ts';
import type { CallState } from '../core/state.ts';
import { nextDeadline } from '../core/timers.ts';
import { writePlain } from './plain.ts';

/** Names the form of these lines. */
export const factsVersion = 1;

/** A question to the tools of the call, and the answer. */
export interface Asked {
  readonly question: string;
  readonly answer: unknown;
}

/** What a call begins with, in the worker that begins it, or another that takes it up. */
export interface FactsHead {
  readonly type: 'call';
  readonly version: number;
  /** Names what is saved of a state; another version's text cannot be read. */
  readonly stateVersion: number;
  readonly call: string;
  readonly agent: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The call's own, the tools left out. */
  readonly settings: Omit<CallSettings, 'tools' | 'languages'> & Partial<Pick<CallSettings, 'languages'>>;
  readonly startedAt: Millis;
  /** Present where another worker had the call. */
  readonly taken?: { readonly state: unknown; readonly history: string };
}

export interface FactsStep {
  readonly type: 'step';
  readonly now: Millis;
  readonly fact: CallEvent;
  readonly orders: readonly CallAction[];
  /** When the core wants to be woken. */
  readonly next?: Millis | undefined;
  readonly asked?: readonly Asked[];
}

/** A tool book that notes what it was asked for the first time. */
export class WatchedTools implements ToolBook {
  readonly #book: ToolBook;
  readonly #known = new Map<string, string>();
  #fresh: Asked[] = [];

  constructor(book: ToolBook) {
    this.#book = book;
  }

  /** What was learned since this was called last. */
  takeAsked(): readonly Asked[] {
    const fresh = this.#fresh;
    if (fresh.length > 0) this.#fresh = [];
    return fresh;
  }

  declarations(node?: string): ReturnType<ToolBook['declarations']> {
    return this.#note(questionOf('declarations', node), this.#book.declarations(node));
  }

  ruleOf(name: string): ReturnType<ToolBook['ruleOf']> {
    return this.#note(questionOf('ruleOf', name), this.#book.ruleOf(name));
  }

  performerOf(name: string): ReturnType<ToolBook['performerOf']> {
    return this.#note(questionOf('performerOf', name), this.#book.performerOf(name));
  }

  validate(name: string, argumentsText: string, node?: string): ReturnType<ToolBook['validate']> {
    const verdict = this.#book.validate(name, argumentsText, node);
    return this.#note(questionOf('validate', name, argumentsText, node), verdict);
  }

  answerOf(...given: Parameters<ToolBook['answerOf']>): ReturnType<ToolBook['answerOf']> {
    return this.#note(answerQuestionOf(...given), this.#book.answerOf(...given));
  }

  #note<T>(question: string, answer: T): T {
    const written = writePlain(answer);
    // Tools of an agent process come and go.
    if (this.#known.get(question) === written && this.#known.has(question)) return answer;
    this.#known.set(question, written);
    this.#fresh.push({ question, answer });
    return answer;
  }
}

export type ToolQuestion = keyof ToolBook;

export const questionOf = (question: ToolQuestion, ...given: readonly (string | undefined)[]): string =>
  JSON.stringify([question, ...given]);

export const answerQuestionOf = (...[text, asked]: Parameters<ToolBook['answerOf']>): string =>
  questionOf('answerOf', text, ...asked.flatMap((call) => [call.name, call.arguments]));

export interface FactsOf {
  readonly call: string;
  readonly agent: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly settings: CallSettings;
  readonly state: CallState;
  readonly startedAt: Millis;
  readonly isTaken: boolean;
}

/** History of a call that was taken up: as much as a record of one ever holds. */
const historyBytes = 64 * 1024;

export function headLine({ settings, state, isTaken, ...rest }: FactsOf): string {
  const { tools: _tools, ...plain } = settings;
  const taken = {
    state: parseJson(encodeState(state)),
    history: encodeHistory(state.conversation.history, historyBytes),
  };
  const head: FactsHead = {
    type: 'call',
    version: factsVersion,
    stateVersion,
    ...rest,
    settings: plain,
    ...(isTaken && { taken }),
  };
  return writePlain(head);
}

export function stepLine(
  step: { readonly fact: CallEvent; readonly orders: readonly CallAction[]; readonly now: Millis },
  { state, asked }: { readonly state: CallState; readonly asked: readonly Asked[] },
): string {
  const { now, fact, orders } = step;
  const next = nextDeadline(state);
  // Only settings know infinity; a step is written many times as often.
  return JSON.stringify({ type: 'step', now, fact, orders, next, ...(asked.length > 0 && { asked }) });
}
