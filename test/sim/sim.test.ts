/** Seeded calls against faults of every kind, judged by a model that never looks into the core. */
import { describe, it, expect } from 'vitest';
import { realCore } from '../support/core/core.ts';
import { tries } from '../support/sampled.ts';
import { planOf } from './plan.ts';
import { explained, runSeeds } from './seeds.ts';
import { runWorld } from './world/world.ts';

const seeds = tries(2_000, 800);
/** Of 23,000: some broke a rule once, some showed that a judge was wrong. */
const onceWrong = [
  4_012, 5_494, 5_769, 7_281, 8_105, 8_316, 13_556, 14_445, 16_111, 16_491, 17_450, 18_887, 19_322, 19_412,
  22_472,
];

describe('simulated calls', () => {
  const report = runSeeds(realCore, 1, { count: seeds });

  it(`hold every rule in ${seeds} seeds`, () => {
    expect(report.seeds).toBe(seeds);
    const first = report.failed[0];
    expect(first === undefined ? '' : explained(realCore, first.seed)).toBe('');
  });

  it.each(onceWrong)('hold every rule in seed %i', (seed) => {
    const broken = runWorld(realCore, seed).violations.length > 0;
    expect(broken ? explained(realCore, seed) : '').toBe('');
  });

  it('are real conversations: each kind of order is given often', () => {
    const orders = Object.fromEntries(report.orders);
    expect(report.virtualMs).toBeGreaterThan(seeds * 30_000);
    expect(report.steps).toBeGreaterThan(seeds * 100);
    for (const [type, times] of Object.entries({
      'llm.start': 2,
      'llm.cancel': 0.5,
      'tool.run': 0.1,
      'tts.speak': 5,
      'playout.clear': 0.8,
      'playout.pause': 1,
      'playout.resume': 0.3,
      'playout.mark': 3,
      'playout.finish': 0.05,
      'stt.listen': 4,
      'stt.finalize': 4,
      'stt.flush': 0.5,
      'stt.reopen': 0.1,
      'stt.replay': 0.1,
      'turn.judge': 1,
      'tts.reopen': 0.1,
      'command.answered': 0.1,
      'call.end': 0.2,
    }))
      expect(orders[type], type).toBeGreaterThan(times * seeds);
  });

  it('are those of models with a voice of their own, too', () => {
    const speaking = Array.from({ length: seeds }, (_, at) => planOf(at + 1)).filter(
      ({ settings }) => settings.modelSpeaks === true,
    );
    expect(speaking.length).toBeGreaterThan(seeds / 20);
  });

  it('are the same again for the same seed', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const [first, second] = [1, 2].map(() => runWorld(realCore, seed, { keep: true }).trace);
      expect(first!.hash).toBe(second!.hash);
      expect(first!.lines).toEqual(second!.lines);
    }
    const hashes = new Set(Array.from({ length: 20 }, (_, seed) => runWorld(realCore, seed).trace.hash));
    expect(hashes.size).toBe(20);
  });
});
