/** The alerts and the dashboard in a real Prometheus that reads a real service: every rule is evaluated, every panel has an answer. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { hasPrometheus, TestPrometheus } from '../../support/process/prometheus.ts';
import { beforeAskingAgain, TestService } from '../../support/process/service.ts';

const files = new URL('../../../deploy/helm/voice-agent-service/files/', import.meta.url);
interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
}
interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly name: string; readonly health: string; readonly state: string }[];
  }[];
}

describe.skipIf(!hasPrometheus)('alerts and dashboard (skipped without prometheus)', () => {
  let service: TestService;
  let prometheus: TestPrometheus;

  afterEach(async () => {
    await prometheus.stop();
    await service.stop();
  });

  it('are loaded and answered, and the alert of a service that is gone is on its way', async () => {
    service = await TestService.start({ greeting: 'Good morning.' });
    prometheus = await TestPrometheus.start({
      target: service.address('health'),
      rules: fileURLToPath(new URL('alerts.yaml', files)),
    });
    const call = await service.call();
    await call.next(({ type }) => type === 'mark-played');
    const { panels } = JSON.parse(readFileSync(new URL('dashboard.json', files), 'utf8')) as Dashboard;
    const queries = panels
      .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
      .map((expr) => expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m'));
    // Gauges are there from the first reading on, rates from the second one.
    while ((await prometheus.found('sum(rate(svc_frames_sent_total[1m])) > 0')) === 0)
      await beforeAskingAgain();
    const found = await Promise.all(queries.map((query) => prometheus.found(query)));
    const empty = queries.filter((_, index) => found[index] === 0);
    // What only failures, agent processes and the turn model have, has no series in a service that is well.
    expect(empty.length).toBeLessThan(queries.length / 2);
    expect(
      empty.filter((query) => /svc_(sessions|calls_active|workers_ready|inference_up)\b/.test(query)),
    ).toEqual([]);

    const rules = async () =>
      ((await prometheus.ask('rules')) as Rules).groups.flatMap((group) => group.rules);
    while ((await rules()).some(({ health }) => health === 'unknown')) await beforeAskingAgain();
    expect((await rules()).filter(({ health }) => health !== 'ok')).toEqual([]);
    const states = async () => new Map((await rules()).map(({ name, state }) => [name, state]));
    expect((await states()).get('VoiceAgentNotScraped')).toBe('inactive');
    await call.hangUp();
    await service.stop();
    while ((await states()).get('VoiceAgentNotScraped') !== 'pending') await beforeAskingAgain();
  });
});
