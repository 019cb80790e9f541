/** A thousand changes of agent files in a row, on a real disk: each is in force at once, none is lost, and nothing is kept for good. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AgentRef } from '../../../shared/agents/version.ts';
import { readAgentAt } from '../../../shared/installation/agents-folder.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { newSupervisorMetrics } from '../../../shared/runtime/metrics.ts';
import { Agents } from '../../../supervisor/agents/agents.ts';
import { FolderWatch } from '../../../supervisor/agents/folder-watch.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { goodFile } from '../config/agent-text.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as Log;
const files = 20;
const changes = 1_000;
let dir: string;
let agents: Agents;

beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'svc-agents-'))));
afterEach(() => {
  agents.close();
  rmSync(dir, { recursive: true, force: true });
});

const pathOf = (at: number): string => join(dir, 'agents', `a${at % files}.toml`);

/** As editors and mounts do it. A wrong text is no agent. */
function change(at: number, { isWrong = false } = {}): void {
  const text = goodFile
    .replace('name = "desk"', `name = "a${at % files}"`)
    .replace('Be brief.', `Text ${at}.`);
  writeFileSync(`${pathOf(at)}.new`, isWrong ? text.replace('[stt]', '[stt') : text);
  renameSync(`${pathOf(at)}.new`, pathOf(at));
}

it('is in force each time, keeps what a call has, and leaves nothing behind', async () => {
  const clock = newVirtualClock();
  const calls: AgentRef[] = [];
  mkdirSync(join(dir, 'agents'));
  for (let at = 0; at < files; at += 1) change(at);
  const place = { path: join(dir, 'own.toml'), shown: 'own.toml' };
  writeFileSync(place.path, goodFile);
  const { version } = await readAgentAt(place, {}, { requireSecrets: false });
  const own = { place, version: version!, named: [] };
  // A file that was renamed into its place is whole: nobody waits for more of it.
  const wall = { now: () => Date.now() + 1_000 };
  agents = new Agents({
    ...{ unknown: 'default', own, clock, wallClock: wall, log: silent },
    watch: (events) =>
      new FolderWatch({
        ...{ ...events, clock: systemClock, wallClock: wall, besides: own, env: {}, secretsDir: undefined },
        dir: join(dir, 'agents'),
      }),
    afterCallOf: () => undefined,
    whyNot: () => undefined,
  });
  await agents.open();
  agents.serve({
    ...{ metrics: newSupervisorMetrics(), send: () => undefined, readyWorkers: () => [] },
    ...{ changed: () => undefined, ofCalls: () => calls, agentOf: () => undefined },
  });
  const inForce = (at: number): string | undefined =>
    agents.afterCall.inForce.find(({ id }) => id === `a${at % files}`)?.hash;
  const [first] = agents.afterCall.inForce.filter(({ id }) => id === 'a0');
  calls.push(first!);
  for (let at = files; at < files + changes; at += 1) {
    const before = inForce(at);
    const isWrong = at % 10 === 3;
    change(at, { isWrong });
    await agents.reload();
    if (isWrong) expect(inForce(at)).toBe(before);
    else expect(inForce(at)).not.toBe(before);
  }
  expect(agents.counts.agents).toBe(files + 1);
  clock.advance(600_000);
  const kept = new Set(agents.afterCall.kept);
  expect(kept.size).toBe(files + 2);
  expect(kept.has(first!.hash)).toBe(true);
  calls.pop();
  clock.advance(600_000);
  expect(agents.afterCall.kept).toHaveLength(files + 1);
});
