/** A voice that gave way for nothing goes on at the sample at which it stood, wherever within a frame it was held and let go. */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { OutboundAudio } from '../../../worker/media/out/outbound.ts';
import { Pacer } from '../../../worker/media/out/pacer.ts';
import { Playout } from '../../../worker/media/out/playout.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const toRate = 16_000;
const loud = 12_000;
/** Only the sign of a sample names its place: how loud it is, the call decides. */
const voice = (ms: number, rate: number): Int16Array => {
  const prng = newPrng(7);
  return Int16Array.from({ length: (rate * ms) / 1000 }, () => (prng.chance(0.5) ? loud : -loud));
};

interface Delivery {
  readonly rate: number;
  readonly pieceMs: number;
}

interface Hold {
  readonly atMs: number;
  readonly forMs: number;
  readonly duckMs: number;
  readonly softly: boolean;
}

/** What the client gets of a voice that is delivered in pieces, and held once or never. */
function heard(source: Int16Array, { rate, pieceMs }: Delivery, hold?: Hold): number[] {
  const clock = newVirtualClock();
  const samples: number[] = [];
  const audio = new OutboundAudio({ fromRate: rate, toRate, encoding: 'pcm16' });
  const pacer = new Pacer(clock, (now) => {
    playout.advance(now);
    return now;
  });
  const nothing = (): void => undefined;
  const playout: Playout = new Playout(audio, {
    gridBefore: (time) => pacer.gridBefore(time),
    sink: {
      stretchBegins: nothing,
      sendFrame: (frame) => {
        for (let at = 0; at < frame.length; at += 2) samples.push(frame.readInt16LE(at));
      },
      sendBackdrop: nothing,
      sendMark: nothing,
      started: nothing,
      drained: nothing,
      late: nothing,
      held: nothing,
      underrun: nothing,
      starved: nothing,
      fed: nothing,
    },
  });
  pacer.start();
  pacer.wakeBy(0);
  clock.advance(100);
  audio.open(1);
  const size = (rate * pieceMs) / 1000;
  let given = 0;
  for (let ms = 0; ms < 900; ms += 1) {
    if (ms % Math.max(1, pieceMs - 1) === 0 && given < source.length) {
      audio.write(1, source.slice(given, given + size));
      given += size;
      if (given >= source.length) audio.finish(1);
      playout.advance(clock.now());
    }
    if (ms === hold?.atMs) {
      audio.hold(hold.duckMs);
      if (hold.duckMs === 0) playout.interrupt();
    }
    if (hold !== undefined && ms === hold.atMs + hold.forMs) {
      audio.release({ softly: hold.softly });
      playout.advance(clock.now());
    }
    clock.advance(1);
  }
  return samples;
}

const numbers = (from: number, to: number, by: number): number[] =>
  Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, at) => from + at * by);

describe('a voice that was held for nothing', () => {
  it.each(
    [0, 60, 100].flatMap((duckMs) =>
      [16_000, 24_000].flatMap((rate) => [7, 20, 33].map((pieceMs) => ({ duckMs, rate, pieceMs }))),
    ),
  )('is heard once from its first sample to its last (%j)', ({ duckMs, ...delivery }) => {
    const source = voice(300, delivery.rate);
    const whole = heard(source, delivery);
    for (const atMs of numbers(80, 100, 1))
      for (const forMs of [1, 7, 20, 59, 60, 61, 100, 233]) {
        const samples = heard(source, delivery, { atMs, forMs, duckMs, softly: atMs % 2 === 0 });
        const wrong = samples.findIndex(
          (value, at) => value !== 0 && Math.sign(value) !== Math.sign(whole[at] ?? 0),
        );
        expect({ atMs, forMs, wrong, length: samples.length }).toEqual({
          atMs,
          forMs,
          wrong: -1,
          length: whole.length,
        });
      }
  });
});
