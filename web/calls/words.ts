/** How the history page writes times, amounts and what happened. Pure. */
import { formatLength, formatMs } from '../figures.ts';
import type { CallRecord, CallRow, RecordedTurn } from './wire.ts';

/** In the list, where the year of most calls is this one. */
export const shortDate = (ms: number): string =>
  new Date(ms).toLocaleString(undefined, {
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    ...(new Date(ms).getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' }),
  });

export const dateTime = (ms: number): string =>
  new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export const money = (amount: number | undefined, currency: string | undefined): string =>
  amount === undefined ? '' : `${amount.toFixed(amount < 1 ? 4 : 2)} ${currency ?? ''}`.trim();

export const partyOf = ({
  from,
  to,
  transport,
  direction,
}: Pick<CallRow, 'from' | 'to' | 'transport' | 'direction'>): string =>
  (direction === 'outbound' ? to && `to ${to}` : from) ?? transport;

export const endWord = (code: string): string => code.replaceAll('_', ' ');

export const sides = { caller: 'Caller', agent: 'Agent', operator: 'Operator' } as const;

export interface Happened {
  readonly at: number;
  readonly what: string;
  readonly isBad?: boolean;
}

const counted = (count: number | undefined, one: string): readonly string[] =>
  count === undefined || count === 0 ? [] : [`${count} ${one}${count === 1 ? '' : 's'}`];

/** What there is to say of a turn beside its latencies. */
export const courseOf = (turn: RecordedTurn): string =>
  [
    ...(turn.interrupted === true ? ['interrupted'] : []),
    ...(turn.silence_ms === undefined ? [] : [`${formatMs(turn.silence_ms)} of silence`]),
    ...counted(turn.backchannels, 'backchannel'),
    ...counted(turn.false_starts, 'false start'),
    ...counted(turn.faults, 'fault'),
    ...counted(turn.failovers, 'failover'),
  ].join(', ');

const roles: Readonly<Record<string, string>> = {
  listen: 'listened',
  whisper: 'whispered to the agent',
  take_over: 'spoke in place of the agent',
};

/** Everything that happened beside the conversation, in its order. */
export function happenedIn(record: CallRecord): readonly Happened[] {
  const {
    faults,
    failovers,
    takeovers,
    hand_overs: handOvers,
    tools,
    transfers,
    dtmf,
    operators,
    transcript,
  } = record;
  const because = (text: string | undefined): string => (text === undefined ? '' : ` (${text})`);
  const all: Happened[] = [
    ...transcript.flatMap(({ role, interrupted, end_ms: at }) =>
      role === 'agent' && interrupted === true ? [{ at, what: 'The caller interrupted the agent.' }] : [],
    ),
    ...tools.map(({ at_ms: at, name, duration_ms: ms, outcome, detail }) => ({
      at,
      what: `Tool ${name}: ${outcome} after ${formatMs(ms)}${because(detail)}.`,
      isBad: outcome !== 'ok',
    })),
    ...faults.map(({ at_ms: at, stage, what, cause }) => ({
      at,
      what: `Fault of ${stage}: ${endWord(what)}${because(cause)}.`,
      isBad: true,
    })),
    ...failovers.map(({ at_ms: at, stage, to }) => ({ at, what: `${stage} went on with ${to}.` })),
    ...handOvers.map(({ at_ms: at, agent }) => ({ at, what: `The agent ${agent} has the call.` })),
    ...takeovers.map(({ at_ms: at, silent_ms: ms }) => ({
      at,
      what: `Another worker went on with the call, after ${formatMs(ms)}.`,
      isBad: true,
    })),
    ...transfers.map(({ at_ms: at, mode, destination, outcome }) => ({
      at,
      what: `Transfer (${mode}) to ${destination ?? 'a number'}: ${outcome}.`,
      isBad: outcome !== 'ok',
    })),
    ...dtmf.map(({ at_ms: at, keys }) => ({
      at,
      what: keys === 1 ? 'The caller pressed a key.' : `The caller pressed ${keys} keys.`,
    })),
    ...operators.map(({ at_ms: at, until_ms: until, role, name }) => ({
      at,
      what: `${name ?? 'An operator'} ${roles[role] ?? role}${until === undefined ? '' : `, until ${formatLength(until)}`}.`,
    })),
  ];
  return all.toSorted((a, b) => a.at - b.at);
}

/** What was said as plain text. */
export const saidText = ({ transcript }: CallRecord): string =>
  transcript
    .map(({ role, text, start_ms: at }) => `[${formatLength(at)}] ${sides[role]}: ${text}\n`)
    .join('');

const columns: readonly (readonly [string, (row: CallRow) => string | number | undefined])[] = [
  ['id', ({ id }) => id],
  ['call_id', ({ callId }) => callId],
  ['started_at', ({ startedAtMs }) => new Date(startedAtMs).toISOString()],
  ['agent', ({ agent }) => agent],
  ['tenant', ({ tenant }) => tenant],
  ['direction', ({ direction }) => direction],
  ['transport', ({ transport }) => transport],
  ['from', ({ from }) => from],
  ['to', ({ to }) => to],
  ['duration_ms', ({ durationMs }) => durationMs],
  ['end', ({ code }) => code],
  ['turns', ({ turns }) => turns],
  ['slowest_ms', ({ slowestMs }) => slowestMs],
  ['faults', ({ faults }) => faults],
  ['interruptions', ({ interruptions }) => interruptions],
  ['cost', ({ cost }) => cost],
  ['currency', ({ currency }) => currency],
  ['outcome', ({ outcome }) => outcome],
];

/** A table program takes a cell that begins so for a formula. */
const cell = (value: string | number | undefined): string => {
  if (typeof value === 'number') return String(value);
  const text = value ?? '';
  return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
};

export const csvOf = (rows: readonly CallRow[]): string =>
  [
    columns.map(([name]) => name).join(','),
    ...rows.map((row) => columns.map(([, of]) => cell(of(row))).join(',')),
    '',
  ].join('\r\n');
