/** The metrics of all processes in one. */
import { Counter, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { newSupervisorMetrics } from '../../../shared/runtime/metrics.ts';
import { MetricsCollector } from '../../../supervisor/service/metrics.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

it('keeps what a worker had counted before it died, although nobody had read it', async () => {
  const registry = new Registry();
  const counter = new Counter({ name: 'svc_things_total', help: 'Things', registers: [registry] });
  const clock = newVirtualClock();
  let workers = [0];
  const asked: number[] = [];
  const collector = new MetricsCollector({
    clock,
    ask: (_, ask) => asked.push(ask) > 0,
    workers: () => workers,
  });
  counter.inc(3);
  clock.advance(5_000);
  collector.answered(asked.pop() ?? 0, await registry.getMetricsAsJSON());
  workers = [];
  await collector.workerGone(0);
  const sum = await collector.gather(newSupervisorMetrics());
  expect(await sum.metrics()).toContain('svc_things_total 3');
});
