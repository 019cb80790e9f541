/**
 * Running one tool call and finishing it: what the machine in tools.ts and its endings share. A call with effects is in
 * the ledger of its turn from the moment it is to run.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { mostToolBytes, savedBytes } from '../bounds.ts';
import { errorText, idempotencyKey, roomLeft } from './tools-state.ts';
import type {
  AbandonReason,
  CallRecord,
  LedgerEntry,
  ToolEnd,
  ToolAction,
  ToolPair,
  ToolRule,
  ToolSettings,
  ToolState,
} from './tools-state.ts';

/** Outcomes that wait for a safe point; beyond it the oldest go. */
const mostLate = 64;
/** How long a question to the caller may stay without an answer. */
export const confirmWaitMs = 60_000;

export interface Site {
  readonly state: ToolState;
  readonly settings: ToolSettings;
  readonly now: Millis;
  readonly actions: ToolAction[];
}

/** What the LLM is told of arguments or a result that do not fit beside what this answer has got already. */
export const tooMuch = (what: 'arguments' | 'results'): string =>
  errorText(
    `${what}_too_large`,
    `the calls of one answer and their results may have ${mostToolBytes / 1024} KiB together; ask for less`,
  );

const textOf = ({ phase }: CallRecord): string => (phase.type === 'settled' ? phase.text : '');

export function settleWith(record: CallRecord, text: string): void {
  record.phase = { type: 'settled', text };
}

/** Runs a call. The caller has been waiting for its filler since the first try, whichever worker made that. */
export function run(
  site: Site,
  record: CallRecord,
  { rule, attempt, fillerAt }: { rule: ToolRule; attempt: number; fillerAt?: Millis | undefined },
): void {
  const { state, now, actions } = site;
  if (record.kind === 'side_effect') {
    const { call, canonical } = record;
    state.ledger.push({
      id: call.id,
      name: call.name,
      canonical,
      round: state.round?.number ?? 0,
      state: 'running',
    });
  }
  const endsAt = record.phase.type === 'retrying' ? record.phase.endsAt : now + rule.timeoutMs;
  const wanted = fillerAt ?? (rule.fillerAfterMs > 0 ? now + rule.fillerAfterMs : undefined);
  record.phase = { type: 'running', attempt, endsAt, fillerAt: wanted };
  if (attempt === 1) keepQuiet(site, wanted ?? endsAt);
  actions.push({
    type: 'tool.run',
    key: record.key,
    attempt,
    call: record.call,
    epoch: record.epoch,
    idempotencyKey: idempotencyKey(state.session, record.epoch, record.call),
    timeoutMs: endsAt - now,
  });
}

/** Nothing is said for the silence before a tool of the round wants a filler. A tool that wants it before any silence is filled holds back nothing. */
function keepQuiet({ state: { round }, settings, now }: Site, until: Millis): void {
  if (round === undefined) return;
  const wanted = until - now > settings.fillerAfterMs ? until : now;
  round.quietUntil = Math.min(round.quietUntil ?? wanted, wanted);
}

export const isUnderWay = ({ phase }: CallRecord): boolean =>
  phase.type === 'running' || phase.type === 'retrying';

export function abandon(site: Site, record: CallRecord, reason: AbandonReason): void {
  if (record.phase.type === 'running') site.actions.push({ type: 'tool.abandon', key: record.key, reason });
}

export function entryOf(state: ToolState, record: CallRecord): LedgerEntry | undefined {
  if (record.kind !== 'side_effect' || record.epoch !== state.epoch) return undefined;
  return state.ledger.find(({ id, state: is }) => id === record.call.id && is === 'running');
}

/** A call that ran is over with what the LLM is told of it. */
export function finish(
  site: Site,
  record: CallRecord,
  { text, end }: { readonly text: string; readonly end: ToolEnd },
): void {
  const { state, actions } = site;
  settleWith(record, savedBytes(text) <= roomLeft(state) ? text : tooMuch('results'));
  actions.push({ type: 'tool.ended', call: record.call, end });
  if (!state.detached.includes(record.key)) return;
  state.detached = state.detached.filter((key) => key !== record.key);
  state.records = state.records.filter(({ key }) => key !== record.key);
  state.lateOutcomes.push({ call: record.call, text: textOf(record) });
  actions.push({ type: 'outcome.late' });
  state.lateOutcomes.splice(0, state.lateOutcomes.length - mostLate);
}

/** All calls of the round have their results: the LLM goes on, unless its answer was cut. */
export function finishRound(site: Site): void {
  const { state, settings, actions } = site;
  const { round } = state;
  if (round === undefined || round.isCut) return;
  const records = state.records.filter(({ key }) => round.keys.includes(key));
  const pairs = records.flatMap(({ call, phase }): ToolPair[] =>
    phase.type === 'settled' ? [{ call, text: phase.text }] : [],
  );
  if (pairs.length < records.length) return;
  state.givenBytes += savedBytes(pairs);
  const wasQuiet = quietUntil(state) > site.now;
  state.round = undefined;
  state.records = state.records.filter(({ key }) => !round.keys.includes(key));
  const over = { epoch: round.epoch, pairs, wasQuiet };
  if (round.number > settings.maxRounds) actions.push({ type: 'rounds.exhausted', ...over });
  else actions.push({ type: 'round.next', ...over, withTools: round.number < settings.maxRounds });
}

/** Until when nothing is said for the silence while tools run. */
export const quietUntil = ({ round }: ToolState): Millis =>
  round === undefined || round.fillerSpoken ? -Infinity : (round.quietUntil ?? -Infinity);

export function newTurn(state: ToolState, epoch: number): void {
  state.epoch = epoch;
  state.givenBytes = 0;
  state.rounds = 0;
  state.ledger = [];
}
