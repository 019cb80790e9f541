/**
 * The STT beside a model that hears by itself. Transcripts, rules and programs go by its words; the model needs none. So no answer waits for an
 * STT that is slow or gone: a turn whose words are not there in time is told as one whose words come later, unless something goes by them.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { Timer } from '../../../shared/runtime/clock.ts';
import { unwritten } from '../../core/unwritten.ts';
import type { StageContext, SttEvent, SttSession } from '../stage.ts';

/** Words are waited for so long, from when they were asked for; and those of what may be no turn so much longer. The call takes an STT for broken later than that. */
const lateMs: Millis = 500;
const doubtedMs: Millis = 800;
/** A session that died is followed by another after this, and twice as long each time until one has told words. */
const firstPauseMs: Millis = 1_000;
const longestPauseMs: Millis = 16_000;

export interface OwnWordsOptions {
  readonly context: StageContext;
  readonly open: (sink: (event: SttEvent) => void) => SttSession;
  readonly sink: (event: SttEvent) => void;
  /** The model is gone: the STT is all that hears. */
  readonly isAlone: () => boolean;
  /** By its sound, what was said since the last question is a turn. */
  readonly isTurn: () => boolean;
  /** What follows goes by the words. */
  readonly needsWords: () => boolean;
  /** The stretch that was asked about is one of words, or of noise. */
  readonly judged: (isOfWords: boolean) => void;
  /** The words of a stretch come later; gives the function that takes them, once. */
  readonly noted: () => (text: string) => void;
}

/** What was said until the STT was asked for it. */
interface Stretch {
  hasWords: boolean;
  partial: string;
  /** Finals that came too late. */
  readonly late: string[];
  timer?: Timer;
  /** It was told without its words, which go to `take`, where any are missing. */
  told?: { readonly take: ((text: string) => void) | undefined };
}

const newStretch = (): Stretch => ({ hasWords: false, partial: '', late: [] });

export class OwnWords implements SttSession {
  readonly #options: OwnWordsOptions;
  #session: SttSession | undefined;
  #isOpenedAt: Millis = -Infinity;
  #pauseMs = firstPauseMs;
  /** Stretches that the STT was asked for, oldest first, and the one that is heard. */
  #asked: Stretch[] = [];
  #running = newStretch();

  constructor(options: OwnWordsOptions) {
    this.#options = options;
    this.#session = options.open((event) => this.#take(event));
  }

  audio(pcm: Int16Array): boolean {
    if (this.#session === undefined && this.#mayOpen())
      this.#session = this.#options.open((event) => this.#take(event));
    return this.#session?.audio(pcm) ?? true;
  }

  hasRoom(): boolean {
    return this.#session?.hasRoom?.() ?? true;
  }

  finalize(): void {
    const { context } = this.#options;
    const stretch = this.#running;
    this.#running = newStretch();
    this.#asked.push(stretch);
    const isGone = this.#session === undefined;
    const overdue = context.bind(() => this.#overdue(stretch));
    stretch.timer = context.clock.after(isGone ? 0 : lateMs, overdue);
    this.#session?.finalize();
  }

  close(): void {
    for (const { timer } of this.#asked) timer?.cancel();
    this.#session?.close();
  }

  #mayOpen(): boolean {
    const { context, isAlone } = this.#options;
    return isAlone() || context.clock.now() >= this.#isOpenedAt;
  }

  #take(event: SttEvent): void {
    switch (event.type) {
      case 'transcript':
        this.#takeWords(event);
        return;
      case 'finalized':
        this.#finalized(event);
        return;
      case 'error':
        this.#died(event);
        return;
      default:
        this.#options.sink(event);
    }
  }

  #takeWords(event: Extract<SttEvent, { type: 'transcript' }>): void {
    const stretch = this.#asked[0] ?? this.#running;
    const { text, isFinal } = event;
    if (text.trim() !== '') {
      stretch.hasWords = true;
      this.#pauseMs = firstPauseMs;
    }
    stretch.partial = isFinal ? '' : text;
    if (stretch.told === undefined) this.#options.sink(event);
    else if (isFinal && text.trim() !== '') stretch.late.push(text.trim());
  }

  #finalized(event: SttEvent): void {
    const stretch = this.#asked.shift();
    stretch?.timer?.cancel();
    if (stretch?.told !== undefined) {
      stretch.told.take?.(wordsOf(stretch));
      return;
    }
    this.#options.judged(stretch?.hasWords === true);
    this.#options.sink(event);
  }

  /** The STT takes longer than an answer should wait. */
  #overdue(stretch: Stretch, { isLast = false } = {}): void {
    const { context, isAlone, needsWords, isTurn } = this.#options;
    const isGone = this.#session === undefined;
    if (isAlone() || (needsWords() && !isGone)) return;
    // An STT that tells words as they come would have told some, had there been any.
    if (isGone || isTurn() || isLast) this.#tellWithout(stretch);
    else
      stretch.timer = context.clock.after(
        doubtedMs,
        context.bind(() => this.#overdue(stretch, { isLast: true })),
      );
    // Nobody will tell more of it.
    if (isGone) {
      this.#asked = this.#asked.filter((one) => one !== stretch);
      stretch.told?.take?.(wordsOf(stretch));
    }
  }

  #tellWithout(stretch: Stretch): void {
    const { sink, isTurn, judged, noted } = this.#options;
    // The words that are known for good stand already, and as far as anybody knows there are no more.
    const isWhole = stretch.hasWords && stretch.partial === '';
    const isOfWords = isWhole || isTurn();
    judged(isOfWords);
    stretch.told = { take: isOfWords && !isWhole ? noted() : undefined };
    if (stretch.told.take !== undefined)
      sink({ type: 'transcript', text: unwritten, isFinal: true, speechFinal: true, fromFinalize: true });
    sink({ type: 'finalized' });
  }

  /** The model hears on, and the call with it. */
  #died(event: Extract<SttEvent, { type: 'error' }>): void {
    const { context, isAlone, sink } = this.#options;
    if (isAlone()) {
      sink(event);
      return;
    }
    this.#session?.close();
    this.#session = undefined;
    this.#isOpenedAt = context.clock.now() + this.#pauseMs;
    this.#pauseMs = Math.min(longestPauseMs, this.#pauseMs * 2);
    for (const stretch of this.#asked.splice(0)) {
      stretch.timer?.cancel();
      if (stretch.told === undefined) this.#tellWithout(stretch);
      stretch.told?.take?.(wordsOf(stretch));
    }
  }
}

/** What came too late, or was guessed. */
const wordsOf = ({ late, partial }: Stretch): string => (late.length > 0 ? late.join(' ') : partial.trim());
