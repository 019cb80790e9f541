/**
 * Whether a frame of the caller's audio repeats itself at the pitch of a voice. Vowels do, from the first of their frames on;
 * knocks, clatter, coughs and hisses do not, however much their spectrum may look like a voice. Whispering does not either, so nothing
 * may be decided by this alone. It costs some 6,000 multiplications, so it is asked only about frames that may decide something.
 * One work area serves all calls of the thread; nothing is kept in it between two frames, and nothing is allocated.
 */

/** Of the engine's 16 kHz every four samples are added up: a pitch needs no more. */
const step = 4;
const rate = 16_000 / step;
const shortestLag = rate / 400;
const longestLag = Math.floor(rate / 70);
const frameSamples = 512 / step;
const end = longestLag + frameSamples;

/** The end of the frame before, as long as the longest lag, and the frame. */
const samples = new Float64Array(end);

/**
 * How like itself a frame is one period before, at the best period of a voice: 1 for a pure tone, 0 for nothing at all. Frames are 512
 * samples of PCM16 at 16 kHz; `before` comes right before `frame`, and there was silence where it is not known.
 */
export function periodicity(frame: Int16Array, before: Int16Array | undefined): number {
  if (before === undefined) samples.fill(0, 0, longestLag);
  else addUp(before.subarray(before.length - longestLag * step), 0);
  addUp(frame, longestLag);
  let own = 1;
  for (let i = longestLag; i < end; i += 1) own += (samples[i] ?? 0) ** 2;
  let energy = 1;
  for (let i = longestLag - shortestLag + 1; i < end - shortestLag + 1; i += 1)
    energy += (samples[i] ?? 0) ** 2;
  let best = 0;
  for (let lag = shortestLag; lag <= longestLag; lag += 1) {
    energy += (samples[longestLag - lag] ?? 0) ** 2 - (samples[end - lag] ?? 0) ** 2;
    let product = 0;
    for (let i = longestLag; i < end; i += 1) product += (samples[i] ?? 0) * (samples[i - lag] ?? 0);
    if (product > 0) best = Math.max(best, (product * product) / (own * Math.max(energy, 1)));
  }
  return Math.sqrt(best);
}

function addUp(pcm: Int16Array, to: number): void {
  for (let at = 0, i = to; at < pcm.length; at += step, i += 1)
    samples[i] = (pcm[at] ?? 0) + (pcm[at + 1] ?? 0) + (pcm[at + 2] ?? 0) + (pcm[at + 3] ?? 0);
}
