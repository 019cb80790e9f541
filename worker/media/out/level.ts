/**
 * Brings voices to one loudness. A voice is measured as TTS delivers it, ahead of being heard, so that as a rule its level is known before its first
 * sound is. The gain moves slowly, within bounds, and not at all for a voice that is about as loud as it should be: its samples stay as they are.
 * No sample is louder than a bound below full scale, so that what a telephone makes of the samples has room.
 */
import { FRAME_MS } from '../../../shared/base/units.ts';
import { Loudness, loudnessOf } from './loudness.ts';

const mostDb = 9;
/** A voice that is so near to the level stays as it is; of one that is not the gain follows what it wants, but for so little. */
const levelWithinDb = 2;
const leastDb = 1;
/** While a voice is heard the gain changes by no more, in dB a second; and of a voice that has only begun. */
const slewDb = 4;
const firstSlewDb = 24;
/** So much of a voice tells its level, in tenths of a second. */
const knownBlocks = 4;
/** A voice that begins by so much louder or softer than what was heard before is another one. */
const otherDb = 4;
/** Between samples a wave goes higher than they do, by less than 2 dB: the bound of it is -1 dB (true peak). */
const peak = 10 ** (-3 / 20) * 32_767;
const releaseS = 0.06;

const factorOf = (db: number): number => 10 ** (db / 20);

function isOver(samples: Int16Array): boolean {
  for (let at = 0; at < samples.length; at += 1) {
    const sample = samples[at] ?? 0;
    if (sample > peak || sample < -peak) return true;
  }
  return false;
}

/** A factor that brings a whole recording to a level, within the same bounds. */
export function levelFactor(pcm: Int16Array, rate: number, lufs: number): number {
  const is = loudnessOf(pcm, rate);
  return is === undefined ? 1 : factorOf(Math.max(-mostDb, Math.min(mostDb, lufs - is)));
}

export class Level {
  readonly #lufs: number;
  #known: Loudness;
  /** What the open context has had so far. */
  #fresh: Loudness;
  #fromRate: number;
  readonly #release: number;
  #db = 0;
  #factor = 1;
  /** On peaks, at most 1. */
  #limit = 1;
  #isBegun = false;
  /** The gain has not yet been where the voice wants it. */
  #isNew = true;

  /** @param lufs that voices are brought to; `fromRate` of what is delivered and `toRate` of what is heard, in Hz. */
  constructor(lufs: number, { fromRate, toRate }: { readonly fromRate: number; readonly toRate: number }) {
    this.#lufs = lufs;
    this.#fromRate = fromRate;
    this.#known = new Loudness(fromRate);
    this.#fresh = new Loudness(fromRate);
    this.#release = 1 - Math.exp(-1 / (releaseS * toRate));
  }

  /** Another voice speaks from now on, and is delivered at this rate. */
  retune(fromRate: number): void {
    if (fromRate !== this.#fromRate) {
      this.#fromRate = fromRate;
      this.#known = new Loudness(fromRate);
      this.#fresh = new Loudness(fromRate);
    }
    this.#known.reset();
    this.#fresh.reset();
    this.#isNew = true;
  }

  /** What comes next is heard behind silence. */
  begin(): void {
    this.#fresh.reset();
    this.#isBegun = false;
  }

  /** Delivered, and heard some time later. */
  delivered(pcm: Int16Array): void {
    this.#known.add(pcm);
    if (!this.#isBegun) this.#fresh.add(pcm);
  }

  /** The next frame that is heard, changed in place. */
  apply(samples: Int16Array): void {
    const before = this.#isBegun ? this.#factor : this.#start();
    this.#follow();
    if (before === 1 && this.#factor === 1 && this.#limit === 1 && !isOver(samples)) return;
    const step = (this.#factor - before) / samples.length;
    const release = this.#release;
    let factor = before;
    let limit = this.#limit;
    for (let at = 0; at < samples.length; at += 1) {
      factor += step;
      const sample = (samples[at] ?? 0) * factor;
      const size = Math.abs(sample);
      limit += (1 - limit) * release;
      if (size * limit > peak) limit = peak / size;
      samples[at] = Math.round(sample * limit);
    }
    // A change that nobody can hear is taken for none, so that samples stay as they are.
    this.#limit = limit > 0.9999 ? 1 : limit;
  }

  /** Nothing is heard yet that a jump could be heard in. */
  #start(): number {
    this.#isBegun = true;
    if (this.#isOther) {
      this.#known.reset();
      [this.#known, this.#fresh] = [this.#fresh, this.#known];
      this.#isNew = true;
    }
    if (this.#known.blocks >= knownBlocks) this.#set(this.#wantedDb);
    return this.#factor;
  }

  #follow(): void {
    if (this.#known.blocks < knownBlocks) return;
    const wanted = this.#wantedDb;
    const most = ((this.#isNew ? firstSlewDb : slewDb) * FRAME_MS) / 1000;
    this.#set(this.#db + Math.max(-most, Math.min(most, wanted - this.#db)));
    if (this.#db === wanted) this.#isNew = false;
  }

  get #isOther(): boolean {
    const { blocks, lufs } = this.#fresh;
    return blocks >= knownBlocks && Math.abs(lufs - this.#known.lufs) >= otherDb;
  }

  get #wantedDb(): number {
    const off = this.#lufs - this.#known.lufs;
    if (Math.abs(off - this.#db) < (this.#db === 0 ? levelWithinDb : leastDb)) return this.#db;
    return Math.max(-mostDb, Math.min(mostDb, off));
  }

  #set(db: number): void {
    // A gain that is on its way back to nothing arrives there.
    this.#db = Math.abs(db) < 0.05 ? 0 : db;
    this.#factor = this.#db === 0 ? 1 : factorOf(this.#db);
  }
}
