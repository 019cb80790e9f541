// `npm run completeness -- FOLDER`: learns from texts, one utterance a line, what whole sentences end in, and writes the weights.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const file = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

await build({
  entryPoints: [file('scripts/completeness/main.ts')],
  outfile: file('dist/completeness/main.mjs'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
});
const { main } = await import(file('dist/completeness/main.mjs'));
process.exit(
  main([process.argv[2], file('scripts/completeness'), file('worker/core/turn/completeness-weights.ts')]),
);
