/**
 * What ends tool calls from outside: an interruption, the end of the call, another process. Reading is
 * abandoned, effects go on or have an unknown outcome; no call is left without its result.
 */
import type { Millis } from '../../../shared/base/units.ts';
import {
  abandon,
  confirmWaitMs,
  entryOf,
  finish,
  finishRound,
  isUnderWay,
  newTurn,
  run,
  settleWith,
} from './tools-run.ts';
import type { Site } from './tools-run.ts';
import { errorText } from './tools-state.ts';
import type { ToolAction, ToolPair, ToolSettings, ToolState } from './tools-state.ts';

/** The answer to a question belongs to the turn that asked it: the round and what it did go on in the new epoch. */
export function carryOver(state: ToolState, epoch: number): void {
  state.epoch = epoch;
  if (state.round !== undefined) state.round.epoch = epoch;
  for (const record of state.records)
    if (state.round?.keys.includes(record.key) === true) record.epoch = epoch;
}

/** The caller took over. Reading is abandoned, effects go on; a question that was heard waits for its answer. */
export function moveEpoch(site: Site, epoch: number): void {
  const { state } = site;
  if (epoch <= state.epoch) return;
  const waits = state.records.some(({ phase }) => phase.type === 'held' && phase.isHeard);
  if (waits) {
    abandonReading(site);
    carryOver(state, epoch);
    return;
  }
  cutRound(site, 'the caller spoke before being asked; the call was not run');
  newTurn(state, epoch);
  releaseCutRound(state);
}

/** A question that was heard is answered no more: its round is given up. */
export function leaveQuestion(site: Site): void {
  const { state } = site;
  if (!state.records.some(({ phase }) => phase.type === 'held' && phase.isHeard)) return;
  cutRound(site, 'the caller did not answer the question; the call was not run');
  releaseCutRound(state);
}

function cutRound(site: Site, why: string): void {
  const { state } = site;
  abandonReading(site);
  for (const record of state.records)
    if (record.phase.type === 'held') settleWith(record, errorText('not_confirmed', why));
  if (state.round !== undefined) state.round.isCut = true;
}

function abandonReading(site: Site): void {
  for (const record of site.state.records) {
    if (record.kind !== 'read_only' || !isUnderWay(record)) continue;
    abandon(site, record, 'interrupted');
    const text = errorText('interrupted', 'the caller spoke, so the tool was abandoned');
    finish(site, record, { text, end: 'abandoned' });
  }
}

/** Pairs every call of a cut round now; the outcome of what still runs follows at a later safe point. */
function releaseCutRound(state: ToolState): void {
  const { round } = state;
  if (round === undefined) return;
  for (const record of state.records) {
    if (!round.keys.includes(record.key)) continue;
    if (record.phase.type !== 'settled') state.detached.push(record.key);
    const text =
      record.phase.type === 'settled'
        ? record.phase.text
        : JSON.stringify({ status: 'running', note: 'the outcome follows; do not repeat the call' });
    state.cutPairs.push({ call: record.call, text });
  }
  state.records = state.records.filter(
    ({ key }) => !round.keys.includes(key) || state.detached.includes(key),
  );
  state.round = undefined;
}

/** Something waits for the next safe point. */
export const waitsForSafePoint = ({ cutPairs, lateOutcomes }: ToolState): boolean =>
  cutPairs.length + lateOutcomes.length > 0;

/** What entered since the last safe point, right before the next response starts. Takes it out of the state. */
export function takeAtSafePoint(state: ToolState): { pairs: ToolPair[]; lateOutcomes: ToolPair[] } {
  const taken = { pairs: state.cutPairs, lateOutcomes: state.lateOutcomes };
  state.cutPairs = [];
  state.lateOutcomes = [];
  return taken;
}

export function end(site: Site): void {
  const { state } = site;
  for (const record of state.records) {
    if (!isUnderWay(record)) continue;
    abandon(site, record, 'abandoned');
    site.actions.push({ type: 'tool.ended', call: record.call, end: 'abandoned' });
  }
  state.isOver = true;
  state.records = [];
  state.round = undefined;
  state.detached = [];
}

/** Takes up the state in another process: effects that ran have an unknown outcome, reading starts again. */
export function resumeTools(
  state: ToolState,
  { settings, now }: { settings: ToolSettings; now: Millis },
): ToolAction[] {
  const site: Site = { state, settings, now, actions: [] };
  for (const record of [...state.records]) {
    const rule = settings.ruleOf(record.call.name);
    const { phase } = record;
    if (phase.type === 'held') phase.giveUpAt = now + confirmWaitMs;
    if (phase.type !== 'running' && phase.type !== 'retrying') continue;
    if (rule?.outlives === true) continue;
    if (record.kind === 'read_only' && rule !== undefined) {
      record.phase = { type: 'new' };
      run(site, record, { rule, attempt: phase.attempt + 1, fillerAt: phase.fillerAt });
      continue;
    }
    const entry = entryOf(state, record);
    if (entry !== undefined) entry.state = 'unknown';
    const text = errorText(
      'outcome_unknown',
      'the outcome was lost; it may have happened, so do not repeat it',
    );
    finish(site, record, { text, end: 'failed' });
  }
  finishRound(site);
  return site.actions;
}
