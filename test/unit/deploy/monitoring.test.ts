/** Dashboard and alerts name metrics and labels that exist; every alert is explained. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Histogram, type Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { deployTools, toolsMissing } from '../../support/chart.ts';
import { newSupervisorMetrics, newWorkerMetrics } from '../../../shared/runtime/metrics.ts';

const files = new URL('../../../deploy/helm/voice-agent-service/files/', import.meta.url);
const alerts = readFileSync(new URL('alerts.yaml', files), 'utf8');
const runbook = readFileSync(new URL('../../../docs/operate/runbook.md', import.meta.url), 'utf8');
interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const { panels } = JSON.parse(readFileSync(new URL('dashboard.json', files), 'utf8')) as { panels: Panel[] };
const panelExprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const alertExprs = [...alerts.matchAll(/^ +expr: (.*)$/gm)].map(([, expr = '']) => expr);

/** What a query may name, and the labels of each. */
function seriesOf(registry: Registry): (readonly [string, readonly string[]])[] {
  return registry.getMetricsAsArray().flatMap((metric) => {
    const { name, labelNames } = metric as unknown as { name: string; labelNames: readonly string[] };
    const endings = metric instanceof Histogram ? ['_bucket', '_sum', '_count'] : [''];
    return endings.map((ending) => [`${name}${ending}`, ['le', 'instance', ...labelNames]] as const);
  });
}
const registries = [newWorkerMetrics().registry, newSupervisorMetrics().registry];
const series = new Map(registries.flatMap(seriesOf));
const namesIn = (expr: string): readonly string[] => [...expr.matchAll(/\bsvc_\w+/g)].map(([name]) => name);

/** Names of metrics that do not exist, and labels that theirs do not have. */
function strangersIn(expr: string): readonly string[] {
  const names = namesIn(expr);
  const known = new Set(names.flatMap((name) => series.get(name) ?? []));
  const labels = [...expr.matchAll(/by \(([^)]*)\)|(\w+)=~?"/g)].flatMap(([, list = '', one = '']) =>
    [...list.split(/, */), one].filter((label) => label !== ''),
  );
  return [...names.filter((name) => !series.has(name)), ...labels.filter((label) => !known.has(label))];
}

describe('dashboard and alerts', () => {
  it('are seen at all', () => {
    expect(alertExprs.length).toBeGreaterThan(15);
    expect(panelExprs.length).toBeGreaterThan(30);
    expect(strangersIn('sum by (role, colour) (svc_restarts_total{size="1"}) + svc_nothing')).toEqual([
      'svc_nothing',
      'colour',
      'size',
    ]);
  });

  it.each([...alertExprs, ...panelExprs])('asks for what exists: %s', (expr) => {
    expect(namesIn(expr)).not.toEqual([]);
    expect(strangersIn(expr)).toEqual([]);
  });

  it('see the first death of a process, whose counter is there before it', async () => {
    const { registry } = newSupervisorMetrics();
    const { values } = (await registry.getSingleMetric('svc_restarts_total')?.get()) ?? { values: [] };
    expect(values).toMatchObject([
      { labels: { role: 'worker' }, value: 0 },
      { labels: { role: 'inference' }, value: 0 },
    ]);
  });

  it('name labels in legends that their queries keep', () => {
    const lost = panels.flatMap(({ title, targets = [] }) =>
      targets.flatMap(({ expr, legendFormat }) =>
        [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)]
          .map(([, label = '']) => label)
          .filter((label) => /\bby \(/.test(expr) && !new RegExp(`by \\([^)]*\\b${label}\\b`).test(expr))
          .map((label) => `${title}: ${label}`),
      ),
    );
    expect(lost).toEqual([]);
  });

  it.each([...alerts.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name))(
    '%s has an entry in the runbook',
    (name) => {
      expect(runbook).toContain(`### ${name}\n`);
    },
  );

  it('pass promtool', (context) => {
    const path = fileURLToPath(new URL('alerts.yaml', files));
    const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', path], {
      encoding: 'utf8',
    });
    context.skip(error !== undefined, 'promtool (Debian: prometheus) is not installed');
    expect(`${stdout}${stderr}`).toContain(`${alertExprs.length} rules found`);
    expect(status).toBe(0);
  });

  it('are read by the SDK of Grafana without loss, and a mistake is seen', (context) => {
    context.skip(deployTools === undefined, toolsMissing);
    const script = fileURLToPath(new URL('../../../scripts/deploy/read_dashboard.py', import.meta.url));
    const lostOf = (text: string): unknown => {
      const { stdout, stderr } = spawnSync(`${deployTools ?? ''}/bin/python`, [script], {
        input: text,
        encoding: 'utf8',
      });
      return stdout === '' ? stderr : JSON.parse(stdout);
    };
    const dashboard = readFileSync(new URL('dashboard.json', files), 'utf8');
    expect(lostOf(dashboard)).toEqual([]);
    expect(lostOf(dashboard.replace('"refresh"', '"refreshes"'))).toEqual(['dashboard.refreshes']);
  });
});
