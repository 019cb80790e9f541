/** The jitter buffer: order, holes, silences, and ways that become longer. */
import { describe, expect, it } from 'vitest';
import { JitterBuffer, type Pulled } from '../../../worker/media/rtp/jitter-buffer.ts';

const frame = 960;

function newBuffer(): JitterBuffer {
  return new JitterBuffer({ clockRate: 48_000, frameTicks: frame });
}

/** Packet `n` of a line that begins at sequence 65,530 and shortly before its timestamps wrap. */
const packet = (n: number): { sequence: number; timestamp: number; payload: Buffer } => ({
  sequence: (65_530 + n) & 0xffff,
  timestamp: (2 ** 32 - 3 * frame + n * frame) % 2 ** 32,
  payload: Buffer.from([n]),
});

function pullAll(buffer: JitterBuffer, now: number): string[] {
  const given: string[] = [];
  for (let one: Pulled = buffer.pull(now); one.kind !== 'nothing'; one = buffer.pull(now))
    given.push(
      one.kind === 'payload' ? String(one.payload[0]) : one.next === undefined ? '-' : `-${one.next[0]}`,
    );
  return given;
}

describe('the jitter buffer', () => {
  it('gives what is next in line at once, over the wrap of both counters', () => {
    const buffer = newBuffer();
    for (let n = 0; n < 20; n += 1) {
      buffer.push(packet(n), n * 20);
      expect(pullAll(buffer, n * 20)).toEqual([String(n)]);
    }
  });

  it('puts packets into order, and gives none twice', () => {
    const buffer = newBuffer();
    buffer.push(packet(0), 0);
    expect(pullAll(buffer, 0)).toEqual(['0']);
    buffer.push(packet(2), 20);
    buffer.push(packet(2), 20);
    expect(pullAll(buffer, 20)).toEqual([]);
    buffer.push(packet(1), 25);
    expect(pullAll(buffer, 25)).toEqual(['1', '2']);
    expect(buffer.stats.duplicate).toBe(1);
  });

  it('conceals a packet that does not come, with what the one behind it says of it', () => {
    const buffer = newBuffer();
    buffer.push(packet(0), 0);
    pullAll(buffer, 0);
    buffer.push(packet(2), 40);
    expect(pullAll(buffer, 40)).toEqual([]);
    expect(pullAll(buffer, 100)).toEqual(['-2', '2']);
    buffer.push(packet(1), 101);
    expect(pullAll(buffer, 101)).toEqual([]);
    expect(buffer.stats).toMatchObject({ late: 1, concealed: 1 });
  });

  it('waits longer where packets come later, and not where they are on time', () => {
    const [steady, shaken] = [newBuffer(), newBuffer()];
    for (let n = 0; n < 100; n += 1) {
      steady.push(packet(n), n * 20);
      pullAll(steady, n * 20);
      const late = n * 20 + (n % 10 === 0 ? 60 : 0);
      shaken.push(packet(n), late);
      pullAll(shaken, late);
    }
    expect(steady.stats.waitMs).toBe(10);
    expect(shaken.stats.waitMs).toBeGreaterThanOrEqual(60);
  });

  it('goes on with time where nothing comes, and after that where the client is', () => {
    const buffer = newBuffer();
    buffer.push(packet(0), 0);
    pullAll(buffer, 0);
    const given: string[] = [];
    for (let now = 20; now <= 1_000; now += 20) given.push(...pullAll(buffer, now));
    expect(given.length).toBeGreaterThan(40);
    expect(new Set(given)).toEqual(new Set(['-']));
    // The network delivers what it held back: some of it is lost, the rest is heard.
    for (let n = 1; n <= 50; n += 1) buffer.push(packet(n), 1_000);
    expect(pullAll(buffer, 1_000).filter((one) => one !== '-').length).toBeGreaterThan(40);
  });

  it('waits for nothing where the client was silent and skipped no number', () => {
    const buffer = newBuffer();
    buffer.push(packet(0), 0);
    pullAll(buffer, 0);
    const after = { ...packet(1), timestamp: packet(6).timestamp };
    buffer.push(after, 120);
    expect(pullAll(buffer, 120)).toEqual(['-', '-', '-', '-', '-', '1']);
  });
});
