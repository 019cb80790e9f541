/** The tool calls of one round of the LLM, put together from the parts in which they come. */
import type { LlmEvent, ToolCall } from '../stages/stage.ts';

/** Calls that are kept: one more than the core looks at, so that it notices. */
const mostToolCalls = 17;
/** Arguments of one call that are kept; longer arguments are no JSON any more and are refused. */
const longestArguments = 65_536;

export class RoundCalls {
  readonly #calls: ToolCall[] = [];

  add(part: Extract<LlmEvent, { type: 'tool-call' }>): void {
    if (part.index >= mostToolCalls) return;
    // Providers number their calls without holes.
    while (this.#calls.length <= part.index) this.#calls.push({ id: '', name: '', arguments: '' });
    const known = this.#calls[part.index];
    if (known === undefined) return;
    const text = known.arguments + part.arguments;
    this.#calls[part.index] = {
      id: known.id || part.id || '',
      name: known.name || part.name || '',
      arguments: text.slice(0, longestArguments + 1),
    };
  }

  get named(): ToolCall[] {
    return this.#calls.filter(({ name }) => name !== '');
  }
}
