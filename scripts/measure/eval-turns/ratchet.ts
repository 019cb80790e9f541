/**
 * Whether a replay went worse than one that was noted down: each row counts what went wrong of so many, and may get worse by no more than
 * chance explains. It reads no audio and decides nothing about turns.
 */
import { wilson } from './print.ts';
import { isCut, isHeard, isSoon } from './spoken-table.ts';
import { callCounts } from './calls-table.ts';
import type { Replayed } from './replay.ts';
import { toleranceMs } from './print.ts';

export interface Count {
  readonly bad: number;
  readonly of: number;
}

export type Counts = Readonly<Record<string, Count>>;

/** For a nod the agent's voice may stand still for so long. */
const longestGapMs = 250;
/** Rows that say what could be, and not what the service does by default, are not compared. */
export const isComparedRow = (name: string): boolean => !/right model|not ahead/.test(name);

function isBad({ scenario }: Replayed, decider: Replayed['deciders'][number]): boolean | undefined {
  const { notes } = decider;
  if (notes === undefined || !isComparedRow(decider.name)) return undefined;
  const one = { scenario, notes };
  switch (scenario.kind) {
    case 'listening':
      return scenario.botText === '' ? notes.turns.length > 0 : isCut(one);
    case 'telling':
      return !isSoon(one);
    case 'short word':
      return !isHeard(one);
    case 'turn':
      return decider.endsMs.some((atMs) => atMs < scenario.endMs - toleranceMs);
    default:
      return undefined;
  }
}

/** What went wrong, by group and decider. */
export function countsOf(replayed: readonly Replayed[]): Counts {
  const counts = new Map<string, { bad: number; of: number }>();
  const add = (name: string, isBad: boolean): void => {
    const count = counts.get(name) ?? { bad: 0, of: 0 };
    counts.set(name, { bad: count.bad + (isBad ? 1 : 0), of: count.of + 1 });
  };
  for (const one of replayed)
    for (const decider of one.deciders) {
      const bad = isBad(one, decider);
      if (bad === undefined) continue;
      add(`${one.scenario.group}: ${decider.name}`, bad);
      if (one.scenario.kind === 'listening' && one.scenario.botText !== '')
        add(`${one.scenario.group}, stands still: ${decider.name}`, (decider.heldMs ?? 0) > longestGapMs);
    }
  for (const [name, count] of callCounts(replayed)) counts.set(name, count);
  return Object.fromEntries([...counts].sort(([a], [b]) => a.localeCompare(b)));
}

/** Upper end of the interval in which the share lies that so few of so many stand for. */
export const upperShare = ({ bad, of }: Count): number => wilson(bad, of)[1];

/** What is worse than it was noted down, a line each; a row that is missing is worse than any. */
export function worseThan(noted: Counts, now: Counts): string[] {
  return Object.entries(noted).flatMap(([name, before]) => {
    const count = now[name];
    if (count === undefined) return [`${name}: missing, was ${before.bad} of ${before.of}`];
    if (count.of > 0 && count.bad / count.of <= upperShare(before)) return [];
    return [`${name}: ${count.bad} of ${count.of}, was ${before.bad} of ${before.of}`];
  });
}
