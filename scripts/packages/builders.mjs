// How each package beside the service is built into a folder. The service itself is packed from the project's own folder by `npm pack`.
import { build } from 'esbuild';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildSdkCode } from '../build/sdk-code.mjs';
import { buildWidget, bundled } from '../build/widget.mjs';
import { rollUp } from './api.mjs';
import { beginPackage, root, writeTypes } from './parts.mjs';

/** The hook is for the library beside it: it holds none of its own. */
const besideLibrary = {
  name: 'beside-library',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/index\.ts$/ }, () => ({ path: './index.js', external: true })),
};

/** The worklets as a file of their own, and inside the library for pages that may load them from there. */
async function buildClient(folder) {
  const source = 'web/client';
  const at = (name) => join(root, source, name);
  beginPackage(source, folder);
  const worklets = join(folder, 'worklets.js');
  await build({ ...bundled, entryPoints: [at('worklets.ts')], outfile: worklets, minify: true });
  await build({
    ...bundled,
    entryPoints: [at('index.ts')],
    outfile: join(folder, 'index.js'),
    define: { WORKLET_SOURCE: JSON.stringify(readFileSync(worklets, 'utf8')) },
  });
  const hook = { entryPoints: [at('react.ts')], outfile: join(folder, 'react.js') };
  await build({ ...bundled, ...hook, external: ['react'], plugins: [besideLibrary] });
  await buildWidget(join(folder, 'widget.js'));
  const names = ['client/index', 'client/react', 'client/worklets', 'client/audio/worklet-scope.d', 'widget'];
  const files = names.map((name) => `web/${name}.ts`);
  writeTypes(folder, { files, source: 'web', config: 'web/tsconfig.json' });
}

async function buildAgent(folder) {
  const source = 'sdk/typescript';
  beginPackage(source, folder);
  await buildSdkCode(folder);
  const files = ['index', 'testing'].map((name) => `${source}/src/${name}.ts`);
  writeTypes(folder, { files, source: `${source}/src`, config: 'tsconfig.json' });
}

async function buildStage(folder) {
  beginPackage('sdk/stage', folder);
  const entries = { index: 'worker/stages/contract', checks: 'worker/stages/contract-checks' };
  await build({
    entryPoints: Object.entries(entries).map(([out, entry]) => ({ in: join(root, `${entry}.ts`), out })),
    outdir: folder,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  });
  const files = Object.values(entries).map((entry) => `${entry}.ts`);
  writeTypes(folder, { files, source: '.', config: 'tsconfig.json' });
  // The files that these name lie all over the service, beside much that nobody asked for.
  const types = join(folder, 'types');
  for (const [name, entry] of Object.entries(entries))
    rollUp(folder, join(types, `${entry}.d.ts`), join(folder, `${name}.d.ts`));
  rmSync(types, { recursive: true });
}

/** By the folder in `dist/` that each is built into. */
export const builders = { client: buildClient, sdk: buildAgent, stage: buildStage };
