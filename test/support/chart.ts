/**
 * The Helm chart as Helm's own engine renders it, by `scripts/deploy/chart.py`. The tools for it come from PyPI and are no dependency:
 * `SVC_DEPLOY_TOOLS` names the folder of a virtual environment that has them; without it tests skip and say so.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The oldest version that the chart supports, and newer ones that clusters run. */
export const kubernetesVersions = ['1.25', '1.30', '1.34', '1.37'];

export const deployTools = process.env['SVC_DEPLOY_TOOLS'];
export const toolsMissing = 'SVC_DEPLOY_TOOLS names no virtual environment with the tools for charts';

export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface RenderedChart {
  /** By the template's path. */
  readonly manifests: Readonly<Record<string, string>>;
  readonly documents: readonly Manifest[];
  readonly lint: readonly string[];
  readonly problems: readonly string[];
  /** Kinds of which no schema is at hand. */
  readonly unchecked: readonly string[];
}

const rendered = new Map<string, RenderedChart>();

/** Each set of values is rendered once. The result is held to the schemas of the versions of Kubernetes that are named. */
export function renderChart(
  values: Readonly<Record<string, unknown>>,
  kubernetes: readonly string[] = [],
): RenderedChart {
  const key = JSON.stringify([values, kubernetes]);
  const known = rendered.get(key);
  if (known !== undefined) return known;
  const chart = render(values, kubernetes);
  rendered.set(key, chart);
  return chart;
}

function render(values: Readonly<Record<string, unknown>>, kubernetes: readonly string[]): RenderedChart {
  const asked = {
    chart: `${root}/deploy/helm/voice-agent-service`,
    name: 'voice-agent',
    namespace: 'voice',
    kubernetes,
    values,
  };
  const done = spawnSync(`${deployTools ?? ''}/bin/python`, [`${root}/scripts/deploy/chart.py`], {
    input: JSON.stringify(asked),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (done.status !== 0) throw new Error(`chart.py failed: ${done.stderr}`);
  return JSON.parse(done.stdout) as RenderedChart;
}

/** One file of all manifests, as `helm template` would print it. */
export const asOneFile = ({ manifests }: RenderedChart): string =>
  Object.entries(manifests)
    .filter(([path, text]) => path.endsWith('.yaml') && text.trim() !== '')
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(
      ([path, text]) =>
        `---\n# ${path.split('/').slice(1).join('/')}\n${text.replace(/^-*\s*\n/, '').trim()}\n`,
    )
    .join('');
