/** Playout in virtual time: when frames, marks and facts about them leave. */
import { describe, expect, it } from 'vitest';
import { OutboundAudio, type Backdrop } from '../../../worker/media/out/outbound.ts';
import { Pacer } from '../../../worker/media/out/pacer.ts';
import { Playout } from '../../../worker/media/out/playout.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const frameSamples = 320;

/** Audio of whole frames at 16 kHz; the first sample of each names it. */
const audioOf = (frames: number, from = 1): Int16Array =>
  Int16Array.from({ length: frames * frameSamples }, (_, i) => from + Math.floor(i / frameSamples));

interface Setup {
  leadMs?: () => number;
  backdrop?: Backdrop;
}

function newSetup({ leadMs = () => 0, backdrop }: Setup = {}) {
  const clock = newVirtualClock();
  const sent: { at: number; name: number }[] = [];
  const facts: string[] = [];
  const late: number[] = [];
  const stretches: number[] = [];
  const backdrops: number[] = [];
  const audio = new OutboundAudio({
    fromRate: 16_000,
    toRate: 16_000,
    encoding: 'pcm16',
    backdrops: backdrop && [backdrop],
  });
  let stalled = false;
  const pacer = new Pacer(clock, (now) => {
    if (!stalled) playout.advance(now);
    return now;
  });
  const playout: Playout = new Playout(audio, {
    gridBefore: (time) => pacer.gridBefore(time),
    leadMs,
    sink: {
      stretchBegins: () => stretches.push(clock.now()),
      sendFrame: (frame) => sent.push({ at: clock.now(), name: frame.readInt16LE(0) }),
      sendBackdrop: () => backdrops.push(clock.now()),
      sendMark: ({ id }) => facts.push(`mark ${id} behind ${sent.length}`),
      started: (context) => facts.push(`started ${context} at ${clock.now()}`),
      drained: (context, sentMs) => facts.push(`drained ${context} after ${sentMs}`),
      late: (byMs) => late.push(byMs),
      held: () => facts.push(`held at ${clock.now()}`),
      underrun: () => facts.push(`underrun at ${clock.now()}`),
      starved: (context, sentMs) => facts.push(`starved ${context} after ${sentMs}`),
      fed: (context) => facts.push(`fed ${context} at ${clock.now()}`),
    },
  });
  pacer.start();
  pacer.wakeBy(0);
  clock.advance(102);
  audio.open(1);
  const write = (pcm: Int16Array, context = 1): void => {
    audio.write(context, pcm);
    playout.advance(clock.now());
  };
  const times = (): number[] => sent.map(({ at }) => at);
  /** No tick reaches playout meanwhile. */
  const stall = (ms: number): void => {
    stalled = true;
    clock.advance(ms);
    stalled = false;
  };
  return { clock, sent, facts, late, stretches, audio, playout, write, times, stall, backdrops };
}

describe('playout', () => {
  it('sends the first frame at once and then one every 20 ms on the grid of ticks', () => {
    const { clock, write, times, late, facts } = newSetup();
    write(audioOf(6));
    clock.advance(200);
    expect(times()).toEqual([102, 120, 140, 160, 180, 200]);
    expect(late).toEqual([0, 0, 0, 0, 0]);
    expect(facts[0]).toBe('started 1 at 102');
  });

  it('never sends the second frame less than 15 ms after the first', () => {
    for (let phase = 0; phase < 5; phase += 0.5) {
      const { clock, write, times } = newSetup();
      clock.advance(phase);
      write(audioOf(3));
      clock.advance(100);
      const [first, second, third] = times();
      expect(second! - first!).toBeGreaterThanOrEqual(15);
      expect(second! - first!).toBeLessThanOrEqual(20);
      expect(third! - second!).toBe(20);
    }
  });

  it('keeps the grid over an hour of audio', () => {
    const { clock, audio, write, sent } = newSetup();
    write(audioOf(10));
    clock.advance(18);
    for (let i = 0; i < 18_000; i += 1) {
      audio.write(1, audioOf(10));
      clock.advance(200);
    }
    expect(sent).toHaveLength(180_002);
    expect(sent.at(-1)!.at).toBe(120 + 180_000 * 20);
  });

  it('catches up at most five frames at once and says how late they were', () => {
    const { clock, write, times, late, stretches, stall } = newSetup();
    write(audioOf(20));
    clock.advance(18);
    stall(84);
    clock.advance(36);
    expect(times()).toEqual([102, 120, 205, 205, 205, 205, 220, 240]);
    expect(late).toEqual([0, 65, 45, 25, 5, 0, 0]);
    expect(stretches).toEqual([102]);
  });

  it('starts a new stretch after a long stall instead of racing after the time that was lost', () => {
    const { clock, write, times, stall } = newSetup();
    write(audioOf(100));
    clock.advance(18);
    stall(1_000);
    clock.advance(67);
    const after = times().filter((at) => at > 1_000);
    expect(after.slice(0, 5)).toEqual([1_125, 1_125, 1_125, 1_125, 1_125]);
    expect(after.slice(5)).toEqual([1_130, 1_150, 1_170]);
  });

  it('counts starvation once per hole, and plays at once when audio comes', () => {
    const { clock, write, times, facts, stretches } = newSetup();
    write(audioOf(2));
    clock.advance(130);
    write(audioOf(2, 3));
    clock.advance(60);
    expect(times()).toEqual([102, 120, 232, 250]);
    expect(stretches).toEqual([102, 232]);
    expect(facts).toEqual([
      'started 1 at 102',
      'underrun at 140',
      'starved 1 after 40',
      'fed 1 at 232',
      'underrun at 270',
      'starved 1 after 80',
    ]);
  });

  it('does not call the end of a finished context starvation', () => {
    const { clock, write, audio, facts } = newSetup();
    write(audioOf(2));
    audio.finish(1);
    clock.advance(200);
    expect(facts).toEqual(['started 1 at 102', 'drained 1 after 40']);
  });

  it('sends marks behind their audio and before the end of the context', () => {
    const { clock, audio, write, facts } = newSetup();
    write(audioOf(2));
    audio.mark(1, 'a');
    audio.write(1, audioOf(1));
    audio.mark(1, 'b');
    audio.finish(1);
    clock.advance(200);
    expect(facts).toEqual(['started 1 at 102', 'mark a behind 2', 'mark b behind 3', 'drained 1 after 60']);
  });

  it('sends the mark behind audio that leaves a part of a frame, once there is nothing else', () => {
    const { clock, audio, write, facts, playout } = newSetup();
    write(audioOf(2).subarray(0, 1.5 * frameSamples));
    audio.mark(1, 'a');
    clock.advance(60);
    expect(facts).toEqual(['started 1 at 102', 'underrun at 120', 'starved 1 after 20', 'mark a behind 1']);
    audio.hold();
    write(audioOf(2));
    audio.mark(1, 'b');
    playout.advance(clock.now());
    expect(facts).toHaveLength(4);
  });

  it('sends nothing while held, and the next frame at the moment of release', () => {
    const { clock, audio, playout, write, sent } = newSetup();
    write(audioOf(5));
    clock.advance(20);
    audio.hold();
    playout.interrupt();
    clock.advance(331);
    audio.release();
    playout.advance(clock.now());
    clock.advance(50);
    expect(sent).toEqual([
      { at: 102, name: 1 },
      { at: 120, name: 2 },
      { at: 453, name: 3 },
      { at: 470, name: 4 },
      { at: 490, name: 5 },
    ]);
  });

  it('keeps a client that needs a lead so far ahead, and calls nothing starvation while it has that to play', () => {
    const { clock, write, times, late, facts, stall } = newSetup({ leadMs: () => 60 });
    write(audioOf(7));
    clock.advance(18);
    expect(times()).toEqual([102, 102, 102, 102, 120]);
    stall(67);
    clock.advance(70);
    expect(times().slice(5)).toEqual([190, 190]);
    expect(late).toEqual([0, 0, 0, 0, 0, 0]);
    expect(facts).toEqual(['started 1 at 102', 'underrun at 240', 'starved 1 after 140']);
  });

  it('lets the lead run down while a caller may be about to interrupt, and builds it up again', () => {
    let isHeard = false;
    const { clock, write, times } = newSetup({ leadMs: () => (isHeard ? 0 : 60) });
    write(audioOf(40));
    clock.advance(100);
    isHeard = true;
    const before = times().length;
    clock.advance(78);
    expect(times().slice(before)).toEqual([280]);
    isHeard = false;
    clock.advance(5);
    expect(times().slice(before)).toEqual([280, 285, 285, 285]);
  });

  it('does not add one lead to another where contexts follow each other, but after a clear', () => {
    const { clock, audio, playout, write, times } = newSetup({ leadMs: () => 60 });
    write(audioOf(10));
    clock.advance(58);
    const context = (id: number, isCleared: boolean): number[] => {
      const before = times().length;
      audio.open(id);
      playout.interrupt(isCleared ? { clearedAt: clock.now() } : {});
      write(audioOf(20), id);
      clock.advance(59);
      return times().slice(before);
    };
    expect(context(2, false)).toEqual([160, 200]);
    expect(context(3, true)).toEqual([219, 219, 219, 219, 235, 255, 275]);
  });

  it('reports the start of every context once', () => {
    const { clock, audio, playout, write, facts } = newSetup();
    write(audioOf(5));
    clock.advance(30);
    audio.open(2);
    playout.interrupt();
    write(audioOf(3), 2);
    clock.advance(30);
    expect(facts).toEqual(['started 1 at 102', 'started 2 at 132']);
  });
});

describe('playout with a backdrop', () => {
  const sounding = { sounds: true, mix: () => undefined };
  /** Frames of either kind, in order. */
  const all = ({ backdrops, sent }: ReturnType<typeof newSetup>): number[] =>
    [...backdrops, ...sent.map(({ at }) => at)].toSorted((a, b) => a - b);

  it('sends one frame every 20 ms while the agent is silent, and tells nobody of it', () => {
    const { clock, backdrops, facts, stretches, late } = newSetup({ backdrop: sounding });
    clock.advance(98);
    expect(backdrops.slice(-4)).toEqual([140, 160, 180, 200]);
    expect([facts, stretches, late]).toEqual([[], [], []]);
  });

  it('gives the agent the next place at once, so that its frames never add up to more than time', () => {
    const setup = newSetup({ backdrop: sounding });
    const { clock, audio, write, times, facts } = setup;
    for (let context = 1; context <= 200; context += 1) {
      audio.open(context);
      clock.advance(7 + (context % 20));
      const before = clock.now();
      write(audioOf(2), context);
      audio.finish(context);
      expect(times().at(-1)).toBe(before);
      clock.advance(60);
    }
    const began = setup.backdrops[0]!;
    expect(Math.abs(all(setup).length - (clock.now() - began) / 20)).toBeLessThanOrEqual(1.5);
    expect(facts.filter((fact) => fact.startsWith('underrun'))).toEqual([]);
    expect(facts.filter((fact) => fact.startsWith('drained'))).toHaveLength(200);
  });

  it('fills a hole in the voice, which is one all the same', () => {
    const setup = newSetup({ backdrop: sounding });
    setup.clock.advance(18);
    setup.write(audioOf(2));
    setup.clock.advance(130);
    setup.write(audioOf(2, 3));
    setup.clock.advance(60);
    const plain = newSetup();
    plain.clock.advance(18);
    plain.write(audioOf(2));
    plain.clock.advance(130);
    plain.write(audioOf(2, 3));
    plain.clock.advance(60);
    const kinds = (facts: string[]): string[] => facts.map((fact) => fact.replace(/ at .*/, ''));
    expect(kinds(setup.facts)).toEqual(kinds(plain.facts));
    // Each frame is there when what the client has before it is over.
    const frames = all(setup);
    for (const [index, at] of frames.entries()) expect(at - frames[0]!).toBeLessThanOrEqual(index * 20);
  });

  it('goes on while the voice is held, and the voice at the sample at which it stood', () => {
    const setup = newSetup({ backdrop: sounding });
    const { clock, audio, playout, write, sent, backdrops } = setup;
    write(audioOf(5));
    clock.advance(20);
    const held = backdrops.length;
    audio.hold();
    playout.interrupt();
    clock.advance(331);
    expect(backdrops.length - held).toBeGreaterThanOrEqual(16);
    audio.release();
    playout.advance(clock.now());
    clock.advance(80);
    expect(sent.map(({ name }) => name)).toEqual([1, 2, 3, 4, 5]);
  });

  it('goes on after a clear in the next place of its grid, however far ahead the voice was', () => {
    for (const leadMs of [0, 80]) {
      const setup = newSetup({ backdrop: sounding, leadMs: () => leadMs });
      const { clock, audio, playout, write } = setup;
      for (let round = 1; round <= 50; round += 1) {
        audio.open(round);
        write(audioOf(20), round);
        clock.advance(103 + (round % 20));
        audio.clear();
        const clearedAt = clock.now();
        playout.interrupt({ clearedAt });
        const count = setup.backdrops.length;
        clock.advance(25);
        expect(setup.backdrops.length).toBeGreaterThan(count);
        expect(setup.backdrops[count]! - clearedAt).toBeLessThanOrEqual(20);
        clock.advance(200);
      }
      if (leadMs > 0) continue;
      // What a client gets is no more than time has passed, or it would have more and more in store.
      expect(all(setup).length).toBeLessThanOrEqual((clock.now() - setup.backdrops[0]!) / 20 + 2);
    }
  });

  it('leaves out what was missed in a stall', () => {
    const { clock, backdrops, stall } = newSetup({ backdrop: sounding });
    clock.advance(50);
    const before = backdrops.length;
    stall(500);
    clock.advance(60);
    expect(backdrops.length - before).toBeLessThanOrEqual(4);
  });

  it('is not there while it has no sound', () => {
    const backdrop = { sounds: false, mix: () => undefined };
    const setup = newSetup({ backdrop });
    setup.write(audioOf(6));
    setup.clock.advance(200);
    expect(setup.times()).toEqual([102, 120, 140, 160, 180, 200]);
    expect(setup.backdrops).toEqual([]);
    backdrop.sounds = true;
    setup.clock.advance(40);
    backdrop.sounds = false;
    setup.clock.advance(100);
    expect(setup.backdrops).toEqual([305, 325]);
  });
});

describe('a client that has fallen behind', () => {
  const sounding = { sounds: true, mix: () => undefined };

  /** Answers of 200 ms whose marks come back; after some of them the client plays later for good. */
  function answers({ lateMs, count }: { lateMs: (answer: number) => number; count: number }) {
    const setup = newSetup({ backdrop: sounding });
    const { clock, audio, playout, write, backdrops } = setup;
    const fills: number[] = [];
    for (let answer = 1; answer <= count; answer += 1) {
      audio.open(answer);
      write(audioOf(10), answer);
      audio.mark(answer, `m${answer}`);
      audio.finish(answer);
      clock.advance(200);
      const from = backdrops.length;
      clock.advance(100 + lateMs(answer));
      playout.markPlayed(`m${answer}`, clock.now());
      clock.advance(900 - lateMs(answer));
      fills.push(backdrops.length - from);
    }
    return { fills, backdrops };
  }

  it('by the word of several echoes gets so much less of the backdrop, once', () => {
    const { fills } = answers({ count: 10, lateMs: (answer) => (answer > 3 && answer < 7 ? 200 : 0) });
    const usual = fills[0]!;
    expect(fills.map((count) => Math.abs(count - usual) <= 1)).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((answer) => answer !== 6),
    );
    expect(usual - fills[5]!).toBeGreaterThanOrEqual(9);
    expect(usual - fills[5]!).toBeLessThanOrEqual(11);
  });

  it('gets all of it while single echoes are late, or all of them a little', () => {
    for (const lateMs of [
      (answer: number) => (answer % 3 === 0 ? 300 : 0),
      (answer: number) => (answer % 2) * 30,
    ]) {
      const { fills } = answers({ count: 12, lateMs });
      for (const count of fills) expect(Math.abs(count - fills[0]!)).toBeLessThanOrEqual(1);
    }
  });

  it('has the voice at once meanwhile, without a hole in it', () => {
    const { clock, audio, playout, write, times } = newSetup({ backdrop: sounding });
    for (let answer = 1; answer <= 6; answer += 1) {
      audio.open(answer);
      write(audioOf(1), answer);
      audio.mark(answer, `m${answer}`);
      audio.finish(answer);
      clock.advance(answer > 3 ? 300 : 100);
      playout.markPlayed(`m${answer}`, clock.now());
      if (answer < 6) clock.advance(200);
    }
    clock.advance(20);
    const now = clock.now();
    audio.open(7);
    write(audioOf(3), 7);
    clock.advance(400);
    const [first, second, third] = times().slice(-3);
    expect(first).toBe(now);
    expect(second! - first!).toBeLessThanOrEqual(20);
    expect(third! - second!).toBe(20);
  });
});
