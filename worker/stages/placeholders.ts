/**
 * What stands in the place of values where an LLM reads a conversation: `[card 1]`. The same value has the same one wherever it comes up in the
 * request, however it was said. The LLM's answer gets the values back. Pure.
 */
import type { Redactor } from '../../shared/calls/privacy/redactor.ts';
import type { ChatMessage } from './stage.ts';

const form = /\[([a-z][a-z0-9_]{0,31} \d{1,4})\]/giu;
/** The end of a text that may become one with what follows. */
const beginning = /\[(?:[a-z][a-z0-9_]{0,31}(?: \d{0,4})?)?$/iu;
const jsonToken = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gu;
/** Shorter ones come up everywhere. */
const fewestChars = 4;

const note =
  'Words in brackets such as [card 1] stand for what somebody said and you may not read. Use them as they are, also as arguments of tools: the service puts the values back.';

export class Placeholders {
  readonly #redactor: Redactor;
  readonly #values = new Map<string, string>();
  readonly #names = new Map<string, string>();
  /** As it stands in the texts, by what stands for it. */
  readonly #written = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Messages as an LLM may read them. The operator's own words stay, but for values that somebody said. */
  hidden(messages: readonly ChatMessage[]): readonly ChatMessage[] {
    const told = messages.map((message) => this.#message(message));
    if (this.#values.size === 0) return messages;
    const first = told.findIndex(({ role }) => role === 'system');
    return told.map((message, at) => {
      if (message.role !== 'system') return message;
      const text = this.#knownIn(message.text);
      return { ...message, text: at === first ? `${text}\n\n${note}` : text };
    });
  }

  /** A text of the LLM with the values in their places. `quote`: how a value stands in such a text. */
  shown(text: string, quote: (value: string) => string = (value) => value): string {
    return text.replace(form, (found, name: string) => {
      const value = this.#values.get(name.toLowerCase());
      return value === undefined ? found : quote(value);
    });
  }

  #message(message: ChatMessage): ChatMessage {
    switch (message.role) {
      case 'system':
        return message;
      case 'user':
        return { ...message, text: this.#hide(message.text) };
      case 'tool':
        return { ...message, text: this.#hideResult(message.text) };
      case 'assistant': {
        const { toolCalls } = message;
        const text = this.#hide(message.text);
        if (toolCalls === undefined) return { ...message, text };
        return {
          ...message,
          text,
          toolCalls: toolCalls.map((call) => ({ ...call, arguments: this.#hideJson(call.arguments) })),
        };
      }
    }
  }

  #hide(text: string): string {
    return this.#redactor.replaced(text, (kind, written) => `[${this.#nameOf(kind, written)}]`);
  }

  #hideResult(text: string): string {
    try {
      JSON.parse(text);
    } catch {
      // Words, not JSON.
      return this.#hide(text);
    }
    return this.#hideJson(text);
  }

  /** Numbers become texts, so that JSON stays JSON; everything else is written as it was. */
  #hideJson(text: string): string {
    return text.replace(jsonToken, (token) => {
      const said = token.startsWith('"') ? textOf(token) : token;
      const left = this.#hide(said);
      return left === said ? token : JSON.stringify(left);
    });
  }

  #nameOf(kind: string, written: string): string {
    const value = this.#redactor.plain(kind, written);
    const key = `${kind} ${value}`;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    const name = `${kind} ${count}`;
    this.#counts.set(kind, count);
    this.#names.set(key, name);
    this.#values.set(name, value);
    for (const one of [value, written]) if (one.length >= fewestChars) this.#written.set(one, name);
    return name;
  }

  #knownIn(text: string): string {
    let left = text;
    for (const [written, name] of this.#written) left = left.replaceAll(written, `[${name}]`);
    return left;
  }
}

function textOf(token: string): string {
  try {
    return JSON.parse(token) as string;
  } catch {
    return token;
  }
}

/** A text that comes in pieces, each given on as soon as no placeholder can be cut in two. */
export class ShownPieces {
  readonly #show: (text: string) => string;
  #held = '';

  constructor(show: (text: string) => string) {
    this.#show = show;
  }

  take(piece: string): string {
    const text = this.#held + piece;
    const at = beginning.exec(text)?.index ?? text.length;
    this.#held = text.slice(at);
    return this.#show(text.slice(0, at));
  }

  /** Nothing follows any more. */
  end(): string {
    const left = this.#held;
    this.#held = '';
    return left;
  }
}
