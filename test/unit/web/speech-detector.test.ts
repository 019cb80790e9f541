import { describe, expect, it } from 'vitest';
import { SpeechDetector, type SpeechEvent } from '../../../web/client/audio/speech-detector.ts';

/** Feeds levels of `[rms, lengthMs]` in 20 ms frames. */
function listen(...parts: readonly (readonly [number, number])[]): SpeechEvent[] {
  const detector = new SpeechDetector();
  const events: SpeechEvent[] = [];
  let atMs = 0;
  for (const [rms, lengthMs] of parts) {
    for (let frame = 0; frame < lengthMs / 20; frame += 1) {
      atMs += 20;
      const event = detector.push(rms, atMs, 20);
      if (event !== undefined) events.push(event);
    }
  }
  return events;
}

describe('the speech detector', () => {
  it('dates start and end at the loud frames, without the silence that made it sure', () => {
    expect(listen([0.001, 1_000], [0.1, 600], [0.001, 1_000])).toEqual([
      { type: 'speech-started', atMs: 1_000 },
      { type: 'speech-ended', atMs: 1_600 },
    ]);
  });

  it('takes a click for nothing', () => {
    expect(listen([0.001, 500], [0.4, 60], [0.001, 1_000])).toEqual([]);
  });

  it('hears one speech across the gaps between words', () => {
    const words = listen(
      [0.001, 200],
      [0.1, 300],
      [0.001, 300],
      [0.1, 300],
      [0.001, 300],
      [0.1, 300],
      [0.001, 900],
    );
    expect(words.map(({ type }) => type)).toEqual(['speech-started', 'speech-ended']);
    expect(words[1]?.atMs).toBe(1_700);
  });

  it('gets used to a steady background and hears speech over it', () => {
    const events = listen([0.012, 15_000], [0.15, 600], [0.012, 1_000]);
    expect(events.at(-2)).toEqual({ type: 'speech-started', atMs: 15_000 });
    expect(events.at(-1)).toEqual({ type: 'speech-ended', atMs: 15_600 });
  });

  it('does not get used to long speech with its dips between syllables', () => {
    const speech = Array.from(
      { length: 60 },
      () =>
        [
          [0.1, 160],
          [0.002, 40],
        ] as const,
    ).flat();
    const events = listen([0.001, 500], ...speech, [0.001, 600]);
    expect(events).toEqual([
      { type: 'speech-started', atMs: 500 },
      { type: 'speech-ended', atMs: 12_460 },
    ]);
  });
});
