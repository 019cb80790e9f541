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
import { callsIn, toolNameIn, type OfferedTools } from './leaked-calls.ts';

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
  /** Calls that OpenAI's models put together in one that is not offered. */
  readonly #together = new Map<number, { readonly id?: string; readonly name: string }>();
  /** Calls that came of those. */
  #more = 0;

  constructor(options: LeakGuardOptions) {
    this.#options = options;
    this.#filter = new LeakFilter(options.tools, options.habit);
  }

  take(event: LlmEvent): void {
    if (event.type === 'text') this.#addText(event.text);
    else if (event.type === 'tool-call') this.#addCall(event);
    else if (event.type === 'done') this.#end(event);
    else {
      this.settle();
      this.#options.emit(event);
    }
  }

  /** The server pauses, or says something else. */
  settle(): void {
    this.#say(this.#filter.settle());
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
    this.settle();
    this.#arguments.set(index, (this.#arguments.get(index) ?? '') + part);
    if (name === undefined) return;
    const named = { ...(id !== undefined && { id }), name: toolNameIn(name, tools) };
    if (/^multi_tool_use/.test(named.name)) this.#together.set(index, named);
    else emit({ type: 'tool-call', index, ...named, arguments: '' });
  }

  /** Each of the calls that were put together becomes one of its own; where none can be read, they stay what they are. */
  #part(index: number, text: string): void {
    const { emit, nextId, tools } = this.#options;
    const named = this.#together.get(index);
    if (named === undefined) {
      if (text !== '') emit({ type: 'tool-call', index, arguments: text });
      return;
    }
    const [first, ...others] = callsIn(text, tools);
    emit({ type: 'tool-call', index, ...named, ...(first ?? { arguments: text }) });
    for (const call of others) {
      const own = this.#arguments.size + this.#more;
      this.#more += 1;
      emit({ type: 'tool-call', index: own, id: nextId(), ...call });
    }
  }

  #end(event: DoneEvent): void {
    const { emit, nextId } = this.#options;
    const isCut = event.finish === 'length' || event.finish === 'content_filter';
    this.#say(this.#filter.end({ cut: isCut }));
    for (const [index, text] of this.#arguments) this.#part(index, isCut ? text : argumentsOf(text));
    const found = isCut || this.#arguments.size > 0 ? [] : this.#filter.calls;
    for (const [index, call] of found.entries()) emit({ type: 'tool-call', index, id: nextId(), ...call });
    emit(found.length > 0 ? { ...event, finish: 'tool_calls' } : event);
  }
}
