/** Judges commands from outside: each is answered exactly once, by the time the call is over at the latest. */
import { endGraceMs } from '../../../worker/core/commands.ts';
import type { CallAction } from '../../../worker/core/actions.ts';
import type { CallEvent } from '../../../worker/core/events.ts';

export class CommandJudge {
  readonly #demand: (now: number, holds: boolean, rule: string) => void;
  /** Commands without an answer, and since when. */
  readonly #open = new Map<string, { readonly type: string; readonly at: number }>();
  #isOver = false;
  /** How often each answer was given. */
  readonly answers = new Map<string, number>();

  constructor(demand: (now: number, holds: boolean, rule: string) => void) {
    this.#demand = demand;
  }

  saw(event: CallEvent, actions: readonly CallAction[], now: number): void {
    if (event.type === 'command.given') this.#given(event, now);
    for (const action of actions) {
      if (action.type === 'call.end') this.#isOver = true;
      if (action.type !== 'told' || action.event.type !== 'command.answered') continue;
      const { id, command, outcome } = action.event;
      const given = this.#open.get(id ?? '');
      this.#demand(now, given?.type === command, 'command: an answer to nothing, or a second one');
      this.#open.delete(id ?? '');
      const name = `${command} ${outcome.kind === 'refused' ? outcome.code : outcome.kind}`;
      this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
      if (this.#isOver) this.#afterEnd(action.event, now);
    }
    this.#isOver ||= event.type === 'call.closed';
    this.#demand(
      now,
      !this.#isOver || this.#open.size === 0,
      'command: the call is over, and one has no answer',
    );
    for (const { type, at } of this.#open.values()) {
      const bound = type === 'edit' ? 0 : type === 'end' ? endGraceMs + 60 : Infinity;
      this.#demand(now, now - at <= bound, `command: no answer to ${type} in time`);
    }
  }

  #given({ id = '', command }: Extract<CallEvent, { type: 'command.given' }>, now: number): void {
    this.#demand(now, !this.#open.has(id), 'command: a name is used twice');
    this.#open.set(id, { type: command.type, at: now });
  }

  /** What was not done before the end is not done after it. */
  #afterEnd(answered: { outcome: { kind: string } }, now: number): void {
    this.#demand(now, answered.outcome.kind === 'refused', 'command: something is done after the end');
  }
}
