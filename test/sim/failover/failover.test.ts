/** A provider is killed at a random instant of a turn, a thousand times for each stage, in a build 300 times. */
import { describe, expect, it } from 'vitest';
import { tries } from '../../support/sampled.ts';
import { runLlm } from './failover-llm.ts';
import { runStt } from './failover-stt.ts';
import { runTts } from './failover-tts.ts';

const runs = tries(1_000, 300);
const seeds = Array.from({ length: runs }, (_, at) => at + 1);

describe(`when the primary is killed at a random instant, in ${runs} seeded runs`, () => {
  it('no word of the caller is lost or heard twice, and the final text comes in time', () => {
    const all = seeds.map((seed) => ({ seed, ...runStt(seed) }));
    expect(all.filter(({ violations }) => violations.length > 0).slice(0, 3)).toEqual([]);
    expect(all.filter(({ failovers }) => failovers > 0).length).toBeGreaterThan(runs * 0.7);
  });

  it('the answer comes of one model, whole unless its first words were delivered, and in time', () => {
    const all = seeds.map((seed) => ({ seed, ...runLlm(seed) }));
    expect(all.filter(({ violations }) => violations.length > 0).slice(0, 3)).toEqual([]);
    expect(all.filter(({ failovers }) => failovers > 0).length).toBeGreaterThan(runs * 0.3);
    expect(all.filter(({ wasCut }) => wasCut).length).toBeGreaterThan(runs * 0.05);
  });

  it('no word of the answer is lost, none twice but of a piece that was broken off, and the first comes in time', () => {
    const all = seeds.map((seed) => ({ seed, ...runTts(seed) }));
    expect(all.filter(({ violations }) => violations.length > 0).slice(0, 3)).toEqual([]);
    expect(all.filter(({ failovers }) => failovers > 0).length).toBeGreaterThan(runs * 0.5);
  });
});
