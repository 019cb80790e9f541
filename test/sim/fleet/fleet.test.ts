/** The capacity model of docs/scale.md against a simulated fleet: 10,000 calls on 50 hosts, with deaths and rollouts. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fleetFor, shareCutByDrain } from '../../support/fleet/capacity.ts';
import { everyNth } from '../../support/sampled.ts';
import { FleetSimulation, type FleetOutcome, type FleetSettings } from '../../support/fleet/simulation.ts';

const page = readFileSync(new URL('../../../docs/scale.md', import.meta.url), 'utf8');
const hour = 3_600;
const demand = { peakCalls: 10_000, coresPerHost: 8, target: 0.53, spareHosts: 2 };
const fleet = fleetFor(demand);

const base: FleetSettings = {
  seed: 1,
  hosts: fleet.hosts,
  maxSessions: fleet.maxSessions,
  meanCalls: demand.peakCalls,
  meanCallS: 180,
  lastsS: 2 * hour,
  drainS: 30,
  startS: 20,
  noticeS: 30,
  deathsAtS: [],
  rolloutsAtS: [],
  looksAtReadiness: true,
};
const run = (change: Partial<FleetSettings> = {}): FleetOutcome =>
  new FleetSimulation({ ...base, ...change }).run();
const deaths = [2_400, 2_405, 3_000, 4_000, 4_001, 5_000];

describe('10,000 calls on 50 hosts', () => {
  it('are what the model says that they need', () => {
    expect(fleet).toEqual({ hosts: 50, maxSessions: 400, megabytesPerHost: 750, mbitPerHost: 159 });
    for (const figure of ['50 hosts', '400', '750 MB', '159 Mbit/s']) expect(page).toContain(figure);
  });

  it.each([2, 4, 8, 16])('on one host of %i cores are so many as the page says', (coresPerHost) => {
    const { maxSessions, megabytesPerHost, mbitPerHost } = fleetFor({
      peakCalls: coresPerHost * 50,
      coresPerHost,
      target: 1,
      spareHosts: 0,
    });
    expect(page).toContain(
      `| ${coresPerHost} | ${maxSessions} | ${megabytesPerHost} MB | ${mbitPerHost} Mbit/s |`,
    );
  });

  // A build tries another seed in each of these.
  it.each(everyNth([1, 2, 3], 3, 0))('lose and refuse none in a quiet day (seed %i)', (seed) => {
    const { refused, cut, told, most, fullest } = run({ seed });
    expect([refused, cut, told]).toEqual([0, 0, 0]);
    expect(most).toBeGreaterThan(9_800);
    expect(fullest).toBeLessThan(fleet.maxSessions);
  });

  it.each(everyNth([1, 2, 3], 3, 1))('count every call once, whatever happens (seed %i)', (seed) => {
    const { came, refused, completed, told, cut, open } = run({
      seed,
      deathsAtS: deaths,
      rolloutsAtS: [1_800],
    });
    expect(came).toBe(refused + completed + told + cut + open);
    expect(came).toBeGreaterThan(390_000);
  });

  it.each(everyNth([1, 2, 3], 3, 2))(
    'lose by a death no more than that host had, and refuse none (seed %i)',
    (seed) => {
      const { cut, refused, fullest } = run({ seed, deathsAtS: deaths });
      expect(refused).toBe(0);
      expect(cut).toBeGreaterThan(deaths.length * 100);
      expect(cut).toBeLessThanOrEqual(deaths.length * fullest);
    },
  );

  it.each([30, 180, 600, 1_800])('outlast a drain of %i s as often as the page says', (drainS) => {
    const { told, atDrain, refused, rolled } = run({ drainS, rolloutsAtS: [1_800], lastsS: 4 * hour });
    const expected = shareCutByDrain(drainS, base.meanCallS);
    expect([rolled, refused]).toEqual([fleet.hosts, 0]);
    expect(Math.abs(told / atDrain - expected)).toBeLessThan(0.02);
    const shown = `| ${drainS} s | ${(expected * 100).toFixed(expected < 0.001 ? 3 : 1)} % |`;
    expect(page).toContain(shown);
  });

  it('are refused when hosts are as full as they can be and some die', () => {
    const full = { hosts: 26, deathsAtS: deaths };
    expect(run(full).refused).toBeGreaterThan(1_000);
  });

  it('are refused by a balancer that does not look at readiness, which the model would notice', () => {
    expect(run({ rolloutsAtS: [1_800], looksAtReadiness: false }).refused).toBeGreaterThan(100);
  });

  it('are the same calls for the same seed', () => {
    expect(run({ deathsAtS: deaths })).toEqual(run({ deathsAtS: deaths }));
  });
});
