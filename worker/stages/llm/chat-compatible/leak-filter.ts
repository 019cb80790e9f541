/**
 * Takes `<think>...</think>` and `<tool_call>...</tool_call>` out of streamed text: some servers leak reasoning, or tool calls that they
 * do not read themselves, into the content, and neither must ever be spoken.
 *
 * Invariant: what comes out is the same however the text was cut. At most a tag's length is held back, except of a server whose
 * answers begin with thoughts.
 */

/** What opens a leak, and what closes it. */
const leaks: ReadonlyMap<string, string> = new Map([
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<tool_call>', '</tool_call>'],
  // Of gpt-oss, where the server does not read the model's format.
  ['<|channel|>analysis<|message|>', '<|channel|>final<|message|>'],
]);
const endOfThoughts = '</think>';

/**
 * Shared by the answers of one server. Where the template of a model writes `<think>` in front of the answer, only the end of
 * the thoughts is in the text: the first such answer is read out, and the following ones are held back to there.
 */
export interface LeakHabit {
  thinksFirst: boolean;
}

export class LeakFilter {
  /** What closes the leak that is open. */
  private close: string | undefined;
  private held = '';
  /** Blank text between a leak and the answer goes with the leak. */
  private trimNext = false;
  /** What may be thoughts, or all of the answer. */
  private unsure: string | undefined;
  private hasLeaked = false;
  private readonly habit: LeakHabit;

  constructor(habit: LeakHabit = { thinksFirst: false }) {
    this.habit = habit;
    if (!habit.thinksFirst) return;
    this.close = endOfThoughts;
    this.unsure = '';
  }

  push(text: string): string {
    const isPlain = this.close === undefined && !this.trimNext && this.held === '' && !text.includes('<');
    if (isPlain) return text;
    let rest = this.held + text;
    this.held = '';
    let out = '';
    while (rest !== '') {
      const tags = this.tags();
      const [tag, at] = firstOf(rest, tags);
      if (tag !== undefined) {
        if (this.close === undefined) out += this.spoken(rest.slice(0, at));
        rest = rest.slice(at + tag.length);
        this.passed(tag);
        continue;
      }
      const heldChars = Math.max(...tags.map((one) => tailThatMayOpen(rest, one)));
      const sure = rest.slice(0, rest.length - heldChars);
      this.held = rest.slice(rest.length - heldChars);
      if (this.close === undefined) out += this.spoken(sure);
      else if (this.unsure !== undefined) this.unsure += sure;
      rest = '';
    }
    return out;
  }

  private tags(): readonly string[] {
    if (this.close !== undefined) return [this.close];
    return this.hasLeaked ? [...leaks.keys()] : [...leaks.keys(), endOfThoughts];
  }

  private passed(tag: string): void {
    if (this.close === undefined && tag === endOfThoughts) this.habit.thinksFirst = true;
    this.trimNext = this.close !== undefined;
    this.close = leaks.get(tag);
    this.hasLeaked = true;
    this.unsure = undefined;
  }

  /** What was held back; `cut`: the answer is not whole, so that thoughts may have lost their end. */
  end({ cut = false } = {}): string {
    if (this.unsure !== undefined) {
      const whole = this.unsure + this.held;
      this.unsure = undefined;
      if (cut) return '';
      this.habit.thinksFirst = false;
      const plain = new LeakFilter();
      return plain.push(whole) + plain.end();
    }
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
