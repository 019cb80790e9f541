/**
 * A TTS session that plays known lines itself and passes the rest on. Within a context, pieces keep their order: a known line
 * is played by the session only when the provider owes nothing that comes before it. Offsets and times in the provider's
 * events are moved by what was played here.
 */
import { assert } from '../../shared/base/assert.ts';
import type { StageContext, TtsEvent, TtsSession } from '../stages/stage.ts';

/** The audio of one line, at the rate of the stage. Never written to. */
export interface KnownLine {
  readonly pcm: Int16Array;
  readonly ms: number;
}

interface Segment {
  /** Length of its text; and of its audio, when it was played here. */
  chars: number;
  readonly knownMs: number | undefined;
}

interface Spoken {
  readonly segments: Segment[];
  /** Characters given to the provider, and of them those whose audio is all here. */
  givenChars: number;
  doneChars: number;
}

export interface KnownLinesSessionOptions {
  readonly sink: (event: TtsEvent) => void;
  readonly find: (text: string) => KnownLine | undefined;
  readonly announcement: KnownLine;
}

export class KnownLinesSession implements TtsSession {
  readonly #context: StageContext;
  readonly #options: KnownLinesSessionOptions;
  #inner: TtsSession | undefined;
  readonly #spoken = new Map<number, Spoken>();
  #closed = false;

  constructor(context: StageContext, options: KnownLinesSessionOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** The provider's session; before anything is asked of this one. */
  attach(inner: TtsSession): void {
    this.#inner = inner;
  }

  get sampleRate(): number {
    return this.#provider.sampleRate;
  }

  get #provider(): TtsSession {
    assert(this.#inner !== undefined, 'a session is asked only once it is open');
    return this.#inner;
  }

  speak(context: number, text: string, { recorded = false }: { readonly recorded?: boolean } = {}): void {
    const spoken = this.#of(context);
    const { find, announcement } = this.#options;
    const isFirst = spoken.doneChars >= spoken.givenChars;
    const line = recorded ? announcement : isFirst ? find(text) : undefined;
    if (line !== undefined) {
      spoken.segments.push({ chars: text.length, knownMs: line.ms });
      const chars = spoken.segments.reduce((sum, segment) => sum + segment.chars, 0);
      this.#soon(context, { type: 'audio', context, pcm: line.pcm });
      this.#soon(context, { type: 'spoken', context, chars });
      return;
    }
    const last = spoken.segments.at(-1);
    if (last !== undefined && last.knownMs === undefined) last.chars += text.length;
    else spoken.segments.push({ chars: text.length, knownMs: undefined });
    spoken.givenChars += text.length;
    this.#provider.speak(context, text);
  }

  flush(context: number): void {
    if (this.#of(context).givenChars > 0) this.#provider.flush(context);
    else this.#soon(context, { type: 'flushed', context });
  }

  cancel(context: number): void {
    const isProviders = this.#of(context).givenChars > 0;
    this.#spoken.delete(context);
    if (isProviders) this.#provider.cancel(context);
    else this.#provider.silenced?.();
  }

  pause(): void {
    this.#provider.pause();
  }

  resume(): void {
    this.#provider.resume();
  }

  close(): void {
    this.#closed = true;
    this.#spoken.clear();
    this.#provider.close();
  }

  /** Takes what the provider says. */
  take(event: TtsEvent): void {
    const spoken = event.type === 'error' ? undefined : this.#spoken.get(event.context);
    if (event.type === 'error' || spoken === undefined) {
      if (event.type === 'error' || event.type === 'cancelled') this.#options.sink(event);
      return;
    }
    if (event.type === 'spoken') {
      spoken.doneChars = Math.max(spoken.doneChars, event.chars);
      this.#options.sink({ ...event, chars: moved(spoken, event.chars, { atEnd: true }).chars });
    } else if (event.type === 'word') {
      const { chars, knownMs } = moved(spoken, event.chars, { atEnd: false });
      this.#options.sink({ ...event, chars, startMs: event.startMs + knownMs });
    } else {
      if (event.type === 'flushed') this.#spoken.delete(event.context);
      this.#options.sink(event);
    }
  }

  #of(context: number): Spoken {
    const known = this.#spoken.get(context);
    if (known !== undefined) return known;
    const made: Spoken = { segments: [], givenChars: 0, doneChars: 0 };
    this.#spoken.set(context, made);
    return made;
  }

  /** Sessions never speak from inside a question. */
  #soon(context: number, event: TtsEvent): void {
    this.#context.clock.after(
      0,
      this.#context.bind(() => {
        if (this.#closed || !this.#spoken.has(context)) return;
        if (event.type === 'flushed') this.#spoken.delete(context);
        this.#options.sink(event);
      }),
    );
  }
}

/** From an offset in what the provider was given to one in the whole context, and the known audio before it. */
function moved(
  { segments }: Spoken,
  chars: number,
  { atEnd }: { atEnd: boolean },
): { chars: number; knownMs: number } {
  let left = chars;
  let total = 0;
  let knownMs = 0;
  for (const segment of segments) {
    if (segment.knownMs !== undefined) {
      // Audio that ends where the provider's text ends is not moved over a line that follows it.
      if (atEnd && left === 0 && total > 0) break;
      total += segment.chars;
      knownMs += segment.knownMs;
      continue;
    }
    const inside = Math.min(left, segment.chars);
    total += inside;
    left -= inside;
    if (left === 0 && (atEnd || inside < segment.chars)) break;
  }
  return { chars: total, knownMs };
}
