/**
 * The tool calls of a call's answers as a pure machine: which call runs, when it is tried again, asked about, given up,
 * and what the LLM is told. Every call is paired with exactly one result whatever happens; a call with effects runs at
 * most once for its id in a turn. It performs nothing and reads no clock (docs/tools.md, Read-only tools and side
 * effects).
 */
import type { Millis } from '../../../shared/base/units.ts';
import { savedBytes } from '../bounds.ts';
import { carryOver, end, leaveQuestion, moveEpoch } from './tools-cut.ts';
import {
  abandon,
  confirmWaitMs,
  entryOf,
  finish,
  finishRound,
  newTurn,
  quietUntil,
  run,
  settleWith,
} from './tools-run.ts';
import { tooMuch, type Site } from './tools-run.ts';
import { comparable, errorText, roomLeft } from './tools-state.ts';
import type {
  CallRecord,
  OpenRound,
  RequestedCall,
  ToolEvent,
  ToolAction,
  ToolOutcome,
  ToolRule,
  ToolSettings,
  ToolState,
} from './tools-state.ts';

/** Calls of one round that are looked at; a model that asks for more is told so. */
const mostCalls = 16;
const retryDelayMs = 200;

/** Takes one event and returns the actions that follow, in order. */
export function stepTools(
  state: ToolState,
  event: ToolEvent,
  { settings, now }: { settings: ToolSettings; now: Millis },
): ToolAction[] {
  const site: Site = { state, settings, now, actions: [] };
  if (!state.isOver) {
    take(site, event);
    finishRound(site);
  }
  return site.actions;
}

function take(site: Site, event: ToolEvent): void {
  switch (event.type) {
    case 'round.completed':
      openRound(site, event);
      return;
    case 'tool.settled':
      settle(site, event);
      return;
    case 'question.heard':
      noteHeard(site, event.key);
      return;
    case 'caller.answered':
      answered(site, event.verdict, event.epoch);
      return;
    case 'question.left':
      leaveQuestion(site);
      return;
    case 'epoch.moved':
      moveEpoch(site, event.epoch);
      return;
    case 'deadline.reached':
      onDeadline(site);
      return;
    case 'call.ended':
      end(site);
      return;
  }
}

/** When `deadline.reached` is due; undefined when nothing waits for time. */
export function nextToolDeadline(state: ToolState): Millis | undefined {
  if (state.isOver) return undefined;
  const times = state.records.flatMap(({ phase, key }) => {
    if (phase.type === 'held') return phase.giveUpAt === undefined ? [] : [phase.giveUpAt];
    if (phase.type === 'retrying') return [phase.startAt, phase.endsAt];
    if (phase.type !== 'running') return [];
    return phase.fillerAt !== undefined && mayFill(state, key)
      ? [phase.endsAt, phase.fillerAt]
      : [phase.endsAt];
  });
  return times.length === 0 ? undefined : Math.min(...times);
}

const mayFill = ({ round }: ToolState, key: number): boolean =>
  round !== undefined && !round.isCut && !round.fillerSpoken && round.keys.includes(key);

// ---- A round arrives ----------------------------------------------------------------------------------------------

function openRound(site: Site, event: Extract<ToolEvent, { type: 'round.completed' }>): void {
  const { state, settings } = site;
  if (event.epoch < state.epoch || event.calls.length === 0) return;
  if (event.epoch > state.epoch) newTurn(state, event.epoch);
  if (state.round !== undefined) return;
  state.rounds += 1;
  const isBeyond = state.rounds > settings.maxRounds;
  let room = roomLeft(state);
  const records = event.calls.map((call, index): CallRecord => {
    const refusal = isBeyond
      ? errorText('tool_limit', 'no more tool calls are possible in this answer')
      : refuse(call, index, { event, settings });
    room -= savedBytes(call);
    if (room >= 0) return newRecord(site, call, refusal);
    room += savedBytes(call);
    return newRecord(site, { ...call, arguments: '{}' }, refusal ?? tooMuch('arguments'));
  });
  state.records.push(...records);
  state.round = {
    epoch: event.epoch,
    number: state.rounds,
    isCut: false,
    fillerSpoken: false,
    quietUntil: undefined,
    keys: records.map(({ key }) => key),
  };
  for (const record of records) if (record.phase.type === 'new') admit(site, record);
  ask(site);
}

/** Why a call cannot run whatever the state of the turn is. */
function refuse(
  call: RequestedCall,
  index: number,
  site: { event: Extract<ToolEvent, { type: 'round.completed' }>; settings: ToolSettings },
): string | undefined {
  const { event, settings } = site;
  if (event.finish === 'length' || event.finish === 'content_filter')
    return errorText('arguments_cut', 'the response was cut, so the call was not run; ask again, shorter');
  if (index >= mostCalls) return errorText('too_many_calls', `at most ${mostCalls} calls in one round`);
  if (!event.offered.includes(call.name) || settings.ruleOf(call.name) === undefined)
    return errorText('unknown_tool', 'no tool of this name is offered');
  // Results are told apart by their ids: nobody would know whose the second one is.
  if (event.calls.findIndex(({ id }) => id === call.id) < index)
    return errorText('repeated_call_id', 'an earlier call of this round has this id; this one is not run');
  const verdict = settings.validate(call.name, call.arguments);
  return verdict.ok ? undefined : errorText('invalid_arguments', verdict.rule);
}

function newRecord(site: Site, call: RequestedCall, refusal: string | undefined): CallRecord {
  const { state, settings } = site;
  const verdict = refusal === undefined ? settings.validate(call.name, call.arguments) : undefined;
  const key = state.nextKey;
  state.nextKey += 1;
  return {
    key,
    call,
    canonical: verdict?.ok === true ? comparable(verdict.canonical) : '',
    epoch: state.epoch,
    kind: settings.ruleOf(call.name)?.kind ?? 'read_only',
    phase: refusal === undefined ? { type: 'new' } : { type: 'settled', text: refusal },
  };
}

/** Runs a call, holds it for the caller's word, or refuses it. */
function admit(site: Site, record: CallRecord): void {
  const { state, settings } = site;
  const rule = settings.ruleOf(record.call.name);
  const { round } = state;
  if (round === undefined) return;
  if (rule === undefined) {
    settleWith(record, errorText('unknown_tool', 'no tool of this name is offered'));
    return;
  }
  if (record.kind === 'read_only') {
    run(site, record, { rule, attempt: 1 });
    return;
  }
  const refusal = refuseEffect(state, record, { rule, round });
  if (refusal !== undefined) settleWith(record, refusal);
  else if (rule.confirm) record.phase = { type: 'held', isHeard: false, giveUpAt: site.now + confirmWaitMs };
  else run(site, record, { rule, attempt: 1 });
}

/** What the turn already did decides whether a call with effects may run. */
function refuseEffect(
  state: ToolState,
  record: CallRecord,
  { rule, round }: { rule: ToolRule; round: OpenRound },
): string | undefined {
  const { call, canonical } = record;
  const held = state.records.some(
    (other) => other !== record && other.call.id === call.id && other.phase.type === 'held',
  );
  if (held || state.ledger.some(({ id }) => id === call.id))
    return errorText(
      'repeated_call_id',
      'a call with this id was made before in this turn and is not run again',
    );
  if (rule.repeatable) return undefined;
  const same = state.ledger.filter(
    (entry) => entry.name === call.name && entry.canonical === canonical && entry.round < round.number,
  );
  if (same.some((entry) => entry.state === 'done'))
    return errorText('already_done', 'the same call succeeded before in this turn and is not run again');
  if (same.some((entry) => entry.state === 'unknown' || entry.state === 'running'))
    return errorText('outcome_unknown', 'the same call may have happened already; do not repeat it');
  return undefined;
}

// ---- Results ------------------------------------------------------------------------------------------------------

function settle(site: Site, event: Extract<ToolEvent, { type: 'tool.settled' }>): void {
  const { state } = site;
  const record = state.records.find(({ key }) => key === event.key);
  if (record?.phase.type !== 'running' || record.phase.attempt !== event.attempt) return;
  if (mayRetry(site, record, event.outcome)) {
    state.retriesLeft -= 1;
    const { attempt, ...rest } = record.phase;
    const startAt = site.now + retryDelayMs;
    record.phase = { ...rest, type: 'retrying', attempt: attempt + 1, startAt };
    return;
  }
  const { outcome } = event;
  const lost = lossOf(record, outcome);
  if (lost !== undefined) {
    giveUpEffect(site, record, lost);
    return;
  }
  const entry = entryOf(state, record);
  if (entry !== undefined) entry.state = outcome.kind === 'result' ? 'done' : 'failed';
  if (outcome.kind === 'result') finish(site, record, { text: outcome.text, end: 'answered' });
  else finish(site, record, { text: errorText('tool_failed', outcome.message), end: 'failed' });
}

/** A call with effects was sent and nobody knows what came of it: that is no failure. Gives the words for it; undefined of any other. */
function lossOf({ kind }: CallRecord, outcome: ToolOutcome): string | undefined {
  if (kind !== 'side_effect' || outcome.kind !== 'failed') return undefined;
  if (!outcome.transport || outcome.unsent === true) return undefined;
  return `${outcome.known ?? 'the answer was lost; it may have happened'}, so do not repeat it`;
}

function giveUpEffect(site: Site, record: CallRecord, why: string): void {
  const entry = entryOf(site.state, record);
  if (entry !== undefined) entry.state = 'unknown';
  finish(site, record, { text: errorText('outcome_unknown', why), end: 'failed' });
}

/** One more try for a tool that only reads, when nothing was answered and its time allows it. */
function mayRetry({ state, now }: Site, { kind, phase }: CallRecord, outcome: ToolOutcome): boolean {
  return (
    kind === 'read_only' &&
    outcome.kind === 'failed' &&
    outcome.transport &&
    outcome.known === undefined &&
    phase.type === 'running' &&
    phase.attempt === 1 &&
    state.retriesLeft > 0 &&
    now + retryDelayMs < phase.endsAt
  );
}

function onDeadline(site: Site): void {
  const { state, now, settings } = site;
  for (const record of [...state.records]) {
    const { phase } = record;
    if (phase.type === 'held' && now >= phase.giveUpAt)
      settleWith(record, errorText('not_confirmed', 'the caller did not answer, so the call was not run'));
    else if ((phase.type === 'running' || phase.type === 'retrying') && now >= phase.endsAt)
      timeOut(site, record);
    else if (phase.type === 'retrying' && now >= phase.startAt) {
      const rule = settings.ruleOf(record.call.name);
      if (rule !== undefined) run(site, record, { rule, attempt: phase.attempt, fillerAt: phase.fillerAt });
    } else if (phase.type === 'running' && phase.fillerAt !== undefined && now >= phase.fillerAt)
      fill(site, record);
  }
}

function timeOut(site: Site, record: CallRecord): void {
  abandon(site, record, 'timeout');
  if (record.kind === 'side_effect')
    giveUpEffect(site, record, 'no answer in time; it may have happened, so do not repeat it');
  else finish(site, record, { text: errorText('timeout', 'no answer in time'), end: 'failed' });
}

function fill(site: Site, { key }: CallRecord): void {
  const { state, actions, now } = site;
  if (state.round === undefined || !mayFill(state, key)) return;
  const wasQuiet = quietUntil(state) >= now;
  state.round.fillerSpoken = true;
  actions.push({ type: 'filler.speak', epoch: state.round.epoch, index: state.fillers, wasQuiet });
  state.fillers += 1;
}

// ---- The caller's word --------------------------------------------------------------------------------------------

/** One question for all calls of the round: a caller who was asked the same again would think that the yes was not heard. */
function ask({ state, actions }: Site): void {
  const first = state.records.find(({ phase }) => phase.type === 'held');
  if (first !== undefined) actions.push({ type: 'caller.ask', key: first.key });
}

function noteHeard({ state, now }: Site, key: number): void {
  const held = state.records.filter(({ phase }) => phase.type === 'held');
  if (!held.some((record) => record.key === key)) return;
  for (const record of held) record.phase = { type: 'held', isHeard: true, giveUpAt: now + confirmWaitMs };
}

/** The calls whose question the caller has heard. */
export const callsAskedAbout = ({ records }: ToolState): readonly RequestedCall[] =>
  records.flatMap(({ phase, call }) => (phase.type === 'held' && phase.isHeard ? [call] : []));

function answered(site: Site, verdict: 'yes' | 'no' | 'unclear', epoch: number): void {
  const { state, settings } = site;
  const records = state.records.filter(({ phase }) => phase.type === 'held' && phase.isHeard);
  if (records.length === 0 || state.round === undefined) return;
  if (epoch > state.epoch) carryOver(state, epoch);
  for (const record of records) {
    const rule = settings.ruleOf(record.call.name);
    if (verdict === 'yes' && rule !== undefined) run(site, record, { rule, attempt: 1 });
    else if (verdict === 'no')
      settleWith(record, errorText('declined', 'the caller said no, so the call was not run'));
    else
      settleWith(record, errorText('not_confirmed', 'the caller gave no clear yes, so the call was not run'));
  }
}
