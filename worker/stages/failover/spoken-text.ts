/**
 * What a voice was asked to say and how far it got: the texts of the contexts, with what was delivered of each.
 *
 * Invariant: positions are characters of the whole text of a context and milliseconds from its first sample, whichever
 * voice said them; what counts as said is never given to another voice. Pure.
 */
import type { TtsEvent } from '../stage.ts';
import { Pace, resumeAt, type ResumePlace, type WordPlace } from './spoken-place.ts';

export interface SpokenContext {
  readonly id: number;
  text: string;
  /** Ends of the pieces, as characters of the text. */
  readonly ends: number[];
  flushed: boolean;
  /** Where the present voice began. */
  baseChars: number;
  baseMs: number;
  samples: number;
  /** Everything up to here has been said, at this time. */
  saidChars: number;
  saidMs: number;
  /** Those told behind `saidChars`. */
  words: WordPlace[];
  /** When audio was first waited for; absent once some came. */
  waitsSinceMs: number | undefined;
  /** When the voice last gave audio, or was last given something to say while it owed nothing. */
  quietSinceMs: number;
}

export type SpokenEvent = Extract<
  TtsEvent,
  { readonly context: number; readonly type: 'audio' | 'word' | 'spoken' }
>;

export class SpokenText {
  /** Of the voice that speaks now. */
  pace = new Pace();
  /** Hz of all voices. */
  readonly sampleRate: number;
  readonly #contexts: SpokenContext[] = [];

  constructor(sampleRate: number) {
    this.sampleRate = sampleRate;
  }

  get head(): SpokenContext | undefined {
    return this.#contexts[0];
  }

  get all(): readonly SpokenContext[] {
    return this.#contexts;
  }

  find(id: number): SpokenContext | undefined {
    return this.#contexts.find((context) => context.id === id);
  }

  speak(id: number, text: string, nowMs: number): void {
    const context = this.#open(id);
    if (!owes(context)) context.quietSinceMs = nowMs;
    context.text += text;
    context.ends.push(context.text.length);
    if (context.samples === 0 && context === this.head) context.waitsSinceMs ??= nowMs;
  }

  flush(id: number, nowMs: number): void {
    const context = this.#open(id);
    if (!owes(context)) context.quietSinceMs = nowMs;
    context.flushed = true;
  }

  /** The voice goes on after a pause: from here on its silence counts. */
  resume(nowMs: number): void {
    for (const context of this.#contexts) context.quietSinceMs = nowMs;
  }

  /** How long the voice has said nothing of what it owes first. */
  silentMs(nowMs: number): number {
    const { head } = this;
    return head !== undefined && owes(head) ? nowMs - head.quietSinceMs : 0;
  }

  /** The context is over, be it said or cancelled; the next one's turn begins. */
  remove(id: number, nowMs: number): void {
    const at = this.#contexts.findIndex((context) => context.id === id);
    if (at >= 0) this.#contexts.splice(at, 1);
    const { head } = this;
    if (head === undefined || head.samples > 0 || head.text === '') return;
    head.waitsSinceMs ??= nowMs;
    head.quietSinceMs = nowMs;
  }

  /** Takes what the present voice says; gives it with positions of the whole context, or nothing when it is over. */
  take(event: SpokenEvent, nowMs: number): SpokenEvent | undefined {
    const context = this.find(event.context);
    if (context === undefined) return undefined;
    switch (event.type) {
      case 'audio':
        context.samples += event.pcm.length;
        context.waitsSinceMs = undefined;
        context.quietSinceMs = nowMs;
        return event;
      case 'word': {
        const word = { chars: context.baseChars + event.chars, startMs: context.baseMs + event.startMs };
        context.words.push(word);
        this.pace.tellsTimes = true;
        this.pace.learn(word.chars - context.saidChars, word.startMs - context.saidMs);
        return { ...event, ...word };
      }
      case 'spoken': {
        const chars = Math.min(context.baseChars + event.chars, context.text.length);
        this.#said(context, chars);
        return { ...event, chars };
      }
    }
  }

  /** Where another voice would go on in this context, of whose audio `releasedMs` cannot be taken back. */
  placeIn(context: SpokenContext, releasedMs: number): ResumePlace {
    return resumeAt(context.text, {
      from: context.saidChars,
      fromMs: context.saidMs,
      words: context.words,
      deliveredMs: this.#deliveredMs(context),
      releasedMs,
      msPerChar: this.pace.msPerChar,
    });
  }

  /** Another voice goes on at this place; positions count from there. */
  moveOn(context: SpokenContext, { chars, cutMs }: ResumePlace, nowMs: number): void {
    context.samples = Math.round((cutMs * this.sampleRate) / 1000);
    context.baseChars = chars;
    context.baseMs = cutMs;
    context.saidChars = chars;
    context.saidMs = cutMs;
    context.words = [];
    const isWaiting = context === this.head && chars < context.text.length;
    context.waitsSinceMs = isWaiting ? nowMs : undefined;
    context.quietSinceMs = nowMs;
  }

  #deliveredMs({ samples }: SpokenContext): number {
    return (samples * 1000) / this.sampleRate;
  }

  #said(context: SpokenContext, chars: number): void {
    const deliveredMs = this.#deliveredMs(context);
    this.pace.learn(chars - context.saidChars, deliveredMs - context.saidMs);
    context.saidChars = Math.max(context.saidChars, chars);
    context.saidMs = deliveredMs;
    context.words = context.words.filter((word) => word.chars >= chars);
  }

  #open(id: number): SpokenContext {
    const known = this.find(id);
    if (known !== undefined) return known;
    const context: SpokenContext = {
      id,
      text: '',
      ends: [],
      flushed: false,
      baseChars: 0,
      baseMs: 0,
      samples: 0,
      saidChars: 0,
      saidMs: 0,
      words: [],
      waitsSinceMs: undefined,
      quietSinceMs: 0,
    };
    this.#contexts.push(context);
    return context;
  }
}

/** Text of it, or its end, is with the voice and has not come. A word that was told has been said to its end. */
function owes({ text, saidChars, words, flushed }: SpokenContext): boolean {
  if (flushed) return true;
  const word = words.at(-1);
  const rest = word === undefined ? text.slice(saidChars) : text.slice(word.chars).replace(/^\S+/, '');
  return rest.trim() !== '';
}

/** What is left of a context's text from `chars` on, in its pieces. */
export function piecesFrom({ text, ends }: SpokenContext, chars: number): string[] {
  let from = chars;
  const pieces: string[] = [];
  for (const end of ends) {
    if (end <= from) continue;
    pieces.push(text.slice(from, end));
    from = end;
  }
  return pieces;
}
