/** What a soak found, as text, and whether it keeps the promise. */
import type { FloorRow } from './statistics.ts';
import { table } from './report.ts';
import { complaintText } from '../started.ts';
import type { Look, SoakLook, SoakResult } from '../soak.ts';

/** What may be left behind. */
const mostGrowth = 0.05;
/** A connection to a provider that is kept for the next request, and the timer that closes it. */
const mostKept = 1;
/** Speech is judged by a model, and callers of a soak speak briefly. */
const leastAnswered = 0.97;

const megabytes = (bytes: number): string => (bytes / 1_048_576).toFixed(1);
const signed = (value: number): string => `${value >= 0 ? '+' : ''}${value}`;

interface Change {
  readonly name: string;
  readonly from: Look;
  readonly to: Look;
}

/** From the end of the warm-up to the end. */
function changes({ looks }: SoakResult): Change[] {
  const from = looks[1]?.processes ?? new Map<string, Look>();
  const to = looks.at(-1)?.processes ?? new Map<string, Look>();
  return [...from].flatMap(([name, before]) => {
    const after = to.get(name);
    return after === undefined ? [] : [{ name, from: before, to: after }];
  });
}

const growthOf = ({ from, to }: Change): number => to.rssBytes / from.rssBytes - 1;

export function judgeSoak(result: SoakResult): FloorRow[] {
  const found = changes(result);
  const each = (text: (change: Change) => string): string =>
    found.map((change) => `${change.name} ${text(change)}`).join(', ');
  const kept = (pick: (look: Look) => number, most: number): boolean =>
    found.every(({ from, to }) => pick(to) <= pick(from) + most);
  const sum = (ends: ReadonlyMap<string, number> | undefined): number =>
    [...(ends ?? [])].reduce((total, [end, count]) => (end === 'refused' ? total : total + count), 0);
  const talks = result.ends.get('talks');
  const answered = (talks?.get('as meant') ?? 0) / Math.max(1, sum(talks));
  const failed = [...result.ends.values()].reduce((total, ends) => total + (ends.get('failed') ?? 0), 0);
  const { slots, callsLeft } = result;
  return [
    {
      rule: 'resident memory within 5 % of that after the warm-up',
      found: each((change) => `${signed(Number((growthOf(change) * 100).toFixed(1)))} %`),
      passed: found.length > 0 && found.every((change) => growthOf(change) <= mostGrowth),
    },
    {
      rule: 'no descriptor left behind',
      found: each(({ from, to }) => signed(to.descriptors - from.descriptors)),
      passed: kept(({ descriptors }) => descriptors, mostKept),
    },
    {
      rule: 'no thread left behind',
      found: each(({ from, to }) => signed(to.threads - from.threads)),
      passed: kept(({ threads }) => threads, 0),
    },
    {
      rule: 'no timer left behind',
      found: each(({ from, to }) => signed(to.timers - from.timers)),
      passed: kept(({ timers }) => timers, mostKept),
    },
    {
      rule: 'no call slot left behind: all are taken at once',
      found: `${slots.taken} of ${slots.allowed}; then ${callsLeft} calls open`,
      passed: slots.taken === slots.allowed && callsLeft === 0,
    },
    {
      rule: 'no process was replaced',
      found: found.every(({ from, to }) => from.pid === to.pid) ? 'none' : 'some were',
      passed: found.length > 0 && found.every(({ from, to }) => from.pid === to.pid),
    },
    {
      rule: `talking callers answered, at least ${leastAnswered * 100} %; no call failed`,
      found: `${(answered * 100).toFixed(1)} %, ${failed} failed`,
      passed: answered >= leastAnswered && failed === 0,
    },
  ];
}

function lookRows(looks: readonly SoakLook[]): string[][] {
  return looks.flatMap(({ calls, processes }) =>
    [...processes].map(([name, look]) => [
      `${calls} calls, ${name}`,
      megabytes(look.rssBytes),
      megabytes(look.pssBytes),
      megabytes(look.anonymousBytes),
      megabytes(look.liveBytes),
      megabytes(look.nativeUsedBytes),
      megabytes(look.nativeFreeBytes),
      String(look.descriptors),
      String(look.threads),
      String(look.timers),
    ]),
  );
}

export function describeSoak(result: SoakResult): string {
  const { options, ends, looks, lasted } = result;
  const rows = judgeSoak(result);
  return [
    `${options.total} calls, ${options.parallel} at a time, workers ${options.workers}, ${(lasted.ms / 1000).toFixed(0)} s; ${result.voices}`,
    '',
    ...table([
      ['kind of call', 'as meant', 'unanswered', 'failed', 'refused before'],
      ...[...ends].map(([kind, of]) => [
        kind,
        ...(['as meant', 'unanswered', 'failed', 'refused'] as const).map((end) => String(of.get(end) ?? 0)),
      ]),
    ]),
    ...result.oddities.map((oddity) => `  failed: ${oddity}`),
    '',
    ...table([
      [
        'nothing open, after',
        'RSS MB',
        'PSS MB',
        'anonymous MB',
        'live MB',
        'descriptors',
        'threads',
        'timers',
      ],
      ...lookRows(looks),
    ]),
    '',
    ...complaintText(result.complaints),
    '',
    ...table([
      [`after ${looks[1]?.calls ?? 0} calls of warm-up`, 'found', ''],
      ...rows.map((row) => [row.rule, row.found, row.passed ? 'PASS' : 'FAIL']),
    ]),
    rows.every(({ passed }) => passed) ? '  PASS' : '  FAIL',
  ].join('\n');
}
