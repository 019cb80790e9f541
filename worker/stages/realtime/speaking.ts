/**
 * The voice of a call whose model speaks by itself: what the model says is passed on as it comes, and all other lines are spoken by a TTS.
 * Both may stand in one context; their sounds follow one another in the order of the text.
 *
 * The core gives back the words that the model has told, piece by piece, and words that are not the model's are a line.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { newResampler, type Resampler } from '../../../shared/audio/resampler.ts';
import type { StageContext, TtsEvent, TtsSession } from '../stage.ts';

/** Sound of an answer that waits to be played: more than the longest answer that a vendor gives. */
const mostWaitingMs = 300_000;
/** What was sent is heard later by so much. */
const playoutSlackMs = 400;
/** An answer has few, and what was heard of them is settled with the next one. */
const mostItems = 64;

type OfContext = Exclude<TtsEvent, { type: 'error' }>;

/** The sound of one answer, and the words that came with it and that no context has spoken yet. */
interface Answer {
  readonly id: number;
  hasWords: boolean;
  chunks: Int16Array[];
  samples: number;
  unspoken: string;
  /** No more sound comes. */
  isDone: boolean;
  wasHeard: boolean;
  /** Some of it was passed on. */
  isPlaying: boolean;
}

type Segment =
  | { readonly kind: 'answer'; readonly answer: Answer; text: string; chars: number; isTimed: boolean }
  | { readonly kind: 'line'; readonly inner: number; chars: number; events: OfContext[]; isOver: boolean };

interface Spoken {
  readonly segments: Segment[];
  /** Characters whose sound is all passed on, and how much sound that is. */
  chars: number;
  samples: number;
  isFlushed: boolean;
}

export interface SpeakingOptions {
  readonly context: StageContext;
  readonly sampleRate: number;
  /** The model has a voice; otherwise the TTS speaks its words too. */
  readonly modelSpeaks: boolean;
  readonly openTts: (sink: (event: TtsEvent) => void) => TtsSession;
}

export class Speaking {
  readonly #options: SpeakingOptions;
  #sink: ((event: TtsEvent) => void) | undefined;
  /** Speaks lines; absent where it has failed and nothing was owed of it. */
  #tts: TtsSession | undefined;
  readonly #contexts = new Map<number, Spoken>();
  #innerContexts = 0;
  #answer: Answer | undefined;
  #resampler: Resampler | undefined;
  #isPaused = false;
  #isDue = false;
  #heardBy: Millis = 0;
  /** How long the newest items of answers are. */
  readonly #items = new Map<string, { samples: number; chars: number }>();

  constructor(options: SpeakingOptions) {
    this.#options = options;
  }

  /** The agent may be heard at this moment. */
  get isAudible(): boolean {
    return this.#options.context.clock.now() < this.#heardBy;
  }

  /** The session that the call speaks with; another one takes its place where it failed. */
  open(sink: (event: TtsEvent) => void): TtsSession {
    this.#sink = sink;
    this.#forgetContexts();
    this.#isPaused = false;
    const former = this.#tts;
    this.#openTts();
    former?.close();
    return {
      sampleRate: this.#options.sampleRate,
      speak: (context, text, how) => this.#speak(context, text, how),
      flush: (context) => this.#flush(context),
      cancel: (context) => this.#cancel(context),
      silenced: () => {
        this.#heardBy = 0;
      },
      pause: () => {
        this.#isPaused = true;
        this.#tts?.pause();
      },
      resume: () => {
        this.#isPaused = false;
        this.#tts?.resume();
        this.#soon();
      },
      close: () => {
        if (this.#sink !== sink) return;
        this.#sink = undefined;
        this.#forgetContexts();
        this.#tts?.close();
        this.#tts = undefined;
      },
    };
  }

  /** What is left of them is said anew. An answer that waited behind a line has its sound, and is known by its words again. */
  #forgetContexts(): void {
    const lost = [...this.#contexts.values()].flatMap(({ segments }) => segments);
    for (const segment of lost.toReversed())
      if (segment.kind === 'answer' && !segment.answer.isPlaying)
        segment.answer.unspoken = segment.text + segment.answer.unspoken;
    this.#contexts.clear();
  }

  #openTts(): TtsSession {
    const tts = this.#options.openTts((event) => {
      if (this.#tts === tts) this.#takeLine(event);
    });
    this.#tts = tts;
    if (this.#isPaused) tts.pause();
    return tts;
  }

  // ---- what the model says ----

  answerBegan(id: number, rate: number): void {
    this.#answer = {
      id,
      hasWords: false,
      chunks: [],
      samples: 0,
      unspoken: '',
      isDone: false,
      wasHeard: false,
      isPlaying: false,
    };
    const { sampleRate } = this.#options;
    this.#resampler = rate === sampleRate ? undefined : newResampler({ from: rate, to: sampleRate });
  }

  /** Words that the core is told next, and gives back to be spoken. */
  words(id: number, item: string, text: string): void {
    if (this.#answer?.id !== id || !this.#options.modelSpeaks) return;
    this.#answer.hasWords = true;
    this.#answer.unspoken += text;
    this.#lengthOf(item).chars += text.length;
  }

  /** Words of the answer have come. */
  hasWords(id: number): boolean {
    return this.#answer?.id === id && this.#answer.hasWords;
  }

  /** How far into its sound the words of an item are, in milliseconds, when so many characters of them were heard. */
  msOf(item: string, chars: number): Millis {
    const { samples, chars: all } = this.#lengthOf(item);
    const share = all === 0 ? 0 : Math.min(1, chars / all);
    return Math.floor((share * samples * 1000) / this.#options.sampleRate);
  }

  #lengthOf(item: string): { samples: number; chars: number } {
    let length = this.#items.get(item);
    if (length === undefined) {
      length = { samples: 0, chars: 0 };
      this.#items.set(item, length);
      const [oldest] = this.#items.keys();
      if (this.#items.size > mostItems && oldest !== undefined) this.#items.delete(oldest);
    }
    return length;
  }

  audio(id: number, item: string, pcm: Int16Array): void {
    const answer = this.#answer;
    if (answer?.id !== id || answer.samples > (mostWaitingMs / 1000) * this.#options.sampleRate) return;
    const chunk = this.#resampler?.process(pcm) ?? pcm;
    answer.chunks.push(chunk);
    answer.samples += chunk.length;
    this.#lengthOf(item).samples += chunk.length;
    answer.wasHeard = true;
    this.#soon();
  }

  /** No more sound comes. Words that came without any are spoken by the TTS. */
  answerEnded(id: number): void {
    const answer = this.#answer;
    if (answer?.id !== id) return;
    answer.isDone = true;
    this.#soon();
  }

  // ---- what the core wants spoken ----

  #speak(context: number, text: string, how: { readonly recorded?: boolean } | undefined): void {
    const spoken = this.#of(context);
    const answer = how?.recorded === true ? undefined : this.#claim(text);
    if (answer === undefined) this.#speakLine(spoken, text, how);
    else {
      this.#endLine(spoken);
      const last = spoken.segments.at(-1);
      if (last?.kind === 'answer' && last.answer === answer) {
        last.chars += text.length;
        last.text += text;
      } else spoken.segments.push({ kind: 'answer', answer, text, chars: text.length, isTimed: false });
    }
    this.#soon();
  }

  /** The answer that these words are the next of. */
  #claim(text: string): Answer | undefined {
    const answer = this.#answer;
    if (answer === undefined || isMute(answer)) return undefined;
    const end = endOf(text, answer.unspoken);
    if (end === undefined) return undefined;
    answer.unspoken = answer.unspoken.slice(end);
    return answer;
  }

  #speakLine(spoken: Spoken, text: string, how: { readonly recorded?: boolean } | undefined): void {
    let last = spoken.segments.at(-1);
    if (last?.kind !== 'line' || last.isOver) {
      this.#innerContexts += 1;
      last = { kind: 'line', inner: this.#innerContexts, chars: 0, events: [], isOver: false };
      spoken.segments.push(last);
    }
    last.chars += text.length;
    (this.#tts ?? this.#openTts()).speak(last.inner, text, how);
  }

  #endLine({ segments }: Spoken): void {
    const last = segments.at(-1);
    if (last?.kind === 'line') this.#tts?.flush(last.inner);
  }

  #flush(context: number): void {
    const spoken = this.#of(context);
    spoken.isFlushed = true;
    this.#endLine(spoken);
    this.#soon();
  }

  #cancel(context: number): void {
    const spoken = this.#contexts.get(context);
    this.#contexts.delete(context);
    this.#heardBy = 0;
    for (const segment of spoken?.segments ?? [])
      if (segment.kind === 'line') this.#tts?.cancel(segment.inner);
      else segment.answer.chunks = [];
  }

  #of(context: number): Spoken {
    let spoken = this.#contexts.get(context);
    if (spoken === undefined) {
      spoken = { segments: [], chars: 0, samples: 0, isFlushed: false };
      this.#contexts.set(context, spoken);
    }
    return spoken;
  }

  get #owesLine(): boolean {
    return [...this.#contexts.values()].some(({ segments }) =>
      segments.some(
        (segment) => segment.kind === 'line' && !segment.isOver && !segment.events.some(isEndOfLine),
      ),
    );
  }

  // ---- sound ----

  #takeLine(event: TtsEvent): void {
    if (event.type === 'error') {
      // The model goes on with its own voice, and the next line is another session's.
      this.#tts = undefined;
      if (this.#owesLine) this.#sink?.(event);
      return;
    }
    for (const spoken of this.#contexts.values())
      for (const segment of spoken.segments)
        if (segment.kind === 'line' && segment.inner === event.context) segment.events.push(event);
    this.#pump();
  }

  /** Sessions never speak from inside a question. */
  #soon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const { context } = this.#options;
    context.clock.after(
      0,
      context.bind(() => {
        this.#isDue = false;
        this.#pump();
      }),
    );
  }

  #pump(): void {
    for (const [context, spoken] of this.#contexts) {
      while (this.#playHead(context, spoken));
      if (spoken.isFlushed && spoken.segments.length === 0) {
        this.#contexts.delete(context);
        this.#tell({ type: 'flushed', context });
      }
    }
  }

  /** Passes on what there is of the oldest segment; true where it is over. */
  #playHead(context: number, spoken: Spoken): boolean {
    const [segment] = spoken.segments;
    if (segment === undefined) return false;
    const isOver =
      segment.kind === 'line'
        ? this.#playLine(context, segment, spoken)
        : this.#playAnswer(context, segment, spoken);
    if (!isOver) return false;
    spoken.segments.shift();
    spoken.chars += segment.chars;
    if (segment.kind === 'answer') spoken.samples += segment.answer.samples;
    this.#tell({ type: 'spoken', context, chars: spoken.chars });
    return true;
  }

  #playLine(context: number, segment: Extract<Segment, { kind: 'line' }>, spoken: Spoken): boolean {
    const { chars } = spoken;
    for (const event of segment.events.splice(0)) {
      if (isEndOfLine(event)) segment.isOver = true;
      else if (event.type === 'audio') {
        spoken.samples += event.pcm.length;
        this.#tell({ type: 'audio', context, pcm: event.pcm });
      } else if (event.type === 'spoken' && event.chars < segment.chars)
        this.#tell({ type: 'spoken', context, chars: chars + event.chars });
      // Times of words count from the beginning of the context, which is this line's only where it is the first.
      else if (event.type === 'word' && chars === 0) this.#tell({ ...event, context });
    }
    return segment.isOver;
  }

  #playAnswer(context: number, segment: Extract<Segment, { kind: 'answer' }>, spoken: Spoken): boolean {
    const { answer } = segment;
    if (isMute(answer)) {
      this.#speakMute(segment, spoken);
      return false;
    }
    // Behind the answer's end follow words of it that are on their way to here.
    const isWhole =
      answer.isDone && (spoken.isFlushed || spoken.segments.length > 1 || answer.unspoken.trim() === '');
    if (isWhole && !segment.isTimed) this.#tellTimes(context, segment, spoken);
    while (!this.#isPaused) {
      const pcm = answer.chunks.shift();
      if (pcm === undefined) return isWhole;
      answer.isPlaying = true;
      this.#tell({ type: 'audio', context, pcm });
    }
    return false;
  }

  /** The vendor tells no times of words: each has its share of the sound. */
  #tellTimes(
    context: number,
    segment: Extract<Segment, { kind: 'answer' }>,
    { chars, samples }: Spoken,
  ): void {
    segment.isTimed = true;
    const msOf = (count: number): Millis => (count * 1000) / this.#options.sampleRate;
    for (const { index } of segment.text.matchAll(/\S+/g)) {
      const share = index / Math.max(1, segment.text.length);
      const startMs = msOf(samples) + share * msOf(segment.answer.samples);
      this.#tell({ type: 'word', context, chars: chars + index, startMs });
    }
  }

  /** Words came without sound: they are spoken like a line. */
  #speakMute({ text, chars }: Extract<Segment, { kind: 'answer' }>, { segments, isFlushed }: Spoken): void {
    this.#innerContexts += 1;
    segments[0] = { kind: 'line', inner: this.#innerContexts, chars, events: [], isOver: false };
    (this.#tts ?? this.#openTts()).speak(this.#innerContexts, text);
    if (isFlushed || segments.length > 1) this.#tts?.flush(this.#innerContexts);
  }

  #tell(event: OfContext): void {
    if (event.type === 'audio') {
      const now = this.#options.context.clock.now();
      const ms = (event.pcm.length / this.#options.sampleRate) * 1000;
      this.#heardBy = Math.max(now + playoutSlackMs, this.#heardBy) + ms;
    }
    this.#sink?.(event);
  }
}

const isEndOfLine = ({ type }: OfContext): boolean => type === 'flushed' || type === 'cancelled';

/** The answer is over, and none of it was sound. */
const isMute = ({ isDone, wasHeard }: Answer): boolean => isDone && !wasHeard;

/** Where in `words` the piece `text` ends, which begins there; marks and spaces may have been lost. Undefined where it is something else. */
function endOf(text: string, words: string): number | undefined {
  let at = 0;
  for (const letter of text) {
    if (!isTelling(letter)) continue;
    while (at < words.length && !isTelling(words.charAt(at))) at += 1;
    if (words.slice(at, at + letter.length) !== letter) return undefined;
    at += letter.length;
  }
  if (at > 0) return at;
  // A piece without letters is the model's where that is speaking, and has no letters of it.
  const marks = words.search(/[\p{L}\p{N}]/u);
  return words === '' ? undefined : Math.min(text.length, marks < 0 ? words.length : marks);
}

const isTelling = (letter: string): boolean => /[\p{L}\p{N}]/u.test(letter);
