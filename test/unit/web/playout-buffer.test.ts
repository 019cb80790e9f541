import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlayoutBuffer, type PlayoutEvent } from '../../../web/client/audio/playout-buffer.ts';

const RATE = 16_000;
const FRAME = 320;
const BLOCK = 128;

/** Drives a buffer by blocks of the audio clock and remembers everything that came out. */
class Player {
  readonly buffer = new PlayoutBuffer(RATE, { prebufferMs: 60, maxPrebufferMs: 200, maxBufferedMs: 2_000 });
  readonly events: PlayoutEvent[] = [];
  readonly heard: number[] = [];
  now = 0;

  frame(value: number): void {
    this.buffer.push(new Float32Array(FRAME).fill(value), this.now);
  }

  play(ms: number): void {
    const until = this.now + (ms * RATE) / 1000;
    while (this.now < until) {
      const block = new Float32Array(BLOCK);
      this.events.push(...this.buffer.read(block, this.now));
      this.heard.push(...block);
      this.now += BLOCK;
    }
  }

  get marks(): string[] {
    return this.events.flatMap((event) => (event.type === 'mark-played' ? [event.id] : []));
  }

  at(type: 'sounded' | 'drained'): number[] {
    return this.events.flatMap((event) => (event.type === type ? [event.atSample] : []));
  }
}

describe('the playout buffer', () => {
  it('waits for 60 ms of audio before it plays', () => {
    const player = new Player();
    player.frame(0.5);
    player.frame(0.5);
    player.play(8);
    expect(player.heard.every((value) => value === 0)).toBe(true);
    player.frame(0.5);
    player.play(8);
    expect(player.heard.at(-1)).toBe(0.5);
  });

  it('plays less than the prebuffer once it has waited as long, so that a short word is not kept back', () => {
    const player = new Player();
    player.frame(0.5);
    player.play(64);
    expect(player.at('sounded')).toEqual([]);
    player.play(24);
    expect(player.at('sounded')).toHaveLength(1);
    expect(player.at('drained')).toHaveLength(1);
  });

  it('plays frames in order without a gap between them', () => {
    const player = new Player();
    for (const value of [0.1, 0.2, 0.3, 0.4]) player.frame(value);
    player.play(80);
    const runs = player.heard.filter((value, index) => value !== player.heard[index - 1]);
    expect(runs.map((value) => Number(value.toFixed(3)))).toEqual([0.1, 0.2, 0.3, 0.4]);
  });

  it('reports a mark when the last sample before it has been read and not earlier', () => {
    const player = new Player();
    for (let index = 0; index < 3; index += 1) player.frame(0.5);
    player.buffer.mark('first');
    player.frame(0.5);
    player.play(56);
    expect(player.marks).toEqual([]);
    player.play(8);
    expect(player.marks).toEqual(['first']);
  });

  it('reports a mark at once when nothing lies before it', () => {
    const player = new Player();
    player.buffer.mark('alone');
    player.play(8);
    expect(player.marks).toEqual(['alone']);
  });

  it('reports the mark behind the last audio in the block that ends it', () => {
    const player = new Player();
    for (let index = 0; index < 4; index += 1) player.frame(0.5);
    player.buffer.mark('end');
    player.play(80);
    expect(player.marks).toEqual(['end']);
  });

  it('drops audio and marks at once on clear and never reports them', () => {
    const player = new Player();
    for (let index = 0; index < 50; index += 1) player.frame(0.5);
    player.buffer.mark('cut');
    player.play(80);
    const before = player.heard.length;
    player.buffer.clear();
    expect(player.buffer.bufferedMs).toBe(0);
    player.play(1_000);
    expect(player.marks).toEqual([]);
    expect(player.at('drained')).toHaveLength(1);
    // A fade of 12 ms keeps the cut from clicking; silence follows.
    expect(Math.max(...player.heard.slice(before + 12 * 16).map(Math.abs))).toBe(0);
  });

  it.each([
    ['is cut', { frames: 30, cutAtMs: 203 }],
    ['is cut with little of it left', { frames: 10, cutAtMs: 195 }],
    ['runs dry', { frames: 10, cutAtMs: undefined }],
  ])('bends nowhere by more than -40 dB where a voice %s', (_, { frames, cutAtMs }) => {
    const player = new Player();
    // From the top of a wave to the next one.
    const hum = (from: number): Float32Array =>
      Float32Array.from(
        { length: FRAME },
        (_sample, at) => 0.3 * Math.sin((2 * Math.PI * 128 * (from + at)) / RATE),
      );
    for (let frame = 0; frame < frames; frame += 1) player.buffer.push(hum(frame * FRAME), 0);
    player.play(cutAtMs ?? 0);
    if (cutAtMs !== undefined) player.buffer.clear();
    player.play(400);
    const { heard } = player;
    const bends = heard.slice(2).map((sample, at) => Math.abs(sample - 2 * heard[at + 1]! + heard[at]!));
    expect(Math.max(...heard)).toBeCloseTo(0.3, 2);
    expect(20 * Math.log10(Math.max(...bends))).toBeLessThan(-40);
    expect(heard.at(-1)).toBe(0);
  });

  it('plays what comes in the moment of a cut behind its fade', () => {
    const player = new Player();
    for (let index = 0; index < 20; index += 1) player.frame(0.5);
    player.play(80);
    player.buffer.clear();
    for (let index = 0; index < 4; index += 1) player.frame(0.25);
    player.play(24);
    const steps = player.heard.slice(1).map((value, at) => player.heard[at]! - value);
    expect(Math.max(...steps)).toBeLessThan(0.01);
    expect(player.heard.at(-1)).toBe(0.25);
  });

  it('plays what comes after a clear', () => {
    const player = new Player();
    for (let index = 0; index < 10; index += 1) player.frame(0.5);
    player.play(80);
    player.buffer.clear();
    for (let index = 0; index < 3; index += 1) player.frame(0.25);
    player.buffer.mark('after');
    player.play(100);
    expect(player.heard).toContain(0.25);
    expect(player.marks).toEqual(['after']);
  });

  it('says when the agent became audible, past the silence in front', () => {
    const player = new Player();
    player.frame(0);
    player.frame(0);
    player.frame(0.5);
    player.play(80);
    expect(player.at('sounded')).toEqual([2 * FRAME]);
  });

  it('says again that the agent became audible after it was silent', () => {
    const player = new Player();
    for (let round = 0; round < 2; round += 1) {
      for (let index = 0; index < 3; index += 1) player.frame(0.5);
      player.play(500);
    }
    expect(player.at('sounded')).toHaveLength(2);
    expect(player.at('drained')).toHaveLength(2);
  });

  it('waits longer after a late frame, and less again after ten calm seconds', () => {
    const player = new Player();
    for (let index = 0; index < 3; index += 1) player.frame(0.5);
    player.play(104);
    player.frame(0.5);
    expect(player.buffer.lateFrames).toBe(1);
    expect(player.buffer.prebufferMs).toBe(80);
    for (let index = 0; index < 700; index += 1) {
      player.frame(0.5);
      player.play(16);
    }
    expect(player.buffer.lateFrames).toBe(1);
    expect(player.buffer.prebufferMs).toBe(60);
  });

  it('takes the pause between two answers for no late frame', () => {
    const player = new Player();
    for (let index = 0; index < 3; index += 1) player.frame(0.5);
    player.play(1_000);
    player.frame(0.5);
    expect(player.buffer.lateFrames).toBe(0);
  });

  it('stays within its bound by dropping the oldest audio', () => {
    const player = new Player();
    for (let index = 0; index < 500; index += 1) player.frame(index / 1_000);
    expect(player.buffer.bufferedMs).toBe(2_000);
    player.play(16);
    expect(player.heard[0]).toBeCloseTo(0.4, 5);
  });

  it('keeps order and reports each mark exactly after its audio, whatever the sizes and times', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('push' as const), samples: fc.integer({ min: 1, max: 900 }) }),
      fc.record({ kind: fc.constant('mark' as const) }),
      fc.record({ kind: fc.constant('play' as const), blocks: fc.integer({ min: 1, max: 20 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const buffer = new PlayoutBuffer(RATE);
        const owed = new Map<string, number>();
        let [now, pushed, read] = [0, 0, 0];
        const play = (): void => {
          const block = new Float32Array(BLOCK);
          const events = buffer.read(block, now);
          now += BLOCK;
          for (const value of block) if (value === read + 1) read += 1;
          for (const event of events) {
            if (event.type !== 'mark-played') continue;
            expect(owed.get(event.id)).toBeLessThanOrEqual(read);
            owed.delete(event.id);
          }
          for (const due of owed.values()) expect(due).toBeGreaterThan(read);
        };
        for (const [index, action] of steps.entries()) {
          if (action.kind === 'push') {
            buffer.push(
              Float32Array.from({ length: action.samples }, () => (pushed += 1)),
              now,
            );
          } else if (action.kind === 'mark') {
            buffer.mark(`m${index}`);
            owed.set(`m${index}`, pushed);
          } else for (let block = 0; block < action.blocks; block += 1) play();
        }
        for (let block = 0; block < pushed / BLOCK + 60; block += 1) play();
        expect(read).toBe(pushed);
        expect(owed.size).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});
