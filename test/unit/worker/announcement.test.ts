/** The sound of the announcement: the operator's, the one that ships, or a signal. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseWav } from '../../../shared/audio/wav.ts';
import { builtInTexts } from '../../../shared/config/agent/texts.ts';
import { announcementLine } from '../../../worker/lines/announcement.ts';
import { loadFlite } from '../../../examples/demo/flite.ts';
import { sentences } from '../../../examples/demo/voices.ts';

const shipped = readFileSync(new URL('../../../worker/announcements/en.wav', import.meta.url));

/** Strength of one frequency in a part of the sound. */
function strength(pcm: Int16Array, rate: number, hz: number): number {
  let [sine, cosine] = [0, 0];
  for (const [at, sample] of pcm.entries()) {
    const angle = (2 * Math.PI * hz * at) / rate;
    sine += sample * Math.sin(angle);
    cosine += sample * Math.cos(angle);
  }
  return Math.hypot(sine, cosine) / pcm.length;
}

describe('the announcement', () => {
  it('ends in silence that is longer than what a call holds back', () => {
    const pcm = new Int16Array(8_000).fill(5_000);
    const line = announcementLine({ text: 'Call again.', recording: { pcm, sampleRate: 8_000 } }, 8_000);
    expect(line.pcm.subarray(0, 8_000)).toEqual(pcm);
    expect(line.pcm.subarray(8_000)).toEqual(new Int16Array(480));
  });

  it('is the recording of the operator, at the rate of TTS', () => {
    const pcm = Int16Array.from({ length: 8_000 }, (_, at) =>
      Math.round(9_000 * Math.sin((2 * Math.PI * 440 * at) / 8_000)),
    );
    const line = announcementLine({ text: 'Call again.', recording: { pcm, sampleRate: 8_000 } }, 24_000);
    expect(line.ms).toBeGreaterThanOrEqual(1_060);
    expect(line.ms).toBeLessThan(1_070);
    expect(line.pcm.length).toBe((line.ms * 24_000) / 1000);
    expect(strength(line.pcm, 24_000, 440)).toBeGreaterThan(4_000);
  });

  it('is the recording that ships where it has words and no file', () => {
    const line = announcementLine({ text: builtInTexts('en').announcement }, 16_000);
    const { pcm } = parseWav(shipped);
    expect(line.pcm.subarray(0, pcm.length)).toEqual(pcm);
  });

  it('that ships is made once for all agents of a worker whose voices have the same rate', () => {
    const { announcement: text } = builtInTexts('en');
    const line = announcementLine({ text }, 16_000);
    expect(announcementLine({ text }, 16_000) === line).toBe(true);
    expect(announcementLine({ text }, 8_000).pcm.length).toBeLessThan(line.pcm.length);
  });

  it('that ships is small, mono, of 16 kHz, and lasts as long as its text takes to say', async () => {
    const { pcm, sampleRate, channels } = parseWav(shipped);
    expect({ sampleRate, channels }).toEqual({ sampleRate: 16_000, channels: 1 });
    expect(shipped.length).toBeLessThan(120_000);
    const speak = await loadFlite();
    const spoken = sentences(builtInTexts('en').announcement).map((text) =>
      speak(text, { voice: 'slt', speed: 1.15 }),
    );
    const samples = spoken.reduce((sum, part) => sum + part.length, 0);
    // The script takes silence off both ends of each sentence.
    expect(pcm.length).toBeGreaterThan(samples * 0.75);
    expect(pcm.length).toBeLessThan(samples);
  });

  it.each([8_000, 24_000])('without words is three rising tones of a second in all, at %i Hz', (rate) => {
    const { pcm, ms } = announcementLine({ text: '' }, rate);
    expect(ms).toBe(1_050);
    for (const [index, hz] of [950, 1_400, 1_800].entries()) {
      const part = pcm.subarray(index * 0.33 * rate, (index + 1) * 0.33 * rate);
      const strengths = [950, 1_400, 1_800].map((other) => strength(part, rate, other));
      expect(strengths[index]).toBe(Math.max(...strengths));
      expect(strength(part, rate, hz)).toBeGreaterThan(2_500);
    }
  });
});
