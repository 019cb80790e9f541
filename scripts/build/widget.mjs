// What pages of others load: the element as one script, and how everything for browsers is bundled.
import { build } from 'esbuild';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = join(root, 'web/client');

export const bundled = {
  bundle: true,
  platform: 'browser',
  format: 'esm',
  target: 'es2022',
  logLevel: 'warning',
};

/** The element for other pages as one script without anything beside it, the worklets inside. */
export async function buildWidget(outfile) {
  const worklets = await build({
    ...bundled,
    entryPoints: [join(source, 'worklets.ts')],
    minify: true,
    write: false,
  });
  await build({
    ...bundled,
    entryPoints: [join(root, 'web/widget.ts')],
    format: 'iife',
    minify: true,
    outfile,
    define: { WORKLET_SOURCE: JSON.stringify(worklets.outputFiles[0].text) },
  });
}
