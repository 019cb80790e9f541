// `npm run chaos`: holds calls on the service as it is built for production while parts of it die, hang or get nonsense, and says what
// the callers noticed. See docs/chaos.md.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureBuilt, ensureInstalled } from './install.mjs';

const root = new URL('../', import.meta.url);
const at = (path) => fileURLToPath(new URL(path, root));

await ensureInstalled({ dev: false });
await ensureBuilt();
const { build } = await import('esbuild');
await build({
  entryPoints: [at('scripts/chaos/main.ts')],
  outdir: at('dist/chaos'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
});
if (!existsSync('/proc/self/smaps_rollup')) {
  process.stderr.write('The driver reads /proc and runs on Linux only.\n');
  process.exit(1);
}
const { main } = await import(new URL('dist/chaos/main.mjs', root).href);
process.exit(await main(process.argv.slice(2), root));
