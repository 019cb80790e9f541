#!/usr/bin/env node
// The `svc-supervisor` command: makes a checkout ready, then runs the built supervisor in this very process, so that signals reach it.
import './node-version.mjs';
import { existsSync } from 'node:fs';

// In an installed package there is nothing to install or to build.
const installer = new URL('./install.mjs', import.meta.url);
if (existsSync(installer)) {
  const { ensureBuilt, ensureInstalled } = await import(installer.href);
  await ensureInstalled({ dev: false });
  await ensureBuilt();
}
if (!existsSync(new URL('../dist/supervisor/cli.js', import.meta.url))) {
  // `npm pack` builds before it packs, unless its user turned scripts off.
  process.stderr.write(
    'This package was packed without its build; make it with `npm pack --ignore-scripts=false`.\n',
  );
  process.exit(1);
}
await import('../dist/supervisor/cli.js');
