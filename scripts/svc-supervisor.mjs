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
await import('../dist/supervisor/cli.js');
