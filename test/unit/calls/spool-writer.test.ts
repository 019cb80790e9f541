/** What workers write to the spool, on a disk that takes nothing for a while. */
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { spoolFile } from '../../../shared/calls/spool.ts';
import { SpoolWriter, type SpoolDisk } from '../../../worker/calls/spool-writer.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

/** A disk in memory. */
class Disk implements SpoolDisk {
  isFull = false;
  readonly #clock: Clock;
  readonly files = new Map<string, string>();
  readonly ended = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  append(name: string, text: string, done: (code?: string) => void): void {
    const { isFull } = this;
    if (!isFull) this.files.set(name, (this.files.get(name) ?? '') + text);
    this.#clock.after(0, () => done(isFull ? 'ENOSPC' : undefined));
  }

  touch(): void {
    // Nobody looks.
  }

  end(name: string, done: (code?: string) => void): void {
    this.ended.add(name);
    this.#clock.after(0, () => done());
  }
}

function world() {
  const clock = newVirtualClock();
  const disk = new Disk(clock);
  const counts = { failed: 0, leftOut: 0 };
  const writer = new SpoolWriter({
    disk,
    clock,
    failed: () => void (counts.failed += 1),
    leftOut: () => void (counts.leftOut += 1),
  });
  const call = (id: string): void => {
    writer.write(id, { at: 0 }, { isVital: true });
    writer.end(id, { at: 1 });
  };
  return { disk, clock, counts, writer, call };
}

describe('a disk that takes nothing', () => {
  it('gets all of it later', () => {
    const { disk, clock, counts, call } = world();
    disk.isFull = true;
    for (let n = 0; n < 100; n += 1) call(`c${n}`);
    clock.advance(10_000);
    expect(counts.failed).toBeGreaterThan(5);
    disk.isFull = false;
    clock.advance(2_000);
    expect(disk.ended.size).toBe(100);
    expect(disk.files.get(spoolFile('c0'))).toBe('\n{"at":0,"n":0}\n{"at":1,"n":1}\n');
    expect(counts.leftOut).toBe(0);
  });

  it('leaves out the oldest of very many calls, and counts them', () => {
    const { disk, clock, counts, call } = world();
    disk.isFull = true;
    for (let n = 0; n < 5_010; n += 1) call(`c${n}`);
    clock.advance(2_000);
    disk.isFull = false;
    clock.advance(2_000);
    expect(counts.leftOut).toBe(10);
    expect(disk.ended.size).toBe(5_000);
    expect(disk.files.has(spoolFile('c9'))).toBe(false);
    expect(disk.files.has(spoolFile('c10'))).toBe(true);
  });

  it('does not keep the worker from its end', async () => {
    const { disk, clock, writer, call } = world();
    disk.isFull = true;
    call('c');
    const closed = writer.close();
    clock.advance(2_000);
    await closed;
  });
});
