/**
 * Judges what a call does with tools, from its events and orders alone: every call has one result, every result is true, and
 * nothing with effects runs twice, out of an answer that was thrown away, or without being told of the end.
 */
import type { ContextMessage } from '../../../worker/core/actions.ts';
import type { Order } from '../../support/core/order.ts';
import type { CallEvent } from '../../../worker/core/events.ts';
import type { RequestedCall } from '../../../worker/core/tools/tools-state.ts';

/** One call of the LLM. Two calls that look the same are still two. */
interface Asked {
  readonly call: RequestedCall;
  readonly round: number;
  ran: number;
  /** What the tool said first, while it was waited for. */
  answer: string | undefined;
}

interface Run {
  readonly asked: Asked;
  attempt: number;
  state: 'running' | 'settled' | 'told' | 'lost';
}

interface Round {
  readonly number: number;
  /** It was asked for before the turn was certainly over. */
  readonly guess: boolean;
  promoted: boolean;
  /** The response ended before its calls were complete. */
  cut: boolean;
  calls: Asked[];
  over: boolean;
}

const neverRan = new Set([
  'unknown_tool',
  'invalid_arguments',
  'arguments_cut',
  'already_done',
  'repeated_call_id',
  'tool_limit',
  'declined',
  'not_confirmed',
]);

export class ToolJudge {
  readonly violations: string[] = [];
  /** How often each thing happened, so that the simulation is known to have met it. */
  readonly counts = new Map<string, number>();
  readonly #effects: ReadonlySet<string>;
  readonly #confirmed: ReadonlySet<string>;
  readonly #question: string;
  readonly #wholeContext: boolean;
  readonly #runs = new Map<number, Run>();
  readonly #ids = new Set<string>();
  readonly #idempotencyKeys = new Set<string>();
  readonly #rounds: Round[] = [];
  #losses = 0;
  #over = false;
  /** What the caller said since the agent last asked for a yes; undefined when it did not ask. */
  #saidSince: string[] | undefined;
  /** A yes is for the calls that it runs at once, and for none later. */
  #isAnswered = false;

  constructor(options: {
    effects: readonly string[];
    confirmed: readonly string[];
    question: string;
    wholeContext: boolean;
  }) {
    this.#effects = new Set(options.effects);
    this.#confirmed = new Set(options.confirmed);
    this.#question = options.question;
    this.#wholeContext = options.wholeContext;
  }

  get running(): { key: number; attempt: number }[] {
    return [...this.#runs].flatMap(([key, { attempt, state }]) =>
      state === 'running' ? [{ key, attempt }] : [],
    );
  }

  /** Runs that nobody waits for any more, and that may answer all the same. */
  get done(): { key: number; attempt: number }[] {
    return [...this.#runs].flatMap(([key, { attempt, state }]) =>
      state === 'settled' || state === 'told' ? [{ key, attempt }] : [],
    );
  }

  /** The newest request to the LLM, while it is waited for. */
  get openRound(): number | undefined {
    const newest = this.#rounds.at(-1);
    return newest === undefined || newest.over || this.#over ? undefined : newest.number;
  }

  get ended(): boolean {
    return this.#over;
  }

  saw(event: CallEvent, actions: readonly Order[]): void {
    if (this.#over) {
      if (actions.length > 0) this.#fail('orders after the end');
      return;
    }
    this.#happened(event);
    this.#notePromotion(actions);
    for (const action of actions) this.#ordered(action, event, actions);
    const ends = event.type === 'call.closed' || actions.some(({ type }) => type === 'call.end');
    if (!ends) return;
    this.#over = true;
    if (this.running.length > 0) this.#fail('a tool runs on and was not told of the end');
  }

  #fail(rule: string): void {
    this.violations.push(rule);
  }

  /** An answer that was begun early is certain from the step on in which it begins, unless another is asked for. */
  #notePromotion(actions: readonly Order[]): void {
    const newest = this.#rounds.at(-1);
    const begins = actions.some(({ type }) => type === 'playout.open');
    const telling = ['llm.start', 'llm.cancel', 'tool.run', 'tools.answered'];
    const first = actions.find(({ type }) => telling.includes(type))?.type;
    const another = first === 'llm.start' || first === 'llm.cancel';
    if (newest?.guess === true && begins && !another) newest.promoted = true;
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  #happened(event: CallEvent): void {
    if (this.#isAnswered) this.#saidSince = undefined;
    this.#isAnswered = false;
    if (event.type === 'llm.done') this.#answered(event);
    else if (event.type === 'llm.failed' && event.round === this.openRound) this.#closeRound();
    else if (event.type === 'stt.final') this.#saidSince?.push(event.text);
    else if (event.type === 'call.resumed') {
      this.#losses += 1;
      for (const run of this.#runs.values()) if (run.state === 'running') run.state = 'lost';
    } else if (event.type === 'tool.settled') {
      const run = this.#runs.get(event.key);
      if (run?.state !== 'running' || run.attempt !== event.attempt) return;
      run.state = 'settled';
      run.asked.answer = event.outcome.kind === 'result' ? event.outcome.text : '!tool_failed';
    }
  }

  #answered(event: Extract<CallEvent, { type: 'llm.done' }>): void {
    const round = this.#rounds.at(-1);
    if (round?.number !== event.round || round.over) return;
    round.over = true;
    round.cut = event.finish !== 'tool_calls';
    round.calls = event.toolCalls.map((call) => ({ call, round: round.number, ran: 0, answer: undefined }));
  }

  #closeRound(): void {
    const newest = this.#rounds.at(-1);
    if (newest !== undefined) newest.over = true;
  }

  #ordered(action: Order, event: CallEvent, actions: readonly Order[]): void {
    switch (action.type) {
      case 'llm.start':
        this.#requested(action, event, actions);
        return;
      case 'llm.cancel':
        this.#closeRound();
        return;
      case 'tool.run':
        this.#ran(action);
        return;
      case 'tool.abandon':
        this.#abandoned(action);
        return;
      case 'tts.speak':
        if (action.text.includes(this.#question)) this.#saidSince = [];
        return;
      default:
        return;
    }
  }

  #abandoned({ key, reason }: Extract<Order, { type: 'tool.abandon' }>): void {
    const run = this.#runs.get(key);
    if (run?.state !== 'running') this.#fail('a tool is given up that does not run');
    else {
      run.state = 'told';
      if (reason === 'interrupted' && this.#effects.has(run.asked.call.name))
        this.#fail('an effect is given up because the caller spoke');
    }
    this.#count(`told ${reason}`);
  }

  // ---- runs ----

  #ran(order: Extract<Order, { type: 'tool.run' }>): void {
    const { key, attempt, call } = order;
    const effect = this.#effects.has(call.name);
    this.#count(effect ? 'effect' : 'reading');
    const former = this.#runs.get(key);
    if (former !== undefined) {
      if (effect) this.#fail('an effect runs again');
      if (former.state === 'running') this.#fail('a tool runs twice at a time');
      if (attempt > 2 + this.#losses) this.#fail('a tool is tried again and again');
      if (attempt <= former.attempt) this.#fail('an attempt has the number of another');
      former.attempt = attempt;
      former.state = 'running';
      former.asked.ran += 1;
      this.#count('again');
      return;
    }
    const asked = this.#askedFor(call);
    if (asked === undefined) return;
    asked.ran += 1;
    this.#runs.set(key, { asked, attempt, state: 'running' });
    if (!effect) return;
    const id = `${order.epoch}/${call.id}`;
    if (this.#ids.has(id)) this.#fail('an effect runs twice for one id in a turn');
    if (this.#idempotencyKeys.has(order.idempotencyKey)) this.#fail('an idempotency key is used twice');
    this.#ids.add(id);
    this.#idempotencyKeys.add(order.idempotencyKey);
    if (!this.#confirmed.has(call.name)) return;
    this.#count('confirmed');
    if (this.#saidSince?.some((text) => /^yes/i.test(text)) !== true) this.#fail('nobody said yes');
    this.#isAnswered = true;
  }

  /** The call of the LLM that this run is of. */
  #askedFor(call: RequestedCall): Asked | undefined {
    const round = this.#rounds.findLast(({ calls }) => calls.length > 0);
    const asked = round?.calls.find(
      ({ call: wanted, ran }) =>
        ran === 0 &&
        wanted.id === call.id &&
        wanted.name === call.name &&
        wanted.arguments === call.arguments,
    );
    if (asked === undefined) this.#fail('a tool runs that the LLM did not call');
    else if (round?.cut === true || !isWhole(call.arguments)) this.#fail('a call that was cut is run');
    else if (round?.guess === true && !round.promoted)
      this.#fail('a tool runs out of an answer that may be thrown away');
    else if (round?.calls.some((other) => other !== asked && other.call.id === call.id && other.ran > 0))
      this.#fail('two calls of one id run in a round');
    return asked;
  }

  // ---- requests ----

  #requested(
    order: Extract<Order, { type: 'llm.start' }>,
    event: CallEvent,
    actions: readonly Order[],
  ): void {
    const certain =
      event.type === 'llm.text' ||
      event.type === 'call.resumed' ||
      actions.some(({ type }) => type === 'playout.open' || type === 'tools.answered');
    if (!certain) this.#count('guess');
    this.#paired(order.messages);
    this.#complete(order.messages);
    for (const { role, text } of order.messages) if (role === 'system') this.#note(text);
    this.#rounds.push({
      number: order.round,
      guess: !certain,
      promoted: false,
      cut: false,
      calls: [],
      over: false,
    });
  }

  /** A note tells the outcome of an effect that went on, as it was. */
  #note(note: string): void {
    const text = /^The earlier call of \w+ has ended: (.*)$/s.exec(note)?.[1];
    if (text === undefined) return;
    this.#count('note');
    if (text.startsWith('{"error"')) return;
    const known = this.#rounds.some(({ calls }) => calls.some(({ answer }) => answer === text));
    if (!known) this.#fail('a note tells what no tool said');
  }

  /** Results stand right behind their calls, all of them, in order, and nowhere else. */
  #paired(messages: readonly ContextMessage[]): void {
    const owed: RequestedCall[] = [];
    for (const message of messages) {
      if (message.role === 'tool') {
        const call = owed.shift();
        if (call?.id !== message.callId || call.name !== message.name)
          this.#fail('a result stands behind no call of its own');
        continue;
      }
      if (owed.length > 0) this.#fail('a call has no result');
      if (message.role === 'assistant') owed.push(...(message.toolCalls ?? []));
    }
    if (owed.length > 0) this.#fail('a call has no result');
  }

  /** Every call that was ever made is there once, with a result that is true. */
  #complete(messages: readonly ContextMessage[]): void {
    if (!this.#wholeContext) return;
    const told = resultsIn(messages);
    for (const round of this.#rounds) {
      if (round.calls.length === 0 || (round.guess && !round.promoted)) continue;
      const [group = []] = told;
      const { calls } = round;
      if (group.length === calls.length && calls.every(({ call }, nth) => isSame(group[nth]?.call, call))) {
        told.shift();
        for (const [nth, asked] of calls.entries()) this.#true(asked, group[nth]?.text ?? '');
      } else if (!round.guess || calls.some(({ ran }) => ran > 0)) {
        // A guess that was thrown away for a line of the agent's own has left nothing behind.
        this.#fail('a call is missing in the context');
      }
    }
    if (told.length > 0) this.#fail('the context holds calls that nobody made');
  }

  #true(asked: Asked, text: string): void {
    const code = /^\{"error":\{"code":"(\w+)"/.exec(text)?.[1];
    const running = text.startsWith('{"status":"running"');
    const what = code ?? (running ? 'running' : 'result');
    this.#count(what);
    if (asked.call.name === 'end_call') return;
    if (code !== undefined && neverRan.has(code)) {
      if (asked.ran > 0) this.#fail(`a call ran and is said to be ${code}`);
      return;
    }
    const repeated = code === 'outcome_unknown' && this.#effects.has(asked.call.name);
    if (asked.ran === 0 && !repeated) this.#fail(`a call never ran and is said to be ${what}`);
    if (what === 'result' && asked.answer !== text) this.#fail('a result is not what the tool said');
    if (code === 'tool_failed' && asked.answer !== '!tool_failed') this.#fail('a tool did not fail');
  }
}

const isWhole = (argumentsText: string): boolean => argumentsText.endsWith('}');

const isSame = (one: RequestedCall | undefined, other: RequestedCall): boolean =>
  one?.id === other.id && one.name === other.name && one.arguments === other.arguments;

/** The calls of a context with the text of their results, message by message. */
function resultsIn(messages: readonly ContextMessage[]): { call: RequestedCall; text: string }[][] {
  return messages.flatMap((message, index) => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
    if (calls.length === 0) return [];
    return [calls.map((call, nth) => ({ call, text: messages[index + 1 + nth]?.text ?? '' }))];
  });
}
