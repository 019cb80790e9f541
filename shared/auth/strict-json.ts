/**
 * A JSON reader for signed payloads. It differs from `JSON.parse` in what it refuses (a key that appears twice, half of a
 * surrogate pair, deep nesting) and in that numbers keep the text they were written in, so that `60` and `60.0` can be told
 * apart. It never throws; its work is linear in the text, which the caller has limited.
 */

export type JsonNode =
  | { readonly kind: 'string'; readonly value: string }
  /** `text` is the number as it was written. */
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'null' }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'object'; readonly entries: ReadonlyMap<string, JsonNode> };

/** Arrays and objects within one another; a payload that follows the rules needs two levels. */
const deepest = 16;

const blank = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** A quoted text without raw control characters, with nothing but known escapes. */

const quoted = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const halfPair = /\p{Surrogate}/u;

const words: Readonly<Record<string, JsonNode>> = {
  true: { kind: 'boolean', value: true },
  false: { kind: 'boolean', value: false },
  null: { kind: 'null' },
};

/** Reads one JSON text; undefined when it is not one, or not one of the strict kind. */
export function parseStrictJson(text: string): JsonNode | undefined {
  const reader = new Reader(text);
  const node = reader.value(0);
  return node !== undefined && reader.isAtEnd() ? node : undefined;
}

/** The text of a node that was read. */
export function jsonOf(node: JsonNode): string {
  switch (node.kind) {
    case 'string':
    case 'boolean':
      return JSON.stringify(node.value);
    case 'number':
      return node.text;
    case 'null':
      return 'null';
    case 'array':
      return `[${node.items.map(jsonOf).join(',')}]`;
    case 'object':
      return `{${[...node.entries].map(([key, held]) => `${JSON.stringify(key)}:${jsonOf(held)}`).join(',')}}`;
  }
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    this.#match(blank);
    return this.#at === this.#text.length;
  }

  /** One value with the blanks around it; undefined at the first thing that is wrong. */
  value(depth: number): JsonNode | undefined {
    if (depth > deepest) return undefined;
    this.#match(blank);
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"': {
        const value = this.#string();
        return value === undefined ? undefined : { kind: 'string', value };
      }
      default:
        return this.#word() ?? this.#number();
    }
  }

  #object(depth: number): JsonNode | undefined {
    const entries = new Map<string, JsonNode>();
    this.#at += 1;
    if (this.#take('}')) return { kind: 'object', entries };
    do {
      this.#match(blank);
      const key = this.#string();
      if (key === undefined || entries.has(key) || !this.#take(':')) return undefined;
      const node = this.value(depth + 1);
      if (node === undefined) return undefined;
      entries.set(key, node);
    } while (this.#take(','));
    return this.#take('}') ? { kind: 'object', entries } : undefined;
  }

  #array(depth: number): JsonNode | undefined {
    const items: JsonNode[] = [];
    this.#at += 1;
    if (this.#take(']')) return { kind: 'array', items };
    do {
      const node = this.value(depth + 1);
      if (node === undefined) return undefined;
      items.push(node);
    } while (this.#take(','));
    return this.#take(']') ? { kind: 'array', items } : undefined;
  }

  #string(): string | undefined {
    const text = this.#match(quoted);
    if (text === undefined) return undefined;
    // The pattern has just established that this is one complete JSON string.
    const value = JSON.parse(text) as string;
    return halfPair.test(value) ? undefined : value;
  }

  #number(): JsonNode | undefined {
    const text = this.#match(number);
    return text === undefined ? undefined : { kind: 'number', text };
  }

  #word(): JsonNode | undefined {
    const word = Object.keys(words).find((known) => this.#text.startsWith(known, this.#at));
    if (word === undefined) return undefined;
    this.#at += word.length;
    return words[word];
  }

  /** Takes one punctuation mark with the blanks before it. */
  #take(mark: string): boolean {
    this.#match(blank);
    if (this.#text[this.#at] !== mark) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#text)?.[0];
    if (text !== undefined) this.#at += text.length;
    return text;
  }
}
