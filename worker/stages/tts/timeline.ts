/**
 * One context's text against its audio: where words begin, and from which sample on a piece has been said.
 *
 * Invariant: `spoken` of a piece comes after all of its audio and, where the provider tells times, before the audio of
 * the next word. Audio is cut for that and never altered. Pure.
 */
import type { TtsEvent } from '../stage.ts';
import { isSpeakable, type TimedWord } from './wire.ts';

/** How far ahead a word is looked for, so that one odd word does not move all that follow. */
const SEARCH_CHARS = 48;

export class Timeline {
  readonly #context: number;
  readonly #sampleRate: number;
  #text = '';
  /** Ends of pieces whose `spoken` is not emitted, those with a known place in the audio first. */
  #marks: { readonly chars: number; readonly sample: number }[] = [];
  #ends: number[] = [];
  #cursor = 0;
  #samples = 0;
  #utteranceSample = 0;
  #lastSample = 0;

  constructor(context: number, sampleRate: number) {
    this.#context = context;
    this.#sampleRate = sampleRate;
  }

  add(piece: string): void {
    this.#text += piece;
    this.#ends.push(this.#text.length);
  }

  /** A new utterance goes on with the context: its times count from here. */
  begin(): void {
    this.#utteranceSample = this.#samples;
  }

  /** All words of the text so far have been placed. */
  get isComplete(): boolean {
    return this.#cursor > 0 && !isSpeakable(this.#text.slice(this.#cursor));
  }

  words(words: readonly TimedWord[], base: 'utterance' | 'next'): TtsEvent[] {
    const from = base === 'utterance' ? this.#utteranceSample : this.#samples;
    const events: TtsEvent[] = [];
    for (const word of words) {
      const chars = this.#find(word.text);
      if (chars === undefined) continue;
      const sample = Math.max(this.#lastSample, from + Math.round((word.startMs * this.#sampleRate) / 1000));
      this.#lastSample = sample;
      for (let end = this.#ends[0]; end !== undefined && end <= chars; end = this.#ends[0]) {
        this.#ends.shift();
        this.#marks.push({ chars: end, sample });
      }
      events.push({
        type: 'word',
        context: this.#context,
        chars,
        startMs: (sample * 1000) / this.#sampleRate,
      });
    }
    return [...events, ...this.#passed()];
  }

  audio(pcm: Int16Array): TtsEvent[] {
    const events: TtsEvent[] = [];
    let rest = pcm;
    for (let mark = this.#marks[0]; mark !== undefined; mark = this.#marks[0]) {
      const before = mark.sample - this.#samples;
      if (before > rest.length) break;
      events.push(...this.#deliver(rest.subarray(0, before)), ...this.#passed());
      rest = rest.subarray(before);
    }
    return [...events, ...this.#deliver(rest), ...this.#passed()];
  }

  /** The provider finished a part: pieces whose words have all been placed and delivered are said. */
  settled(): TtsEvent[] {
    if (this.#cursor === 0 || this.#marks.length > 0 || this.#samples < this.#lastSample) return [];
    const said = this.#ends.filter((end) => !isSpeakable(this.#text.slice(this.#cursor, end)));
    this.#ends = this.#ends.slice(said.length);
    return said.map((chars) => this.#spoken(chars));
  }

  /** No audio of the text so far follows. */
  finished(): TtsEvent[] {
    const said = [...this.#marks.map((mark) => mark.chars), ...this.#ends];
    this.#marks = [];
    this.#ends = [];
    this.#cursor = this.#text.length;
    return said.map((chars) => this.#spoken(chars));
  }

  #deliver(pcm: Int16Array): TtsEvent[] {
    this.#samples += pcm.length;
    return pcm.length === 0 ? [] : [{ type: 'audio', context: this.#context, pcm }];
  }

  #passed(): TtsEvent[] {
    const events: TtsEvent[] = [];
    for (
      let mark = this.#marks[0];
      mark !== undefined && mark.sample <= this.#samples;
      mark = this.#marks[0]
    ) {
      this.#marks.shift();
      events.push(this.#spoken(mark.chars));
    }
    return events;
  }

  #spoken(chars: number): TtsEvent {
    return { type: 'spoken', context: this.#context, chars };
  }

  /** Where a word of the provider stands in the text; providers may leave out space, marks and tags. */
  #find(word: string): number | undefined {
    const wanted = word.trim();
    if (!isSpeakable(wanted)) return undefined;
    const near = this.#text.slice(this.#cursor, this.#cursor + SEARCH_CHARS + wanted.length);
    const found = near.indexOf(wanted);
    if (found >= 0) {
      this.#cursor += found + wanted.length;
      return this.#cursor - wanted.length;
    }
    // Said in other words than written ("1", "one"): the next word of the text stands for it.
    const next = /[\p{L}\p{N}]\S*/u.exec(this.#text.slice(this.#cursor));
    if (next === null) return undefined;
    const at = this.#cursor + next.index;
    this.#cursor = at + next[0].length;
    return at;
  }
}
