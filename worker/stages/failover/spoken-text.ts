/**
 * What a voice was asked to say and how far it got: the texts of the contexts, with what was delivered of each.
 *
 * Invariant: positions are characters of the whole text of a context and milliseconds from its first sample, whichever
 * voice said them; a character that counts as said is never given to another voice. Pure.
 */
import type { TtsEvent } from '../stage.ts';
import { Joining } from './joining.ts';
import type { Guess, JoiningPlace } from './joining.ts';
import { KeptSpeech } from './kept-speech.ts';
import { SpeechPauses } from './speech-pauses.ts';
import { speechIn } from './sounds-like-speech.ts';
import { againAt, Pace, resumeAt, resumeByShare } from './spoken-place.ts';
import type { AgainPlace, ResumePlace, SaidSoFar, WordPlace } from './spoken-place.ts';
import { placeWords, weightOf, wordsOf } from './spoken-words.ts';

/** More than this is not said again from its start, nor what would leave the listener without a sound for so long: from a later word. */
const mostAgainMs = 4_000;
const leastSilentMs = 800;
/** What would even then leave the listener without a sound for longer is not said again. */
const mostSilentMs = 2_000;
/** The place is found when the voice is a bit further on. */
const surplusMs = 450;

/** A word of which this much is guessed to have been heard is not heard again. */
const guessedShare = 0.5;
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
  words: WordPlace[];
  /** In the audio behind `saidMs`, and that audio; absent where the voice tells the times of its words. */
  pauses: SpeechPauses | undefined;
  kept: KeptSpeech | undefined;
  /** When the first audio behind `saidMs` came, and when the last. */
  cameAtMs: number | undefined;
  lastCameAtMs: number;
  /** When audio was first waited for; absent once some came. */
  waitsSinceMs: number | undefined;
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
  private readonly contexts: SpokenContext[] = [];
  private readonly mayMove: boolean;

  /** @param options `mayMove`: there is another voice that could go on. */
  constructor(sampleRate: number, { mayMove }: { readonly mayMove: boolean }) {
    this.sampleRate = sampleRate;
    this.mayMove = mayMove;
  }

  get head(): SpokenContext | undefined {
    return this.contexts[0];
  }

  get all(): readonly SpokenContext[] {
    return this.contexts;
  }

  find(id: number): SpokenContext | undefined {
    return this.contexts.find((context) => context.id === id);
  }

  speak(id: number, text: string, nowMs: number): void {
    const context = this.open(id);
    context.text += text;
    context.ends.push(context.text.length);
    if (context.samples === 0 && context === this.head) context.waitsSinceMs ??= nowMs;
  }

  flush(id: number): void {
    this.open(id).flushed = true;
  }

  /** The context is over, be it said or cancelled; the next one's turn begins. */
  remove(id: number, nowMs: number): void {
    const at = this.contexts.findIndex((context) => context.id === id);
    if (at >= 0) this.contexts.splice(at, 1);
    const { head } = this;
    if (head !== undefined && head.samples === 0 && head.text !== '') head.waitsSinceMs ??= nowMs;
  }

  /** Takes what the present voice says; gives it with positions of the whole context, or nothing when it is over. */
  take(event: SpokenEvent, nowMs: number): SpokenEvent | undefined {
    const context = this.find(event.context);
    if (context === undefined) return undefined;
    switch (event.type) {
      case 'audio':
        context.samples += event.pcm.length;
        context.waitsSinceMs = undefined;
        context.cameAtMs ??= nowMs;
        context.lastCameAtMs = nowMs;
        if (this.mayMove && !this.pace.tellsTimes) this.listen(context, event.pcm);
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
        this.said(context, chars, nowMs);
        return { ...event, chars };
      }
    }
  }

  /** Where another voice would go on in this context, of whose audio `releasedMs` cannot be taken back. */
  placeIn(context: SpokenContext, releasedMs: number): ResumePlace {
    const { text, kept, ends, saidChars } = context;
    const said = this.saidOf(context, releasedMs);
    const place = resumeAt(text, said);
    if (place.basis === 'told' || kept === undefined) return place;
    const { evenMsPerChar: measured, isSpeech = true } = this.pace;
    if (speechIn(kept, { isWhole: false }) ?? isSpeech) return place;
    return resumeByShare(text, said, { end: ends.find((end) => end > saidChars) ?? text.length, measured });
  }

  /** Another voice goes on at this place; positions count from there. */
  moveOn(context: SpokenContext, { chars, cutMs }: ResumePlace, nowMs: number): void {
    context.samples = Math.round((cutMs * this.sampleRate) / 1000);
    context.baseChars = chars;
    context.baseMs = cutMs;
    context.saidChars = chars;
    context.saidMs = cutMs;
    context.words = [];
    context.pauses = undefined;
    context.kept = undefined;
    context.cameAtMs = undefined;
    this.wait(context, nowMs);
  }

  /**
   * Another voice says again what was said behind the last sure place, or the end of that, to find out where it has to go on;
   * absent when it would take too long. Until {@link joined}, what is known of the context stays as it is.
   *
   * @param now `pace`: of the other voice.
   */
  sayAgain(
    context: SpokenContext,
    now: { readonly nowMs: number; readonly releasedMs: number; readonly pace: Pace },
  ): Joining | undefined {
    const { nowMs, releasedMs, pace } = now;
    const { id, kept, saidChars, saidMs, text, cameAtMs = nowMs, lastCameAtMs } = context;
    if (kept === undefined || saidChars >= text.length) return undefined;
    const deliveredMs = this.deliveredMs(context);
    // A voice that has not shown its speed is taken to be like the one before, until that one fell silent.
    const tookMs = lastCameAtMs > cameAtMs ? lastCameAtMs - cameAtMs : nowMs - cameAtMs;
    const speed = pace.speed ?? (deliveredMs - saidMs) / Math.max(1, tookMs);
    const silentMs = ({ likelyMs }: AgainPlace): number =>
      (releasedMs - saidMs - likelyMs + surplusMs) / speed - (deliveredMs - releasedMs);
    const whole = { chars: saidChars, fromMs: 0, toMs: 0, likelyMs: 0 };
    const isShort = releasedMs - saidMs <= mostAgainMs && silentMs(whole) <= leastSilentMs;
    const said = this.saidOf(context, releasedMs);
    const again = isShort ? whole : againAt(text, said);
    if (again.fromMs < kept.fromMs || silentMs(again) > mostSilentMs) return undefined;
    context.baseChars = again.chars;
    this.wait(context, nowMs);
    const { msPerChar } = pace.isMeasured ? pace : this.pace;
    const guess = (heardMs: number): Guess => guessed(text, said, { again, heardMs, msPerChar });
    return new Joining({ context: id, sampleRate: this.sampleRate, said: kept, begin: again, guess });
  }

  /** The voice that began again goes on: the audio of the one before ends at `cutMs` behind the sure place. */
  joined(context: SpokenContext, { cutMs, skipMs }: JoiningPlace): void {
    const endMs = context.saidMs + cutMs;
    context.samples = Math.round((endMs * this.sampleRate) / 1000);
    context.baseMs = endMs - skipMs;
    context.words = [];
    context.pauses?.cut(cutMs);
    context.kept?.cut(cutMs);
    // Two voices in one piece tell nothing of the speed of either.
    context.cameAtMs = undefined;
  }

  private saidOf(context: SpokenContext, releasedMs: number): SaidSoFar {
    return {
      from: context.saidChars,
      fromMs: context.saidMs,
      words: context.words,
      pauses: context.pauses?.all ?? [],
      deliveredMs: this.deliveredMs(context),
      releasedMs,
      msPerChar: this.pace.msPerChar,
    };
  }

  private wait(context: SpokenContext, nowMs: number): void {
    const isWaiting = context === this.head && context.baseChars < context.text.length;
    context.waitsSinceMs = isWaiting ? nowMs : undefined;
  }

  private listen(context: SpokenContext, pcm: Int16Array): void {
    context.pauses ??= new SpeechPauses(this.sampleRate);
    context.pauses.push(pcm);
    context.kept ??= new KeptSpeech(this.sampleRate);
    context.kept.push(pcm);
  }

  private deliveredMs({ samples }: SpokenContext): number {
    return (samples * 1000) / this.sampleRate;
  }

  private said(context: SpokenContext, chars: number, nowMs: number): void {
    const deliveredMs = this.deliveredMs(context);
    const { saidChars, saidMs, pauses, kept, cameAtMs } = context;
    if (cameAtMs !== undefined) {
      this.pace.learnSpeed(deliveredMs - saidMs, nowMs - cameAtMs);
      this.pace.learnEven(context.text.slice(saidChars, chars).trim().length, deliveredMs - saidMs);
      if (kept !== undefined) this.pace.learnSound(() => speechIn(kept, { isWhole: true }));
    }
    if (pauses === undefined) this.pace.learn(chars - saidChars, deliveredMs - saidMs);
    else this.learn(context.text.slice(saidChars, chars), deliveredMs - saidMs, pauses);
    context.saidChars = Math.max(context.saidChars, chars);
    context.saidMs = deliveredMs;
    context.words = context.words.filter((word) => word.chars >= chars);
    context.pauses = undefined;
    context.kept = undefined;
    context.cameAtMs = undefined;
  }

  /** The pace of what is spoken between pauses. */
  private learn(text: string, ms: number, pauses: SpeechPauses): void {
    const weight = wordsOf(text, 0).reduce((sum, word) => sum + weightOf(word.text), 0);
    const quietMs = pauses.all.reduce((sum, { fromMs, toMs }) => sum + (toMs ?? ms) - fromMs, 0);
    this.pace.learn(weight, Math.max(0, ms - quietMs));
  }

  private open(id: number): SpokenContext {
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
      pauses: undefined,
      kept: undefined,
      cameAtMs: undefined,
      lastCameAtMs: 0,
      waitsSinceMs: undefined,
    };
    this.contexts.push(context);
    return context;
  }
}

/** The first word of which little was heard, in what the voice says that begins with `again`. */
function guessed(
  text: string,
  said: SaidSoFar,
  { again, heardMs, msPerChar }: { again: AgainPlace; heardMs: number; msPerChar: number },
): Guess {
  const audio = { ...said, deliveredMs: said.deliveredMs - said.fromMs };
  const next = placeWords(text, said.from, audio).find(
    ({ fromMs, toMs }) => heardMs < fromMs + (toMs - fromMs) * guessedShare,
  );
  const chars = next?.chars ?? text.length;
  const skipped = wordsOf(text.slice(0, chars), again.chars);
  const weight = skipped.reduce((sum, word) => sum + weightOf(word.text), 0);
  return { chars: chars - again.chars, ms: weight * msPerChar };
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
