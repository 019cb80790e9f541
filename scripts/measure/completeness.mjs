// `npm run completeness -- FOLDER`: learns from texts what whole sentences end in, and writes the weights.
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from '../install.mjs';
import { answerHelp } from '../process/help.mjs';

const usage = `usage: npm run completeness -- FOLDER [--show]
  Learns from the texts in FOLDER, one utterance a line, and writes shared/languages/completeness-weights.ts.
  --show  writes nothing: says what the weights of the source make of pauses within a tenth of the lines`;
answerHelp(usage);
const [folder, how] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write(`${usage}\n`);
  process.exit(2);
}
const file = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

await ensureInstalled({ dev: false });
const { build } = await import('esbuild');
await build({
  entryPoints: [file('scripts/measure/completeness/main.ts')],
  outfile: file('dist/completeness/main.mjs'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
});
const { learn, show } = await import(file('dist/completeness/main.mjs'));
if (how === '--show') show(folder);
else learn(folder, file('scripts/measure/completeness'), file('shared/languages/completeness-weights.ts'));
