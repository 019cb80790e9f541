/**
 * The caller's audio of a running turn, on its way into a session of a speaking model. It is kept until the turn was answered, so that another
 * session can hear it too. It goes out as it comes, but not while the agent can be heard: a vendor may take the first of it for an interruption,
 * and whether it is one is not known yet.
 */
import type { RealtimeSession } from './contract.ts';

/** Samples a millisecond at 16 kHz. */
const samplesPerMs = 16;
/** Longer turns lose their beginning in a session that is opened within them. */
const mostSamples = 60_000 * samplesPerMs;

/** A moment of the turn, and the same as a telephone line had it. */
interface Chunk {
  readonly pcm: Int16Array;
  readonly ofLine: Int16Array | undefined;
}

export class TurnAudio {
  #chunks: Chunk[] = [];
  #samples = 0;
  /** Chunks that the session has; and whether it was told of the turn. */
  #given = 0;
  #isOpen = false;
  /** Where the newest stretch of voice begins, of which nobody knows yet whether it has words. */
  #partFrom = 0;
  #isCommitted = false;

  /** Takes a chunk, whose samples belong to somebody else. After a turn that was committed a new one begins. */
  add(pcm: Int16Array, ofLine?: Int16Array): void {
    if (this.#isCommitted) this.#restart();
    this.#chunks.push({ pcm: pcm.slice(), ofLine: ofLine?.slice() });
    this.#samples += pcm.length;
    while (this.#samples > mostSamples && this.#chunks.length > 1) {
      this.#samples -= this.#chunks.shift()?.pcm.length ?? 0;
      this.#given = Math.max(0, this.#given - 1);
      this.#partFrom = Math.max(0, this.#partFrom - 1);
    }
  }

  /** Sound is there that no answer was asked for. */
  get isPending(): boolean {
    return !this.#isCommitted && this.#chunks.length > 0;
  }

  /** The newest stretch. */
  get part(): readonly Int16Array[] {
    return this.#chunks.slice(this.#partFrom).map(({ pcm }) => pcm);
  }

  /** Milliseconds of the newest stretch. */
  get partMs(): number {
    let samples = 0;
    for (const chunk of this.part) samples += chunk.length;
    return samples / samplesPerMs;
  }

  /** Seconds of the turn. */
  get seconds(): number {
    return this.#samples / samplesPerMs / 1000;
  }

  /** All of the turn, for somebody else who is to hear it. */
  get chunks(): readonly Int16Array[] {
    return this.#chunks.map(({ pcm }) => pcm);
  }

  /** Gives the session what it does not have yet. */
  flow(session: RealtimeSession): void {
    if (this.#given >= this.#chunks.length) return;
    if (!this.#isOpen) session.beginTurn();
    this.#isOpen = true;
    for (; this.#given < this.#chunks.length; this.#given += 1) {
      const chunk = this.#chunks[this.#given];
      if (chunk !== undefined) session.audio(chunk.pcm, chunk.ofLine);
    }
  }

  /** The newest stretch has words, or the caller goes on: it stays. */
  keepPart(): void {
    this.#partFrom = this.#chunks.length;
  }

  /** The newest stretch was a noise. */
  dropPart(session: RealtimeSession | undefined): void {
    if (this.#isCommitted) return;
    const wasGiven = this.#given > this.#partFrom;
    for (const { pcm } of this.#chunks.splice(this.#partFrom)) this.#samples -= pcm.length;
    if (!wasGiven) return;
    if (this.#isOpen) session?.abandonTurn();
    this.#isOpen = false;
    this.#given = 0;
  }

  /** What was said belongs to no turn. */
  forget(session: RealtimeSession | undefined): void {
    if (this.#isOpen) session?.abandonTurn();
    this.#restart();
  }

  /** The turn is complete. */
  commit(session: RealtimeSession, turn: number): void {
    this.flow(session);
    if (this.#isOpen) session.endTurn(turn);
    this.#isOpen = false;
    this.#isCommitted = true;
  }

  /** It was answered: nobody has to hear it again. */
  answered(): void {
    if (this.#isCommitted) this.#restart();
  }

  /** Another session takes the place of the one that has it, and is to hear all of it. */
  moved(): void {
    this.#given = 0;
    this.#isOpen = false;
    this.#isCommitted = false;
  }

  #restart(): void {
    this.#chunks = [];
    this.#samples = 0;
    this.#given = 0;
    this.#isOpen = false;
    this.#partFrom = 0;
    this.#isCommitted = false;
  }
}
