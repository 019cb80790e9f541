/**
 * Whether a frame of the caller's audio repeats itself at the pitch of a voice. Vowels do, from the first of their frames on;
 * knocks, clatter, coughs and hisses do not, however much their spectrum may look like a voice. Whispering does not either, so nothing
 * may be decided by this alone. It costs some 6,000 multiplications for a frame that is measured, and allocates nothing.
 */

/** Of the engine's 16 kHz every four samples are added up: a pitch needs no more. */
const step = 4;
const rate = 16_000 / step;
const shortestLag = rate / 400;
const longestLag = Math.floor(rate / 70);
const frameSamples = 512 / step;

export class PitchMeter {
  /** The end of the frame before, as long as the longest lag, and the newest frame. */
  readonly #samples = new Float64Array(longestLag + frameSamples);

  /** Takes the next frame of 512 samples of PCM16; frames follow one another without a gap. */
  take(frame: Int16Array): void {
    const samples = this.#samples;
    samples.copyWithin(0, frameSamples);
    for (let i = 0; i < frameSamples; i += 1) {
      const at = step * i;
      samples[longestLag + i] =
        (frame[at] ?? 0) + (frame[at + 1] ?? 0) + (frame[at + 2] ?? 0) + (frame[at + 3] ?? 0);
    }
  }

  /** How like itself the newest frame is one period before, at the best period of a voice: 1 for a pure tone, 0 for nothing at all. */
  measure(): number {
    const samples = this.#samples;
    const end = longestLag + frameSamples;
    let own = 1;
    for (let i = longestLag; i < end; i += 1) own += (samples[i] ?? 0) ** 2;
    let before = 1;
    for (let i = longestLag - shortestLag + 1; i < end - shortestLag + 1; i += 1)
      before += (samples[i] ?? 0) ** 2;
    let best = 0;
    for (let lag = shortestLag; lag <= longestLag; lag += 1) {
      before += (samples[longestLag - lag] ?? 0) ** 2 - (samples[end - lag] ?? 0) ** 2;
      let product = 0;
      for (let i = longestLag; i < end; i += 1) product += (samples[i] ?? 0) * (samples[i - lag] ?? 0);
      if (product > 0) best = Math.max(best, (product * product) / (own * Math.max(before, 1)));
    }
    return Math.sqrt(best);
  }
}
