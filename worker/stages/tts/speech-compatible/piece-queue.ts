/**
 * The text that waits to be spoken: pieces per context, contexts in order of appearance, pieces joined into requests
 * (docs/providers.md, Speech servers).
 *
 * Invariant: every character given to `speak` is in exactly one job, in order, or was cancelled. Pure. It must not
 * alter text: positions count the characters as they were given.
 */

/** Longest text that waiting pieces are joined to. */
const JOINED_CHARS = 300;
/** How many cancelled contexts are remembered, so that text that crosses a cancel is dropped. */
const REMEMBERED = 16;

/** What comes next in the output: a text to speak, or the end of a context. */
export type Job =
  | { readonly type: 'speak'; readonly context: number; readonly text: string; readonly endChars: number }
  | { readonly type: 'flushed'; readonly context: number };

interface Entry {
  text: string;
  /** The first piece of an utterance goes alone, so that its audio starts early. */
  readonly alone: boolean;
}

interface Context {
  readonly id: number;
  readonly entries: Entry[];
  started: boolean;
  flushed: boolean;
  takenChars: number;
}

export class PieceQueue {
  readonly #contexts: Context[] = [];
  #cancelled: number[] = [];

  speak(id: number, text: string): void {
    if (text === '' || this.#cancelled.includes(id)) return;
    const context = this.#open(id);
    const last = context.entries.at(-1);
    if (last !== undefined && !last.alone && last.text.length + text.length <= JOINED_CHARS)
      last.text += text;
    else context.entries.push({ text, alone: !context.started });
    context.started = true;
  }

  flush(id: number): void {
    if (!this.#cancelled.includes(id)) this.#open(id).flushed = true;
  }

  cancel(id: number): void {
    const at = this.#contexts.findIndex((context) => context.id === id);
    if (at >= 0) this.#contexts.splice(at, 1);
    this.#cancelled = [...this.#cancelled, id].slice(-REMEMBERED);
  }

  /** Takes the next job; none when the context at the head waits for more text. */
  take(): Job | undefined {
    const head = this.#contexts[0];
    if (head === undefined) return undefined;
    const entry = head.entries.shift();
    if (entry !== undefined) {
      head.takenChars += entry.text.length;
      return { type: 'speak', context: head.id, text: entry.text, endChars: head.takenChars };
    }
    if (!head.flushed) return undefined;
    this.#contexts.shift();
    return { type: 'flushed', context: head.id };
  }

  #open(id: number): Context {
    const found = this.#contexts.find((context) => context.id === id);
    if (found !== undefined) return found;
    const context: Context = { id, entries: [], started: false, flushed: false, takenChars: 0 };
    this.#contexts.push(context);
    return context;
  }
}
