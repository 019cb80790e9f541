/**
 * What a round gives to the engine, without what leaks of the model's own form: in its text, in the names and in the arguments of its calls. It
 * stands behind the streams of all interfaces, because the same models are served by all of them.
 *
 * A call that stands in the text alone is taken for one, where its tool is offered and its arguments are whole: the model meant to call it,
 * and only the server did not understand. Beside a call that the server understood it is an echo.
 *
 * Invariant: exactly one `done` or `error` is emitted, last; the first fragment of a call alone carries id and name. Pure.
 */
import type { LlmEvent } from '../stage.ts';
import { LeakFilter, type LeakHabit } from './leak-filter.ts';
import { argumentsOf } from './call-arguments.ts';
import { toolNameIn, type OfferedTools } from './leaked-calls.ts';

export interface LeakGuardOptions {
  readonly tools: OfferedTools;
  readonly habit: LeakHabit;
  /** For calls that were found in text. */
  readonly nextId: () => string;
  readonly emit: (event: LlmEvent) => void;
  /** Whether the server has given thoughts apart from the answer. */
  readonly thinksApart: () => boolean;
}

type CallEvent = Extract<LlmEvent, { type: 'tool-call' }>;
type DoneEvent = Extract<LlmEvent, { type: 'done' }>;

export class LeakGuard {
  readonly #options: LeakGuardOptions;
  readonly #filter: LeakFilter;
  /** The arguments of each call: what stands around them is known at the end. */
  readonly #arguments = new Map<number, string>();

  constructor(options: LeakGuardOptions) {
    this.#options = options;
    this.#filter = new LeakFilter(options.tools, options.habit);
  }

  take(event: LlmEvent): void {
    if (event.type === 'text') this.#addText(event.text);
    else if (event.type === 'tool-call') this.#addCall(event);
    else if (event.type === 'done') this.#end(event);
    else this.#options.emit(event);
  }

  #addText(text: string): void {
    if (this.#options.thinksApart()) this.#filter.trust();
    this.#say(this.#filter.push(text));
  }

  #say(text: string): void {
    if (text !== '') this.#options.emit({ type: 'text', text });
  }

  #addCall({ index, id, name, arguments: part }: CallEvent): void {
    const { emit, tools } = this.#options;
    this.#arguments.set(index, (this.#arguments.get(index) ?? '') + part);
    if (name !== undefined)
      emit({
        type: 'tool-call',
        index,
        ...(id !== undefined && { id }),
        name: toolNameIn(name, tools),
        arguments: '',
      });
  }

  #end(event: DoneEvent): void {
    const { emit, nextId } = this.#options;
    const isCut = event.finish === 'length' || event.finish === 'content_filter';
    this.#say(this.#filter.end({ cut: isCut }));
    for (const [index, text] of this.#arguments) {
      const whole = isCut ? text : argumentsOf(text);
      if (whole !== '') emit({ type: 'tool-call', index, arguments: whole });
    }
    const found = isCut || this.#arguments.size > 0 ? [] : this.#filter.calls;
    for (const [index, call] of found.entries()) emit({ type: 'tool-call', index, id: nextId(), ...call });
    emit(found.length > 0 ? { ...event, finish: 'tool_calls' } : event);
  }
}
