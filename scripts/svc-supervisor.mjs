#!/usr/bin/env node
// The `svc-supervisor` command: makes the checkout ready, then runs the built supervisor in this very process, so that signals reach it.
import { ensureBuilt, ensureInstalled } from './install.mjs';

await ensureInstalled({ dev: false });
await ensureBuilt();
await import('../dist/supervisor/cli.js');
