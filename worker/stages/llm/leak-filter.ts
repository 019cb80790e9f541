/**
 * Takes what leaks of a model's own form out of streamed text (`leak-shapes.ts`): none of it must ever be spoken. Calls of offered tools that are
 * found in it are kept, for a round in which the server read none itself. Pure.
 *
 * Invariant: what comes out is the same however the text was cut, but for thoughts whose beginning no tag tells. No more is held
 * back than what may be a leak.
 */
import { Doubt } from './doubt.ts';
import { endsOfThoughts, leakAt } from './leak-shapes.ts';
import { leakWords } from './leak-words.ts';
import { longestChars, type Leak, type Site } from './leak.ts';
import { callsIn, OfferedTools, type LeakedCall } from './leaked-calls.ts';

/**
 * Shared by the answers of one server. Where the template of a model writes `<think>` in front of the answer, only the end of
 * the thoughts is in the text: of the first such answer what was given on already is read out (`doubt.ts` says what is not), and the
 * following ones are held back to there.
 */
export interface LeakHabit {
  thinksFirst: boolean;
  /** An answer has shown whether it does. */
  isKnown: boolean;
}

/** Of models that think in any case, no answer need show it first. */
export const habitOf = (model: string): LeakHabit => ({
  thinksFirst: /(?:^|[^a-z])(?:r1|qwq|reasoner|thinking)(?:[^a-z]|$)/i.test(model),
  isKnown: false,
});

/** Text of a leak that may hold calls; a longer text holds none. */
const longestBody = 65_536;

/** Of the words that a leak may begin with, and of a name of code. */
const longestWord = 64;

const letter = String.raw`[\p{Script=Latin}_]`;
const sign = String.raw`[\p{Script=Latin}\p{N}_.-]`;
/** A name that may be one of code, in front of what it may be called with. */
const codeBegin = String.raw`(?<!${sign})(?=${sign}{1,64}(?::?\s{0,2}[({]|=["']?))${letter}`;
/** A word at the end, which may be the beginning of one; behind a name as nobody says one, blanks may stand. */
const partOfCode = new RegExp(
  String.raw`(?<!${sign})(?:(?=${sign}*(?:_|\p{Ll}\p{Lu}))${letter}${sign}{0,63}:?\s{0,2}|${letter}${sign}{0,63})$`,
  'u',
);

/** A leak that is open. */
interface Skipped {
  readonly until: readonly string[];
  /** What it holds so far, where calls are looked for. */
  body: string | undefined;
}

export class LeakFilter {
  readonly calls: LeakedCall[] = [];
  readonly #tools: OfferedTools;
  readonly #habit: LeakHabit;
  readonly #begins: RegExp;
  readonly #words: readonly string[];
  #held = '';
  /** What is held is a word that more text may complete. */
  #holdsWord = false;
  /** The character in front of what is held. */
  #before = '';
  #skipped: Skipped | undefined;
  /** What may be thoughts, or all of the answer. */
  #unsure: string | undefined;
  /** Of the first answer, what may be thoughts. */
  #doubt: Doubt | undefined;
  #hasLeaked = false;
  #hasSpoken = false;
  /** The character that was given on last, and the last one that is not blank. */
  #last = '';
  #lastSign = '';
  /** Blank text between a leak and the answer, which goes with the leak where the answer has some already. */
  #gap: string | undefined;

  constructor(
    tools: OfferedTools = new OfferedTools([]),
    habit: LeakHabit = { thinksFirst: false, isKnown: true },
  ) {
    this.#tools = tools;
    this.#habit = habit;
    this.#words = [...leakWords, ...tools.names];
    const words = this.#words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    this.#begins = new RegExp(`[<\\[{◁]|(?<![\\p{L}\\p{N}_])(?:${words.join('|')})|${codeBegin}`, 'gu');
    if (!habit.thinksFirst) {
      this.#doubt = habit.isKnown ? undefined : new Doubt();
      return;
    }
    this.#skipped = { until: endsOfThoughts, body: undefined };
    this.#unsure = '';
  }

  /** The server gives thoughts apart from the answer, which then holds none. */
  trust(): void {
    this.#habit.isKnown = true;
    if (this.#unsure !== '') return;
    this.#unsure = undefined;
    this.#skipped = undefined;
    this.#habit.thinksFirst = false;
  }

  push(text: string): string {
    const out = this.#scan(text, false);
    return this.#doubt?.push(out) ?? out;
  }

  /** The server pauses: no word goes on that is held back because it might. */
  settle(): string {
    const out = this.#holdsWord ? this.#scan('', true) : '';
    return this.#doubt?.push(out) ?? out;
  }

  /** What was held back; `cut`: the answer is not whole, so that thoughts may have lost their end. */
  end({ cut = false } = {}): string {
    if (this.#unsure !== undefined) {
      const whole = this.#unsure + this.#held;
      this.#unsure = undefined;
      this.#skipped = undefined;
      this.#held = '';
      if (cut) return '';
      this.#habit.thinksFirst = false;
      return this.#scan(whole, true);
    }
    const rest = this.#scan('', true);
    this.#closeSkipped();
    if (!cut) this.#habit.isKnown = true;
    const doubt = this.#doubt;
    return doubt === undefined ? rest : doubt.push(rest) + doubt.end({ cut });
  }

  #scan(text: string, ended: boolean): string {
    let rest = this.#held + text;
    this.#held = '';
    this.#holdsWord = false;
    const given = { last: this.#last, hasSpoken: this.#hasSpoken };
    let out = '';
    while (rest !== '') {
      if (this.#skipped !== undefined) {
        rest = this.#skip(this.#skipped, rest, ended);
        continue;
      }
      const { at, isPart } = this.#nextBegin(rest, ended);
      out += this.#speak(rest.slice(0, at));
      rest = this.#passed(rest, at);
      if (rest === '') break;
      const verdict = isPart ? 'wait' : leakAt(this.#site(rest, ended));
      if (verdict === 'wait') {
        this.#held = rest;
        this.#holdsWord = isPart;
        break;
      }
      if (verdict === 'no' || verdict.chars === 0) {
        // A form that opened and did not close for so long is not looked through again, character by character.
        const chars = rest.length > longestChars ? rest.length : 1;
        out += this.#speak(rest.slice(0, chars));
        rest = this.#passed(rest, chars);
        continue;
      }
      if (verdict.endsThoughts === true && this.#areThoughts()) {
        out = '';
        this.#last = this.#doubt?.last ?? given.last;
        this.#hasSpoken = this.#doubt === undefined ? given.hasSpoken : this.#doubt.last !== '';
        this.#doubt = undefined;
      }
      this.#leak(verdict, rest.slice(0, verdict.chars));
      rest = this.#passed(rest, verdict.chars);
    }
    return out;
  }

  #site(text: string, ended: boolean): Site {
    const isFirst = !this.#hasSpoken;
    const startsLine = isFirst || this.#before === '\n';
    const startsSentence = startsLine || this.#isBehindSentence;
    return { text, ended, isFirst, startsLine, startsSentence, tools: this.#tools };
  }

  /** Thoughts end that nothing began: what was said so far was thought. */
  #areThoughts(): boolean {
    if (this.#hasLeaked) return false;
    if (this.#hasSpoken) this.#habit.thinksFirst = true;
    this.#habit.isKnown = true;
    return true;
  }

  /** Where the next leak may begin; `isPart`: with a word that is not whole yet. */
  #nextBegin(rest: string, ended: boolean): { readonly at: number; readonly isPart: boolean } {
    const text = this.#before + rest;
    this.#begins.lastIndex = this.#before.length;
    const at = this.#begins.exec(text)?.index ?? text.length;
    const part = ended ? undefined : this.#partOfWord(text, at);
    return { at: (part ?? at) - this.#before.length, isPart: part !== undefined };
  }

  /** Where a word begins in front of `end` that more text may complete. */
  #partOfWord(text: string, end: number): number | undefined {
    const from = Math.max(this.#before.length, text.length - longestWord);
    const tail = Math.max(0, text.length - longestWord - 4);
    const code = tail + text.slice(tail).search(partOfCode);
    const isName = code >= from && code < end;
    for (const { index } of text.slice(from, isName ? code : end).matchAll(/[\w#-]/g)) {
      const at = from + index;
      const isStart = !/[\p{L}\p{N}_]$/u.test(text.slice(Math.max(0, at - 2), at));
      if (isStart && this.#words.some((word) => word.startsWith(text.slice(at)))) return at;
    }
    return isName ? code : undefined;
  }

  get #isBehindSentence(): boolean {
    return /[.!?…:]/.test(this.#lastSign);
  }

  /** The rest behind `chars` of it. */
  #passed(rest: string, chars: number): string {
    if (chars > 0) this.#before = rest[chars - 1] ?? '';
    return rest.slice(chars);
  }

  #speak(text: string): string {
    const trimmed = text.trimStart();
    if (trimmed !== '') {
      this.#hasSpoken = true;
      this.#lastSign = text.trimEnd().at(-1) ?? '';
    }
    if (this.#gap === undefined) {
      this.#last = text.at(-1) ?? this.#last;
      return text;
    }
    this.#gap += text.slice(0, text.length - trimmed.length);
    if (trimmed === '') return '';
    const gap =
      this.#gap === '' && /[.!?…:;,]/.test(this.#last) && /^[\p{L}\p{N}]/u.test(trimmed) ? ' ' : this.#gap;
    const said = this.#last === '' || /\s/.test(this.#last) ? trimmed : gap + trimmed;
    this.#gap = undefined;
    this.#last = trimmed.at(-1) ?? '';
    return said;
  }

  #leak({ until, holdsCalls = false }: Leak, text: string): void {
    this.#hasLeaked = true;
    this.#gap ??= '';
    if (until !== undefined) this.#skipped = { until, body: holdsCalls ? text : undefined };
    else if (holdsCalls) this.#keepCalls(text);
  }

  /** Leaves out what is open, up to its end; returns what is behind that. */
  #skip(skipped: Skipped, rest: string, ended: boolean): string {
    const ends = skipped.until.map((end) => rest.indexOf(end)).filter((at) => at >= 0);
    const isOver = ends.length > 0;
    const tail = isOver || ended ? 0 : Math.max(0, ...skipped.until.map((end) => tailThatMayOpen(rest, end)));
    const chars = isOver ? Math.min(...ends) : rest.length - tail;
    const left = rest.slice(0, chars);
    if (skipped.body !== undefined && skipped.body.length < longestBody) skipped.body += left;
    if (!isOver) {
      if (this.#unsure !== undefined) this.#unsure += left;
      this.#held = rest.slice(chars);
      return '';
    }
    this.#unsure = undefined;
    this.#closeSkipped();
    // A tag that closes belongs to the leak; what else ends one is looked at anew.
    const close = skipped.until.find((end) => end.startsWith('</') && rest.startsWith(end, chars));
    return rest.slice(chars + (close?.length ?? 0));
  }

  #closeSkipped(): void {
    const body = this.#skipped?.body;
    if (body !== undefined) this.#keepCalls(body);
    this.#skipped = undefined;
    this.#hasLeaked = true;
    this.#gap ??= '';
    // The text behind it begins anew, whatever stands in front of it.
    this.#before = '';
  }

  #keepCalls(text: string): void {
    for (const call of callsIn(text, this.#tools)) {
      const isKnown = this.calls.some((one) => one.name === call.name && one.arguments === call.arguments);
      if (!isKnown) this.calls.push(call);
    }
  }
}

function tailThatMayOpen(text: string, tag: string): number {
  for (let chars = Math.min(tag.length - 1, text.length); chars > 0; chars -= 1) {
    if (tag.startsWith(text.slice(text.length - chars))) return chars;
  }
  return 0;
}
