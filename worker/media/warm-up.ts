/** Hears and looks at nothing, before the first call: that makes the code of both fast. */
import { ENGINE_RATE } from '../../shared/base/units.ts';
import { vadFrameMs, vadFrameSamples } from '../../shared/protocol/mailbox-slot.ts';
import { EchoDetector } from './echo/detector.ts';
import { SoundLevels } from './echo/levels.ts';
import { PlayedAudio } from './echo/played.ts';
import { lookRate, readFlat, readWide } from './echo/samples.ts';
import { periodicity } from './vad/frame-pitch.ts';
import { MeasuredSound, SoundMeter } from './vad/frame-sound.ts';
import { SpeechDetector } from './vad/speech-detector.ts';

const warmingLooks = 12;
const warmingFrames = 120;
/** No frame of what is heard here is ever enough to interrupt. */
const settings = { threshold: 0.5, minSpeechMs: 120, confirmMs: 300, sureMs: 150, stopMs: 200 };

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

/** The same for what is heard before a voice is known to interrupt: its pitch is measured frame by frame. It takes some milliseconds. */
export function warmUpHearing(): void {
  const meter = new SoundMeter();
  const frame = new Int16Array(vadFrameSamples);
  const before = new Int16Array(vadFrameSamples);
  const sound = new MeasuredSound(() => periodicity(frame, before));
  const detector = new SpeechDetector(settings, () => undefined, { isOverBot: () => true });
  for (let at = 0; at < warmingFrames; at += 1) {
    // A voice of a quarter of a second, of which VAD is never sure, and as much silence.
    const isLoud = at % 16 < 8;
    before.set(frame);
    for (let i = 0; i < frame.length; i += 1)
      frame[i] = isLoud ? ((at * frame.length + i) % 101) * 60 - 3_000 : 0;
    meter.measure(frame, sound);
    if (detector.wantsPeek(vadFrameMs / 2)) detector.peek(0.5, vadFrameMs / 2, sound);
    detector.take(isLoud ? 0.55 : 0.01, vadFrameMs, sound);
  }
}
