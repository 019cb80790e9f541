/** Lines that go into the journal of systemd carry their priority, so that `journalctl -p warning` finds them; others carry none. */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const project = fileURLToPath(new URL('../../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'svc-journal-'));
const taken = createServer();
beforeAll(async () => {
  const code = `import { ensureBuilt } from './scripts/install.mjs'; await ensureBuilt();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: project, stdio: 'pipe' });
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  taken.close();
  rmSync(folder, { recursive: true });
});

/** What a start that is refused writes into a file that may be the journal. */
function refused(
  env: Readonly<Record<string, string>>,
  { isJournal }: { readonly isJournal: boolean },
): string {
  const path = join(folder, 'out');
  const output = openSync(path, 'w');
  const { dev, ino } = fstatSync(output);
  const { status } = spawnSync(process.execPath, ['dist/supervisor/cli.js', '--workers', '1'], {
    cwd: project,
    env: {
      PATH: process.env['PATH'],
      SVC_AGENT_FILE: 'examples/demo/agent.toml',
      SVC_HEALTH_ADDR: '127.0.0.1:0',
      SVC_MODEL_INDEX: 'off',
      JOURNAL_STREAM: `${dev}:${isJournal ? ino : ino + 1}`,
      ...env,
    },
    stdio: ['ignore', output, output],
  });
  expect(status).toBe(1);
  closeSync(output);
  return readFileSync(path, 'utf8');
}

it('says how serious a line is', () => {
  // The first listener says where it listens; the next one finds its port taken.
  const inUse = {
    SVC_WS_ADDR: '127.0.0.1:0',
    SVC_PAGE_ADDR: `127.0.0.1:${(taken.address() as AddressInfo).port}`,
  };
  const text = refused(inUse, { isJournal: true });
  expect(text).toMatch(/^<6>\{"level":30,/m);
  expect(text).toMatch(/^<2>\{"level":60,.*the service cannot start/m);
  expect(refused(inUse, { isJournal: false })).not.toMatch(/^</m);
});

it('says it of problems with the settings too', () => {
  const wrong = { SVC_MAX_SESSIONS: 'many' };
  expect(refused(wrong, { isJournal: true })).toMatch(/^<3>SVC_MAX_SESSIONS /);
  expect(refused(wrong, { isJournal: false })).toMatch(/^SVC_MAX_SESSIONS /);
});
