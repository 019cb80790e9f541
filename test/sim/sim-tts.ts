/** Simulated TTS: pieces become audio faster than real time, in order; what a word's place in the audio is, it remembers. */
import type { SimWorld } from './stages.ts';

export interface TtsEnds {
  audio(context: number, ms: number): void;
  spoken(context: number, chars: number): void;
  flushed(context: number): void;
  failed(): void;
}

interface Piece {
  readonly endChars: number;
  readonly ms: number;
  doneMs: number;
}

interface TtsContext {
  readonly id: number;
  readonly pieces: Piece[];
  text: string;
  madeMs: number;
  flushed: boolean;
  readonly silent: boolean;
  readonly stalls: boolean;
}

const chunkMs = 240;

export class SimTts {
  readonly #world: SimWorld;
  readonly #ends: TtsEnds;
  #session = 0;
  #contexts: TtsContext[] = [];
  #busy = false;
  /** For every context: where its words end in its audio. */
  readonly #timing = new Map<number, { chars: number; ms: number }[]>();

  constructor(world: SimWorld, ends: TtsEnds) {
    this.#world = world;
    this.#ends = ends;
  }

  speak(id: number, text: string): void {
    const context = this.#contextOf(id);
    const { prng, tts } = this.#world.plan;
    const ms = context.silent ? 0 : Math.round(text.length * tts.msPerChar * (0.9 + prng.next() * 0.2));
    context.text += text;
    context.pieces.push({ endChars: context.text.length, ms, doneMs: 0 });
    this.#pump(tts.firstMs);
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

  /** Milliseconds of a context's audio at which each of its words is over, or would have been. */
  wordEnds(context: number, said: string): number[] {
    const made = this.#timing.get(context) ?? [{ chars: 0, ms: 0 }];
    const last = made.at(-1)!;
    const missing = Math.max(0, said.length - last.chars);
    const points = [
      ...made,
      { chars: last.chars + missing, ms: last.ms + missing * this.#world.plan.tts.msPerChar },
    ];
    return [...said.matchAll(/\S+/g)].map((match) => timeOf(points, match.index + match[0].length));
  }

  #contextOf(id: number): TtsContext {
    const known = this.#contexts.find((context) => context.id === id);
    if (known !== undefined) return known;
    const { prng, faults } = this.#world.plan;
    const context: TtsContext = {
      id,
      pieces: [],
      text: '',
      madeMs: 0,
      flushed: false,
      silent: prng.chance(faults.ttsIsSilent),
      stalls: prng.chance(faults.ttsStalls),
    };
    this.#contexts.push(context);
    this.#timing.set(id, [{ chars: 0, ms: 0 }]);
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
    if (context === undefined || context.stalls) return;
    const piece = context.pieces[0];
    if (piece !== undefined) this.#speakOn(context, piece);
    else if (context.flushed) {
      this.#contexts.shift();
      this.#ends.flushed(context.id);
      this.#pump(0);
    }
  }

  #speakOn(context: TtsContext, piece: Piece): void {
    const { prng, tts, faults } = this.#world.plan;
    const ms = Math.min(chunkMs, piece.ms - piece.doneMs);
    if (ms > 0 && prng.chance(faults.ttsFails / 5)) {
      this.#fail(0);
      return;
    }
    if (ms > 0 && context.madeMs > 0 && prng.chance(faults.ttsBreaks / 5)) {
      this.#fail(3_000);
      return;
    }
    piece.doneMs += ms;
    context.madeMs += ms;
    this.#made(context, piece);
    this.#pump(ms / tts.speed);
    if (ms > 0) this.#ends.audio(context.id, ms);
    if (piece.doneMs < piece.ms) return;
    context.pieces.shift();
    if (tts.reportsPieces && !prng.chance(faults.lost)) {
      this.#ends.spoken(context.id, piece.endChars);
      if (prng.chance(faults.twice)) this.#ends.spoken(context.id, piece.endChars);
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

  #made(context: TtsContext, piece: Piece): void {
    const points = this.#timing.get(context.id)!;
    const startMs = context.madeMs - piece.doneMs;
    while (points.at(-1)!.ms > startMs) points.pop();
    const from = points.at(-1)!.chars;
    const share = piece.ms === 0 ? 1 : piece.doneMs / piece.ms;
    points.push({ chars: from + share * (piece.endChars - from), ms: context.madeMs });
  }
}

function timeOf(points: readonly { chars: number; ms: number }[], chars: number): number {
  for (let index = 1; index < points.length; index += 1) {
    const before = points[index - 1]!;
    const after = points[index]!;
    if (chars > after.chars + 1e-9) continue;
    const share = (chars - before.chars) / Math.max(1e-9, after.chars - before.chars);
    return before.ms + share * (after.ms - before.ms);
  }
  return Infinity;
}
