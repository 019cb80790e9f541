// Compiles the resampler's inner loops into shared/audio/resampler-kernel-bytes.ts, from which they are loaded. A test fails when
// that file is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import newWabt from 'wabt';

const source = new URL('../shared/audio/resampler-kernel.wat', import.meta.url);
const target = new URL('../shared/audio/resampler-kernel-bytes.ts', import.meta.url);

const wabt = await newWabt();
const { buffer } = wabt
  .parseWat('resampler-kernel.wat', readFileSync(source, 'utf8'), { simd: true })
  .toBinary({});
const text = `/** Made from resampler-kernel.wat by \`npm run kernel\`. */
export const kernelBytes = new Uint8Array([${[...buffer].join(', ')}]);
`;
writeFileSync(target, await format(text, { ...(await resolveConfig(target)), parser: 'typescript' }));
