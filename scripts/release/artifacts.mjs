// What a release publishes, packed into a folder: `npm` has a tarball of each package, `python` the wheel and the source of the Python SDK,
// `machine` the Debian package, the tarball of the deployed tree, the list of its parts and where it comes from.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cleanEnv, run } from './commands.mjs';

/** Exact, as everything that builds. */
const pythonTools = ['build==1.6.1', 'hatchling==1.33.0'];
const helm = ['helm-python-sdk==0.2.2', 'pyyaml==6.0.3'];

/** Whether uv is in PATH: it takes a tenth of pip's processor time. */
const hasUv = (process.env.PATH ?? '').split(delimiter).some((path) => existsSync(join(path, 'uv')));

/** A Python with these packages; made once in a folder. */
async function pythonIn(folder, packages) {
  const python = join(folder, 'bin/python');
  if (existsSync(python)) return python;
  if (hasUv) {
    await run('uv', ['venv', '-q', folder]);
    await run('uv', ['pip', 'install', '-q', '--python', python, ...packages]);
  } else {
    await run('python3', ['-m', 'venv', folder]);
    await run(python, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', ...packages]);
  }
  return python;
}

/**
 * Packs the chart, pushes it and pulls it into `folder`; without a registry it is taken as it is. Resolves with what renders it: the documents
 * that values make.
 */
export async function chartThrough({ checkout, oci, version, folder, tools }) {
  const python = await pythonIn(join(tools, 'helm'), helm);
  const helmOf = (...args) => run(python, [join(checkout, 'scripts/release/chart_oci.py'), ...args]);
  const source = join(checkout, 'deploy/helm/voice-agent-service');
  mkdirSync(folder, { recursive: true });
  if (oci !== undefined) await helmOf('push', source, oci, version, folder);
  const chart = oci === undefined ? source : join(folder, readdirSync(folder)[0]);
  return async (values) => JSON.parse(await helmOf('render', chart, JSON.stringify(values)));
}

/** `tools`: a folder for what is needed to build. `checkout` is built where it stands. */
export async function packAll({ checkout, folder, tools, withMachine }) {
  const [npm, python, machine] = ['npm', 'python', 'machine'].map((name) => join(folder, name));
  mkdirSync(npm, { recursive: true });
  const env = cleanEnv({ npm_config_update_notifier: 'false' });
  const pack = (cwd) => run('npm', ['pack', '--pack-destination', npm], { cwd, env });
  await pack(checkout);
  await run('npm', ['run', 'packages'], { cwd: checkout, env });
  for (const name of ['client', 'sdk', 'stage']) await pack(join(checkout, 'dist', name));
  const builder = await pythonIn(join(tools, 'python'), pythonTools);
  const build = ['-m', 'build', '--no-isolation', '--outdir', python, join(checkout, 'sdk/python')];
  await run(builder, build, { cwd: checkout });
  if (withMachine) await run('npm', ['run', 'deb', '--', machine], { cwd: checkout, env });
  return { npm: readdirSync(npm).map((name) => join(npm, name)), python };
}

/** Publishes the tarballs. With `provenance` npm says, signed by the forge, which commit and workflow made them. */
export async function publishAll(tarballs, { registry, token, provenance = false }) {
  const { host } = new URL(registry);
  const options = ['--registry', registry, '--access', 'public', ...(provenance ? ['--provenance'] : [])];
  // A registry of the forge's trust needs no token.
  const login = token === undefined ? [] : [`--//${host}/:_authToken=${token}`];
  for (const tarball of tarballs)
    await run('npm', ['publish', tarball, ...options, ...login], { env: { ...process.env } });
}
