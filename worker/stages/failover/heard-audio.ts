/**
 * Caller audio that no final text covers yet, utterance by utterance, for the session that takes over from a dying one.
 *
 * Invariant: audio leaves at the front alone: when a final covers it, when its utterance is finalized, or when there is
 * more than the bound, the oldest first. It is kept only as long as that. Pure; positions are samples of the utterance.
 */
import { ENGINE_RATE } from '../../../shared/base/units.ts';

/** Longest audio that is kept, over all utterances. Memory of a call is bounded by it, and used only while somebody speaks. */
export const keptAudioMs = 30_000;
const keptSamples = (keptAudioMs * ENGINE_RATE) / 1000;

/** Where a pause is looked for when a final does not say how far it goes. */
const searchSamples = 1.5 * ENGINE_RATE;
const frameSamples = 0.02 * ENGINE_RATE;
/** Frames of the pause. */
const pauseFrames = 5;

interface Utterance {
  /** The first chunk begins at sample `from` of the utterance. */
  chunks: Int16Array[];
  from: number;
  /** Where the audio ends. */
  to: number;
  /** The caller's side said that there is no more. */
  isEnded: boolean;
  /** How much the present session has been given, and where it began. */
  fed: number;
  base: number;
  endIsFed: boolean;
}

/** What the present session is to be given next. */
export type Feed = { readonly type: 'audio'; readonly pcm: Int16Array } | { readonly type: 'end' };

export class HeardAudio {
  #utterances: Utterance[] = [];
  #kept = 0;

  /** Nothing waits for a final, nor for its `finalized`. */
  get isEmpty(): boolean {
    return this.#utterances.length === 0;
  }

  /** Keeps a copy. False when older audio had to go for it. */
  push(pcm: Int16Array): boolean {
    const utterance = this.#current();
    utterance.chunks.push(pcm.slice());
    utterance.to += pcm.length;
    this.#kept += pcm.length;
    const fits = this.#kept <= keptSamples;
    while (this.#kept > keptSamples) this.#dropOldest();
    return fits;
  }

  end(): void {
    this.#current().isEnded = true;
  }

  /** A new session begins: it has been given nothing. */
  rewind(): void {
    for (const utterance of this.#utterances) {
      utterance.base = utterance.fed = utterance.from;
      utterance.endIsFed = false;
    }
  }

  /** Takes the next thing that the session has not been given; undefined when it has everything. */
  next(): Feed | undefined {
    for (const utterance of this.#utterances) {
      if (utterance.endIsFed) continue;
      const pcm = chunkAt(utterance, utterance.fed);
      if (pcm !== undefined) {
        utterance.fed += pcm.length;
        return { type: 'audio', pcm };
      }
      if (!utterance.isEnded) return undefined;
      utterance.endIsFed = true;
      return { type: 'end' };
    }
    return undefined;
  }

  /** The session has been given everything by another way. */
  markFed(): void {
    for (const utterance of this.#utterances) {
      utterance.fed = utterance.to;
      utterance.endIsFed = utterance.isEnded;
    }
  }

  /** A final came for the oldest utterance. `heardMs` counts from where the session began it. */
  covered({ isWhole, heardMs }: { readonly isWhole: boolean; readonly heardMs?: number | undefined }): void {
    const [head] = this.#utterances;
    if (head === undefined) return;
    if (isWhole) this.#cut(head, head.fed);
    else if (heardMs === undefined) this.#cut(head, quietPoint(head));
    else this.#cut(head, Math.min(head.fed, head.base + Math.round((heardMs * ENGINE_RATE) / 1000)));
  }

  /** The oldest utterance is finalized. */
  settle(): void {
    const head = this.#utterances.shift();
    if (head !== undefined) this.#kept -= head.to - head.from;
  }

  #current(): Utterance {
    const last = this.#utterances.at(-1);
    if (last !== undefined && !last.isEnded) return last;
    const fresh = { chunks: [], from: 0, to: 0, isEnded: false, fed: 0, base: 0, endIsFed: false };
    this.#utterances.push(fresh);
    return fresh;
  }

  #dropOldest(): void {
    const oldest = this.#utterances.find(({ chunks }) => chunks.length > 0);
    const chunk = oldest?.chunks[0];
    if (oldest !== undefined && chunk !== undefined) this.#cut(oldest, oldest.from + chunk.length);
    else this.#kept = 0;
  }

  #cut(utterance: Utterance, at: number): void {
    while (utterance.from < at) {
      const [chunk] = utterance.chunks;
      if (chunk === undefined) break;
      const gone = Math.min(chunk.length, at - utterance.from);
      if (gone === chunk.length) utterance.chunks.shift();
      else utterance.chunks[0] = chunk.subarray(gone);
      utterance.from += gone;
      this.#kept -= gone;
    }
    utterance.fed = Math.max(utterance.fed, utterance.from);
  }
}

function chunkAt({ chunks, from }: Utterance, at: number): Int16Array | undefined {
  let start = from;
  for (const chunk of chunks) {
    if (at < start + chunk.length) return chunk.subarray(at - start);
    start += chunk.length;
  }
  return undefined;
}

/**
 * The middle of the quietest moment shortly before the end of what was fed: recognisers that end a segment by themselves
 * do it in a pause.
 */
function quietPoint(utterance: Utterance): number {
  const first = Math.max(utterance.from, utterance.fed - searchSamples);
  const frames = Math.floor((utterance.fed - first) / frameSamples);
  if (frames < pauseFrames) return first;
  const loudness = loudnessOf(utterance, { first, frames });
  let quietest = Number.POSITIVE_INFINITY;
  let at = first;
  for (let frame = 0; frame + pauseFrames <= frames; frame += 1) {
    const sum = loudness.slice(frame, frame + pauseFrames).reduce((total, one) => total + one, 0);
    // The latest of equals: what came after the pause is the shortest that may be repeated.
    if (sum > quietest) continue;
    quietest = sum;
    at = first + Math.round((frame + pauseFrames / 2) * frameSamples);
  }
  return at;
}

function loudnessOf(
  utterance: Utterance,
  { first, frames }: { readonly first: number; readonly frames: number },
): number[] {
  const loudness = Array.from({ length: frames }, () => 0);
  let start = utterance.from;
  for (const chunk of utterance.chunks) {
    for (let i = Math.max(0, first - start); i < chunk.length; i += 1) {
      const frame = Math.floor((start + i - first) / frameSamples);
      if (frame >= frames) break;
      loudness[frame] = (loudness[frame] ?? 0) + Math.abs(chunk[i] ?? 0);
    }
    start += chunk.length;
  }
  return loudness;
}
