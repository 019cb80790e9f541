/**
 * What holds after every step, whatever the event was. A rule that is broken is a bug of the core: tests and simulation fail by it, and a
 * call in production goes on, with a line in the log and a count.
 */
import type { Response } from './answer/response.ts';
import type { CallState } from './state.ts';
import type { Finalizing, Pausing } from './turn/turn.ts';

/** Every rule by its name, and what must be true. */
const rules = {
  'a response belongs to an epoch and a context that the call has begun': ({ numbers, delivery }) =>
    delivery.response === undefined ||
    (delivery.response.epoch <= numbers.epoch && delivery.response.context <= numbers.context),
  'the LLM writes for a request that was made': ({ numbers, delivery: { response } }) =>
    response?.writing.phase !== 'llm' ||
    (response.writing.round > 0 && response.writing.round <= numbers.round),
  'TTS has spoken no more than it was given': ({ delivery: { response } }) =>
    response === undefined || response.spoken.spokenSaid <= response.spoken.said,
  'the parts of a response lie within its text': ({ delivery: { response } }) =>
    response === undefined || isWithin(response),
  'a possible interruption has a response to interrupt': ({ caller: { turn }, delivery: { response } }) =>
    (turn.phase !== 'candidate' && turn.phase !== 'fading') || response !== undefined,
  'the agent answers early only where nothing of its own runs': ({ speculation, delivery }) =>
    speculation.running === undefined || delivery.response === undefined,
  'a pause ends, and not before it began': ({ caller: { turn } }) =>
    (turn.phase !== 'pausing' && turn.phase !== 'finalizing') || isOrdered(turn),
  'nobody waits for a sound where none is owed': ({ silence, delivery }) =>
    silence.since === undefined || delivery.response !== undefined,
  'the agent is silent while an operator speaks in its place': ({ operator, speculation, delivery }) =>
    operator.phase !== 'speaking' || (delivery.response === undefined && speculation.running === undefined),
  'an operator speaks in a call that goes on': ({ operator, course }) =>
    operator.phase === 'none' || course.phase === 'open' || course.phase === 'ended',
  'the caller is asked what is in the history': ({ conversation: { history } }) =>
    history.asked >= 0 && history.asked <= history.messages.length && history.bytes >= 0,
} as const satisfies Record<string, (state: CallState) => boolean>;

export type CoreRule = keyof typeof rules;

const entries = Object.entries(rules) as [CoreRule, (state: CallState) => boolean][];

/** The first rule that the state breaks. */
export function brokenRule(state: CallState): CoreRule | undefined {
  for (const [rule, holds] of entries) if (!holds(state)) return rule;
  return undefined;
}

function isWithin({ writing, recovery }: Response): boolean {
  const { length } = writing.text;
  const lastFiller = writing.fillers.at(-1)?.to ?? 0;
  const lastRound = writing.rounds.at(-1)?.endChars ?? 0;
  return lastFiller <= length && lastRound <= length && recovery.heardTo <= length;
}

const isOrdered = (turn: Pausing | Finalizing): boolean =>
  turn.phase === 'pausing'
    ? turn.decideAt >= turn.lastVoiceAt && Number.isFinite(turn.decideAt)
    : turn.decidedAt >= turn.lastVoiceAt && turn.giveUpAt >= turn.decidedAt;
