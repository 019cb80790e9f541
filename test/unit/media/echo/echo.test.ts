/** The door of the echo room: what a call learns with the switch on and off, and that the record of thresholds is right. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { newCallEcho, type CallEcho, type EchoMode } from '../../../../worker/media/echo/echo.ts';
import { echoThresholds, proofThresholds } from '../../../../worker/media/echo/thresholds.ts';
import { madeVoice } from '../../../support/audio/made-voice.ts';

const rate = 16_000;
const frameSamples = 320;
const frameMs = 20;
const delayFrames = 10;
const bot = madeVoice({ seed: 7, pitchHz: 190, ms: 3_000 });

/** The agent speaks and comes back 200 ms later; how many of the frames in its last second are called its own voice. */
function echoesIn(mode: EchoMode): {
  readonly found: number;
  readonly known: number;
  readonly echo: CallEcho;
} {
  const ring = new Int16Array(rate);
  const heard = { ring, count: 0 };
  const echo = newCallEcho({ mode, sampleRate: rate, heard });
  let [found, known] = [0, 0];
  const frames = bot.length / frameSamples;
  for (let at = 0; at < frames; at += 1) {
    const now = at * frameMs;
    const from = (at - delayFrames) * frameSamples;
    const back = Int16Array.from({ length: frameSamples }, (_, i) => (bot[from + i] ?? 0) / 4);
    ring.set(back, heard.count % ring.length);
    heard.count += back.length;
    echo.took(back);
    echo.sent(bot.subarray(at * frameSamples, (at + 1) * frameSamples), now);
    if (at < frames - 50) continue;
    if (echo.isEcho(now + frameMs)) found += 1;
    if (echo.isKnownEcho(now + frameMs)) known += 1;
  }
  return { found, known, echo };
}

describe('the echo of a call', () => {
  it('is known with the switch at auto', () => {
    const { found, known, echo } = echoesIn('auto');
    expect(found).toBeGreaterThan(35);
    expect(known).toBeGreaterThan(35);
    expect(echo.isClear).toBe(true);
  });

  it('is never known with the switch off', () => {
    const { found, known, echo } = echoesIn('off');
    expect([found, known, echo.isClear]).toEqual([0, 0, false]);
  });

  it.each(['auto', 'off'] as const)('is possible while the bot can be heard (%s)', (mode) => {
    const echo = newCallEcho({ mode, sampleRate: rate, heard: { ring: new Int16Array(rate), count: 0 } });
    const frame = new Int16Array(frameSamples);
    expect(echo.isOverAgent(0)).toBe(false);
    for (let at = 0; at < 5; at += 1) echo.sent(frame, 1_000 + at * frameMs);
    expect([echo.isOverAgent(1_100), echo.isOverAgent(1_599), echo.isOverAgent(1_600)]).toEqual([
      true,
      true,
      false,
    ]);
    echo.sent(frame, 5_000);
    expect([echo.isOverAgent(5_519), echo.isOverAgent(5_520)]).toEqual([true, false]);
    // Frames that were late go out at once, and are heard one after another.
    for (let at = 0; at < 5; at += 1) echo.sent(frame, 9_000);
    expect([echo.isOverAgent(9_599), echo.isOverAgent(9_600)]).toEqual([true, false]);
  });
});

describe('the thresholds of the room', () => {
  const sources = ['echo', 'interruptions'].map((name) =>
    readFileSync(new URL(`../../../../docs/measurements/${name}.md`, import.meta.url), 'utf8'),
  );

  it('have a source in the measurements, with the values that the code has', () => {
    const missing = Object.entries({ ...echoThresholds, ...proofThresholds }).filter(
      ([name, value]) => !new RegExp(`\`${name}\` ${value}[, ]`).test(sources.join('\n')),
    );
    expect(missing).toEqual([]);
  });
});
