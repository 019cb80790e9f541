/**
 * Assembles the tool calls of one response from the fragments that chat servers send: in parts or whole, interleaved,
 * with repeated indexes, without ids (docs/providers.md, What is taken of an answer). Pure.
 *
 * Invariant: each call gets a slot number in order of appearance, and exactly one emitted fragment of a slot carries
 * its id and name, the first. It must not judge arguments; it only bounds them.
 */
import type { LlmEvent } from '../../stage.ts';
import { isRecord, parseJson, recordOf, textOf, writeJson } from '../../json.ts';
import { MAX_ARGUMENT_BYTES, MAX_CALLS, TOO_LARGE, TOO_MANY } from '../output.ts';

export type ToolCallEvent = Extract<LlmEvent, { type: 'tool-call' }>;

interface OpenCall {
  readonly slot: number;
  readonly id: string;
  readonly synthetic: boolean;
  name: string;
  /** Everything so far; the tail from `emittedChars` waits for the name. */
  arguments: string;
  argumentBytes: number;
  emittedChars: number;
  announced: boolean;
}

interface Fragment {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export class ToolCalls {
  readonly #nextSyntheticId: () => string;
  readonly #calls: OpenCall[] = [];
  /** The newest call of each index that the server used. */
  readonly #byIndex = new Map<number, OpenCall>();

  constructor(nextSyntheticId: () => string) {
    this.#nextSyntheticId = nextSyntheticId;
  }

  get count(): number {
    return this.#calls.length;
  }

  get firstId(): string | undefined {
    return this.#calls[0]?.id;
  }

  /** Takes one element of `delta.tool_calls`; returns the rule it breaks, if any. */
  add(raw: unknown, position: number, emit: (event: ToolCallEvent) => void): string | undefined {
    const fragment = fragmentOf(raw, position);
    let call = this.#byIndex.get(fragment.index);
    if (call === undefined || startsAnotherCall(call, fragment)) {
      if (this.#calls.length === MAX_CALLS) return TOO_MANY;
      call = this.#newCall(fragment);
    }
    call.argumentBytes += Buffer.byteLength(fragment.arguments);
    if (call.argumentBytes > MAX_ARGUMENT_BYTES) return TOO_LARGE;
    call.arguments += fragment.arguments;
    if (!call.announced && fragment.name !== call.name && fragment.arguments === '')
      call.name += fragment.name;
    else if (call.name === '') call.name = fragment.name;
    if (call.name !== '' && call.arguments.length > call.emittedChars) emit(eventOf(call));
    return undefined;
  }

  /** Emits what was held back; returns the rule that a call breaks, if any. */
  end(emit: (event: ToolCallEvent) => void): string | undefined {
    for (const call of this.#calls) {
      if (call.name === '') return 'a tool call has a name';
      if (call.arguments.trim() === '') call.arguments += '{}';
      if (call.arguments.length > call.emittedChars) emit(eventOf(call));
    }
    return undefined;
  }

  #newCall({ index, id }: Fragment): OpenCall {
    const call: OpenCall = {
      slot: this.#calls.length,
      id: id === '' ? this.#nextSyntheticId() : id,
      synthetic: id === '',
      name: '',
      arguments: '',
      argumentBytes: 0,
      emittedChars: 0,
      announced: false,
    };
    this.#calls.push(call);
    this.#byIndex.set(index, call);
    return call;
  }
}

function fragmentOf(raw: unknown, position: number): Fragment {
  const call = recordOf(raw) ?? {};
  const fn = recordOf(call['function']) ?? {};
  const given = fn['arguments'];
  const index = call['index'];
  return {
    index: typeof index === 'number' && Number.isInteger(index) ? index : position,
    id: textOf(call['id']),
    name: textOf(fn['name']),
    arguments: isRecord(given) ? writeJson(given) : textOf(given),
  };
}

/**
 * Some servers give every call of a response the same index; a new id, or a name after a complete call, tells them apart. Others give each
 * fragment an id of its own: what goes on with arguments that have begun is no other call.
 */
function startsAnotherCall(call: OpenCall, fragment: Fragment): boolean {
  const isWhole = call.arguments.trimEnd().endsWith('}') && isRecord(parseJson(call.arguments));
  if (fragment.id !== '' && !call.synthetic) {
    const isNameless = fragment.name === '' && call.name !== '' && fragment.arguments !== '';
    const isSame = fragment.name === call.name && call.arguments !== '' && !/^\s*\{/.test(fragment.arguments);
    const goesOn = !isWhole && (isNameless || isSame);
    return fragment.id !== call.id && !goesOn;
  }
  return fragment.name !== '' && call.name !== '' && fragment.arguments !== '' && isWhole;
}

function eventOf(call: OpenCall): ToolCallEvent {
  const part = call.arguments.slice(call.emittedChars);
  call.emittedChars = call.arguments.length;
  if (call.announced) return { type: 'tool-call', index: call.slot, arguments: part };
  call.announced = true;
  return { type: 'tool-call', index: call.slot, id: call.id, name: call.name, arguments: part };
}
