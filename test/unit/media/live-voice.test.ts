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
    const heard: Int16Array[] = [];
    while (voice.sounds) heard.push(next(voice));
    expect(heard).toHaveLength(5);
    // It rises in the first frame, and fades behind the last one.
    expect([heard[0]?.at(0), heard[0]?.at(-1), heard[4]?.at(0), heard[4]?.at(-1)]).toEqual([0, 5, 5, 0]);
    for (const frame of heard.slice(1, 4)) expect(frame).toEqual(voiceOf(20, 5));
    // A stretch that begins anew waits anew.
    voice.push(voiceOf(40, 6));
    expect(voice.sounds).toBe(false);
  });

  it('leaves out the oldest of what comes too far ahead', () => {
    const voice = new LiveVoice(16_000, 16_000);
    for (let second = 1; second <= 5; second += 1) voice.push(voiceOf(1_000, second));
    const heard: Int16Array[] = [];
    while (voice.sounds) heard.push(next(voice));
    expect(heard).toHaveLength(21);
    for (const frame of heard.slice(1, 20)) expect(frame).toEqual(voiceOf(20, 5));
  });

  it.each([8_000, 24_000, 48_000])('comes at the rate of a call of %i Hz', (rate) => {
    const voice = new LiveVoice(rate, 16_000);
    voice.push(voiceOf(200, 1_000));
    next(voice, rate);
    next(voice, rate);
    expect(voice.sounds).toBe(true);
    for (const sample of next(voice, rate)) expect(Math.abs(sample - 1_000)).toBeLessThan(30);
  });

  it('fades within 20 ms when it is over, and nothing more of it is heard', () => {
    const voice = new LiveVoice(16_000, 16_000);
    voice.push(voiceOf(200, 500));
    expect(voice.sounds).toBe(true);
    next(voice);
    voice.clear();
    expect([voice.sounds, voice.ends]).toEqual([true, true]);
    const last = next(voice);
    expect([last.at(0)! > 480, last.at(-1)]).toEqual([true, 0]);
    expect(voice.sounds).toBe(false);
  });

  it('has no last moment where nothing of it was heard', () => {
    const voice = new LiveVoice(16_000, 16_000);
    voice.push(voiceOf(60, 500));
    voice.clear();
    expect(voice.sounds).toBe(false);
  });

  it('fades into the agent, where that speaks at once', () => {
    const voice = new LiveVoice(16_000, 16_000);
    const audio = new OutboundAudio({ fromRate: 16_000, toRate: 16_000, encoding: 'pcm16', person: voice });
    voice.push(voiceOf(200, 500));
    while (audio.hasBackdrop && !voice.ends) {
      audio.takeBackdrop();
      voice.clear();
    }
    audio.open(1);
    audio.write(1, new Int16Array(640));
    expect(audio.ready).toBe(true);
    expect(audio.takeFrame().readInt16LE(0)).toBeGreaterThan(480);
    expect(voice.sounds).toBe(false);
  });

  it('goes out where the agent has nothing, and is told like the voice of the agent', () => {
    const voice = new LiveVoice(16_000, 16_000);
    const told: number[] = [];
    const audio = new OutboundAudio({
      fromRate: 16_000,
      toRate: 16_000,
      encoding: 'pcm16',
      taken: (pcm) => told.push(pcm.at(-1) ?? 0),
      person: voice,
    });
    voice.push(voiceOf(100, 7));
    expect(audio.hasBackdrop).toBe(true);
    expect(audio.takeBackdrop().readInt16LE(638)).toBe(7);
    audio.open(1);
    audio.write(1, voiceOf(20, 9));
    audio.finish(1);
    expect(audio.ready).toBe(true);
    expect(audio.takeFrame().readInt16LE(0)).toBe(9);
    expect(told).toEqual([7, 9]);
  });
});
