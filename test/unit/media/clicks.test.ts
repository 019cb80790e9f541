/**
 * Clicks in what callers hear, measured: how sharply a wave bends anywhere, in dB below full scale. A voice that stops in the middle of a wave bends by
 * about its own height; what fades stays far below what anybody hears as a click.
 */
import { describe, expect, it } from 'vitest';
import { SoundLoop } from '../../../worker/media/background/loop.ts';
import { Background } from '../../../worker/media/background/background.ts';
import { Murmur } from '../../../worker/media/out/murmur.ts';
import { LiveVoice } from '../../../worker/media/out/live-voice.ts';
import { OutboundAudio } from '../../../worker/media/out/outbound.ts';

const mostDb = -40;
const rates = [8_000, 16_000, 24_000, 48_000];

/** As loud as a voice: a hum that bends little by itself at any rate. */
const hum = (rate: number, ms: number, amplitude = 5_000): Int16Array =>
  Int16Array.from({ length: (rate * ms) / 1000 }, (_, at) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * 160 * at) / rate)),
  );

const samplesOf = (frame: Buffer): number[] => [...new Int16Array(Uint8Array.from(frame).buffer)];

/** How the voice begins is its own. */
function bendDb(samples: readonly number[]): number {
  const bends = samples.slice(2).map((sample, at) => Math.abs(sample - 2 * samples[at + 1]! + samples[at]!));
  return 20 * Math.log10(Math.max(...bends, 1) / 32_768);
}

/** A call that has played 220 ms of a voice, to the top of a wave. */
function playing(rate: number, options: Partial<ConstructorParameters<typeof OutboundAudio>[0]> = {}) {
  const audio = new OutboundAudio({ fromRate: rate, toRate: rate, encoding: 'pcm16', ...options });
  const heard: number[] = [];
  const frames = (count: number): void => {
    for (let at = 0; at < count && audio.ready; at += 1) heard.push(...samplesOf(audio.takeFrame()));
  };
  const silence = (count: number): void => {
    for (let at = 0; at < count; at += 1) heard.push(...samplesOf(audio.takeBackdrop()));
  };
  audio.open(1);
  audio.write(1, hum(rate, 2_000));
  frames(11);
  return { audio, heard, frames, silence };
}

describe.each(rates)('at %i Hz', (rate) => {
  it('the measure hears a voice that just stops', () => {
    const { heard } = playing(rate);
    expect(bendDb([...heard, ...Array<number>(rate / 50).fill(0)])).toBeGreaterThan(-25);
  });

  it('a voice that is cut does not click', () => {
    const { audio, heard, silence } = playing(rate);
    audio.clear({ fades: true });
    silence(3);
    expect(bendDb(heard)).toBeLessThan(mostDb);
  });

  it('a voice that is cut into by the next answer does not click', () => {
    const { audio, heard, frames } = playing(rate);
    audio.clear({ fades: true });
    audio.open(2);
    audio.write(2, hum(rate, 500, 2_000));
    frames(20);
    expect(bendDb(heard)).toBeLessThan(mostDb);
  });

  it.each([20, 100, 440])('a voice that gives way for %i ms, stands and goes on does not click', (duckMs) => {
    const { audio, heard, frames, silence } = playing(rate);
    audio.hold(duckMs);
    frames(50);
    silence(5);
    audio.release({ softly: true });
    frames(10);
    audio.release();
    frames(10);
    audio.clear({ fades: true });
    silence(2);
    expect(bendDb(heard)).toBeLessThan(mostDb);
  });

  it('a voice that goes on where another worker left it does not click', () => {
    const audio = new OutboundAudio({ fromRate: rate, toRate: rate, encoding: 'pcm16' });
    const heard = Array<number>(rate / 50).fill(0);
    audio.open(1, { audioMs: 0, skipMs: 220 });
    audio.write(1, hum(rate, 1_000));
    for (let frame = 0; frame < 5 && audio.ready; frame += 1) heard.push(...samplesOf(audio.takeFrame()));
    expect(heard).toHaveLength((6 * rate) / 50);
    expect(Math.max(...heard)).toBeGreaterThan(4_900);
    expect(bendDb(heard)).toBeLessThan(mostDb);
  });

  it.each([
    ['stops to send', false],
    ['gives the call back', true],
  ])('an operator who cuts the agent, speaks, and %s does not click', (_, givesBack) => {
    const person = new LiveVoice(rate, rate);
    const { audio, heard, silence } = playing(rate, { person });
    audio.clear({ fades: true });
    // The microphone has been on for a while.
    person.push(hum(rate, 2_055).subarray((rate * 1_905) / 1_000));
    silence(givesBack ? 4 : 8);
    const spoke = Math.max(...heard.slice(-((rate / 50) * 3)));
    if (givesBack) person.clear();
    silence(5);
    expect(spoke).toBeGreaterThan(4_900);
    expect(bendDb(heard)).toBeLessThan(mostDb);
  });

  it('a background and a murmur that begin, and that fade, do not click', () => {
    const source = { pcm: hum(16_000, 1_200, 8_000), sampleRate: 16_000 };
    const loop = new SoundLoop({ source, volume: 0.2, when: 'thinking' });
    const background = new Background([loop], rate);
    const murmur = new Murmur(rate);
    const { audio, heard, frames, silence } = playing(rate, { backdrops: [background, murmur] });
    background.follow(() => 0, 2_000);
    murmur.say(hum(rate, 600), rate);
    frames(10);
    audio.clear({ fades: true });
    silence(8);
    murmur.stop();
    background.follow(() => undefined, 3_000);
    silence(10);
    expect(bendDb(heard)).toBeLessThan(mostDb);
  });
});
