/** What the Helm chart makes of its values: valid for every supported Kubernetes, taken by the service, and right in its arithmetic. */
import { describe, expect, it } from 'vitest';
import { loadAgentFile } from '../../../shared/config/load.ts';
import { lackedBy } from '../../../shared/config/server/absent-listeners.ts';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import {
  asOneFile,
  deployTools,
  kubernetesVersions,
  renderChart,
  toolsMissing,
  type RenderedChart,
} from '../../support/chart.ts';

const carrierSecrets = {
  SVC_CARRIER_A_AUTH_TOKEN: 'a'.repeat(32),
  SVC_CARRIER_A_STREAM_SECRET: 's'.repeat(32),
  SVC_CARRIER_B_STREAM_TOKEN: 't'.repeat(32),
  SVC_CARRIER_B_API_KEY: 'KEY-OF-CARRIER-B',
  SVC_CARRIER_B_PUBLIC_KEY: 'e7mPYKfZMDVBUUfzwOJQCvDiqtGlRDPPzTDcYVOnIys=',
  SVC_CALLBACK_SECRET: 'c'.repeat(32),
};

/** Every part of the chart at once. */
const everything = {
  listeners: {
    page: { enabled: true, tokenUrl: '/api/call-token' },
    carrierA: { enabled: true, publicUrl: 'wss://voice.example.com/carrier_a/stream' },
    carrierB: { enabled: true, publicUrl: 'wss://voice.example.com/carrier_b/stream' },
    rtvi: { enabled: true },
    callback: { enabled: true },
    webrtc: { enabled: true },
  },
  serviceAccount: { name: 'voice', annotations: { 'example.com/role': 'voice' } },
  autoscaling: { enabled: true },
  valkey: { enabled: true, storage: '1Gi' },
  ingress: { enabled: true, className: 'nginx' },
  monitoring: {
    podMonitor: { enabled: true },
    prometheusRule: { enabled: true },
    dashboard: { enabled: true },
  },
  env: {
    SVC_LOG_LEVEL: 'warn',
    SVC_RECORDING_DIR: '/var/lib/recordings',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
  },
  extraEnv: [
    { name: 'SVC_RECORDING_UPLOAD_KEY_ID', valueFrom: { secretKeyRef: { name: 'bucket', key: 'id' } } },
  ],
  extraVolumes: [{ name: 'recordings', persistentVolumeClaim: { claimName: 'recordings' } }],
  extraVolumeMounts: [{ name: 'recordings', mountPath: '/var/lib/recordings' }],
  agentFiles: { 'prompt.md': 'Be kind.\nBe brief.' },
};

interface Container {
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: unknown;
  readonly volumeMounts?: readonly { readonly mountPath: string }[];
}
interface PodSpec {
  readonly terminationGracePeriodSeconds?: number;
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: { readonly runAsNonRoot: boolean; readonly runAsUser: number };
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
}
interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

const ofKind = (chart: RenderedChart, kind: string): readonly Readonly<Record<string, unknown>>[] =>
  chart.documents.filter((one) => one.kind === kind).map(({ spec }) => spec);
const templateOf = (chart: RenderedChart, kind = 'Deployment'): PodTemplate =>
  ofKind(chart, kind)[0]?.['template'] as PodTemplate;
const mainOf = (chart: RenderedChart): Container => {
  const [container] = templateOf(chart).spec.containers;
  if (container === undefined) throw new Error('The pod has no container.');
  return container;
};

const cases = [
  ['its defaults', {}],
  ['everything switched on', everything],
] as const;

describe.skipIf(deployTools === undefined)(`the chart (${toolsMissing} where this is skipped)`, () => {
  it.each(cases)('with %s passes lint and the strict schemas of every supported Kubernetes', (_, values) => {
    const chart = renderChart(values, kubernetesVersions);
    expect(chart.problems).toEqual([]);
    expect(chart.lint).toEqual([]);
    expect(chart.documents.length).toBeGreaterThan(5);
    expect(chart.unchecked.filter((kind) => !['PodMonitor', 'PrometheusRule'].includes(kind))).toEqual([]);
  });

  it('with its defaults is the plain manifest (`vitest -u` writes it anew)', async () => {
    const head =
      '# What `helm template voice-agent deploy/helm/voice-agent-service --namespace voice` makes of the defaults, for clusters\n' +
      '# without Helm. Generated; a test compares. Replace the agent file and the image, and make the Secret first.\n';
    await expect(head + asOneFile(renderChart({}))).toMatchFileSnapshot(
      '../../../deploy/kubernetes/voice-agent.yaml',
    );
  });

  it('with everything switched on is what it was', async () => {
    await expect(asOneFile(renderChart(everything))).toMatchFileSnapshot('chart-everything.yaml');
  });

  it.each(cases)('with %s sets no variable that the service does not take', (_, values) => {
    const env = Object.fromEntries(
      (mainOf(renderChart(values)).env ?? [])
        // What comes from elsewhere has a value only in a cluster; the name is what counts.
        .map(({ name, value }) => [name, value ?? '192.0.2.1'] as const)
        .filter(([name]) => lackedBy(name) === undefined),
    );
    const secrets = { SVC_SESSION_SECRET: 's'.repeat(32), ...carrierSecrets };
    const parsed = parseServerSettings({ ...env, ...secrets }, { cores: 2 });
    // The secrets above bring a token along of which the start warns.
    const warned: unknown = expect.stringContaining('SVC_CARRIER_B_STREAM_TOKEN is a static token');
    expect(parsed.ok ? parsed.value.warnings : parsed.error).toEqual(
      env['SVC_CARRIER_B_ADDR'] === undefined ? [] : [warned],
    );
  });

  it('carries an agent file without errors', () => {
    const text = (
      renderChart({}).documents.find(({ kind }) => kind === 'ConfigMap') as unknown as {
        data: Readonly<Record<string, string>>;
      }
    ).data['agent.toml'];
    const { problems } = loadAgentFile(text ?? '', {
      env: { LLM_API_KEY: 'k' },
      readFile: () => undefined,
      readBytes: () => undefined,
      requireSecrets: true,
    });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it.each([
    [{}, 50, '5'],
    [{ preStopSeconds: 0 }, 45, undefined],
    [{ timeoutSeconds: 600, cancelGraceSeconds: 10, abortWaitSeconds: 2, preStopSeconds: 15 }, 636, '15'],
  ])('gives a pod with drain %j %i s to end', (drain, seconds, sleeps) => {
    const chart = renderChart({ drain });
    const main = mainOf(chart) as unknown as { lifecycle?: { preStop: { exec: { command: string[] } } } };
    expect(templateOf(chart).spec.terminationGracePeriodSeconds).toBe(seconds);
    expect(main.lifecycle?.preStop.exec.command[1]).toBe(sleeps);
  });

  it('scales at the share of calls in use', () => {
    const values = { autoscaling: { enabled: true, targetPercentOfCalls: 60 }, maxSessions: 120 };
    const [spec] = ofKind(renderChart(values), 'HorizontalPodAutoscaler');
    expect(JSON.stringify(spec)).toContain('"averageValue":"72"');
    expect(ofKind(renderChart(values), 'Deployment')[0]).not.toHaveProperty('replicas');
  });

  it('confines every container', () => {
    const chart = renderChart(everything);
    const pods = ['Deployment', 'StatefulSet'].map((kind) => templateOf(chart, kind).spec);
    for (const { securityContext, automountServiceAccountToken, ...pod } of pods) {
      expect([securityContext.runAsNonRoot, automountServiceAccountToken]).toEqual([true, false]);
      for (const container of [...(pod.initContainers ?? []), ...pod.containers])
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
    }
  });

  it('runs under the account that is named, and makes it unless it exists', () => {
    const account = (values: object): unknown => {
      const chart = renderChart({ ...values });
      const made = chart.documents.filter(({ kind }) => kind === 'ServiceAccount').length;
      return [made, Reflect.get(templateOf(chart).spec, 'serviceAccountName')];
    };
    expect(account({})).toEqual([1, 'voice-agent']);
    expect(account({ serviceAccount: { name: 'voice' } })).toEqual([1, 'voice']);
    expect(account({ serviceAccount: { create: false, name: 'voice' } })).toEqual([0, 'voice']);
  });

  it('selects by labels that its pods have', () => {
    const chart = renderChart(everything);
    const labels = ['Deployment', 'StatefulSet'].map((kind) => templateOf(chart, kind).metadata.labels);
    const selectors = chart.documents.flatMap(({ spec }) =>
      [spec?.['selector'], spec?.['podSelector']].flatMap((one) => (one === undefined ? [] : [one])),
    ) as unknown as readonly Readonly<Record<string, unknown>>[];
    expect(selectors.length).toBeGreaterThan(7);
    const meets = (wanted: Readonly<Record<string, unknown>>): boolean =>
      labels.some((have) => Object.entries(wanted).every(([name, value]) => have[name] === value));
    const flat = selectors.map((one) => (one['matchLabels'] ?? one) as Readonly<Record<string, unknown>>);
    expect(flat.filter((one) => !meets(one))).toEqual([]);
  });

  it('opens every port of the pod to its network, and no other', () => {
    const chart = renderChart(everything);
    const open = (ofKind(chart, 'NetworkPolicy')[0] as { ingress: { ports: { port: number }[] }[] }).ingress;
    const ports = (mainOf(chart).ports ?? []).map(({ containerPort }) => containerPort);
    expect(open.flatMap((rule) => rule.ports.map(({ port }) => port)).toSorted()).toEqual(ports.toSorted());
  });

  it('lets nobody read metrics where nobody is named, and blocks addresses of both families', () => {
    const blockedAddresses = ['192.0.2.1/32', '2001:db8::1/128'];
    const [policy] = ofKind(
      renderChart({ networkPolicy: { metricsFrom: [], blockedAddresses } }),
      'NetworkPolicy',
    );
    expect(policy?.['ingress']).toEqual([{ ports: [{ port: 8080 }] }]);
    expect(policy?.['egress']).toEqual([
      {
        to: [
          { ipBlock: { cidr: '0.0.0.0/0', except: ['192.0.2.1/32'] } },
          { ipBlock: { cidr: '::/0', except: ['fd00:ec2::254/128', '2001:db8::1/128'] } },
        ],
      },
    ]);
  });

  it('surges where it may, and not where a port of the node belongs to one pod', () => {
    const strategy = (values: object): unknown =>
      ofKind(renderChart({ ...values }), 'Deployment')[0]?.['strategy'];
    expect(strategy({})).toEqual({ rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } });
    expect(strategy({ listeners: { webrtc: { enabled: true } } })).toEqual({
      rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
    });
  });

  it.each([
    ['a misspelt value', { replcas: 3 }, 'replcas'],
    ['a page without an endpoint for tokens', { listeners: { page: { enabled: true } } }, 'tokenUrl'],
    [
      'an address that no carrier can reach',
      { listeners: { carrierA: { enabled: true, publicUrl: 'https://a' } } },
      'publicUrl',
    ],
    [
      'an address that carrier B does not reach',
      { listeners: { carrierB: { enabled: true, publicUrl: 'https://a' } } },
      'publicUrl',
    ],
    ['no account of its own and no name of another', { serviceAccount: { create: false } }, 'name'],
    ['a variable that is not of the service', { env: { PATH: '/' } }, 'PATH'],
    ['a number in the environment', { env: { SVC_LIVE_TOKEN: 5 } }, 'SVC_LIVE_TOKEN'],
    ['a variable that the chart sets', { env: { SVC_DRAIN_TIMEOUT: '90s' } }, 'SVC_DRAIN_TIMEOUT'],
    ['an address without a prefix', { networkPolicy: { blockedAddresses: ['192.0.2.1'] } }, '192.0.2.1'],
  ])('refuses %s by its name', (_, values, name) => {
    const { problems } = renderChart(values);
    expect(problems.join()).toContain(name);
  });
});
