// `npm run completeness -- FOLDER`: learns from texts, one utterance a line, what whole sentences end in, and writes the weights. With
// `--show` it says what those that are in the source make of pauses within a tenth of the lines, which was kept aside.
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
const { learn, show } = await import(file('dist/completeness/main.mjs'));
const [folder, how] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('usage: npm run completeness -- FOLDER [--show]\n');
  process.exitCode = 2;
} else if (how === '--show') show(folder);
else learn(folder, file('scripts/completeness'), file('worker/core/turn/completeness-weights.ts'));
