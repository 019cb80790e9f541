/**
 * Takes calls of known tools that stand in the text as plain JSON out of it: `{"name": "...", "arguments": {...}}`, as models write them
 * whose server does not know their form of a call. They must not be read out.
 *
 * Invariant: other text comes out unchanged and in order. An object is held back until its brace closes; answers that are
 * spoken hold none.
 */
import { isRecord, parseJson } from '../json.ts';

/** What is longer is no call. */
const longestChars = 16_384;

export class BareCalls {
  private readonly names: ReadonlySet<string>;
  /** The object that is open, from its brace on. */
  private held = '';
  private depth = 0;
  private inText = false;
  private escaped = false;

  constructor(names: Iterable<string>) {
    this.names = new Set(names);
  }

  push(text: string): string {
    if (this.names.size === 0 || (this.depth === 0 && !text.includes('{'))) return text;
    let out = '';
    for (const char of text) {
      if (this.depth === 0 && char !== '{') {
        out += char;
        continue;
      }
      this.held += char;
      this.count(char);
      if (this.depth === 0 || this.held.length > longestChars) out += this.end();
    }
    return out;
  }

  /** What is held back and is no call. */
  end(): string {
    const { held } = this;
    this.held = '';
    this.depth = 0;
    this.inText = false;
    return this.isCall(held) ? '' : held;
  }

  private count(char: string): void {
    if (this.escaped) this.escaped = false;
    else if (this.inText && char === '\\') this.escaped = true;
    else if (char === '"') this.inText = !this.inText;
    else if (!this.inText && char === '{') this.depth += 1;
    else if (!this.inText && char === '}') this.depth -= 1;
  }

  private isCall(text: string): boolean {
    const object = parseJson(text);
    if (!isRecord(object)) return false;
    const { name, arguments: given, parameters } = object;
    return typeof name === 'string' && this.names.has(name) && (given ?? parameters) !== undefined;
  }
}
