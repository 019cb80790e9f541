/**
 * Simulated TTS: pieces become audio faster than real time, in order; where each word lies in the audio it decides when it gets
 * the text, and the same text always sounds the same. Lines that were made before the call and the announcement come at once, always.
 */
import type { SimWorld } from './sim-world.ts';

export interface TtsEnds {
  audio(context: number, ms: number): void;
  spoken(context: number, chars: number): void;
  word(context: number, at: { chars: number; startMs: number }): void;
  flushed(context: number): void;
  failed(): void;
}

interface Piece {
  readonly endChars: number;
  readonly ms: number;
  readonly ready: boolean;
  readonly recorded: boolean;
  /** No word goes on behind it: the voice of a model, which is given pieces of any length, reports only such ends. */
  readonly endsWord: boolean;
  doneMs: number;
}

interface Word {
  readonly text: string;
  readonly chars: number;
  readonly startMs: number;
  readonly endMs: number;
  /** A space is behind it. */
  readonly isWhole: boolean;
}

/** Where everything of a context lies, whether it ever becomes audio or not. */
interface Timing {
  words: Word[];
  ends: { chars: number; ms: number }[];
  /** What was given to TTS in an earlier context of the same response. */
  readonly base: { chars: number; ms: number };
  /** Some of the text made no sound. */
  gaps: boolean;
  /** Words that were on the wire in that earlier context, each of them whole, where this one must say them again. */
  readonly sent: readonly Word[];
}

interface TtsContext {
  readonly id: number;
  readonly pieces: Piece[];
  readonly timing: Timing;
  madeMs: number;
  toldWords: number;
  flushed: boolean;
  readonly silent: boolean;
  /** Nothing comes any more once it has made this much. */
  readonly stallsAtMs: number;
}

const chunkMs = 240;
/** Length of an announcement without words. */
const signalMs = 990;

const newTiming = (
  base: { chars: number; ms: number } = { chars: 0, ms: 0 },
  sent: readonly Word[] = [],
): Timing => ({
  words: [],
  ends: [base],
  base,
  gaps: false,
  sent,
});

export class SimTts {
  readonly #world: SimWorld;
  readonly #ends: TtsEnds;
  #session = 0;
  #contexts: TtsContext[] = [];
  #busy = false;
  readonly #timing = new Map<number, Timing>();

  constructor(world: SimWorld, ends: TtsEnds) {
    this.#world = world;
    this.#ends = ends;
  }

  speak(id: number, text: string, { recorded = false }: { recorded?: boolean } = {}): void {
    const context = this.#contextOf(id);
    const { tts } = this.#world.plan;
    const ready = recorded || this.#world.knows(text);
    const { timing } = context;
    const from = timing.ends.at(-1)!;
    timing.gaps ||= context.silent && !ready;
    const saidMs = this.#place(timing, text, context.silent && !ready ? undefined : tts.msPerChar);
    const ms = recorded && text === '' ? signalMs : saidMs;
    timing.ends.push({ chars: from.chars + text.length, ms: from.ms + ms });
    context.pieces.push({
      endChars: from.chars + text.length - timing.base.chars,
      ms,
      ready,
      recorded,
      endsWord: this.#world.plan.settings.modelSpeaks !== true || /\s$/.test(text),
      doneMs: 0,
    });
    this.#pump(ready ? 0 : tts.firstMs);
  }

  flush(id: number): void {
    this.#contextOf(id).flushed = true;
    this.#pump(0);
  }

  cancel(id: number): void {
    this.#contexts = this.#contexts.filter((context) => context.id !== id);
  }

  reopen(): void {
    this.#session += 1;
    this.#contexts = [];
    this.#busy = false;
  }

  /** Text is spoken in `id` from where a piece of `former` ends, `sentMs` of which are played, or from a word of a model. False when it begins nowhere. */
  adopt(id: number, from: { former: number; baseMs: number; sentMs: number; text: string }): boolean {
    const { former, sentMs } = from;
    const old = this.#timing.get(former) ?? newTiming();
    const base = this.baseIn(former, from);
    if (base === undefined) return false;
    const timing = newTiming(
      base,
      old.words.filter(({ chars, endMs }) => chars >= base.chars && endMs <= sentMs),
    );
    timing.gaps = old.gaps;
    timing.words = old.words.filter(({ chars }) => chars < base.chars);
    timing.ends = [...old.ends.filter(({ chars }) => chars < base.chars), base];
    this.#timing.set(id, timing);
    return true;
  }

  /**
   * The place where another worker goes on in a context, with this text: the end of a piece. Another voice than the model's goes on in the middle of one, with
   * the word in which the model stopped, as far as the core knows it.
   */
  baseIn(
    context: number,
    { baseMs, text }: { readonly baseMs: number; readonly text: string },
  ): { chars: number; ms: number } | undefined {
    const end = this.endAt(context, baseMs);
    if (end !== undefined || this.#world.plan.settings.modelSpeaks !== true) return end;
    const [first] = text.trim().split(/\s+/);
    const offMs = ({ startMs, endMs }: Word): number => Math.max(0, startMs - baseMs, baseMs - endMs);
    const [next] = this.words(context)
      .filter((word) => word.text === first)
      .toSorted((a, b) => offMs(a) - offMs(b));
    const { chars = 0 } = next ?? this.#timing.get(context)?.ends.at(-1) ?? {};
    return next !== undefined && offMs(next) > mostOffMs(baseMs) ? undefined : { chars, ms: baseMs };
  }

  /** The piece of a context that ends there. */
  endAt(context: number, endMs: number): { chars: number; ms: number } | undefined {
    const { ends } = this.#timing.get(context) ?? newTiming();
    if (endMs < 0.5) return ends[0];
    return ends.findLast(({ ms }) => Math.abs(ms - endMs) < 0.5);
  }

  /** Some text of the call made no sound. */
  get hadGaps(): boolean {
    return [...this.#timing.values()].some(({ gaps }) => gaps);
  }

  /** Nobody can know which of the text was heard, because some of it never made a sound. */
  hasGaps(context: number): boolean {
    return this.#timing.get(context)?.gaps === true;
  }

  /** Characters given to TTS before the audio at `ms` of a context. */
  baseOf(context: number): { chars: number; ms: number } {
    return this.#timing.get(context)?.base ?? { chars: 0, ms: 0 };
  }

  /** The words of a context. A voice that is given a text in pieces of any length speaks a word that lies in two of them once. */
  words(context: number): readonly Word[] {
    const words: Word[] = [];
    for (const part of this.#timing.get(context)?.words ?? []) {
      const begun = words.at(-1);
      if (begun === undefined || begun.isWhole) words.push(part);
      else
        words[words.length - 1] = {
          ...part,
          text: begun.text + part.text,
          chars: begun.chars,
          startMs: begun.startMs,
        };
    }
    return words;
  }

  /** Milliseconds of a context's audio at which each of its words is over, or would have been. */
  wordEnds(context: number): number[] {
    return this.words(context).map(({ endMs }) => endMs);
  }

  /**
   * Gives every word of a piece its time and returns the length of the whole. Without `msPerChar` nothing is said: heard are
   * only words that had been said before.
   */
  #place(timing: Timing, text: string, msPerChar: number | undefined): number {
    const from = timing.ends.at(-1)!;
    let at = from.ms;
    const begun = timing.words.at(-1);
    if (begun?.isWhole === false && /^\s/.test(text))
      timing.words[timing.words.length - 1] = { ...begun, isWhole: true };
    for (const match of text.matchAll(/\s*\S+\s*/g)) {
      const token = match[0];
      const lead = token.length - token.trimStart().length;
      const chars = from.chars + match.index + lead;
      const ms =
        msPerChar === undefined ? 0 : Math.round(token.length * msPerChar * (0.8 + 0.4 * noise(token)));
      const said = { startMs: at, endMs: msPerChar === undefined ? Infinity : at + ms };
      const before = timing.sent.find((word) => word.chars === chars);
      const { startMs, endMs } = msPerChar === undefined ? (before ?? said) : said;
      timing.words.push({ text: token.trim(), chars, startMs, endMs, isWhole: /\s$/.test(token) });
      at += ms;
    }
    return at - from.ms;
  }

  #contextOf(id: number): TtsContext {
    const known = this.#contexts.find((context) => context.id === id);
    if (known !== undefined) return known;
    const { prng, faults, voice } = this.#world.plan;
    const timing = this.#timing.get(id) ?? newTiming();
    this.#timing.set(id, timing);
    const context: TtsContext = {
      id,
      pieces: [],
      timing,
      madeMs: timing.base.ms,
      toldWords: 0,
      flushed: false,
      silent: prng.chance(faults.ttsIsSilent) || voice.down === 'is silent',
      stallsAtMs:
        voice.down === 'stalls'
          ? 0
          : prng.chance(faults.ttsStalls)
            ? prng.chance(0.5)
              ? 0
              : prng.below(3_000)
            : Infinity,
    };
    this.#contexts.push(context);
    return context;
  }

  #pump(delayMs: number): void {
    if (this.#busy) return;
    this.#busy = true;
    const session = this.#session;
    this.#world.time.after(delayMs, () => {
      if (session !== this.#session) return;
      this.#busy = false;
      this.#work();
    });
  }

  #work(): void {
    const context = this.#contexts[0];
    if (context === undefined) return;
    const piece = context.pieces[0];
    const stalls = context.madeMs - context.timing.base.ms >= context.stallsAtMs;
    if (stalls && piece?.ready !== true) return;
    if (piece !== undefined) this.#speakOn(context, piece);
    else if (context.flushed) {
      this.#contexts.shift();
      this.#ends.flushed(context.id);
      this.#pump(0);
    }
  }

  #speakOn(context: TtsContext, piece: Piece): void {
    const { prng, tts, faults } = this.#world.plan;
    const ms = piece.ready ? piece.ms : Math.min(chunkMs, piece.ms - piece.doneMs);
    if (!piece.ready && ms > 0 && this.#breaks(context)) return;
    piece.doneMs += ms;
    context.madeMs += ms;
    this.#pump(piece.ready ? 0 : ms / tts.speed);
    if (ms > 0) {
      this.#tellWords(context);
      this.#ends.audio(context.id, ms);
    }
    if (piece.doneMs < piece.ms) return;
    context.pieces.shift();
    // The worker itself plays the announcement, and reports it.
    if (piece.recorded || (tts.reports && piece.endsWord && piece.ms > 0 && !prng.chance(faults.lost))) {
      this.#ends.spoken(context.id, piece.endChars);
      if (prng.chance(faults.twice)) this.#ends.spoken(context.id, piece.endChars);
    }
  }

  #breaks({ madeMs }: TtsContext): boolean {
    const { prng, faults, voice, tts } = this.#world.plan;
    if (voice.down === 'refuses') {
      this.#fail(tts.firstMs);
      return true;
    }
    if (prng.chance(faults.ttsFails / 5)) {
      this.#fail(0);
      return true;
    }
    if (madeMs > 0 && prng.chance(faults.ttsBreaks / 5)) {
      this.#fail(3_000);
      return true;
    }
    return false;
  }

  #tellWords(context: TtsContext): void {
    if (!this.#world.plan.tts.words) return;
    const { words, base } = context.timing;
    const own = words.filter(({ chars }) => chars >= base.chars);
    for (const { chars, startMs } of own.slice(context.toldWords)) {
      if (startMs >= context.madeMs) return;
      context.toldWords += 1;
      this.#ends.word(context.id, { chars: chars - base.chars, startMs });
    }
  }

  /** The session dies, or stops and is noticed to have stopped. */
  #fail(delayMs: number): void {
    this.#busy = true;
    const session = this.#session;
    this.#world.time.after(delayMs, () => {
      if (session === this.#session) this.#ends.failed();
    });
  }
}

/** How far the core may be off where a model stopped, that far into its answer: nobody tells it the times of words. */
const mostOffMs = (ms: number): number => 700 + ms * 0.15;

/** Between 0 and 1, the same for the same text. */
function noise(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return (hash % 1_024) / 1_024;
}
