/** What the files in `deploy/` say, compared with what the service and their platforms take. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseServerSettings } from '../shared/config/server/server.ts';

const textOf = (name: string): string => readFileSync(new URL(`../deploy/${name}`, import.meta.url), 'utf8');

const unit = textOf('systemd/voice-agent.service');
const manifest = textOf('kubernetes/voice-agent.yaml');
const dockerfile = textOf('Dockerfile');

const pairsIn = (text: string, pattern: RegExp): Readonly<Record<string, string>> =>
  Object.fromEntries([...text.matchAll(pattern)].map(([, name = '', value = '']) => [name, value]));
const unitEnv = pairsIn(unit, /^Environment=(\w+)=(.*)$/gm);
const podEnv = pairsIn(manifest, /\{ name: ([A-Z_]+), value: '?([^' ]+)'? \}/g);
const imageEnv = pairsIn(dockerfile, /(?<=^ENV .*)\b(SVC_\w+)=(\S+)/gm);
const mountPaths = [...manifest.matchAll(/mountPath: ([^ ,}]+)/g)].map(([, path = '']) => path);

const problemsOf = (env: Readonly<Record<string, string>>): unknown => {
  const secrets = {
    SVC_AGENT_FILE: 'agent.toml',
    SVC_SESSION_SECRET: 's'.repeat(32),
  };
  const parsed = parseServerSettings({ ...secrets, ...env }, { cores: 2 });
  return parsed.ok ? parsed.value.warnings : parsed.error;
};

describe('the unit', () => {
  it('is exposed by at most 2.0 of 10, as systemd judges it', (context) => {
    const file = fileURLToPath(new URL('../deploy/systemd/voice-agent.service', import.meta.url));
    const judged = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', file], {
      encoding: 'utf8',
    });
    const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(judged.stdout ?? '') ?? [];
    if (exposure === undefined) context.skip('systemd-analyze is not there, or cannot judge a file');
    expect(Number(exposure)).toBeLessThanOrEqual(2);
  });
});

describe('the files for running the service', () => {
  it.each([
    ['the unit', unitEnv],
    ['the manifest', podEnv],
    ['the image', imageEnv],
  ])('%s sets a folder of models, and nothing that the service does not take', (_, env) => {
    expect(env['SVC_MODELS_DIR']).toMatch(/^\//);
    expect(problemsOf(env)).toEqual([]);
  });

  it('keep the folder of models where the unit does not hide it', () => {
    expect(unit).toMatch(/^ProtectHome=yes$/m);
    expect(unit).toMatch(/^PrivateTmp=yes$/m);
    const hidden = ['home', 'root', 'run/user', 'tmp', 'var/tmp'].map((name) => `/${name}/`);
    expect(hidden.filter((path) => `${unitEnv['SVC_MODELS_DIR']}/`.startsWith(path))).toEqual([]);
  });

  it('keep what a pod may write on a volume, the file system being read-only', () => {
    expect(manifest).toContain('readOnlyRootFilesystem: true');
    for (const name of ['SVC_MODELS_DIR', 'HOME'])
      expect([name, mountPaths.some((path) => `${podEnv[name]}/`.startsWith(`${path}/`))]).toEqual([
        name,
        true,
      ]);
  });

  it('name the user by its number, so that Kubernetes knows that it is not root', () => {
    const [, user] = /^USER (\d+):\d+$/m.exec(dockerfile) ?? [];
    expect(Number(user)).toBeGreaterThan(0);
    expect(manifest).toContain('runAsNonRoot: true');
    expect(manifest).toContain(`runAsUser: ${user}`);
  });
});
