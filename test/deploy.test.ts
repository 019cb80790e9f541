/** What the files in `deploy/` say, compared with what the service and their platforms take. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
  it('lets systemd wait for a main process that a reload has made', () => {
    // Of a main process that is not its child, systemd waits for the others alone, and asks them only in this mode.
    expect(unit).toMatch(/^KillMode=control-group$/m);
  });

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

describe('arm64', () => {
  const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
    packages: Readonly<Record<string, { cpu?: string[]; os?: string[]; libc?: string[]; dev?: boolean }>>;
  };

  it('has a native package for Linux wherever x64 has one', () => {
    // One name for each pair of processors; the C library stands in the name as well.
    const forLinux = (cpu: string): string[] =>
      Object.entries(packages)
        .filter(([, { os, cpu: cpus }]) => os?.includes('linux') === true && cpus?.includes(cpu) === true)
        .map(([name]) => name.replaceAll(cpu, 'CPU'))
        .toSorted();
    expect(forLinux('x64').length).toBeGreaterThan(5);
    expect(forLinux('x64').filter((name) => !forLinux('arm64').includes(name))).toEqual([]);
  });

  it('has the libraries of ONNX Runtime that x64 has, for its own processor', () => {
    const folder = fileURLToPath(
      new URL('../node_modules/onnxruntime-node/bin/napi-v6/linux', import.meta.url),
    );
    const libraries = (cpu: string): string[] =>
      readdirSync(join(folder, cpu)).filter((name) => !/cuda|tensorrt|providers/.test(name));
    expect(libraries('arm64')).toEqual(libraries('x64'));
    // The processor in the head of an ELF file: 183 is AArch64.
    for (const name of libraries('arm64'))
      expect([name, readFileSync(join(folder, 'arm64', name)).readUInt16LE(18)]).toEqual([name, 183]);
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

  it('keep it where the first start of the unit may write, and purge takes it along', () => {
    expect(unitEnv['SVC_MODELS_DIR']).toMatch(/^\/var\/lib\/voice-agent\//);
    expect(textOf('debian/postrm')).toContain(`rm -rf ${unitEnv['SVC_MODELS_DIR']} `);
  });

  it('have a folder for recordings and for what outlives a crash, and of the service alone', () => {
    expect(unit).toMatch(/^StateDirectory=voice-agent$/m);
    expect(unit).toMatch(/^StateDirectoryMode=0700$/m);
    expect(unit).toMatch(/^CacheDirectory=voice-agent$/m);
    expect(unit).toMatch(/^Environment=NODE_COMPILE_CACHE=\/var\/cache\/voice-agent$/m);
    const hints = [...textOf('debian/environment').matchAll(/^#SVC_\w+_DIR=(\S+)$/gm)].map(
      ([, path]) => path,
    );
    expect(hints.length).toBe(2);
    for (const path of hints) expect(path).toMatch(/^\/var\/lib\/voice-agent\//);
  });

  it('give the volume of models to the user of the image', () => {
    const folder = imageEnv['SVC_MODELS_DIR'] ?? '';
    expect(folder).not.toBe('');
    expect(dockerfile).toMatch(new RegExp(`^RUN mkdir -p ${folder} && chown -R 1000:1000 `, 'm'));
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
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
