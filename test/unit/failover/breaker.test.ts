import { describe, expect, it } from 'vitest';
import {
  breakerInts,
  Breakers,
  probeExpiresMs,
  type Breaker,
  type Leave,
} from '../../../shared/protocol/breakers.ts';

const memory = (): Int32Array => new Int32Array(new SharedArrayBuffer(breakerInts * 4));
const one = (cells = memory()): Breaker => new Breakers(cells).of('llm', 'primary');

/** Fails until it is open, from `nowMs` on. */
function opened(breaker: Breaker, nowMs: number): void {
  while (breaker.state(nowMs) === 'closed') breaker.failed(breaker.ask(nowMs)!, nowMs);
}

describe('the breaker of a provider', () => {
  it('opens after three failures when there was nothing else', () => {
    const breaker = one();
    for (const state of ['closed', 'closed', 'open']) {
      breaker.failed(breaker.ask(1_000)!, 1_000);
      expect(breaker.state(1_000)).toBe(state);
    }
    expect(breaker.ask(1_000)).toBeUndefined();
    expect(breaker.timesOpened).toBe(1);
  });

  it('bears single failures among many successes, and opens after five in a row', () => {
    const breaker = one();
    for (let i = 0; i < 200; i += 1) {
      if (i % 10 === 0) breaker.failed(breaker.ask(i)!, i);
      else breaker.succeeded(breaker.ask(i)!, i);
    }
    for (let i = 0; i < 4; i += 1) breaker.failed(breaker.ask(300)!, 300);
    expect(breaker.state(300)).toBe('closed');
    breaker.failed(breaker.ask(300)!, 300);
    expect(breaker.state(300)).toBe('open');
  });

  it('opens when half of the uses of the last half minute failed, and forgets older ones', () => {
    const breaker = one();
    for (let i = 0; i < 2; i += 1) breaker.failed(breaker.ask(0)!, 0);
    breaker.succeeded(breaker.ask(0)!, 0);
    breaker.failed(breaker.ask(70_000)!, 70_000);
    breaker.succeeded(breaker.ask(70_000)!, 70_000);
    expect(breaker.state(70_000)).toBe('closed');
    breaker.failed(breaker.ask(95_000)!, 95_000);
    breaker.succeeded(breaker.ask(95_000)!, 95_000);
    breaker.failed(breaker.ask(95_000)!, 95_000);
    expect(breaker.state(95_000)).toBe('open');
  });

  it('lets exactly one probe through when its pause is over, whoever asks', () => {
    const cells = memory();
    const [mine, theirs] = [one(cells), one(cells)];
    opened(mine, 5_000);
    expect(theirs.ask(6_999)).toBeUndefined();
    expect(theirs.state(7_000)).toBe('half-open');
    const probe = mine.ask(7_000);
    expect(probe?.kind).toBe('probe');
    expect([theirs.ask(7_000), mine.ask(7_100)]).toEqual([undefined, undefined]);
    mine.succeeded(probe!, 7_200);
    expect(theirs.state(7_200)).toBe('closed');
    expect(theirs.ask(7_200)?.kind).toBe('usual');
    // It starts over with a clean slate.
    theirs.failed(theirs.ask(7_300)!, 7_300);
    expect(theirs.state(7_300)).toBe('closed');
  });

  it('waits twice as long after each probe that fails, up to a minute', () => {
    const breaker = one();
    opened(breaker, 1_000);
    let nowMs = 1_000;
    const pauses: number[] = [];
    for (let i = 0; i < 7; i += 1) {
      const from = nowMs;
      let probe: Leave | undefined;
      while (probe === undefined) probe = breaker.ask((nowMs += 100));
      pauses.push(nowMs - from);
      breaker.failed(probe, nowMs);
    }
    expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(breaker.timesOpened).toBe(1);
  });

  it('gives an abandoned probe to the next who asks, and a lost one after a while', () => {
    const breaker = one();
    opened(breaker, 1_000);
    breaker.abandoned(breaker.ask(3_000)!);
    const lost = breaker.ask(3_000)!;
    expect(lost.kind).toBe('probe');
    expect(breaker.ask(3_000 + probeExpiresMs - 1)).toBeUndefined();
    const next = breaker.ask(3_000 + probeExpiresMs)!;
    expect(next.kind).toBe('probe');
    // The lost one comes to light and must not take the claim of the other away.
    breaker.abandoned(lost);
    expect(breaker.ask(3_000 + probeExpiresMs)).toBeUndefined();
  });

  it('is not closed by uses that began before it opened, but by one that had nowhere else to go', () => {
    const breaker = one();
    const early = breaker.ask(1_000)!;
    opened(breaker, 1_000);
    breaker.succeeded(early, 1_100);
    expect(breaker.state(1_100)).toBe('open');
    breaker.succeeded(breaker.force(), 1_200);
    expect(breaker.state(1_200)).toBe('closed');
  });

  it('stays open for as long as the provider asks, at most a minute', () => {
    const breaker = one();
    breaker.failed(breaker.ask(1_000)!, 1_000, { pauseMs: 7_000 });
    expect([breaker.state(7_999), breaker.state(8_000)]).toEqual(['open', 'half-open']);
    breaker.failed(breaker.ask(8_000)!, 8_000, { pauseMs: 3_600_000 });
    expect([breaker.state(67_999), breaker.state(68_000)]).toEqual(['open', 'half-open']);
  });

  it('is one for each provider of each stage', () => {
    const breakers = new Breakers(memory());
    opened(breakers.of('stt', 'primary'), 1_000);
    const states = (['stt', 'llm', 'tts'] as const).flatMap((stage) =>
      (['primary', 'secondary'] as const).map((role) => breakers.of(stage, role).state(1_000)),
    );
    expect(states).toEqual(['open', 'closed', 'closed', 'closed', 'closed', 'closed']);
  });
});
