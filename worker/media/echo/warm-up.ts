/** Looks at nothing, before the first call: that makes the code of looks fast. */
import { ENGINE_RATE } from '../../../shared/base/units.ts';
import { EchoDetector } from './detector.ts';
import { SoundLevels } from './levels.ts';
import { PlayedAudio } from './played.ts';
import { lookRate, readFlat, readWide } from './samples.ts';

const warmingLooks = 12;

/**
 * Makes the code of looks fast before the first call needs it: while it is interpreted, a look takes many times as long. For the
 * start of a worker, which it takes some tens of milliseconds.
 */
export function warmUpLooks(): void {
  const noise = (seed: number): Int16Array =>
    Int16Array.from({ length: ENGINE_RATE }, (_, i) => 1_000 * Math.sin(i * i * seed));
  const sent = new PlayedAudio(ENGINE_RATE);
  sent.add(noise(1), 0);
  const other = { ring: noise(2), rate: ENGINE_RATE, count: ENGINE_RATE };
  let place = 0;
  const readOther = (into: Float32Array): number => {
    readFlat(other, lookRate, into);
    return place;
  };
  const readOtherWide = (into: Float32Array): void => readWide(other, lookRate, into);
  // Several functions, so that the compiler does not count on one of them, and begins anew with the first call's.
  const readers = [
    readOther,
    (into: Float32Array) => readOther(into),
    (into: Float32Array) => 0 + readOther(into),
  ];
  const levels = new SoundLevels(ENGINE_RATE);
  const detectors = [...readers, (into: Float32Array) => readOther(into) + 0, readOther].map(
    (read) => new EchoDetector({ played: sent, heard: { read, readWide: readOtherWide, levels } }),
  );
  // Nothing is an echo here, and every look finds the same delay: each of them is as long as looks can be.
  for (let look = 0; look < warmingLooks; look += 1) {
    // So late that what was unlike before is compared again.
    place += lookRate;
    levels.add(other.ring);
    for (const echo of detectors) echo.isEcho(1_000);
  }
}
