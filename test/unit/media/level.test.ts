/** Voices brought to one loudness, by samples: what is heard of voices that come too soft, too loud or as they should be. */
import { describe, expect, it } from 'vitest';
import { newResampler } from '../../../shared/audio/resampler.ts';
import { SoundLoop } from '../../../worker/media/background/loop.ts';
import { loudnessOf } from '../../../worker/media/out/loudness.ts';
import { LiveVoice } from '../../../worker/media/out/live-voice.ts';
import { OutboundAudio, type OutboundOptions } from '../../../worker/media/out/outbound.ts';
import { madeVoice } from '../../support/audio/made-voice.ts';

const rate = 16_000;
const lufs = -20;
const frame = rate / 50;

function atLoudness(pcm: Int16Array, wanted: number, of = rate): Int16Array {
  const factor = 10 ** ((wanted - (loudnessOf(pcm, of) ?? 0)) / 20);
  return pcm.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * factor))));
}

const voice = (seed: number, wanted: number): Int16Array =>
  atLoudness(madeVoice({ seed, pitchHz: 120, ms: 6_000 }), wanted);

const newOutbound = (options: Partial<OutboundOptions> = {}): OutboundAudio =>
  new OutboundAudio({ fromRate: rate, toRate: rate, encoding: 'pcm16', lufs, ...options });

const joined = (parts: readonly Int16Array[]): Int16Array =>
  Int16Array.from(parts.flatMap((part) => [...part]));
const samplesOf = (bytes: Buffer): Int16Array => new Int16Array(Uint8Array.from(bytes).buffer);

/** Takes so many frames, or all that are ready. */
function taken(outbound: OutboundAudio, most = Infinity): Int16Array {
  const frames: Int16Array[] = [];
  while (frames.length < most && outbound.ready) frames.push(samplesOf(outbound.takeFrame()));
  return joined(frames);
}

/** What is heard of a voice that comes in chunks of so many milliseconds, each of them two chunks ahead of being heard. */
function heard(outbound: OutboundAudio, pcm: Int16Array, { context = 1, chunkMs = 200 } = {}): Int16Array {
  outbound.open(context);
  const chunk = (rate * chunkMs) / 1000;
  const parts: Int16Array[] = [];
  for (let at = 0; at < pcm.length; at += chunk) {
    outbound.write(context, pcm.subarray(at, at + chunk));
    if (at >= 2 * chunk) parts.push(taken(outbound, chunkMs / 20));
  }
  outbound.finish(context);
  parts.push(taken(outbound));
  return joined(parts);
}

/** The largest sample of the wave between the samples, in dB below full scale. */
function truePeakDb(pcm: Int16Array): number {
  const between = newResampler({ from: 8_000, to: 48_000 }).process(pcm);
  return 20 * Math.log10(between.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1) / 32_768);
}

/** The largest bend in a wave, in dB below full scale: what a click is made of. */
function bendDb(pcm: Int16Array): number {
  let most = 1;
  for (let at = 2; at < pcm.length; at += 1)
    most = Math.max(most, Math.abs((pcm[at] ?? 0) - 2 * (pcm[at - 1] ?? 0) + (pcm[at - 2] ?? 0)));
  return 20 * Math.log10(most / 32_768);
}

const hum = (hz: number, amplitude: number, ms: number): Int16Array =>
  Int16Array.from({ length: (rate * ms) / 1000 }, (_, at) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hz * at) / rate)),
  );

describe('a voice', () => {
  it.each([-28, -25, -22.5, -17, -14, -12])('of %d LUFS is heard at -20', (from) => {
    const pcm = heard(newOutbound(), voice(1, from));
    // What is left are the voice's own louder and softer words.
    expect(Math.abs((loudnessOf(pcm.subarray(2 * rate), rate) ?? 0) - lufs)).toBeLessThan(2.2);
  });

  it.each([-20.6, -20, -19.4])('of %d LUFS is heard as it comes, sample for sample', (from) => {
    const pcm = voice(2, from);
    expect(Buffer.from(heard(newOutbound(), pcm).buffer).compare(Buffer.from(pcm.buffer))).toBe(0);
  });

  it.each([
    [-40, -31],
    [-5.5, -14.5],
  ])('of %d LUFS is changed by 9 dB and no more', (from, to) => {
    const pcm = heard(newOutbound(), atLoudness(hum(300, 8_000, 6_000), from));
    expect(Math.abs((loudnessOf(pcm.subarray(2 * rate), rate) ?? 0) - to)).toBeLessThan(1);
  });

  it('is heard at once as loud as it was in its last sentence', () => {
    const outbound = newOutbound();
    heard(outbound, voice(3, -27));
    const second = heard(outbound, voice(4, -27), { context: 2 });
    expect(Math.abs((loudnessOf(second.subarray(0, rate), rate) ?? 0) - lufs)).toBeLessThan(2);
  });

  it('is no louder than -1 dB between its samples', () => {
    const bursts = voice(5, -26).map((sample, at) => (at % rate < 400 ? sample * 8 : sample));
    const pcm = heard(newOutbound({ toRate: 8_000 }), bursts);
    expect(truePeakDb(pcm)).toBeLessThan(-1);
    expect(truePeakDb(pcm)).toBeGreaterThan(-4);
  });

  it('stays in its pauses as loud as they were: no noise comes up', () => {
    const pause = hum(200, 20, 4_000);
    const pcm = heard(newOutbound(), joined([voice(6, -27), pause, voice(6, -27)]));
    const middle = pcm.subarray(8 * rate, 9 * rate);
    const most = middle.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
    expect(most).toBeLessThan(20 * 10 ** (9 / 20) + 1);
    expect(Math.abs((loudnessOf(pcm.subarray(11 * rate), rate) ?? 0) - lufs)).toBeLessThan(1.5);
  });
});

describe('another voice', () => {
  it.each([
    ['a recording that is louder', -27, -14],
    ['a recording that is softer', -14, -27],
  ])('%s is heard at -20 from its first word on', (_, first, second) => {
    const outbound = newOutbound();
    heard(outbound, voice(7, first));
    const pcm = heard(outbound, voice(8, second), { context: 2, chunkMs: 1_000 });
    expect(Math.abs((loudnessOf(pcm.subarray(0, 2 * rate), rate) ?? 0) - lufs)).toBeLessThan(2);
  });

  it('of another agent, at another rate, is heard at -20', () => {
    const outbound = newOutbound();
    heard(outbound, voice(9, -28));
    outbound.retune(24_000);
    outbound.open(2);
    const wide = newResampler({ from: rate, to: 24_000 }).process(voice(10, -13)).slice();
    outbound.write(2, wide);
    outbound.finish(2);
    const pcm = taken(outbound);
    expect(Math.abs((loudnessOf(pcm.subarray(rate), rate) ?? 0) - lufs)).toBeLessThan(1.5);
  });

  it('of an operator is heard at -20', () => {
    const live = new LiveVoice(rate, rate, lufs);
    const pcm = voice(11, -28);
    const frames: Int16Array[] = [];
    for (let at = 0; at + frame <= pcm.length; at += frame) {
      live.push(pcm.subarray(at, at + frame));
      const samples = new Int16Array(frame);
      if (live.sounds) live.mix(samples);
      frames.push(samples);
    }
    expect(Math.abs((loudnessOf(joined(frames).subarray(2 * rate), rate) ?? 0) - lufs)).toBeLessThan(1.5);
  });

  it.each([-28, -14])(
    'a recording behind the voice of %d LUFS is 14 dB softer than it at a volume of 0.2',
    (from) => {
      const pcm = voice(12, from);
      const loop = new SoundLoop({ source: { pcm, sampleRate: rate }, volume: 0.2, when: 'always' }, lufs);
      const turn = loop.at(rate);
      const frames = Array.from({ length: turn.frames }, (_, at) => turn.frame(at).slice());
      expect(Math.abs((loudnessOf(joined(frames), rate) ?? 0) - (lufs - 14))).toBeLessThan(1);
    },
  );
});

describe('a gain that moves', () => {
  const soft = atLoudness(hum(200, 8_000, 4_000), -27);

  it('does not click, where it rises and where the voice is cut, held and goes on', () => {
    const outbound = newOutbound();
    outbound.open(1);
    outbound.write(1, soft);
    const before = taken(outbound, 60);
    outbound.hold(20);
    const held = taken(outbound);
    outbound.release();
    const after = taken(outbound, 20);
    outbound.clear({ fades: true });
    const tail = samplesOf(outbound.takeBackdrop());
    const pcm = joined([before, held, after, tail]);
    expect(bendDb(pcm)).toBeLessThan(-40);
  });

  it('is the same behind a takeover as before it', () => {
    const whole = newOutbound();
    whole.open(1);
    whole.write(1, soft);
    const first = taken(whole, 100);
    const other = newOutbound();
    other.open(1, { audioMs: 0, skipMs: 2_000 });
    other.write(1, soft);
    const second = taken(other, 50);
    const [a, b] = [loudnessOf(first.subarray(rate), rate) ?? 0, loudnessOf(second, rate) ?? 0];
    expect(Math.abs(a - b)).toBeLessThan(1);
  });
});
