/** What was sent, on its line of time: stretches, the silence between them, and what is left after two seconds. */
import { describe, expect, it } from 'vitest';
import { PlayedAudio } from '../../../../worker/media/echo/played.ts';
import { lookRate } from '../../../../worker/media/echo/samples.ts';

const frameMs = 20;

/** Twenty milliseconds at one level. */
const flat = (sampleRate: number, level: number): Int16Array =>
  new Int16Array((sampleRate * frameMs) / 1000).fill(level);

/** What is read as levels, a number for every 20 ms: flattening leaves 0.3 of a constant. */
function levelsUpTo(played: PlayedAudio, now: number, ms: number): number[] {
  const into = new Float32Array((ms * lookRate) / 1000);
  played.read(played.placeOf(now), into);
  const step = (frameMs * lookRate) / 1000;
  return Array.from({ length: ms / frameMs }, (_, i) => Math.round((into[i * step + step / 2] ?? 0) / 0.3));
}

describe('what was sent', () => {
  it.each([8_000, 16_000, 22_050, 24_000, 44_100, 48_000])('is kept at %i Hz', (sampleRate) => {
    const played = new PlayedAudio(sampleRate);
    for (let i = 0; i < 50; i += 1) played.add(flat(sampleRate, i < 25 ? 1_000 : 2_000), i * frameMs);
    const levels = levelsUpTo(played, 1_000, 1_000);
    expect(levels.slice(2, 23).every((level) => Math.abs(level - 1_000) < 10)).toBe(true);
    expect(levels.slice(27, 48).every((level) => Math.abs(level - 2_000) < 10)).toBe(true);
  });

  it('has no gap where a frame of a stretch was late', () => {
    const played = new PlayedAudio(16_000);
    for (const now of [0, 25, 40, 130, 130, 130, 130, 140]) played.add(flat(16_000, 1_000), now);
    expect(levelsUpTo(played, 160, 160)).toEqual(Array.from({ length: 8 }, () => 1_000));
  });

  it('has silence between two stretches, and after the last', () => {
    const played = new PlayedAudio(16_000);
    played.add(flat(16_000, 1_000), 0);
    played.add(flat(16_000, 2_000), 220);
    expect(levelsUpTo(played, 300, 300)).toEqual([
      1_000,
      ...Array.from({ length: 10 }, () => 0),
      2_000,
      0,
      0,
      0,
    ]);
  });

  it('is forgotten after two seconds, however long the pause', () => {
    for (const pauseMs of [1_900, 2_000, 2_500, 60_000, 61_230]) {
      const played = new PlayedAudio(16_000);
      for (let i = 0; i < 120; i += 1) played.add(flat(16_000, 1_000), i * frameMs);
      const now = 2_400 + pauseMs;
      played.add(flat(16_000, 2_000), now);
      const levels = levelsUpTo(played, now + frameMs, 1_800);
      expect(levels.slice(0, -1)).toEqual(Array.from({ length: 89 }, () => 0));
      expect(levels.at(-1)).toBe(2_000);
    }
  });

  it('says how long ago something was sent', () => {
    const played = new PlayedAudio(16_000);
    expect(played.within(1_000, 0)).toBe(false);
    played.add(flat(16_000, 1_000), 500);
    expect([played.within(1_000, 1_519), played.within(1_000, 1_520)]).toEqual([true, false]);
  });

  it('says how long the newest stretch has been', () => {
    const played = new PlayedAudio(16_000);
    for (const now of [0, 20, 40]) played.add(flat(16_000, 1_000), now);
    expect(played.stretchMs).toBe(60);
    played.add(flat(16_000, 1_000), 500);
    expect(played.stretchMs).toBe(20);
  });
});
