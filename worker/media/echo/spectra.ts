/**
 * How alike the spectra of what was heard and of what was sent are. A room that echoes more than the loudspeaker is heard leaves nothing of a
 * waveform that a short path would explain, but it leaves the harmonics of a voice where they are and only smears them over time. So both are
 * cut into frames, their spectra taken in decibels and freed from what is smooth in them (loudness, the colour of room and line), and what
 * was sent is smeared as a room would. The correlation of what is left is high for an echo, however long the room; a caller has another pitch.
 *
 * Work areas belong to the thread; nothing is kept in them between two calls but what the functions say.
 */
import { floatBytes, kernel, kernelFloats } from './kernel.ts';
import { lookRate, wideRate } from './samples.ts';
import { forward, placeOf } from './transform.ts';

/** 64 ms tell the harmonics of all voices apart. */
const frameSamples = 512;
const stepSamples = 128;
/** Frames that are compared, 0.37 s, and delays, one step each, that are tried: up to a second. */
const frames = 20;
const newestFrames = 4;
const mostDelays = 63;
const playedFrames = frames + mostDelays;
const lookStep = (stepSamples * lookRate) / wideRate;
/** 125 Hz to 3.5 kHz. */
const firstBin = 8;
const bins = 216;
/** What is smooth in a spectrum is its mean over 550 Hz. */
const aroundBins = 17;
/** What is so much weaker than the loud part is noise, and so is what has a smaller mean square than the other. */
const floorShare = 0.001;
const leastFloor = 30;
/** The room that what was sent is smeared as: falling silent in 0.4 s, and louder than the direct sound. */
const decay = 10 ** ((-6 * stepSamples * 1000) / wideRate / 400);
const reverberation = 2 * (1 - decay);

const samplesOf = (count: number): number => frameSamples + (count - 1) * stepSamples;

const heardSamples = kernelFloats(samplesOf(frames));
const playedSamples = kernelFloats(samplesOf(playedFrames));
const heardSpectra = kernelFloats(frames * bins);
const playedSpectra = kernelFloats(playedFrames * bins);
const two = kernelFloats(4);

/** Two frames at a time go through the transform, as the real and the imaginary part of one signal. */
const pairs = Math.ceil(playedFrames / 2);
const real = kernelFloats(pairs * frameSamples);
const imaginary = kernelFloats(pairs * frameSamples);
const windowed = Float32Array.from(
  { length: frameSamples },
  (_, i) => Math.sin((Math.PI * i) / frameSamples) ** 2,
);
/** Of the squares of the window. */
const windowEnergy = (3 * frameSamples) / 8;
/** Where the transform leaves a bin, and its mirror image. */
const places = Uint16Array.from({ length: bins }, (_, i) => placeOf(firstBin + i, frameSamples));
const mirrored = Uint16Array.from({ length: bins }, (_, i) =>
  placeOf(frameSamples - firstBin - i, frameSamples),
);
const smeared = new Float32Array(bins);
const sums = new Float64Array(bins + 1);
/** A number, and the same as its bits: they are its logarithm, nearly. */
const levels = new Float32Array(bins);
const bits = new Int32Array(levels.buffer);
const bitsOfOctave = 2 ** -23;

export interface WideEar {
  /** Fills an array with the last of the caller's audio, at `wideRate`. */
  readonly readWide: (into: Float32Array) => void;
}

export interface WideSource {
  /** Fills an array with what was sent up to a place. */
  readonly readWide: (end: number, into: Float32Array) => void;
}

export interface Likeness {
  /** Correlation, at most 1; and that of the newest 0.11 s alone. */
  readonly likeness: number;
  readonly newest: number;
  /** How much later than another place what was sent is alike, in samples of `lookRate`. */
  readonly later: number;
}

/** The delay at which what was heard last is most like what was sent up to a place, or so many samples of `lookRate` before. */
export function mostAlike(
  ear: WideEar,
  source: WideSource,
  { playedEnd, within }: { playedEnd: number; within: number },
): Likeness {
  const delays = Math.min(mostDelays, Math.floor(within / lookStep));
  const count = frames + delays;
  const samples = playedSamples.subarray(0, samplesOf(count));
  hear(ear);
  source.readWide(playedEnd, samples);
  takeSpectra(samples, playedSpectra, { count, room: true, least: 0 });
  let likeness = 0;
  let later = 0;
  for (let delay = 0; delay <= delays; delay += 1) {
    const found = correlation(delays - delay, frames);
    if (found <= likeness) continue;
    likeness = found;
    later = delay;
  }
  return {
    likeness,
    newest: correlation(delays - later, newestFrames),
    later: later * lookStep,
  };
}

function hear(ear: WideEar): void {
  ear.readWide(heardSamples);
  takeSpectra(heardSamples, heardSpectra, { count: frames, room: false, least: leastFloor });
}

/** Of the newest frames with what was sent, in stretches of which the other begins with a frame. */
function correlation(from: number, newest: number): number {
  const older = (frames - newest) * bins * floatBytes;
  const length = newest * bins * floatBytes;
  const played = playedSpectra.byteOffset + from * bins * floatBytes + older;
  const heard = heardSpectra.byteOffset + older;
  kernel.products(heard, heard, heard, length, two.byteOffset);
  const energy = two[0] ?? 0;
  kernel.products(played, heard, played, length, two.byteOffset);
  return (two[1] ?? 0) / Math.sqrt(energy * (two[0] ?? 0) + 1e-6);
}

interface Taken {
  readonly count: number;
  readonly room: boolean;
  readonly least: number;
}

/** The fine structure of the spectra of so many frames, one after another. */
function takeSpectra(pcm: Float32Array, into: Float32Array, { count, room, least }: Taken): void {
  transform(pcm, count);
  let sum = 0;
  let squares = 0;
  for (let frame = 0; frame < count; frame += 1) {
    const power = takePower(frame, into);
    sum += power;
    squares += power * power;
  }
  // The mean power where there is any.
  const floor = Math.max(least, (floorShare * squares) / (sum * bins + 1e-9)) + 1e-3;
  if (room) smear(into, count);
  for (let frame = 0; frame < count; frame += 1) flatten(into, frame * bins, floor);
}

function transform(pcm: Float32Array, count: number): void {
  const length = Math.ceil(count / 2) * frameSamples;
  const re = real.subarray(0, length);
  const im = imaginary.subarray(0, length);
  if (count % 2 === 1) im.fill(0, length - frameSamples);
  for (let frame = 0; frame < count; frame += 1) {
    const target = frame % 2 === 0 ? re : im;
    const to = (frame >> 1) * frameSamples;
    const from = frame * stepSamples;
    for (let i = 0; i < frameSamples; i += 1) target[to + i] = (pcm[from + i] ?? 0) * (windowed[i] ?? 0);
  }
  forward(re, im, frameSamples);
}

/** The power of every bin of a frame; gives their sum. */
function takePower(frame: number, into: Float32Array): number {
  const at = (frame >> 1) * frameSamples;
  const sign = frame % 2 === 0 ? 1 : -1;
  const scale = 1 / (4 * windowEnergy);
  let sum = 0;
  for (let bin = 0; bin < bins; bin += 1) {
    const a = at + (places[bin] ?? 0);
    const b = at + (mirrored[bin] ?? 0);
    const x = (real[a] ?? 0) + sign * (real[b] ?? 0);
    const y = (imaginary[a] ?? 0) - sign * (imaginary[b] ?? 0);
    const power = (x * x + y * y) * scale;
    into[frame * bins + bin] = power;
    sum += power;
  }
  return sum;
}

function smear(spectra: Float32Array, count: number): void {
  smeared.fill(0);
  for (let at = 0; at < count * bins; at += bins) {
    for (let bin = 0; bin < bins; bin += 1) {
      const power = spectra[at + bin] ?? 0;
      const tail = (smeared[bin] ?? 0) * decay + power;
      smeared[bin] = tail;
      spectra[at + bin] = power + reverberation * tail;
    }
  }
}

/** Powers become decibels, or nearly, over the mean of those around them. */
function flatten(spectra: Float32Array, at: number, floor: number): void {
  for (let bin = 0; bin < bins; bin += 1) levels[bin] = (spectra[at + bin] ?? 0) + floor;
  let sum = 0;
  for (let bin = 0; bin < bins; bin += 1) {
    sum += (bits[bin] ?? 0) * bitsOfOctave;
    sums[bin + 1] = sum;
  }
  for (let bin = 0; bin < bins; bin += 1) {
    const from = Math.max(0, bin - aroundBins);
    const to = Math.min(bins, bin + aroundBins + 1);
    const mean = ((sums[to] ?? 0) - (sums[from] ?? 0)) / (to - from);
    spectra[at + bin] = (bits[bin] ?? 0) * bitsOfOctave - mean;
  }
}
