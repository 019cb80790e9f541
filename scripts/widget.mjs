// Builds the element for other pages as one script without anything beside it, the worklets inside: node scripts/widget.mjs FILE
import { build } from 'esbuild';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const bundled = {
  bundle: true,
  platform: 'browser',
  target: 'es2022',
  minify: true,
  logLevel: 'warning',
};

/** Writes the script to a path. */
export async function buildWidget(outfile) {
  const worklets = await build({
    ...bundled,
    entryPoints: [at('web/client/worklets.ts')],
    format: 'esm',
    write: false,
  });
  await build({
    ...bundled,
    entryPoints: [at('web/widget.ts')],
    format: 'iife',
    outfile,
    define: { WORKLET_SOURCE: JSON.stringify(worklets.outputFiles[0].text) },
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await buildWidget(resolve(process.argv[2] ?? 'widget.js'));
