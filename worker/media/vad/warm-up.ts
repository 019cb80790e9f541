/** Hears nothing, before the first call: that makes the code of hearing fast. */
import { vadFrameMs, vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';
import { periodicity } from './frame-pitch.ts';
import { MeasuredSound, SoundMeter } from './frame-sound.ts';
import { SpeechDetector } from './speech-detector.ts';

const warmingFrames = 120;
/** No frame of what is heard here is ever enough to interrupt. */
const settings = { threshold: 0.5, minSpeechMs: 120, confirmMs: 300, sureMs: 150, stopMs: 200 };

/** For what is heard before a voice is known to interrupt: its pitch is measured frame by frame. It takes some milliseconds. */
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
