// Builds the library for browsers as a package, ready for `npm pack` or `npm install`: node scripts/client.mjs [FOLDER], by default
// dist/client. The types come from the TypeScript compiler, so this needs the packages for development.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';
import { answerHelp } from './process/help.mjs';

answerHelp(`usage: npm run client [-- FOLDER]
  Builds the library for browsers as a package, by default into dist/client.`);
await ensureInstalled({ dev: true });
const { build } = await import('esbuild');
const { buildWidget, bundled } = await import('./build/widget.mjs');

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'web/client');

/** The worklets as a file of their own, and inside the library for pages that may load them from there. */
async function buildCode(folder) {
  const worklets = join(folder, 'worklets.js');
  await build({ ...bundled, entryPoints: [join(source, 'worklets.ts')], outfile: worklets, minify: true });
  await build({
    ...bundled,
    entryPoints: [join(source, 'index.ts')],
    outfile: join(folder, 'index.js'),
    define: { WORKLET_SOURCE: JSON.stringify(readFileSync(worklets, 'utf8')) },
  });
}

/** Declarations name their neighbours by the files that are there. */
function writeTypes(folder) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--outDir', folder];
  const config = join(folder, 'tsconfig.json');
  const files = [join(source, 'index.ts')];
  writeFileSync(config, JSON.stringify({ extends: join(root, 'web/tsconfig.json'), include: [], files }));
  try {
    execFileSync(process.execPath, [tsc, '-p', config, '--rootDir', source, ...options], {
      stdio: 'inherit',
    });
  } finally {
    rmSync(config);
  }
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.d.ts'))) {
    const text = readFileSync(join(folder, name), 'utf8');
    writeFileSync(join(folder, name), text.replace(/(['"]\.\/[\w-]+)\.ts(['"])/g, '$1.js$2'));
  }
}

async function buildClient(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await buildCode(folder);
  await buildWidget(join(folder, 'widget.js'));
  writeTypes(folder);
  for (const name of ['package.json', 'README.md']) cpSync(join(source, name), join(folder, name));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}

await buildClient(resolve(process.argv[2] ?? join(root, 'dist/client')));
