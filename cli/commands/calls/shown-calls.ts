/** Records of calls as lines for people. Words of a call are shown so that a terminal takes no orders from them. Pure. */
import { writeJson } from '../../../shared/base/exact-json.ts';
import type { CallRecord, Spread } from '../../../shared/calls/record.ts';
import type { CallRow } from '../../../shared/calls/query.ts';
import { printable, shownMs } from '../printable.ts';

const minuteMs = 60_000;

function clockOf(ms: number): string {
  const seconds = Math.floor((ms % minuteMs) / 1000);
  return `${Math.floor(ms / minuteMs)}:${String(seconds).padStart(2, '0')}`;
}

const amountOf = (cost: number | undefined, currency: string | undefined): string =>
  cost === undefined ? '-' : `${cost.toFixed(4)} ${currency ?? ''}`.trimEnd();

const head = [
  'STARTED',
  'ID',
  'AGENT',
  'FROM',
  'LASTED',
  'END',
  'BY',
  'TURNS',
  'SLOWEST',
  'FAULTS',
  'COST',
  'OUTCOME',
];

/** A table, the newest call first. */
export function tableOf(rows: readonly CallRow[]): string[] {
  const cells = rows.map((row) =>
    [
      new Date(row.startedAtMs).toISOString().slice(0, 19),
      row.id,
      row.agent,
      (row.direction === 'outbound' ? row.to : row.from) ?? '-',
      clockOf(row.durationMs),
      row.code,
      row.by,
      String(row.turns),
      row.slowestMs === undefined ? '-' : shownMs(row.slowestMs),
      String(row.faults),
      amountOf(row.cost, row.currency),
      row.outcome ?? '-',
    ].map(printable),
  );
  const all = [head, ...cells];
  const widths = head.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const spreadOf = ({ p50, p95, max }: Spread): string => `p50 ${p50} ms, p95 ${p95} ms, longest ${max} ms`;

const countOf = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

type Turn = CallRecord['turns'][number];

function turnLine({
  latency,
  answered_ms: answered,
  interrupted,
  silence_ms: silence,
  ...counts
}: Turn): string {
  const some = (['backchannels', 'false_starts', 'faults', 'failovers'] as const).flatMap((name) =>
    (counts[name] ?? 0) > 0 ? [countOf(counts[name] ?? 0, name.slice(0, -1).replace('_', ' '))] : [],
  );
  return [
    latency === undefined
      ? `turn ${counts.epoch}: ${answered === undefined ? 'no answer' : 'answered'}`
      : `turn ${counts.epoch}: answer after ${shownMs(latency.response_ms)}`,
    ...(interrupted === true ? ['interrupted'] : []),
    ...(silence === undefined ? [] : [`${shownMs(silence)} of silence`]),
    ...some,
  ].join(', ');
}

/** Turns, tools, faults and the like, in the order in which they happened. */
function happenings(record: CallRecord): string[] {
  const {
    tools,
    faults,
    failovers,
    takeovers,
    hand_overs: handOvers,
    transfers,
    operators,
    transcript,
    turns,
  } = record;
  const lines: (readonly [number, string])[] = [
    ...turns.map((turn) => [turn.at_ms, turnLine(turn)] as const),
    ...transcript.map(
      ({ start_ms, role, text, interrupted }) =>
        [start_ms, `${role}: ${text}${interrupted === true ? ' [interrupted]' : ''}`] as const,
    ),
    ...tools.map(
      ({ at_ms, name, outcome, duration_ms }) =>
        [at_ms, `tool ${name}: ${outcome} in ${shownMs(duration_ms)}`] as const,
    ),
    ...faults.map(
      ({ at_ms, stage, what, cause }) =>
        [at_ms, `fault of ${stage}: ${what}${cause === undefined ? '' : `, ${cause}`}`] as const,
    ),
    ...failovers.map(({ at_ms, stage, to }) => [at_ms, `failover of ${stage} to ${to}`] as const),
    ...handOvers.map(({ at_ms, agent }) => [at_ms, `the agent ${agent} has the call`] as const),
    ...takeovers.map(
      ({ at_ms, silent_ms }) =>
        [at_ms, `another worker took the call up after ${shownMs(silent_ms)}`] as const,
    ),
    ...transfers.map(
      ({ at_ms, mode, destination, outcome }) =>
        [
          at_ms,
          `${mode} transfer${destination === undefined ? '' : ` to ${destination}`}: ${outcome}`,
        ] as const,
    ),
    ...operators.map(({ at_ms, role, name }) => [at_ms, `operator ${name ?? ''}: ${role}`] as const),
  ];
  return lines
    .toSorted(([a], [b]) => a - b)
    .map(([at, line]) => `  ${clockOf(at).padStart(6)}  ${printable(line)}`);
}

/** One call, from who it was to what was said. */
export function shownRecord(record: CallRecord): string[] {
  const { id, call_id, session_id, agent, transport, direction, from, to, end, cost, usage, links, quality } =
    record;
  const { latency, interruptions, silence, metadata, analysis } = record;
  const entries = Object.entries({ ...metadata.client, ...metadata.token });
  const numbers = [from, to].filter((one) => one !== undefined).join(' to ');
  const used = usage.by_provider.map(
    ({ stage, provider, units }) =>
      `  ${stage} ${provider}: ${Object.entries(units)
        .map(([unit, amount]) => `${amount} ${unit.replaceAll('_', ' ')}`)
        .join(', ')}`,
  );
  const details: readonly (readonly [string, string | undefined])[] = [
    ['call', `${call_id} (session ${session_id})`],
    ['agent', [agent.name, agent.version].filter(Boolean).join(' version ')],
    ['way', [direction, transport, record.mode, numbers].filter(Boolean).join(', ')],
    ['metadata', entries.length === 0 ? undefined : entries.map((entry) => entry.join('=')).join(', ')],
    ['time', `${record.started_at}, ${clockOf(record.duration_ms)}`],
    ['end', `${end.code} by ${end.by}${end.detail === undefined ? '' : ` (${end.detail})`}`],
    ['answers', latency.response_ms && spreadOf(latency.response_ms)],
    [
      'course',
      `${countOf(record.turns.length, 'turn')}, ${countOf(interruptions.by_caller, 'interruption')}, ${countOf(record.backchannels, 'backchannel')}, longest silence ${shownMs(silence.longest_ms)}`,
    ],
    ['line', quality && `${quality.lost_percent} % lost, jitter ${quality.jitter_ms} ms, MOS ${quality.mos}`],
    ['cost', cost && `${amountOf(cost.total, cost.currency)} (prices of ${cost.as_of})`],
    ['no price', cost && cost.unpriced.length > 0 ? cost.unpriced.join(', ') : undefined],
    ['recording', links.recording],
    ['trace', links.trace_id],
    ['analysis', analysis && writeJson(analysis)],
  ];
  return [
    `record ${id}`,
    ...details.flatMap(([name, text]) =>
      text === undefined ? [] : [`  ${name.padEnd(10)}${printable(text)}`],
    ),
    ...(used.length > 0 ? ['used', ...used.map(printable).map((line) => `  ${line}`)] : []),
    'course',
    ...happenings(record),
    ...(record.truncated === true ? ['  More happened than a record holds.'] : []),
  ];
}
