// Makes a checkout ready to run: packages as package-lock.json names them, and dist/ as new as the sources.
// Imports nothing that needs installing; output appears only when there is something to do or to complain about.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The packages of a lock file by their folder; nothing when there is no such file or it is damaged. */
function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages ?? {};
  } catch {
    return {};
  }
}

/** Whether every package that is wanted lies in its folder with the right version; optional ones may be absent. */
function isComplete({ dev }) {
  const wanted = packagesIn('package-lock.json');
  const installed = packagesIn('node_modules/.package-lock.json');
  return Object.entries(wanted).every(([folder, entry]) => {
    if (folder === '' || entry.optional || entry.devOptional || (entry.dev && !dev)) return true;
    return installed[folder]?.version === entry.version && existsSync(join(root, folder, 'package.json'));
  });
}

/** Runs npm quietly; its output is shown only when it fails. */
function runNpm(args) {
  const cli = process.env.npm_execpath;
  const [command, first] = cli?.endsWith('.js') ? [process.execPath, [cli]] : ['npm', []];
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...first, ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    const output = [];
    child.stdout.on('data', (bytes) => output.push(bytes));
    child.stderr.on('data', (bytes) => output.push(bytes));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) return resolve();
      process.stderr.write(Buffer.concat(output));
      reject(new Error(`npm ${args[0]} failed with exit code ${code}`));
    });
  });
}

/**
 * Makes node_modules match package-lock.json. With `dev` the packages for building and testing are there too; without it
 * they are left as they are, and a fresh checkout gets only what runs the service.
 */
export async function ensureInstalled({ dev }) {
  if (isComplete({ dev })) return;
  process.stderr.write('Installing packages (once) ...\n');
  const hasDev = Object.values(packagesIn('node_modules/.package-lock.json')).some((entry) => entry.dev);
  const omit = dev || hasDev ? [] : ['--omit=dev'];
  await runNpm(['ci', '--prefer-offline', '--no-audit', '--no-fund', ...omit]);
}

const sources = [
  'supervisor',
  'worker',
  'inference',
  'shared',
  'examples',
  'web',
  'scripts/build.mjs',
  'scripts/declarations.mjs',
  'scripts/line-table.mjs',
  'scripts/notices.mjs',
  'package-lock.json',
];
const mark = join(root, 'dist/.built');

function newestIn(path) {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined) return 0;
  if (!info.isDirectory()) return info.mtimeMs;
  // The folder's own time tells about files that were removed.
  return readdirSync(path).reduce(
    (newest, name) => Math.max(newest, newestIn(join(path, name))),
    info.mtimeMs,
  );
}

/** Leaves dist/ as new as the sources. */
export async function ensureBuilt() {
  const built = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newest = Math.max(...sources.map((name) => newestIn(join(root, name))));
  if (built > newest && existsSync(join(root, 'dist/supervisor/cli.js'))) return;
  const { buildAll } = await import('./build.mjs');
  await buildAll();
  writeFileSync(mark, '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await ensureInstalled({ dev: process.argv.includes('--dev') });
}
