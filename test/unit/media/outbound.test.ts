/** The agent's audio on its way out: the gate, the hold, the marks, and every sample in its place. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeMulaw } from '../../../shared/audio/g711.ts';
import { SAMPLE_RATES } from '../../../shared/base/units.ts';
import { newResampler } from '../../../shared/audio/resampler.ts';
import { OutboundAudio } from '../../../worker/media/out/outbound.ts';

const counting = (from: number, count: number): Int16Array =>
  Int16Array.from({ length: count }, (_, i) => from + i);

function newOutbound(
  fromRate = 16_000,
  toRate = 16_000,
  encoding: 'pcm16' | 'mulaw' = 'pcm16',
): OutboundAudio {
  const outbound = new OutboundAudio({ fromRate, toRate, encoding });
  outbound.open(1);
  return outbound;
}

const samplesOf = (frame: Buffer): number[] =>
  Array.from({ length: frame.length / 2 }, (_, i) => frame.readInt16LE(i * 2));

/** Takes every frame that is ready. */
function drain(outbound: OutboundAudio): Buffer[] {
  const frames: Buffer[] = [];
  while (outbound.ready) frames.push(outbound.takeFrame());
  return frames;
}

const rates = fc.constantFrom(...SAMPLE_RATES);

describe('outbound audio', () => {
  it('drops audio, marks and the end of every context but the open one', () => {
    const outbound = newOutbound();
    outbound.open(2);
    expect(outbound.write(1, counting(0, 320))).toBe(false);
    outbound.mark(1, 'old');
    outbound.finish(1);
    expect([outbound.ready, outbound.takeMark(), outbound.takeDrained()]).toEqual([false, undefined, false]);
    expect(outbound.write(2, counting(7, 320))).toBe(true);
    expect(samplesOf(readied(outbound).takeFrame())).toEqual([...counting(7, 320)]);
  });

  it('plays nothing before a context is opened and nothing after a clear', () => {
    const outbound = new OutboundAudio({ fromRate: 16_000, toRate: 16_000, encoding: 'pcm16' });
    expect(outbound.write(1, counting(0, 320))).toBe(false);
    outbound.open(1);
    outbound.write(1, counting(0, 960));
    outbound.mark(1, 'm');
    expect(outbound.ready).toBe(true);
    outbound.clear();
    expect(outbound.write(1, counting(0, 320))).toBe(false);
    expect([outbound.ready, outbound.takeMark(), outbound.takeDrained(), outbound.sentMs]).toEqual([
      false,
      undefined,
      false,
      0,
    ]);
  });

  it('takes no audio in a context that was finished', () => {
    const outbound = newOutbound();
    outbound.finish(1);
    expect(outbound.write(1, counting(0, 320))).toBe(false);
  });

  it('goes on at the exact sample after a hold, in the middle of a chunk and of a resampled one', () => {
    for (const toRate of [16_000, 8_000, 22_050]) {
      const pcm = Int16Array.from({ length: 16_000 }, (_, i) => 9_000 * Math.sin(i / 9));
      const plain = newOutbound(16_000, toRate);
      plain.write(1, pcm);
      plain.finish(1);
      const expected = drain(plain);
      const outbound = newOutbound(16_000, toRate);
      outbound.write(1, pcm.subarray(0, 5_003));
      const frames: Buffer[] = [];
      for (let i = 0; outbound.ready; i += 1) {
        frames.push(outbound.takeFrame());
        if (i % 3 !== 0) continue;
        outbound.hold();
        expect([outbound.ready, outbound.starved, outbound.takeDrained()]).toEqual([false, false, false]);
        outbound.release();
      }
      outbound.hold();
      outbound.write(1, pcm.subarray(5_003));
      outbound.finish(1);
      expect([outbound.ready, outbound.takeDrained()]).toEqual([false, false]);
      outbound.release();
      expect(Buffer.concat([...frames, ...drain(outbound)])).toEqual(Buffer.concat(expected));
      expect(outbound.takeDrained()).toBe(true);
    }
  });

  it('gives way 18 dB softer for as long as it is told, fades out, stands, and goes on with the next sample', () => {
    const rate = 16_000;
    const pcm = Int16Array.from({ length: 2 * rate }, (_, i) => 9_000 * Math.sin(i / 9));
    const outbound = newOutbound(rate, rate);
    outbound.write(1, pcm);
    const heard: number[] = [];
    const take = (): void => void heard.push(...samplesOf(readied(outbound).takeFrame()));
    for (let i = 0; i < 10; i += 1) take();
    outbound.hold(240);
    let frames = 0;
    for (; outbound.ready; frames += 1) take();
    expect(frames).toBe(12);
    expect(outbound.held).toBe(true);
    expect(heard.at(-1)).toBe(0);
    const loudest = (from: number, to: number): number => Math.max(...heard.slice(from, to).map(Math.abs));
    const ducked = loudest(11 * 320, 20 * 320);
    expect(20 * Math.log10(ducked / 9_000)).toBeCloseTo(-18, 0);
    outbound.release({ softly: true });
    for (let i = 0; i < 5; i += 1) take();
    expect(loudest(23 * 320, 27 * 320)).toBe(ducked);
    outbound.release();
    for (let i = 0; i < 5; i += 1) take();
    expect(heard.slice(-320)).toEqual([...pcm.subarray(31 * 320, 32 * 320)]);
    // Nothing clicks: no step is larger than the steepest of the voice itself, and a ramp of 12 ms.
    const steps = heard.slice(1).map((sample, i) => Math.abs(sample - (heard[i] ?? 0)));
    expect(Math.max(...steps)).toBeLessThan(9_000 / 9 + 9_000 / (0.012 * rate) + 1);
  });

  it('is as loud as ever behind a clear, whatever it gave way to', () => {
    const outbound = newOutbound();
    outbound.write(1, new Int16Array(16_000).fill(9_000));
    readied(outbound).takeFrame();
    outbound.hold(240);
    readied(outbound).takeFrame();
    outbound.open(2);
    outbound.write(2, new Int16Array(640).fill(9_000));
    expect(samplesOf(readied(outbound).takeFrame())).toEqual(Array(320).fill(9_000));
  });

  it('lets nothing of a context that was cut sound in the next one', () => {
    const pcm = Int16Array.from({ length: 2_000 }, (_, i) => 9_000 * Math.sin(i / 9));
    const fresh = newOutbound(24_000, 8_000);
    fresh.write(1, pcm);
    const outbound = newOutbound(24_000, 8_000);
    outbound.write(1, new Int16Array(1_111).fill(20_000));
    drain(outbound);
    outbound.open(2);
    outbound.write(2, pcm);
    expect(Buffer.concat(drain(outbound))).toEqual(Buffer.concat(drain(fresh)));
  });

  it('ends a hold with the context that was held', () => {
    const outbound = newOutbound();
    outbound.hold();
    outbound.open(2);
    outbound.write(2, counting(0, 320));
    expect(outbound.ready).toBe(true);
  });

  it('gives a mark only when all audio before it is on the wire', () => {
    const outbound = newOutbound();
    outbound.mark(1, 'start');
    outbound.write(1, counting(0, 321));
    outbound.mark(1, 'a');
    outbound.write(1, counting(321, 639));
    outbound.mark(1, 'b');
    expect([outbound.takeMark()?.id, outbound.takeMark()]).toEqual(['start', undefined]);
    expect(outbound.ready).toBe(true);
    outbound.takeFrame();
    expect(outbound.takeMark()).toBeUndefined();
    expect(outbound.ready).toBe(true);
    outbound.takeFrame();
    expect([outbound.takeMark()?.id, outbound.takeMark()]).toEqual(['a', undefined]);
    drain(outbound);
    expect([outbound.takeMark()?.id, outbound.takeMark()]).toEqual(['b', undefined]);
  });

  it('gives a mark behind every two seconds of audio without one, and says where it stands', () => {
    const outbound = newOutbound();
    const marks: unknown[] = [];
    const play = (frames: number): void => {
      for (let frame = 0; frame < frames; frame += 1) {
        readied(outbound).takeFrame();
        const mark = outbound.takeMark();
        if (mark !== undefined) marks.push([mark.id, mark.inside?.atMs, outbound.sentMs]);
      }
    };
    for (let second = 0; second < 3; second += 1) outbound.write(1, counting(0, 16_000));
    outbound.mark(1, 'piece');
    for (let second = 0; second < 4; second += 1) outbound.write(1, counting(0, 16_000));
    play(7 * 50);
    expect(marks).toEqual([
      ['i1.2000', 2_000, 2_000],
      ['piece', undefined, 3_000],
      ['i1.5000', 5_000, 5_000],
      ['i1.7000', 7_000, 7_000],
    ]);
    outbound.open(2, { audioMs: 7_000, skipMs: 500 });
    for (let second = 0; second < 4; second += 1) outbound.write(2, counting(0, 16_000));
    play(150);
    expect(marks.slice(4)).toEqual([['i2.9500', 9_500, 9_500]]);
  });

  it('gives the mark of a piece behind the last sample that the resampler holds of it, at every pair of rates', () => {
    fc.assert(
      fc.property(rates, rates, fc.integer({ min: 1, max: 3_000 }), (fromRate, toRate, count) => {
        const outbound = newOutbound(fromRate, toRate);
        outbound.write(1, counting(0, count));
        outbound.mark(1, 'piece');
        outbound.write(1, counting(count, fromRate / 5));
        let frames = 0;
        for (; outbound.takeMark() === undefined; frames += 1) readied(outbound).takeFrame();
        const whole = newResampler({ from: fromRate, to: toRate });
        const samples = whole.process(counting(0, count)).length + whole.flush().length;
        expect(frames).toBe(Math.ceil(samples / (toRate / 50)));
      }),
      { numRuns: 200 },
    );
  });

  it('fills the last frame with silence and counts only real audio', () => {
    const outbound = newOutbound();
    outbound.write(1, counting(1, 400));
    expect(drain(outbound)).toHaveLength(1);
    expect(outbound.starved).toBe(true);
    outbound.finish(1);
    const [last] = drain(outbound);
    expect(samplesOf(last!)).toEqual([...counting(321, 80), ...new Int16Array(240)]);
    expect([outbound.sentMs, outbound.deliveredMs, outbound.starved]).toEqual([25, 25, false]);
  });

  it('is drained once, and only when finished and empty', () => {
    const outbound = newOutbound(24_000, 8_000);
    outbound.write(1, counting(0, 480));
    drain(outbound);
    expect(outbound.takeDrained()).toBe(false);
    outbound.finish(1);
    expect(outbound.takeDrained()).toBe(false);
    drain(outbound);
    expect([outbound.takeDrained(), outbound.takeDrained()]).toEqual([true, false]);
  });

  it('is drained at once when a context ends without any audio', () => {
    const outbound = newOutbound();
    outbound.write(1, new Int16Array(0));
    outbound.finish(1);
    expect([outbound.ready, outbound.takeDrained()]).toEqual([false, true]);
  });

  it('is overfull above 8 s of waiting audio and has room below 4 s', () => {
    const outbound = newOutbound();
    for (let i = 0; i < 400; i += 1) outbound.write(1, counting(0, 320));
    expect([outbound.overfull, outbound.hasRoom]).toEqual([false, false]);
    outbound.write(1, counting(0, 1));
    expect([outbound.overfull, outbound.hasRoom]).toEqual([true, false]);
    for (let i = 0; i < 201; i += 1) if (outbound.ready) outbound.takeFrame();
    expect([outbound.overfull, outbound.hasRoom]).toEqual([false, true]);
  });

  it('reports less sent than delivered until the end, at every pair of rates', () => {
    fc.assert(
      fc.property(rates, rates, fc.integer({ min: 1, max: 3_000 }), (fromRate, toRate, count) => {
        const outbound = newOutbound(fromRate, toRate);
        outbound.write(1, counting(0, count));
        outbound.mark(1, 'end');
        outbound.finish(1);
        while (outbound.ready) {
          outbound.takeFrame();
          expect(outbound.sentMs).toBeLessThanOrEqual(outbound.deliveredMs);
        }
        expect(outbound.takeDrained()).toBe(true);
        expect(outbound.takeMark()?.id).toBe('end');
        expect(outbound.sentMs).toBeCloseTo(outbound.deliveredMs, 6);
      }),
      { numRuns: 200 },
    );
  });

  it('gives out the resampled audio whole, however TTS cuts it, whenever frames are taken, at every rate', () => {
    const piece = fc.record({ samples: fc.integer({ min: 0, max: 4_000 }), takes: fc.nat(6) });
    const codec = fc.constantFrom('pcm16' as const, 'mulaw' as const);
    fc.assert(
      fc.property(
        rates,
        rates,
        codec,
        fc.array(piece, { maxLength: 8 }),
        (fromRate, toRate, encoding, pieces) => {
          const outbound = newOutbound(fromRate, toRate, encoding);
          const total = pieces.reduce((sum, { samples }) => sum + samples, 0);
          const pcm = Int16Array.from(
            { length: total },
            (_, i) => 12_000 * Math.sin(i / 7) + ((i * 37) % 500),
          );
          const frames: Buffer[] = [];
          let at = 0;
          for (const { samples, takes } of pieces) {
            outbound.write(1, pcm.subarray(at, at + samples));
            at += samples;
            for (let i = 0; i < takes && outbound.ready; i += 1) frames.push(outbound.takeFrame());
          }
          outbound.finish(1);
          frames.push(...drain(outbound));
          const frameSamples = toRate / 50;
          const whole = newResampler({ from: fromRate, to: toRate });
          const expected = [...whole.process(pcm), ...(total > 0 ? whole.flush() : [])];
          while (expected.length % frameSamples !== 0) expected.push(0);
          const samples = Int16Array.from(expected);
          const wire = encoding === 'mulaw' ? new Uint8Array(samples.length) : new Uint8Array(samples.buffer);
          if (encoding === 'mulaw') encodeMulaw(samples, wire);
          expect(Buffer.compare(Buffer.concat(frames), Buffer.from(wire))).toBe(0);
          expect(new Set(frames.map(({ length }) => length)).size).toBeLessThan(2);
        },
      ),
      { numRuns: 150 },
    );
  });
});

function readied(outbound: OutboundAudio): OutboundAudio {
  expect(outbound.ready).toBe(true);
  return outbound;
}

describe('a voice that is cut', () => {
  const voice = Int16Array.from({ length: 16_000 }, (_, at) =>
    Math.round(12_000 * Math.sin((2 * Math.PI * 183 * at) / 16_000)),
  );
  const wire = (frames: readonly Buffer[]): number[] => [...frames.flatMap(samplesOf), 0];
  /** The hardest step between two samples, of full scale. */
  const step = (samples: readonly number[]): number =>
    Math.max(...samples.map((sample, at) => Math.abs(sample - (samples[at - 1] ?? sample)))) / 32_768;

  it.each([
    ['loud', undefined],
    ['giving way', 100],
  ])('while it is %s, fades within the next frame instead of clicking', (_, duckMs) => {
    const taken: Int16Array[] = [];
    const outbound = new OutboundAudio({
      ...{ fromRate: 16_000, toRate: 16_000, encoding: 'pcm16' },
      taken: (pcm) => taken.push(pcm.slice()),
    });
    outbound.open(1);
    outbound.write(1, voice);
    const frames = Array.from({ length: 10 }, () => readied(outbound).takeFrame());
    if (duckMs !== undefined) {
      outbound.hold(duckMs);
      frames.push(readied(outbound).takeFrame());
    }
    const clicks = step(wire(frames.slice(-1)));
    outbound.clear({ fades: true });
    expect([outbound.hasBackdrop, outbound.sentMs, outbound.ready]).toEqual([true, 0, false]);
    frames.push(outbound.takeBackdrop());
    expect(outbound.hasBackdrop).toBe(false);
    // A voice of this height has steps of its own.
    expect(step(wire(frames))).toBeLessThan(1.1 * step([...voice]));
    expect(samplesOf(frames.at(-1)!).slice(-128)).toEqual(Array.from({ length: 128 }, () => 0));
    expect(Math.abs(samplesOf(frames.at(-1)!)[0]!)).toBeGreaterThan(100);
    expect(clicks).toBeGreaterThan(duckMs === undefined ? 0.15 : 0.02);
    // Recordings and echo detection have all of the voice that was on the wire.
    expect([...taken.at(-1)!]).toEqual(samplesOf(frames.at(-1)!));
  });

  it('fades into the next answer, where that is there at once', () => {
    const outbound = newOutbound();
    outbound.write(1, voice);
    const frames = Array.from({ length: 10 }, () => readied(outbound).takeFrame());
    outbound.clear({ fades: true });
    outbound.open(2);
    outbound.write(2, new Int16Array(640));
    frames.push(readied(outbound).takeFrame(), readied(outbound).takeFrame());
    expect(step(wire(frames))).toBeLessThan(1.1 * step([...voice]));
    expect(outbound.sentMs).toBe(40);
  });

  it.each([
    ['nothing of it was heard yet', false],
    ['it stood still before', true],
  ])('has no last moment where %s', (_, wasHeld) => {
    const outbound = newOutbound();
    outbound.write(1, voice);
    readied(outbound);
    if (wasHeld) {
      outbound.takeFrame();
      outbound.hold();
    }
    outbound.clear({ fades: true });
    expect(outbound.hasBackdrop).toBe(false);
  });

  it('is cut at once where the client drops what it has', () => {
    const outbound = newOutbound();
    outbound.write(1, voice);
    readied(outbound).takeFrame();
    outbound.clear();
    expect(outbound.hasBackdrop).toBe(false);
  });
});
