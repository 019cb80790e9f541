// `npm run eval:turns [-- FOLDER...] [--model FILE]`: replays recordings through the real inference process and counts how turns end.
import { fileURLToPath } from 'node:url';
import { ensureBuilt, ensureInstalled } from './install.mjs';

const root = new URL('../', import.meta.url);

await ensureInstalled({ dev: false });
await ensureBuilt();
const { build } = await import('esbuild');
await build({
  entryPoints: [fileURLToPath(new URL('scripts/eval-turns/main.ts', root))],
  outfile: fileURLToPath(new URL('dist/eval-turns/main.mjs', root)),
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
});
const { main } = await import(new URL('dist/eval-turns/main.mjs', root).href);
process.exit(await main(process.argv.slice(2), root));
