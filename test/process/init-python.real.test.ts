/** The project of `init --template python`: its tests pass at once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { runInit } from '../../cli/commands/init/init-command.ts';
import { developmentPython, pythonEnv, pythonSdk, run } from '../support/python.ts';

const folder = mkdtempSync(join(tmpdir(), 'init-python-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('passes its tests', async (context) => {
  const found = await developmentPython();
  if ('problem' in found) return context.skip(found.problem);
  const target = join(folder, 'bakery');
  const quiet = { write: () => undefined, writeError: () => undefined };
  const home = fileURLToPath(new URL('../..', import.meta.url));
  expect(await runInit({ folder: target, template: 'python', home, ...quiet })).toBe(0);
  const env = { ...pythonEnv, PYTHONPATH: join(pythonSdk, 'src') };
  const { status, text } = run(found.python, ['-m', 'unittest', '-v'], { cwd: target, env });
  expect(status, text).toBe(0);
  expect(text).toMatch(/Ran 2 tests/);
}, 300_000);
