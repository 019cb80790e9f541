/** What happened in a world: a hash over every step, and on request the steps in words. */
import type { CallEvent } from '../../worker/core/events.ts';
import type { Order } from '../support/core/order.ts';
import { shown } from '../support/core/orders.ts';

export class Trace {
  readonly #keep: boolean;
  readonly lines: string[] = [];
  steps = 0;
  hash = 0x811c9dc5;
  /** How often each kind of order was given. */
  readonly counts = new Map<string, number>();

  constructor(keep: boolean) {
    this.#keep = keep;
  }

  /** `timers` say why the core woke. */
  step(
    now: number,
    event: CallEvent,
    { actions, timers }: { actions: readonly Order[]; timers: string },
  ): void {
    this.steps += 1;
    this.#mix(event.type);
    this.#mixNumber(now);
    for (const action of actions) {
      this.counts.set(action.type, (this.counts.get(action.type) ?? 0) + 1);
      this.#mix(action.type);
      if ('context' in action) this.#mixNumber(action.context);
      if ('epoch' in action) this.#mixNumber(action.epoch);
      if ('text' in action) this.#mix(action.text);
      if ('messages' in action) for (const { text } of action.messages) this.#mix(text);
    }
    if (!this.#keep) return;
    this.lines.push(
      `${Math.round(now)} ${told(event)}${timers}${actions.map((action) => `\n      ${shown(action)}`).join('')}`,
    );
  }

  #mix(text: string): void {
    for (let index = 0; index < text.length; index += 1) this.#mixNumber(text.charCodeAt(index));
  }

  #mixNumber(value: number): void {
    this.hash = Math.imul(this.hash ^ Math.round(value * 16), 0x01000193) >>> 0;
  }
}

function told(event: CallEvent): string {
  const fields: Record<string, unknown> = { ...event };
  delete fields['type'];
  return `${event.type} ${Object.keys(fields).length === 0 ? '' : JSON.stringify(fields)}`;
}
