/** What the replay amounts to, by decider and group. */
import type { Replayed } from './replay.ts';
import { print, quantile, share, toleranceMs } from './print.ts';
import { callsTables } from './calls-table.ts';
import { spokenTables } from './spoken-table.ts';

/** An interruption that is noticed later than this was missed. A voice without words is one after a second, where STT tells its words late. */
const interruptWithinMs = 1_200;

interface Row {
  turns: number;
  cutOff: number;
  /** The agent was heard before the caller had finished; undefined where nobody answers. */
  spokenInto: number | undefined;
  missed: number;
  readonly latenciesMs: number[];
  /** From the end of speech to the first sound of the answer. */
  readonly answersMs: number[];
  /** By how much the figure of the service differs from that. */
  readonly offMs: number[];
  interruptions: number;
  missedInterruptions: number;
  quiet: number;
  falseInterruptions: number;
  readonly interruptMs: number[];
  /** Of those that are no interruptions, cut more than once; undefined where nobody goes on speaking. */
  cutAgain: number | undefined;
  /** Of those that are no interruptions, for how long the agent's voice was held. */
  readonly heldMs: number[];
}

const newRow = (): Row => ({
  turns: 0,
  cutOff: 0,
  spokenInto: undefined,
  missed: 0,
  latenciesMs: [],
  answersMs: [],
  offMs: [],
  interruptions: 0,
  missedInterruptions: 0,
  quiet: 0,
  falseInterruptions: 0,
  interruptMs: [],
  heldMs: [],
  cutAgain: undefined,
});

function count(row: Row, { scenario, deciders }: Replayed, name: string): void {
  const decider = deciders.find((candidate) => candidate.name === name);
  if (decider === undefined) return;
  const { startMs, endMs, kind } = scenario;
  if (kind === 'turn') {
    row.turns += 1;
    if (decider.endsMs.some((atMs) => atMs < endMs - toleranceMs)) row.cutOff += 1;
    if (decider.audibleMs !== undefined) {
      row.spokenInto ??= 0;
      if (decider.audibleMs.some((atMs) => atMs > startMs && atMs < endMs - toleranceMs)) row.spokenInto += 1;
      const answer = decider.audibleMs.find((atMs) => atMs >= endMs - toleranceMs);
      if (answer !== undefined) row.answersMs.push(answer - endMs);
    }
    for (const { responseMs, atMs } of decider.notes?.measured ?? [])
      if (atMs >= endMs) row.offMs.push(Math.abs(atMs - endMs - responseMs));
    const end = decider.endsMs.find((atMs) => atMs >= endMs - toleranceMs);
    if (end === undefined) row.missed += 1;
    else row.latenciesMs.push(end - endMs);
  } else if (kind === 'interruption') {
    row.interruptions += 1;
    const at = decider.confirmedMs.find((atMs) => atMs >= startMs);
    if (decider.confirmedMs.some((atMs) => atMs < startMs)) row.falseInterruptions += 1;
    else if (at === undefined || at > startMs + interruptWithinMs) row.missedInterruptions += 1;
    else row.interruptMs.push(at - startMs);
  } else {
    row.quiet += 1;
    if (decider.confirmedMs.length > 0) row.falseInterruptions += 1;
    if (decider.heldMs === undefined) return;
    row.heldMs.push(decider.heldMs);
    row.cutAgain = (row.cutAgain ?? 0) + (decider.confirmedMs.length > 1 ? 1 : 0);
  }
}

const turnTitles = [
  ...['turns', 'decided by', 'false ends', 'bot heard too early', 'missed ends', 'median', 'p95', 'answer'],
  'figure off',
];

/** Two tables: how turns end, and what interrupts. */
export function tables(replayed: readonly Replayed[]): string {
  const names = [...new Set(replayed.flatMap(({ deciders }) => deciders.map(({ name }) => name)))];
  const groupsOf = (isTurn: boolean): string[] => [
    ...new Set(
      replayed
        .filter(({ scenario }) => (isTurn ? ['turn'] : asInterruptions).includes(scenario.kind))
        .map(({ scenario }) => scenario.group),
    ),
  ];
  const rowOf = (group: string, name: string): Row => {
    const row = newRow();
    for (const one of replayed) if (one.scenario.group === group) count(row, one, name);
    return row;
  };
  const turns = groupsOf(true).flatMap((group) =>
    names.map((name) => {
      const row = rowOf(group, name);
      const { latenciesMs, turns: all, spokenInto } = row;
      const [median, p95] = [quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.95)];
      const into = spokenInto === undefined ? '-' : share(spokenInto, all);
      const answer = quantile(row.answersMs, 0.5);
      const off = `${quantile(row.offMs, 0.5)}, ${quantile(row.offMs, 0.95)}`;
      return [group, name, share(row.cutOff, all), into, share(row.missed, all), median, p95, answer, off];
    }),
  );
  const interruptions = groupsOf(false).flatMap((group) =>
    names.filter(hasSayInInterruptions).map((name) => {
      const row = rowOf(group, name);
      const all = row.quiet + row.interruptions;
      const [median, p95] = [quantile(row.interruptMs, 0.5), quantile(row.interruptMs, 0.95)];
      const missed = share(row.missedInterruptions, row.interruptions);
      const held = quantile(row.heldMs, 0.95);
      const again = row.cutAgain === undefined ? '-' : share(row.cutAgain, row.quiet);
      return [group, name, share(row.falseInterruptions, all), again, missed, median, p95, held];
    }),
  );
  const parts: string[] = [];
  if (turns.length > 0) parts.push(print(turnTitles, turns));
  if (interruptions.length > 0)
    parts.push(
      print(
        [
          'bot speaks',
          'decided by',
          'false interruptions',
          'more than once',
          'missed interruptions',
          'median',
          'p95',
          'held for nothing, p95',
        ],
        interruptions,
      ),
    );
  return [...parts, ...spokenTables(replayed), ...callsTables(replayed)].join('\n\n');
}

const asInterruptions: readonly string[] = ['interruption', 'no interruption'];

/** The turn model has none, nor has an early answer. */
const hasSayInInterruptions = (name: string): boolean => !/Smart Turn|right model|not ahead/.test(name);
