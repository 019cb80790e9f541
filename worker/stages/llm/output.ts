/**
 * What one streamed response gives to the engine: text, tool calls with their bounds, and one end.
 *
 * Invariant: exactly one `done` or `error` is emitted, last; each call gets a number in order of appearance, and its
 * first fragment alone carries id and name. Pure: no sockets, no time, no knowledge of a wire.
 */
import type { LlmEvent, LlmFinish, LlmUsage, OpaqueReasoning, StageError } from '../stage.ts';

export const MAX_CALLS = 128;
export const TOO_MANY = `at most ${MAX_CALLS} tool calls in a response`;
export const MAX_ARGUMENT_BYTES = 1_048_576;
export const TOO_LARGE = 'at most 1 MiB of arguments in a tool call';

/** A tool call whose arguments arrive. */
export interface RunningCall {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** What was emitted so far. */
  arguments: string;
  argumentBytes: number;
}

export interface RoundEnd {
  readonly usage: LlmUsage | undefined;
  readonly reasoning: OpaqueReasoning | undefined;
}

export class RoundOutput {
  readonly #emit: (event: LlmEvent) => void;
  readonly #calls: RunningCall[] = [];
  #isClosed = false;
  #hasFailed = false;
  #hasContent = false;
  #hasThoughts = false;
  #lastChar = '';
  #blockBegins = false;

  constructor(emit: (event: LlmEvent) => void) {
    this.#emit = emit;
  }

  get closed(): boolean {
    return this.#isClosed;
  }

  get failed(): boolean {
    return this.#hasFailed;
  }

  /** Text, thoughts or a tool call have arrived. */
  get started(): boolean {
    return this.#hasContent;
  }

  /** Thoughts have come, apart from the text. */
  get thinksApart(): boolean {
    return this.#hasThoughts;
  }

  /** The model shows that it works without saying anything. */
  thought(): void {
    this.#hasContent = true;
    this.#hasThoughts = true;
  }

  /** Further text is a block of its own; words of two blocks must not run together. */
  newBlock(): void {
    this.#blockBegins = true;
  }

  text(text: string): void {
    if (this.#isClosed || text === '') return;
    this.#hasContent = true;
    const glued = this.#blockBegins && this.#lastChar !== '' && !/\s/.test(this.#lastChar + (text[0] ?? ''));
    this.#blockBegins = false;
    this.#lastChar = text[text.length - 1] ?? '';
    this.#emit({ type: 'text', text: glued ? ` ${text}` : text });
  }

  /** Starts a call; undefined when the response is over, be it for the bound of calls. */
  openCall(id: string, name: string): RunningCall | undefined {
    if (this.#isClosed) return undefined;
    this.#hasContent = true;
    const rule = name === '' ? 'a tool call has a name' : this.#calls.length === MAX_CALLS ? TOO_MANY : '';
    if (rule !== '') {
      this.#refuse(rule);
      return undefined;
    }
    const call: RunningCall = { index: this.#calls.length, id, name, arguments: '', argumentBytes: 0 };
    this.#calls.push(call);
    this.#emit({ type: 'tool-call', index: call.index, id, name, arguments: '' });
    return call;
  }

  addArguments(call: RunningCall, part: string): void {
    if (this.#isClosed || part === '') return;
    call.argumentBytes += Buffer.byteLength(part);
    if (call.argumentBytes > MAX_ARGUMENT_BYTES) {
      this.#refuse(TOO_LARGE);
      return;
    }
    call.arguments += part;
    this.#emit({ type: 'tool-call', index: call.index, arguments: part });
  }

  /** The whole arguments, for what the fragments left out. */
  completeArguments(call: RunningCall, whole: string): void {
    if (whole.startsWith(call.arguments)) this.addArguments(call, whole.slice(call.arguments.length));
  }

  /** Ends the response. Calls that the limit or the filter may have cut keep that finish and must not run. */
  done(finish: LlmFinish, { usage, reasoning }: RoundEnd): void {
    if (this.#isClosed) return;
    const isCut = finish === 'length' || finish === 'content_filter';
    if (!isCut) {
      for (const call of this.#calls) if (call.arguments.trim() === '') this.addArguments(call, '{}');
    }
    const ended = isCut ? finish : this.#calls.length > 0 ? 'tool_calls' : 'stop';
    this.#isClosed = true;
    this.#emit({
      type: 'done',
      finish: ended,
      usage,
      ...(ended === 'tool_calls' && reasoning !== undefined && { reasoning }),
    });
  }

  fail(error: StageError): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#hasFailed = true;
    this.#emit({ type: 'error', error });
  }

  #refuse(rule: string): void {
    this.fail({ kind: 'protocol', rule });
  }
}
