/** The scripts of `.ci` explain themselves before they do anything. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const folder = fileURLToPath(new URL('../../../.ci', import.meta.url));
const isProgram = (name: string): boolean => {
  try {
    accessSync(join(folder, name), constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
// All the programs that there are: a script that goes on past its help finds none to start.
const path = mkdtempSync(join(tmpdir(), 'ci-help-'));
for (const name of ['bash', 'dirname', 'sed']) symlinkSync(`/usr/bin/${name}`, join(path, name));
const programs = readdirSync(path);

afterAll(() => rmSync(path, { recursive: true }));

describe.each(readdirSync(folder).filter(isProgram))('.ci/%s', (name) => {
  it.each(['--help', '-h'])('explains itself with %s and does nothing else', (option) => {
    const run = spawnSync(join(folder, name), [option], { cwd: path, env: { PATH: path }, encoding: 'utf8' });
    expect([run.status, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toMatch(/^usage: .*\n.*[a-z]/);
    expect(readdirSync(path)).toEqual(programs);
  });
});
