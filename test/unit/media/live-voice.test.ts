/** The voice of a person who speaks in the agent's place, on its way to the caller. */
import { describe, expect, it } from 'vitest';
import { LiveVoice } from '../../../worker/media/out/live-voice.ts';
import { OutboundAudio } from '../../../worker/media/out/outbound.ts';

const voiceOf = (ms: number, value: number, rate = 16_000): Int16Array =>
  new Int16Array((ms * rate) / 1000).fill(value);

/** The next 20 ms. */
function next(voice: LiveVoice, rate = 16_000): Int16Array {
  const samples = new Int16Array((rate * 20) / 1000);
  voice.mix(samples);
  return samples;
}

describe('a live voice', () => {
  it('is heard once a little of it waits, until nothing is left', () => {
    const voice = new LiveVoice(16_000, 16_000);
    voice.push(voiceOf(60, 5));
    expect(voice.sounds).toBe(false);
    voice.push(voiceOf(20, 5));
    for (let frame = 0; frame < 4; frame += 1) {
      expect(voice.sounds).toBe(true);
      expect(next(voice)).toEqual(voiceOf(20, 5));
    }
    expect(voice.sounds).toBe(false);
    // A stretch that begins anew waits anew.
    voice.push(voiceOf(40, 6));
    expect(voice.sounds).toBe(false);
  });

  it('leaves out the oldest of what comes too far ahead', () => {
    const voice = new LiveVoice(16_000, 16_000);
    for (let second = 1; second <= 5; second += 1) voice.push(voiceOf(1_000, second));
    let frames = 0;
    for (; voice.sounds; frames += 1) expect(next(voice)).toEqual(voiceOf(20, 5));
    expect(frames).toBe(20);
  });

  it.each([8_000, 24_000, 48_000])('comes at the rate of a call of %i Hz', (rate) => {
    const voice = new LiveVoice(rate, 16_000);
    voice.push(voiceOf(200, 1_000));
    next(voice, rate);
    next(voice, rate);
    expect(voice.sounds).toBe(true);
    for (const sample of next(voice, rate)) expect(Math.abs(sample - 1_000)).toBeLessThan(30);
  });

  it('is silent at once when it is over', () => {
    const voice = new LiveVoice(16_000, 16_000);
    voice.push(voiceOf(200, 5));
    expect(voice.sounds).toBe(true);
    voice.clear();
    expect(voice.sounds).toBe(false);
  });

  it('goes out where the agent has nothing, and is told like the voice of the agent', () => {
    const voice = new LiveVoice(16_000, 16_000);
    const told: number[] = [];
    const audio = new OutboundAudio({
      fromRate: 16_000,
      toRate: 16_000,
      encoding: 'pcm16',
      taken: (pcm) => told.push(pcm[0] ?? 0),
      person: voice,
    });
    voice.push(voiceOf(100, 7));
    expect(audio.hasBackdrop).toBe(true);
    expect(audio.takeBackdrop().readInt16LE(0)).toBe(7);
    audio.open(1);
    audio.write(1, voiceOf(20, 9));
    audio.finish(1);
    expect(audio.ready).toBe(true);
    expect(audio.takeFrame().readInt16LE(0)).toBe(9);
    expect(told).toEqual([7, 9]);
  });
});
