/** The arithmetic behind the benchmark's verdict: a wrong quantile would pass or fail the service for nothing. */
import { describe, expect, it } from 'vitest';
import {
  Distribution,
  FrameWatch,
  growth,
  histogramOf,
  newFrameFindings,
  parseMetrics,
} from '../../../scripts/measure/bench/report/statistics.ts';

describe('a distribution', () => {
  it('gives the values at a rank, to a tenth of a millisecond', () => {
    const times = new Distribution();
    for (let value = 1; value <= 100; value += 1) times.add(value);
    const { count, meanMs, p50Ms, p99Ms, maxMs } = times.summary();
    expect(count).toBe(100);
    expect(meanMs).toBeCloseTo(50.5);
    expect(p50Ms).toBeCloseTo(50, 0);
    expect(p99Ms).toBeCloseTo(99, 0);
    expect(maxMs).toBe(100);
  });

  it('keeps early values apart from late ones', () => {
    const times = new Distribution();
    for (const value of [-5, -5, -5, 40]) times.add(value);
    expect(times.quantile(0.5)).toBeCloseTo(-4.9);
    expect(times.quantile(0.99)).toBe(40);
  });

  it('counts what lies outside of its range and still knows the largest', () => {
    const times = new Distribution();
    times.add(-1_000);
    times.add(60_000);
    expect(times.count).toBe(2);
    expect(times.summary().maxMs).toBe(60_000);
  });

  it('says that it does not know when it is empty', () => {
    expect(new Distribution().quantile(0.5)).toBeNaN();
  });
});

/** Feeds arrival times of one stretch. */
function watched(times: readonly number[], mayPause = false): ReturnType<typeof newFrameFindings> {
  const findings = newFrameFindings();
  const watch = new FrameWatch();
  for (const time of times) watch.frame(time, { findings, mayPause });
  return findings;
}

describe('the watch over frames', () => {
  it('measures each frame against the first one of its stretch, not against the one before', () => {
    const { lateness, underruns } = watched([0, 25, 50, 75]);
    expect(lateness.summary().maxMs).toBe(15);
    expect(lateness.count).toBe(3);
    expect(underruns).toBe(0);
  });

  it('sees no under-run in a frame that comes within the prebuffer of 60 ms, and one in a later frame', () => {
    expect(watched([0, 80]).underruns).toBe(0);
    expect(watched([0, 81]).underruns).toBe(1);
  });

  it('counts a stall once and goes on from there', () => {
    const { underruns, lateness, stalls } = watched([0, 20, 540, 560, 580]);
    expect(underruns).toBe(1);
    expect(lateness.summary().maxMs).toBe(500);
    expect(stalls).toEqual([{ atMs: 540, calls: 1, worstMs: 500 }]);
  });

  it('puts under-runs of many calls at one moment together', () => {
    const findings = newFrameFindings();
    for (let call = 0; call < 3; call += 1) {
      const watch = new FrameWatch();
      watch.frame(0, { findings, mayPause: false });
      watch.frame(300 + call, { findings, mayPause: false });
    }
    expect(findings.stalls).toEqual([{ atMs: 300, calls: 3, worstMs: 282 }]);
  });

  it('takes a hole for a pause while the caller speaks', () => {
    const { underruns, lateness } = watched([0, 20, 600, 620], true);
    expect(underruns).toBe(0);
    expect(lateness.summary().maxMs).toBe(0);
  });

  it('begins a new schedule after the end of a stretch', () => {
    const findings = newFrameFindings();
    const watch = new FrameWatch();
    watch.frame(0, { findings, mayPause: false });
    expect(watch.playedAt).toBe(80);
    watch.end();
    expect(watch.playedAt).toBeUndefined();
    watch.frame(5_000, { findings, mayPause: false });
    expect(findings.underruns).toBe(0);
    expect(findings.lateness.count).toBe(0);
  });
});

const before = `# HELP x y
svc_underruns_total 2
svc_turn_part_seconds_bucket{le="0.1",part="wire"} 1
svc_turn_part_seconds_bucket{le="0.2",part="wire"} 1
svc_turn_part_seconds_bucket{le="+Inf",part="wire"} 1
svc_turn_part_seconds_sum{part="wire"} 0.05
svc_turn_part_seconds_count{part="wire"} 1
`;
const after = `svc_underruns_total 5
svc_turn_part_seconds_bucket{le="0.1",part="wire"} 4
svc_turn_part_seconds_bucket{le="0.2",part="wire"} 10
svc_turn_part_seconds_bucket{le="+Inf",part="wire"} 11
svc_turn_part_seconds_bucket{le="0.1",part="other"} 0
svc_turn_part_seconds_sum{part="wire"} 1.05
svc_turn_part_seconds_count{part="wire"} 11
`;

describe('metrics of the service', () => {
  const grown = growth(parseMetrics(before), parseMetrics(after));

  it('count from the beginning of the window', () => {
    expect(grown.get('svc_underruns_total')).toBe(3);
  });

  it('give mean and bucket bounds of one label, in milliseconds', () => {
    const part = histogramOf(grown, 'svc_turn_part_seconds', 'part="wire"');
    expect(part.count).toBe(10);
    expect(part.meanMs).toBeCloseTo(100);
    expect(part.p50Ms).toBe(200);
    expect(part.p99Ms).toBe(Infinity);
  });
});
