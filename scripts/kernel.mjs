// Compiles the inner loops that are written as WebAssembly text into the files from which they are loaded. A test fails when one of
// those is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { answerHelp } from './process/help.mjs';

answerHelp(`usage: npm run kernel
  Compiles the WebAssembly text of the inner loops into the files from which they are loaded.`);
await ensureInstalled({ dev: true });
const { format, resolveConfig } = await import('prettier');
const { default: newWabt } = await import('wabt');
const wabt = await newWabt();

for (const [path, name] of [
  ['shared/audio/resampler-kernel', 'kernelBytes'],
  ['worker/media/echo/kernel', 'echoKernelBytes'],
  ['inference/silero/affine', 'affineBytes'],
]) {
  const source = new URL(`../${path}.wat`, import.meta.url);
  const target = new URL(`../${path}-bytes.ts`, import.meta.url);
  const file = `${basename(path)}.wat`;
  const { buffer } = wabt.parseWat(file, readFileSync(source, 'utf8'), { simd: true }).toBinary({});
  const text = `/** Made from ${file} by \`npm run kernel\`. */
export const ${name} = Uint8Array.from(atob('${Buffer.from(buffer).toString('base64')}'), (char) => char.charCodeAt(0));
`;
  writeFileSync(target, await format(text, { ...(await resolveConfig(target)), parser: 'typescript' }));
}
