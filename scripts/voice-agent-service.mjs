#!/usr/bin/env node
// `npx voice-agent-service`: the keyless demo. With arguments it is `svc-supervisor`, so that `--workers auto` runs the service.
import './node-version.mjs';

const [first] = process.argv.slice(2);
if (first === undefined || first === 'demo') {
  process.argv.splice(2, 1);
  await import('./start.mjs');
} else await import('./svc-supervisor.mjs');
