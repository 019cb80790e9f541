/**
 * Python for tests of the Python SDK: an environment with what `sdk/python/pyproject.toml` names for development, made once and kept in
 * `node_modules/.cache` until the packages or the interpreter change.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as toml from '@iarna/toml';
import { whileLocked } from '../../scripts/process/lock.mjs';

export const pythonSdk = fileURLToPath(new URL('../../sdk/python', import.meta.url));
const cache = fileURLToPath(new URL('../../node_modules/.cache/sdk-python', import.meta.url));
const unreachable =
  /NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|Max retries exceeded|Name or service not known|Network is unreachable/;

export interface Outcome {
  readonly status: number;
  readonly text: string;
}

/** Nothing of this process's settings, and nothing of the user's own Python, gets in. */
export const pythonEnv: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(SVC_|VOICE_AGENT_|PYTHON|VIRTUAL_ENV)/.test(name)),
  ),
  PYTHONDONTWRITEBYTECODE: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
};

export function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Outcome {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    env: pythonEnv,
    ...options,
    encoding: 'utf8',
  });
  return { status: status ?? -1, text: `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}` };
}

/** A new environment without packages; the path of its interpreter. */
export function newEnvironment(folder: string): string {
  const made = run('python3', ['-m', 'venv', folder]);
  if (made.status !== 0) throw new Error(made.text);
  return join(folder, 'bin/python');
}

/** Installs packages, or says why none can be had here. */
export function install(python: string, packages: readonly string[]): string | undefined {
  const { status, text } = run(python, ['-m', 'pip', 'install', '--quiet', '--retries', '1', ...packages]);
  if (status === 0) return undefined;
  if (unreachable.test(text)) return 'the index of Python packages cannot be reached';
  throw new Error(text);
}

interface Made {
  readonly folder: string;
  readonly python: string;
  /** There once it is complete. */
  readonly ready: string;
  readonly packages: readonly string[];
}

export type Python = { readonly python: string } | { readonly problem: string };

/** The environment for development, or why there is none. Files that ask at the same time make it once. */
export async function developmentPython(): Promise<Python> {
  const version = run('python3', [
    '-c',
    'import sys; print(sys.version); sys.exit(sys.version_info < (3, 11))',
  ]);
  if (version.status !== 0) return { problem: 'python3 is missing or older than 3.11' };
  const packages = packagesOf(readFileSync(join(pythonSdk, 'pyproject.toml'), 'utf8'));
  const key = createHash('sha256').update(version.text).update(packages.join()).digest('hex');
  const folder = join(cache, key.slice(0, 16));
  const python = join(folder, 'bin/python');
  const ready = join(folder, 'ready');
  mkdirSync(join(cache, '..'), { recursive: true });
  return whileLocked(`${cache}.lock`, { waiting: () => undefined }, () => {
    if (existsSync(ready)) return { python };
    return made({ folder, python, ready, packages });
  });
}

function made({ folder, python, ready, packages }: Made): Python {
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  newEnvironment(folder);
  const problem = install(python, packages);
  if (problem !== undefined) return { problem };
  mkdirSync(`${ready}.new`);
  renameSync(`${ready}.new`, ready);
  return { python };
}

function packagesOf(pyproject: string): string[] {
  const { project, 'dependency-groups': groups } = toml.parse(pyproject) as {
    project: { dependencies: string[] };
    'dependency-groups': { dev: string[] };
  };
  return [...project.dependencies, ...groups.dev];
}
