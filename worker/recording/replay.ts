/**
 * Runs the core again over the facts of one call, and says where its orders differ from those that were given then. Pure: the same file
 * gives the same answer, on whatever machine.
 */
import type { CallAction } from '../core/actions.ts';
import { step } from '../core/call.ts';
import { spokenLanguages } from '../../shared/languages/languages.ts';
import type { CallSettings, ToolBook } from '../core/settings.ts';
import { decodeState, stateVersion } from '../core/snapshot.ts';
import { newCall, type CallState } from '../core/state.ts';
import { nextDeadline } from '../core/timers.ts';
import {
  answerQuestionOf,
  factsVersion,
  questionOf,
  type Asked,
  type FactsHead,
  type FactsStep,
} from './facts.ts';
import { readPlain } from './plain.ts';

/** The core as it is run; tests break it. */
export interface ReplayedCore {
  readonly newCall: typeof newCall;
  readonly step: typeof step;
  readonly nextDeadline: typeof nextDeadline;
}

export interface ReplayOptions {
  readonly core?: ReplayedCore;
  /** What the call would have been made with, out of what it was made with; absent: the same. */
  readonly settings?: (then: Omit<CallSettings, 'tools'>, head: FactsHead) => Omit<CallSettings, 'tools'>;
}

/** One step whose orders are others now. */
export interface Difference {
  /** Line of the file, from 1. */
  readonly line: number;
  readonly step: FactsStep;
  readonly then: readonly string[];
  readonly now: readonly string[];
}

export interface Replay {
  readonly head: FactsHead;
  readonly steps: number;
  /** Steps that differ. Behind the first, facts answer orders that were not given. */
  readonly different: number;
  readonly first?: Difference;
  /** The steps before the first one that differs, the newest last. */
  readonly before: readonly FactsStep[];
  /** The file ends in the middle: its worker died, or there was no room. */
  readonly isCut: boolean;
}

/** The file cannot be replayed; the message says why. */
export class NotReplayable extends Error {
  override readonly name = 'NotReplayable';
}

const stepsOfContext = 5;

/** Replays the lines of one call. @throws NotReplayable */
export function replayFacts(text: string, options: ReplayOptions = {}): Replay {
  const core = options.core ?? { newCall, step, nextDeadline };
  const tools = new RememberedTools();
  let head: FactsHead | undefined;
  let awaited: FactsHead | undefined;
  let state: CallState | undefined;
  let [steps, different, number] = [0, 0, 0];
  let first: Difference | undefined;
  let isCut = false;
  const before: FactsStep[] = [];
  for (const line of text.split('\n')) {
    number += 1;
    if (line === '') continue;
    const entry = readLine(line);
    if (entry === undefined) {
      isCut = true;
      continue;
    }
    if (entry.type === 'call') {
      checkVersion(entry);
      head ??= entry;
      awaited = entry;
      continue;
    }
    tools.learn(entry.asked ?? []);
    if (awaited !== undefined) {
      state = begin(awaited, { core, tools, settings: options.settings });
      awaited = undefined;
    }
    if (state === undefined) throw new NotReplayable('the first line does not say what the call began with');
    steps += 1;
    const orders = core.step(state, entry.fact, entry.now);
    const next = core.nextDeadline(state);
    const isSame = JSON.stringify(orders) === JSON.stringify(entry.orders) && next === entry.next;
    if (!isSame) {
      different += 1;
      first ??= { line: number, step: entry, then: told(entry.orders, entry.next), now: told(orders, next) };
    }
    if (first === undefined) before.push(entry);
    if (before.length > stepsOfContext) before.shift();
  }
  if (head === undefined) throw new NotReplayable('it holds no facts of a call');
  return { head, steps, different, before, isCut, ...(first !== undefined && { first }) };
}

/** A line, or nothing for one that a dying worker left unfinished. */
function readLine(line: string): FactsHead | FactsStep | undefined {
  try {
    const entry: unknown = line.startsWith('{"type":"step"') ? JSON.parse(line) : readPlain(line);
    const isKnown = typeof entry === 'object' && entry !== null && 'type' in entry;
    if (isKnown && (entry.type === 'call' || entry.type === 'step')) return entry as FactsHead | FactsStep;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  throw new NotReplayable('a line is no fact of a call');
}

function checkVersion({ version, taken, stateVersion: written }: FactsHead): void {
  if (version !== factsVersion) throw new NotReplayable(`facts of version ${version} are not read`);
  if (taken !== undefined && written !== stateVersion)
    throw new NotReplayable('another worker took the call up, and its state is of another version');
}

interface Beginning {
  readonly core: ReplayedCore;
  readonly tools: ToolBook;
  readonly settings: ReplayOptions['settings'];
}

function begin(head: FactsHead, { core, tools, settings: change }: Beginning): CallState {
  const { call: session, startedAt: now, taken } = head;
  // Calls that were written down before languages had files of their own knew the words of all.
  const then = { ...head.settings, languages: head.settings.languages ?? spokenLanguages(['multi']) };
  const settings = { ...(change?.(then, head) ?? then), tools };
  return taken === undefined
    ? core.newCall(settings, { session, now })
    : decodeState({ ...taken, shiftMs: 0 }, settings);
}

/** Orders one by one, and when the core wants to be woken. */
const told = (orders: readonly CallAction[], next: number | undefined): string[] => [
  ...orders.map((order) => JSON.stringify(order)),
  `wakes at ${next ?? 'no time'}`,
];

/** The tools of the call as it found them. For a request that it never made no tool is known. */
class RememberedTools implements ToolBook {
  readonly #answers = new Map<string, unknown>();

  learn(asked: readonly Asked[]): void {
    for (const { question, answer } of asked) this.#answers.set(question, answer);
  }

  declarations(node?: string): ReturnType<ToolBook['declarations']> {
    return this.#answer(questionOf('declarations', node), []);
  }

  ruleOf(name: string): ReturnType<ToolBook['ruleOf']> {
    return this.#answer<ReturnType<ToolBook['ruleOf']>>(questionOf('ruleOf', name), undefined);
  }

  performerOf(name: string): ReturnType<ToolBook['performerOf']> {
    return this.#answer<ReturnType<ToolBook['performerOf']>>(questionOf('performerOf', name), undefined);
  }

  validate(name: string, argumentsText: string, node?: string): ReturnType<ToolBook['validate']> {
    const unknown = { ok: false, rule: 'the call never asked this' } as const;
    return this.#answer(questionOf('validate', name, argumentsText, node), unknown);
  }

  answerOf(...given: Parameters<ToolBook['answerOf']>): ReturnType<ToolBook['answerOf']> {
    return this.#answer(answerQuestionOf(...given), 'unclear');
  }

  #answer<T>(question: string, otherwise: T): T {
    // The file has the answers that the same book once gave.
    return this.#answers.has(question) ? (this.#answers.get(question) as T) : otherwise;
  }
}
