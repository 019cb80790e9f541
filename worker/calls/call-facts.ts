/**
 * Reads of one call, from what its core is told and orders, the facts that its record is made of (`shared/calls/facts.ts`). It changes nothing.
 * What happens often is counted and written at the boundaries of turns.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { CallFact } from '../../shared/calls/facts.ts';
import { notRecorded, type Keys } from '../../shared/calls/privacy/redaction.ts';
import { recordLimits, type UsageUnit } from '../../shared/calls/record.ts';
import type { MonitorUse } from '../../shared/monitor/messages.ts';
import type { CallAccount, CallOver } from '../call/account.ts';
import type { BegunCall, CallStep } from '../call/observer.ts';
import type { CallAction } from '../core/actions.ts';
import { mayBeRecorded } from '../core/delivery/conversation.ts';
import type { CallEvent } from '../core/events.ts';
import type { ConversationEvent, TurnTimes } from '../core/told.ts';
import type { ProviderNote } from '../stages/provider-note.ts';
import { endingOf } from './ending.ts';
import { OperatorUses } from './operator-uses.ts';
import { Speakers } from './speakers.ts';
import { UsedSince } from './used-since.ts';

/** A fact without its time. */
export type Untimed<F = CallFact> = F extends CallFact ? Omit<F, 'at' | 'n'> : never;

/** Takes out of texts what must not be kept: keys that the caller pressed among it. */
export interface TextRedaction {
  begin(keys: Keys, now: Millis): void;
  text(text: string): string;
  pressed(digit: string, now: Millis): unknown;
}

export interface CallFactsOptions {
  readonly startedAt: Millis;
  readonly redaction: TextRedaction;
  readonly modelOf: (stage: string, provider: string) => string | undefined;
  readonly write: (fact: CallFact, how: { readonly isVital: boolean }) => void;
  readonly end: (fact: CallFact) => void;
}

export class CallFacts implements CallAccount {
  readonly #options: CallFactsOptions;
  readonly #speakers: Speakers;
  readonly #used: UsedSince;
  readonly #operators: OperatorUses;
  #turnAt: Millis;
  #spoken: { readonly epoch: number; readonly at: Millis } | undefined;
  readonly #tools = new Map<string, { readonly key: string; readonly at: Millis }>();
  #keys = 0;
  /** Provider of each stage that was asked last. */
  readonly #asked = new Map<string, string>();
  #isOperatorEnding = false;
  #isOver = false;
  #isPaused = false;

  constructor(options: CallFactsOptions) {
    this.#options = options;
    this.#turnAt = options.startedAt;
    this.#speakers = new Speakers(options.startedAt);
    this.#used = new UsedSince();
    this.#operators = new OperatorUses();
  }

  /** The first lines, and those of a worker that takes the call up. */
  begin(facts: readonly Untimed[], now: Millis): void {
    for (const fact of facts) this.#write(fact, now, { isVital: true });
  }

  begins({ state, now }: Pick<BegunCall, 'state' | 'now'>): void {
    this.#options.redaction.begin({ ...state.keys, ...state.setup }, now);
    this.#speakers.begin(now);
    this.#write({ t: 'open' }, now);
    this.#pause(!mayBeRecorded(state), now);
  }

  stepped({ fact, orders, now, state }: CallStep): void {
    this.#hear(fact, now);
    for (const order of orders) {
      if (order.type === 'told') this.#follow(order.event, now);
      else this.#perform(order, now);
    }
    // Words told in the step that pauses were said before it, and those told in the step that goes on were said in the pause.
    this.#pause(!mayBeRecorded(state), now);
  }

  #pause(isPaused: boolean, now: Millis): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    this.#write({ t: 'paused', on: isPaused }, now, { isVital: true });
  }

  note(note: ProviderNote, now: Millis): void {
    const { stage, provider } = note;
    if (note.what === 'requested') {
      const before = this.#asked.get(stage);
      this.#asked.set(stage, provider);
      if (before !== undefined && before !== provider)
        this.#write({ t: 'failover', stage, to: provider }, now);
    } else if (note.what === 'replaced') {
      this.#write({ t: 'failover', stage, to: note.by }, now);
    } else if (note.what === 'spent') {
      const unit: UsageUnit = note.unit === 'audio_seconds' ? 'seconds' : note.unit;
      this.#used.add(stage, provider, unit, note.amount);
    }
  }

  monitored(use: MonitorUse, now: Millis): void {
    for (const fact of this.#operators.used({ ...use, by: this.#text(use.by) }, this.#since(now)))
      this.#write(fact, now);
  }

  over(over: CallOver, now: Millis): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#tally(now);
    if (over.line !== undefined) this.#quality(over.line, now);
    const ending = endingOf(over, { isOperator: this.#isOperatorEnding });
    this.#options.end({ t: 'end', at: this.#since(now), ...ending });
  }

  #quality({ packets, lost, jitterMs, delayMs, codec }: NonNullable<CallOver['line']>, now: Millis): void {
    const delay = delayMs === undefined ? {} : { delay: delayMs };
    this.#write({ t: 'quality', packets, lost, jitter: jitterMs, codec, ...delay }, now);
  }

  #hear(fact: CallEvent, now: Millis): void {
    this.#speakers.hear(fact, now);
    switch (fact.type) {
      case 'dtmf.pressed':
        this.#keys += 1;
        this.#options.redaction.pressed(fact.digit, now);
        return;
      case 'tts.flushed':
        this.#used.spoke(this.#asked.get('tts'), fact.context, fact.audioMs);
        return;
      case 'tts.spoken':
        this.#used.spoke(this.#asked.get('tts'), fact.context, fact.audioMs);
        return;
      case 'command.given':
        // Agents' commands have ids, or a word that stands for one.
        if (fact.command.type === 'end' && fact.id === undefined) this.#isOperatorEnding = true;
        return;
      case 'carrier.answered': {
        const { outcome, commandId: id } = fact;
        const code = outcome.kind === 'refused' ? { code: outcome.code } : {};
        this.#write({ t: 'transferred', id, outcome: outcome.kind, ...code }, now);
        return;
      }
      default:
    }
  }

  #perform(order: Exclude<CallAction, { type: 'told' }>, now: Millis): void {
    this.#speakers.perform(order);
    if (order.type === 'tool.run') {
      this.#tools.set(order.call.id, {
        key: String(order.key),
        at: this.#tools.get(order.call.id)?.at ?? now,
      });
    } else if (order.type === 'carrier.transfer') {
      const { commandId: id, mode, isNumber, destination } = order;
      this.#write({ t: 'transfer', id, mode, ...(!isNumber && { destination }) }, now);
    }
  }

  #follow(event: ConversationEvent, now: Millis): void {
    switch (event.type) {
      case 'agent.changed':
        this.#write({ t: 'handed', agent: event.agent }, now);
        return;
      case 'turn.user_started':
        this.#turnAt = now;
        this.#speech(now, { begins: true });
        return;
      case 'user.text':
        this.#write({ t: 'turn', epoch: event.epoch }, now);
        this.#said('caller', event, { from: this.#turnAt, now });
        return;
      case 'turn.bot_started':
        this.#spoken = { epoch: event.epoch, at: now };
        this.#speakers.agent(true, now);
        // A worker that dies in the answer has told of the keys that it answers.
        if (this.#keys > 0) this.#speech(now);
        this.#write({ t: 'answered', epoch: event.epoch }, now);
        return;
      case 'turn.bot_ended':
        this.#speakers.agent(false, now);
        this.#tally(now);
        return;
      case 'turn.interrupted':
        this.#speakers.interrupted(now);
        if (this.#spoken !== undefined) this.#write({ t: 'cut', epoch: this.#spoken.epoch }, now);
        this.#tally(now);
        return;
      case 'bot.heard':
        this.#heard(event, now);
        return;
      case 'turn.measured':
        this.#write({ t: 'times', epoch: event.epoch, ...timesOf(event.times) }, now);
        return;
      case 'fault.noticed': {
        const { stage, what, cause } = event;
        this.#write({ t: 'fault', stage, what, ...(cause !== undefined && { cause }) }, now);
        return;
      }
      case 'tool.ended':
        this.#toolEnded(event, now);
        return;
      case 'operator.text':
        // When it began is not known.
        this.#said('operator', { epoch: 0, text: event.text }, { from: now, now });
        return;
      case 'operator.handed_back':
        for (const fact of this.#operators.handedBack(this.#since(now))) this.#write(fact, now);
        return;
      default:
    }
  }

  #said(
    role: 'caller' | 'operator',
    { epoch, text }: { readonly epoch: number; readonly text: string },
    { from, now }: { readonly from: Millis; readonly now: Millis },
  ): void {
    this.#write({ t: 'said', role, epoch, from: this.#since(from), text: this.#text(text) }, now);
  }

  #heard({ epoch, end }: Extract<ConversationEvent, { type: 'bot.heard' }>, now: Millis): void {
    if (end === undefined) return;
    const { how, complete, heard } = end;
    const from = this.#since(this.#spoken?.epoch === epoch ? this.#spoken.at : now);
    this.#write({ t: 'heard', epoch, from, text: this.#text(heard), how, complete }, now);
  }

  #toolEnded({ call, end }: Extract<ConversationEvent, { type: 'tool.ended' }>, now: Millis): void {
    const { id, name } = call;
    const run = this.#tools.get(id);
    this.#tools.delete(id);
    const key = run?.key ?? `left ${id}`;
    const ms = run === undefined ? 0 : Math.round(now - run.at);
    const outcome = end === 'answered' ? 'ok' : end;
    this.#write({ t: 'tool', key, id: id.slice(0, longestId), name, ms, outcome }, now);
  }

  #text(text: string): string {
    if (this.#isPaused) return notRecorded;
    return this.#options.redaction.text(text).slice(0, recordLimits.textChars);
  }

  #tally(now: Millis): void {
    const { modelOf } = this.#options;
    this.#speech(now);
    for (const { stage, provider, units } of this.#used.take()) {
      const model = modelOf(stage, provider);
      this.#write({ t: 'used', stage, provider, ...(model !== undefined && { model }), units }, now);
    }
  }

  #speech(now: Millis, boundary: { readonly begins?: true } = {}): void {
    const keys = this.#keys > 0 ? { keys: this.#keys } : {};
    this.#keys = 0;
    this.#write({ t: 'tally', ...this.#speakers.take(now), ...keys, ...boundary }, now);
  }

  #write(fact: Untimed, now: Millis, how = { isVital: false }): void {
    this.#options.write({ ...fact, at: this.#since(now) }, how);
  }

  #since(now: Millis): number {
    return Math.max(0, Math.round(now - this.#options.startedAt));
  }
}

/** Of what an LLM made up as the name of a call; beyond that it is no id. */
const longestId = 128;

/** Whole milliseconds that add up as the parts do. */
function timesOf(times: TurnTimes): Pick<Extract<CallFact, { t: 'times' }>, 'ms' | 'filled'> {
  const { endOfTurnMs, sttFinalMs, llmTtftMs, ttsTtfbMs, wireMs, filled } = times;
  let exact = 0;
  let sum = 0;
  const whole = (part: Millis): number => {
    exact += Math.max(0, part);
    const ms = Math.round(exact) - sum;
    sum += ms;
    return ms;
  };
  return {
    ms: [whole(endOfTurnMs), whole(sttFinalMs), whole(llmTtftMs), whole(ttsTtfbMs), whole(wireMs)],
    ...(filled && { filled: true }),
  };
}
