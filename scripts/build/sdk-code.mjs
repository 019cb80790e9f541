// The code of the TypeScript SDK as two modules, one for applications and one for their tests, which share what both need.
import { build } from 'esbuild';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../../sdk/typescript/src', import.meta.url));

export const buildSdkCode = (folder) =>
  build({
    entryPoints: ['index', 'testing'].map((name) => join(source, `${name}.ts`)),
    outdir: folder,
    chunkNames: 'shared-[hash]',
    bundle: true,
    splitting: true,
    external: ['ws'],
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  });
