/** What is heard behind the agent's voice, in samples: how loud it is, that it goes on without a click, and that nothing else knows of it. */
import { describe, expect, it } from 'vitest';
import { decodeMulaw } from '../../../shared/audio/g711.ts';
import { rmsDbfs } from '../../../shared/audio/pcm.ts';
import { SAMPLE_RATES } from '../../../shared/base/units.ts';
import type { BackgroundDefinition, SoundName } from '../../../shared/config/agent/background.ts';
import { Background, thinks } from '../../../worker/media/background/background.ts';
import { closed, SoundLoop } from '../../../worker/media/background/loop.ts';
import { makeSound, soundRate } from '../../../worker/media/background/sounds.ts';
import { OutboundAudio } from '../../../worker/media/out/outbound.ts';

const names: readonly SoundName[] = ['office', 'street', 'keyboard'];
const sounds = new Map(names.map((name) => [name, makeSound(name)]));

const tone = (hz: number, peak: number, { rate = 16_000, seconds = 1 } = {}): Int16Array =>
  Int16Array.from({ length: rate * seconds }, (_, at) =>
    Math.round(peak * Math.sin((2 * Math.PI * hz * at) / rate)),
  );
const loopOf = (definition: Partial<BackgroundDefinition> = {}): SoundLoop =>
  new SoundLoop({
    source: { pcm: tone(300, 8_000, { seconds: 2 }), sampleRate: 16_000 },
    volume: 1,
    when: 'always',
    ...definition,
  });

/** Levels of frames of 20 ms in dB of full scale, from the softest to the loudest. */
const levels = (pcm: Int16Array, frame: number): number[] =>
  Array.from({ length: pcm.length / frame }, (_, at) =>
    rmsDbfs(pcm.subarray(at * frame, (at + 1) * frame)),
  ).toSorted((a, b) => a - b);
const steepest = (pcm: Int16Array): number =>
  pcm.reduce((most, sample, at) => Math.max(most, at === 0 ? 0 : Math.abs(sample - pcm[at - 1]!)), 0);

/** So many frames of a call that says nothing, in one piece. */
function heard(background: Background, frames: number, rate = 16_000): Int16Array {
  const all = new Int16Array((frames * rate) / 50);
  for (let at = 0; at < frames; at += 1)
    background.mix(all.subarray((at * rate) / 50, ((at + 1) * rate) / 50));
  return all;
}

describe.each(names)('the sound of the service: %s', (name) => {
  const sound = sounds.get(name)!;

  it('is as loud as a voice and reaches no limit', () => {
    const sorted = levels(sound, soundRate / 50);
    expect(sorted[Math.floor(sorted.length * 0.9)]).toBeGreaterThan(-23);
    expect(sorted.at(-1)).toBeLessThan(-10);
    expect(sound.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)).toBeLessThan(0.92 * 32_768);
  });

  it('goes on at its end as it began', () => {
    const seam = Int16Array.of(...sound.subarray(-2_000), ...sound.subarray(0, 2_000));
    expect(Math.abs(seam[2_000]! - seam[1_999]!)).toBeLessThanOrEqual(steepest(sound) / 2);
  });

  it('is no constant, and has no pitch that stands out', () => {
    const mean = sound.reduce((sum, sample) => sum + sample, 0) / sound.length;
    expect(Math.abs(mean)).toBeLessThan(50);
    expect(new Set(sound).size).toBeGreaterThan(1_000);
  });
});

describe('a loop', () => {
  it('closes a recording whose end does not fit its beginning', () => {
    const pcm = tone(110, 10_000, { seconds: 2 }).subarray(0, 31_600);
    const naive = Math.abs(pcm[0]! - pcm.at(-1)!);
    const loop = closed(pcm, 16_000);
    expect(naive).toBeGreaterThan(5_000);
    expect(loop.length % 320).toBe(0);
    const twice = Int16Array.of(...loop, ...loop);
    expect(steepest(twice)).toBeLessThan(1.6 * steepest(pcm));
  });

  it.each(SAMPLE_RATES)('has the same sound at %i Hz, turn for turn, without a step', (rate) => {
    const turn = loopOf().at(rate);
    const whole = Int16Array.from(Array.from({ length: turn.frames }, (_, at) => [...turn.frame(at)]).flat());
    expect(whole.length).toBe((turn.frames * rate) / 50);
    expect(rmsDbfs(whole)).toBeCloseTo(rmsDbfs(tone(300, 8_000)), 0);
    const seam = Math.abs(whole[0]! - whole.at(-1)!);
    expect(seam).toBeLessThanOrEqual(1.6 * ((2 * Math.PI * 300 * 8_000) / rate));
  });

  it.each(SAMPLE_RATES)('takes a recording of %i Hz', (sampleRate) => {
    const pcm = tone(300, 8_000, { rate: sampleRate, seconds: 1 });
    const turn = loopOf({ source: { pcm, sampleRate } }).at(8_000);
    for (let at = 0; at < turn.frames; at += 1) turn.frame(at);
    expect(turn.frames).toBe(48);
    expect(rmsDbfs(turn.frame(20))).toBeCloseTo(rmsDbfs(pcm), 0);
  });

  it('is made once for all calls of a rate', () => {
    const loop = loopOf();
    expect(loop.at(8_000)).toBe(loop.at(8_000));
    expect(loop.at(8_000)).not.toBe(loop.at(16_000));
  });
});

describe('what a call hears', () => {
  it('begins softly and goes on over the seam without a click', () => {
    const background = new Background([loopOf()], 16_000);
    const pcm = heard(background, 250);
    expect(rmsDbfs(pcm.subarray(0, 80))).toBeLessThan(-30);
    expect(rmsDbfs(pcm.subarray(1_600, 3_200))).toBeCloseTo(rmsDbfs(tone(300, 8_000)), 0);
    expect(steepest(pcm)).toBeLessThan(1.6 * steepest(tone(300, 8_000)));
  });

  it('is at the volume of its table: 0.2 is 14 dB softer', () => {
    const loud = heard(new Background([loopOf()], 16_000), 50).subarray(1_600);
    const soft = heard(new Background([loopOf({ volume: 0.2 })], 16_000), 50).subarray(1_600);
    expect(rmsDbfs(loud) - rmsDbfs(soft)).toBeCloseTo(14, 0);
  });

  it('does not wrap around where it is added to a loud voice', () => {
    const background = new Background(
      [loopOf({ source: { pcm: tone(300, 30_000, { seconds: 1 }), sampleRate: 16_000 } })],
      16_000,
    );
    heard(background, 10);
    const samples = new Int16Array(320).fill(30_000);
    background.mix(samples);
    expect(Math.min(...samples)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...samples)).toBe(32_767);
  });

  it('has a sound of thinking from a second of waiting on, until something is heard', () => {
    const background = new Background([loopOf({ when: 'thinking' })], 16_000);
    const at = (now: number, since: number | undefined): boolean => {
      background.follow(() => since, now);
      const { sounds: isOn } = background;
      heard(background, 1);
      return isOn;
    };
    expect([at(0, undefined), at(5_000, 4_500), at(5_499, 4_500)]).toEqual([false, false, false]);
    expect(at(5_500, 4_500)).toBe(true);
    // A filler that nobody hears yet begins the wait anew, and the sound goes on.
    expect(at(6_000, 5_900)).toBe(true);
    for (let frame = 0; frame < 5; frame += 1) at(6_020, 5_900);
    const ends = Array.from({ length: 7 }, () => at(6_100, undefined));
    expect(ends).toEqual([true, true, true, true, true, false, false]);
  });

  it.each([
    [false, undefined, 9_000, false],
    [true, undefined, 9_000, false],
    [false, 8_001, 9_000, false],
    [false, 8_000, 9_000, true],
    [true, 8_999, 9_000, true],
  ])('thinks aloud: before %s, waits since %s, now %s: %s', (before, since, now, after) => {
    expect(thinks(before, since, now)).toBe(after);
  });
});

describe.each(['pcm16', 'mulaw'] as const)('frames of a call in %s', (encoding) => {
  const rate = encoding === 'mulaw' ? 8_000 : 16_000;
  const voice = tone(200, 4_634, { rate, seconds: 4 });

  function played({ hasBackground = true } = {}) {
    const taken: Int16Array[] = [];
    const office = new SoundLoop({ source: 'office', volume: 0.2, when: 'always' });
    const audio = new OutboundAudio({
      fromRate: rate,
      toRate: rate,
      encoding,
      taken: (pcm) => taken.push(pcm.slice()),
      backdrops: hasBackground ? [new Background([office], rate)] : [],
    });
    audio.open(1);
    audio.write(1, voice.slice());
    audio.mark(1, 'm');
    audio.finish(1);
    const frames: Buffer[] = [];
    while (audio.ready) frames.push(audio.takeFrame());
    const rest = { sentMs: audio.sentMs, mark: audio.takeMark(), drained: audio.takeDrained() };
    const behind = Array.from({ length: hasBackground ? 100 : 0 }, () => audio.takeBackdrop());
    return { frames, behind, taken, rest, after: audio.sentMs };
  }
  const pcmOf = (frames: readonly Buffer[]): Int16Array => {
    const bytes = Buffer.concat(frames);
    if (encoding === 'pcm16') return new Int16Array(Uint8Array.from(bytes).buffer);
    const pcm = new Int16Array(bytes.length);
    decodeMulaw(bytes, pcm);
    return pcm;
  };

  it('have the background behind the voice and in its pauses, 14 dB softer', () => {
    const plain = pcmOf(played({ hasBackground: false }).frames);
    const { frames, behind } = played();
    const added = pcmOf(frames).map((sample, at) => sample - plain[at]!);
    const [overVoice, inPause] = [rmsDbfs(added.subarray(rate / 2)), rmsDbfs(pcmOf(behind))];
    for (const level of [overVoice, inPause]) expect(Math.abs(rmsDbfs(voice) - 15 - level)).toBeLessThan(4);
    expect(Math.abs(overVoice - inPause)).toBeLessThan(4);
  });

  it('are the agent alone to everything that counts its audio', () => {
    const without = played({ hasBackground: false });
    const given = played();
    expect(given.taken).toEqual(without.taken);
    expect(given.rest).toEqual(without.rest);
    expect(given.after).toBe(given.rest.sentMs);
    expect(given.frames).toHaveLength(without.frames.length);
  });
});

it('a voice that gives way leaves the background as loud as it was', () => {
  const loop = loopOf({ volume: 0.1 });
  const audio = new OutboundAudio({
    fromRate: 16_000,
    toRate: 16_000,
    encoding: 'pcm16',
    backdrops: [new Background([loop], 16_000)],
  });
  audio.open(1);
  audio.write(1, new Int16Array(16_000));
  for (let at = 0; at < 10; at += 1) if (audio.ready) audio.takeFrame();
  audio.hold(100);
  const levelOf = (frame: Buffer): number => rmsDbfs(new Int16Array(Uint8Array.from(frame).buffer));
  const before = levelOf(audio.takeBackdrop());
  const soft: number[] = [];
  while (audio.ready) soft.push(levelOf(audio.takeFrame()));
  expect(soft).toHaveLength(5);
  for (const level of [...soft, levelOf(audio.takeBackdrop())]) expect(level).toBeCloseTo(before, 0);
});
