/** What became of short things that callers say: whether the agent stopped, for how long, and whether they were heard at all. */
import type { Replayed } from './replay.ts';
import { print, quantile, share, shareWithin } from './print.ts';

/** A voice that stops the agent later than this has not been noticed. */
const noticedWithinMs = 2_000;
const withoutSay = /right model|not ahead/;

interface One {
  readonly scenario: Replayed['scenario'];
  readonly notes: NonNullable<Replayed['deciders'][number]['notes']>;
}

function rowsOf(replayed: readonly Replayed[], kind: string): [string, string, One[]][] {
  const rows = new Map<string, [string, string, One[]]>();
  for (const { scenario, deciders } of replayed) {
    if (scenario.kind !== kind) continue;
    for (const { name, notes } of deciders) {
      if (notes === undefined || withoutSay.test(name)) continue;
      const row = rows.get(`${scenario.group}|${name}`) ?? [scenario.group, name, []];
      row[2].push({ scenario, notes });
      rows.set(`${scenario.group}|${name}`, row);
    }
  }
  return [...rows.values()].sort(([a, x], [b, y]) => a.localeCompare(b) || x.localeCompare(y));
}

const count = (ones: readonly One[], is: (one: One) => boolean): number => ones.filter(is).length;
export const isCut = ({ notes, scenario }: One): boolean => notes.cutMs.some((at) => at >= scenario.startMs);
export const isSoon = ({ notes, scenario }: One): boolean =>
  notes.cutMs.some((at) => at >= scenario.startMs && at <= scenario.endMs + noticedWithinMs);
/** STT was given its word; over the agent, it cut. */
export const isHeard = (one: One): boolean =>
  one.scenario.botText === '' ? one.notes.hasWords : isSoon(one);
const stops = (ones: readonly One[]): number[] =>
  ones.flatMap(({ notes, scenario }) => {
    const at = notes.stoppedMs.find((ms) => ms >= scenario.startMs);
    return at === undefined ? [] : [at - scenario.startMs];
  });

function listening(replayed: readonly Replayed[]): string[][] {
  return rowsOf(replayed, 'listening').map(([group, name, ones]) => {
    const gaps = ones.map(({ notes }) => notes.heldMs);
    const requests = ones.reduce((sum, { notes }) => sum + notes.requests, 0);
    return [
      ...[
        group,
        name,
        shareWithin(count(ones, isCut), ones.length),
        quantile(gaps, 0.5),
        quantile(gaps, 0.95),
      ],
      ...[`${requests}`],
    ];
  });
}

function telling(replayed: readonly Replayed[]): string[][] {
  return rowsOf(replayed, 'telling').map(([group, name, ones]) => {
    const cuts = ones.flatMap(({ notes, scenario }) =>
      notes.cutMs.slice(0, 1).map((at) => at - scenario.startMs),
    );
    const stop = stops(ones);
    return [
      ...[
        group,
        name,
        shareWithin(count(ones, isSoon), ones.length),
        quantile(stop, 0.5),
        quantile(stop, 0.95),
      ],
      ...[quantile(cuts, 0.5), quantile(cuts, 0.95)],
    ];
  });
}

function shortWords(replayed: readonly Replayed[]): string[][] {
  return rowsOf(replayed, 'short word').map(([group, name, ones]) => {
    const clips = new Set(ones.map(({ scenario }) => scenario.clip));
    const lost = new Set(ones.flatMap((one) => (isHeard(one) ? [] : [one.scenario.clip])));
    const whole = clips.size - lost.size;
    return [group, name, share(count(ones, isHeard), ones.length), share(whole, clips.size)];
  });
}

/** Three tables, those of which there is anything to tell. */
export function spokenTables(replayed: readonly Replayed[]): string[] {
  const tables: [string[], string[][]][] = [
    [['over the bot', 'decided by', 'cut', 'gap, median', 'p95', 'requests'], listening(replayed)],
    [
      ['over the bot', 'decided by', 'caught', 'audible stop, median', 'p95', 'clear, median', 'p95'],
      telling(replayed),
    ],
    [['short words', 'decided by', 'heard', 'clips heard at 8 of 8 places'], shortWords(replayed)],
  ];
  return tables.flatMap(([title, rows]) => (rows.length === 0 ? [] : [print(title, rows)]));
}
