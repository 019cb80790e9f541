#!/usr/bin/env node
// The `svc-supervisor` command: makes a checkout ready, then runs the built supervisor in this very process, so that signals reach it.
import './node-version.mjs';
import { existsSync, readFileSync } from 'node:fs';
import { makeReady } from './process/ready.mjs';

const at = (path) => new URL(`../${path}`, import.meta.url);
const isBuilt = () => existsSync(at('dist/supervisor/cli.js'));

const args = process.argv.slice(2);
if (args.length === 1 && args[0] === '--version') {
  process.stdout.write(`${JSON.parse(readFileSync(at('package.json'), 'utf8')).version}\n`);
  process.exit(0);
}
// Questions are answered by what is there: an older build, or the page that is made of the same table.
const asksForHelp = args.some((arg) => arg === '--help' || arg === '-h');
if (asksForHelp && !isBuilt()) {
  process.stdout.write(readFileSync(at('docs/reference/commands.md'), 'utf8'));
  process.exit(0);
}
if (!asksForHelp) await makeReady();
if (!isBuilt()) {
  // `npm pack` builds before it packs, unless its user turned scripts off.
  process.stderr.write(
    'This package was packed without its build; make it with `npm pack --ignore-scripts=false`.\n',
  );
  process.exit(1);
}
await import('../dist/supervisor/cli.js');
