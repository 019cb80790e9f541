// What the commands that drive a running service have in common: the service is built as for production, the driver's own files are
// bundled into dist/, and its `main` gets the command line. A driver measures with /proc, so it runs on Linux only.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureBuilt, ensureInstalled } from '../install.mjs';
import { answerHelp } from '../process/help.mjs';

const root = new URL('../../', import.meta.url);
const at = (path) => fileURLToPath(new URL(path, root));

/**
 * Ends the process with the status of the driver in `scripts/measure/<folder>/main.ts`, and shows the usage where that is 2; `processes` are started
 * from files of their own.
 */
export async function runDriver(folder, { usage, processes = [] }) {
  answerHelp(usage);
  if (!existsSync('/proc/self/smaps_rollup')) {
    process.stderr.write('This command reads /proc and runs on Linux only.\n');
    process.exit(1);
  }
  await ensureInstalled({ dev: false });
  await ensureBuilt();
  const { build } = await import('esbuild');
  await build({
    entryPoints: ['main', ...processes].map((name) => at(`scripts/measure/${folder}/${name}.ts`)),
    outdir: at(`dist/${folder}`),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    logLevel: 'warning',
  });
  // The bench loads ONNX Runtime itself; inference/main.ts says what this is for.
  process.env.ORT_DISABLE_TELEMETRY = '1';
  const { main } = await import(new URL(`dist/${folder}/main.mjs`, root).href);
  let status;
  try {
    status = await main(process.argv.slice(2), root);
  } catch (error) {
    if (!String(error?.code).startsWith('ERR_PARSE_ARGS')) throw error;
    process.stderr.write(`${error.message}\n`);
    status = 2;
  }
  if (status === 2) process.stderr.write(`${usage}\n`);
  process.exit(status);
}
