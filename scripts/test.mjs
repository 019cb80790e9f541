// `npm test`: every test. Installs and builds what is missing first, because some tests start the service as a user does.
// Arguments go to vitest (`npm test -- test/unit/web`, `npm test -- --project fast`). The last line is `N passed, N failed, N skipped`.
//
// Calls in real time share the machine with all other tests, and a stall of it is no fault of theirs: where no files are named, a few that
// failed run once more, alone, and the second result counts. It says which these were.
//
// Recordings and models of the tests lie in the folder SVC_TEST_ASSETS; without it the tests that need them skip and say so.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBuilt, ensureInstalled } from './install.mjs';
import { answerHelp } from './process/help.mjs';
import { stopWithNpm } from './process/stop-with-npm.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs vitest in this command's place: signals are passed on, and its exit status is the result. */
function runVitest(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...args], {
      cwd: root,
      stdio: 'inherit',
    });
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
    child.once('error', () => resolve(1));
    child.once('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}

/** Counts tests; a file that could not be loaded has no tests and counts as one that failed. */
function countsIn(report) {
  const broken = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((result) => result.status === 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** What failed and the first line of why, a line each: a build server may keep only the end of what is printed. */
function failuresIn(report) {
  const firstLine = (text) => (text ?? '').split('\n', 1)[0];
  return report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((result) => result.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [`${relative(root, name)}: ${firstLine(message)}`];
    return failed.map(
      ({ fullName, failureMessages }) =>
        `${relative(root, name)} > ${fullName}: ${firstLine(failureMessages[0])}`,
    );
  });
}

/** More of them are no accident. */
const mostAgain = 6;

function readReport(file) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    const files = report.testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
    return { counts: countsIn(report), failures: failuresIn(report), files };
  } catch {
    return { counts: { passed: 0, failed: 0, skipped: 0 }, failures: [], files: [] };
  }
}

/** One run of vitest: its exit status, and what its report says. */
async function testWith(args) {
  const folder = mkdtempSync(join(tmpdir(), 'test-report-'));
  const file = join(folder, 'report.json');
  const status = await runVitest([
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
    ...args,
  ]);
  const report = readReport(file);
  rmSync(folder, { recursive: true, force: true });
  for (const failure of report.failures) console.log(`FAILED: ${failure}`);
  // An error outside every test, or a run that ended early, fails too.
  const failed = status !== 0 && report.counts.failed === 0 ? 1 : report.counts.failed;
  return { ...report, status: status === 0 && failed > 0 ? 1 : status, counts: { ...report.counts, failed } };
}

/** Whether these arguments name no file or test, so that only the machine chose what ran beside what. */
const isWhole = (args) => args.every((arg, at) => arg === '--project' || args[at - 1] === '--project');

/** Tests of sources alone need no build. One that starts the service all the same builds it then, so that a wrong guess costs nothing. */
function needsBuild(args) {
  const files = args.filter((arg) => arg.startsWith('test/'));
  if (files.length > 0)
    return files.some((file) => /^test\/(process|interop|sdk)\b|\.real\b|^test\/(spec\/)?$/.test(file));
  const projects = args.filter((_, at) => args[at - 1] === '--project');
  return projects.length === 0 || projects.some((name) => name !== 'pure' && name !== 'fast');
}

answerHelp(
  `usage: npm test -- [FILE ...] [--project pure|fast|real|alone|listening] [options of vitest]
  Runs every test, or those of the files named. Installs what is missing first, and builds where the service itself is tested.
  Without files, a few that failed run once more, alone; SVC_TEST_ONCE=1 only says which.
  SVC_TEST_ASSETS names the folder of recordings and models; without it the tests that need them are skipped.`,
  { passesOn: true },
);

stopWithNpm(() => process.kill(process.pid, 'SIGTERM'));
await ensureInstalled({ dev: true });
// Optional parts are tested too.
process.env.SVC_BUILD_WITH ??= 'sip';
const args = process.argv.slice(2);
if (needsBuild(args)) await ensureBuilt();
const isLater = process.env.SVC_TEST_ONCE === '1';
// The service takes variables of this kind for its own.
delete process.env.SVC_TEST_ONCE;
let { status, counts, files } = await testWith(args);
if (files.length > 0 && files.length <= mostAgain && (isLater || isWhole(args))) {
  console.log(`once more, alone: ${files.map((name) => relative(root, name)).join(' ')}`);
  if (!isLater) {
    const again = await testWith(['--no-file-parallelism', ...files]);
    const { failed } = again.counts;
    counts = { ...counts, passed: counts.passed + Math.max(0, counts.failed - failed), failed };
    status = again.status;
  }
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = status;
