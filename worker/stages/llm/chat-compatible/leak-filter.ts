/**
 * Takes `<think>...</think>` and `<tool_call>...</tool_call>` out of streamed text: some servers leak reasoning, or tool calls that they
 * do not read themselves, into the content, and neither must ever be spoken.
 *
 * Invariant: what comes out is the same however the text was cut. At most a tag's length is held back.
 */

/** What opens a leak, and what closes it. */
const leaks: ReadonlyMap<string, string> = new Map([
  ['<think>', '</think>'],
  ['<tool_call>', '</tool_call>'],
]);

export class LeakFilter {
  /** What closes the leak that is open. */
  private close: string | undefined;
  private held = '';
  /** Blank text between a leak and the answer goes with the leak. */
  private trimNext = false;

  push(text: string): string {
    const isPlain = this.close === undefined && !this.trimNext && this.held === '' && !text.includes('<');
    if (isPlain) return text;
    let rest = this.held + text;
    this.held = '';
    let out = '';
    while (rest !== '') {
      const tags = this.close === undefined ? [...leaks.keys()] : [this.close];
      const [tag, at] = firstOf(rest, tags);
      if (tag !== undefined) {
        if (this.close === undefined) out += this.spoken(rest.slice(0, at));
        rest = rest.slice(at + tag.length);
        this.trimNext = this.close !== undefined;
        this.close = leaks.get(tag);
        continue;
      }
      const heldChars = Math.max(...tags.map((one) => tailThatMayOpen(rest, one)));
      this.held = rest.slice(rest.length - heldChars);
      if (this.close === undefined) out += this.spoken(rest.slice(0, rest.length - heldChars));
      rest = '';
    }
    return out;
  }

  /** The text that was held back as the possible start of a tag. */
  end(): string {
    const rest = this.close === undefined ? this.spoken(this.held) : '';
    this.held = '';
    return rest;
  }

  private spoken(text: string): string {
    if (!this.trimNext) return text;
    const trimmed = text.trimStart();
    if (trimmed !== '') this.trimNext = false;
    return trimmed;
  }
}

/** The tag that comes first, and where. */
function firstOf(text: string, tags: readonly string[]): [tag: string | undefined, at: number] {
  const found = tags.filter((tag) => text.includes(tag)).sort((a, b) => text.indexOf(a) - text.indexOf(b));
  return [found[0], text.indexOf(found[0] ?? '')];
}

function tailThatMayOpen(text: string, tag: string): number {
  for (let chars = Math.min(tag.length - 1, text.length); chars > 0; chars -= 1) {
    if (tag.startsWith(text.slice(text.length - chars))) return chars;
  }
  return 0;
}
