// Makes the sounds that the page about sound plays (sounds.ts).
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const file = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export async function buildSounds(folder) {
  // Inside the project, because the voice looks for its module from where its code is.
  const outfile = file('dist/site/sounds.mjs');
  await build({
    entryPoints: [file('scripts/site/sounds.ts')],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  });
  const { makeSounds } = await import(pathToFileURL(outfile).href);
  await makeSounds(folder);
}
