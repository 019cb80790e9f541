/** What loudness says about an echo: that there is none, or that it is as loud as ever. */
import { describe, expect, it } from 'vitest';
import { following, mayBeAnyEcho, mayBeEcho, strayShare } from '../../../../worker/media/echo/history.ts';
import { levelMs, SoundLevels } from '../../../../worker/media/echo/levels.ts';
import { echoOf, mixed } from '../../../support/audio/echo-path.ts';
import { madeVoice } from '../../../support/audio/made-voice.ts';

const rate = 16_000;
const bot = madeVoice({ seed: 7, pitchHz: 190, ms: 3_000 });
const caller = madeVoice({ seed: 11, pitchHz: 120, ms: 600 });
const quiet = echoOf(new Int16Array(bot.length), { db: 0, delayMs: 0 });
const delayMs = 160;
const shift = -delayMs / levelMs;

function levelsOf(pcm: Int16Array, pcmRate = rate): SoundLevels {
  const levels = new SoundLevels(pcmRate);
  levels.add(pcm);
  return levels;
}

const at = (heard: Int16Array, ms: number): { heard: SoundLevels; played: SoundLevels; end: number } => ({
  heard: levelsOf(heard.subarray(0, (ms * rate) / 1000)),
  played: levelsOf(bot.subarray(0, (ms * rate) / 1000)),
  end: Math.floor(ms / levelMs),
});

describe('levels', () => {
  it('are the same however the samples come', () => {
    const whole = levelsOf(bot);
    const pieces = new SoundLevels(rate);
    for (let from = 0; from < bot.length; from += 333) pieces.add(bot.subarray(from, from + 333));
    for (let from = 120; from < 370; from += 7) expect(pieces.mean(from, 4)).toBeCloseTo(whole.mean(from, 4));
  });

  it('go on behind a silence, which is silent', () => {
    const levels = levelsOf(new Int16Array(1_000).fill(100));
    levels.pass(3_000);
    levels.add(new Int16Array(128).fill(50));
    levels.add(new Int16Array(128).fill(50));
    expect(levels.mean(6, 1)).toBe(10_000);
    expect(levels.mean(7, 1)).toBeCloseTo((10_000 * 104) / 128);
    expect(levels.mean(8, 22)).toBe(0);
    expect(levels.mean(32, 1)).toBe(2_500);
  });

  it('are silence where they are too old, and where nothing has come', () => {
    const levels = levelsOf(new Int16Array(3 * rate).fill(100));
    expect(levels.mean(110, 8)).toBe(0);
    expect(levels.mean(120, 8)).toBe(10_000);
    expect(levels.mean(375, 8)).toBe(0);
    expect(levels.mean(-8, 4)).toBe(0);
  });
});

describe('a microphone', () => {
  it('may bring the bot back at its delay', () => {
    for (const roomMs of [100, 600]) {
      const heard = echoOf(bot, { db: -12, delayMs, roomMs });
      for (const ms of [600, 1_200, 2_000, 2_800]) expect(mayBeEcho(at(heard, ms), shift)).toBe(true);
    }
  });

  it('that was quiet under the bot does not, whoever speaks into it now', () => {
    const heard = mixed(quiet, caller, 2 * rate);
    for (const ms of [2_064, 2_160, 2_320]) expect(mayBeAnyEcho(at(heard, ms), -187, 0)).toBe(false);
  });

  it('hears an echo as loud as it was, and a caller beside it louder', () => {
    const echo = echoOf(bot, { db: -12, delayMs, roomMs: 600, reverberantDb: 6 });
    const alone = following(at(echo, 2_400), shift);
    expect(alone.spreadDb).toBeLessThan(4.5);
    expect(Math.abs(alone.excessDb)).toBeLessThan(3);
    const both = following(at(mixed(echo, caller, 2.2 * rate), 2_400), shift);
    expect(both.excessDb).toBeGreaterThan(alone.excessDb + 4);
  });

  it('hears nothing stray in an echo, and what was said before one could have come', () => {
    const echo = echoOf(bot, { db: -12, delayMs, roomMs: 400, reverberantDb: 5 });
    expect(strayShare(at(echo, 600), shift)).toBeLessThan(0.05);
    expect(strayShare(at(mixed(quiet, caller, 0), 600), -480 / levelMs)).toBeGreaterThan(0.5);
  });

  it('cannot tell in the first moments', () => {
    expect(following(at(echoOf(bot, { db: -12, delayMs }), 350), shift)).toEqual({
      spreadDb: 0,
      excessDb: Infinity,
    });
  });
});
