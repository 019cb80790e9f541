/**
 * Takes `<think>...</think>` out of streamed text: some servers leak reasoning into the content, and it must never be
 * spoken.
 *
 * Invariant: what comes out is the same however the text was cut. At most a tag's length is held back.
 */

const OPEN = '<think>';
const CLOSE = '</think>';

export class ThinkFilter {
  private thinking = false;
  private held = '';
  /** Blank text between a reasoning block and the answer goes with the block. */
  private trimNext = false;

  push(text: string): string {
    const isPlain = !this.thinking && !this.trimNext && this.held === '' && !text.includes('<');
    if (isPlain) return text;
    let rest = this.held + text;
    this.held = '';
    let out = '';
    while (rest !== '') {
      const tag = this.thinking ? CLOSE : OPEN;
      const at = rest.indexOf(tag);
      if (at >= 0) {
        if (!this.thinking) out += this.spoken(rest.slice(0, at));
        rest = rest.slice(at + tag.length);
        this.trimNext = this.thinking;
        this.thinking = !this.thinking;
        continue;
      }
      const heldChars = tailThatMayOpen(rest, tag);
      this.held = rest.slice(rest.length - heldChars);
      if (!this.thinking) out += this.spoken(rest.slice(0, rest.length - heldChars));
      rest = '';
    }
    return out;
  }

  /** The text that was held back as the possible start of a tag. */
  end(): string {
    const rest = this.thinking ? '' : this.spoken(this.held);
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

function tailThatMayOpen(text: string, tag: string): number {
  for (let chars = Math.min(tag.length - 1, text.length); chars > 0; chars -= 1) {
    if (tag.startsWith(text.slice(text.length - chars))) return chars;
  }
  return 0;
}
