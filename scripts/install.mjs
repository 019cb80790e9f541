// Makes a checkout ready to run: packages as package-lock.json names them, and dist/ as new as the sources.
// Imports nothing that needs installing; output appears only when there is something to do or to complain about.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answerHelp } from './process/help.mjs';
import { leaveTo, unlockFor, whileLocked } from './process/lock.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const progressEveryMs = 3000;

/** The packages of a lock file by their folder; nothing when there is no such file or it is damaged. */
function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages ?? {};
  } catch {
    return {};
  }
}

/** The folders of the packages that are wanted, with their versions; optional ones may be absent. */
function wantedPackages({ dev }) {
  return Object.entries(packagesIn('package-lock.json')).filter(
    ([folder, entry]) => folder !== '' && !entry.optional && !entry.devOptional && (dev || !entry.dev),
  );
}

const lies = (folder) => existsSync(join(root, folder, 'package.json'));

/** Whether every package that is wanted lies in its folder with the right version. */
function isComplete({ dev }) {
  const installed = packagesIn('node_modules/.package-lock.json');
  return wantedPackages({ dev }).every(
    ([folder, { version }]) => installed[folder]?.version === version && lies(folder),
  );
}

const lock = join(root, '.install.lock');

/** One at a time, so that two first starts do not spoil each other's folders. */
const alone = (action) =>
  whileLocked(
    lock,
    {
      waiting: (pid) =>
        process.stderr.write(`Waiting for process ${pid}, which installs or builds in this folder ...\n`),
    },
    action,
  );

/** Runs npm quietly; its output is shown only when it fails. */
function runNpm(args, share) {
  const cli = process.env.npm_execpath;
  const [command, first] = cli?.endsWith('.js') ? [process.execPath, [cli]] : ['npm', []];
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...first, ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    if (child.pid !== undefined) share(child.pid);
    // A signal to this command is for npm, too; afterwards this command ends by it.
    let stoppedBy;
    const pass = (signal) => {
      stoppedBy = signal;
      child.kill(signal);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, pass);
    const output = [];
    child.stdout.on('data', (bytes) => output.push(bytes));
    child.stderr.on('data', (bytes) => output.push(bytes));
    child.once('error', reject);
    child.once('close', (code) => {
      for (const signal of signals) process.off(signal, pass);
      if (stoppedBy !== undefined) process.kill(process.pid, stoppedBy);
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
  await alone(async (share) => {
    if (isComplete({ dev })) return;
    const wanted = wantedPackages({ dev });
    process.stderr.write(`Installing ${wanted.length} packages (once; this may take some minutes) ...\n`);
    const progress = setInterval(() => {
      const count = wanted.filter(([folder]) => lies(folder)).length;
      process.stderr.write(`  ${count} of ${wanted.length} packages are there\n`);
    }, progressEveryMs);
    const hasDev = Object.values(packagesIn('node_modules/.package-lock.json')).some((entry) => entry.dev);
    const omit = dev || hasDev ? [] : ['--omit=dev'];
    try {
      await runNpm(['ci', '--prefer-offline', '--no-audit', '--no-fund', ...omit], share);
    } finally {
      clearInterval(progress);
    }
  });
}

const sources = [
  'cli',
  'supervisor',
  'worker',
  'inference',
  'records',
  'shared',
  'examples',
  'sdk/typescript/src',
  'web',
  'scripts/build',
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

function isBuilt() {
  const built = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newest = Math.max(...sources.map((name) => newestIn(join(root, name))));
  return built > newest && existsSync(join(root, 'dist/supervisor/cli.js')) && hasWanted();
}

/** Whether what SVC_BUILD_WITH asks for is built in; more does not matter. */
const hasWanted = () =>
  !(process.env.SVC_BUILD_WITH ?? '').includes('sip') || readFileSync(mark, 'utf8') === 'sip';

/** Leaves dist/ as new as the sources. */
export async function ensureBuilt() {
  if (isBuilt()) return;
  await alone(async () => {
    if (!isBuilt()) await build();
  });
}

/** Leaves a new dist/. Nobody else builds until then, nor while the process `keptBy` packs what was built. */
export const buildAnew = ({ keptBy } = {}) =>
  alone(async () => {
    await build();
    if (keptBy !== undefined) leaveTo(lock, keptBy);
  });

/** That process has packed. */
export const packed = (pid) => unlockFor(lock, pid);

async function build() {
  process.stderr.write('Building ...\n');
  const { buildAll } = await import('./build/service.mjs');
  await buildAll();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  answerHelp(`usage: node scripts/install.mjs [--dev]
  Installs the packages of package-lock.json that a start lacks; --dev: those for building and testing, too.`);
  await ensureInstalled({ dev: process.argv.includes('--dev') });
}
