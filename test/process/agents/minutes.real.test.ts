/** The minutes of a day that a tenant has used stay used when the service is stopped and started. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { mintSessionToken } from '../../../shared/auth/mint.ts';
import { AgentFolder } from '../../support/process/agent-folder.ts';
import { beforeAskingAgain, Providers, TestService } from '../../support/process/service.ts';

const secret = 'a secret of at least thirty-two bytes';
const folder = new AgentFolder();
const state = mkdtempSync(join(tmpdir(), 'svc-state-'));
const file = join(state, 'agent-minutes.json');
let service: TestService;

afterEach(async () => {
  await service.stop();
  await folder.close();
  rmSync(state, { recursive: true });
});

async function start(): Promise<void> {
  const providers = await new Providers().start();
  folder.allow('clinic', '[allow]\nprivate_addresses = true\n[limits]\nminutes_per_day = 1\n');
  await folder.put({ id: 'clinic/desk' }, providers);
  service = await TestService.start({
    workers: 1,
    providers,
    agentText: await folder.textOf({ id: 'own' }, providers),
    env: { SVC_AGENTS_DIR: folder.dir, SVC_SESSION_SECRET: secret, SVC_STATE_DIR: state },
  });
}

async function call(): Promise<CallClient | string> {
  const claims = { aud: 'svc-ws', ttlS: 60, sid: randomUUID(), agent: 'clinic/desk' } as const;
  const minted = mintSessionToken(claims, { secret, nowS: Math.floor(Date.now() / 1000) });
  if (!minted.ok) throw new Error(minted.error);
  return await service.call({ token: minted.value }).catch((error: unknown) => String(error));
}

it('counts on behind a stop and a start, and with a file that is damaged from nothing', async () => {
  await start();
  const calls = await Promise.all(Array.from({ length: 12 }, call));
  expect(calls.filter((one) => typeof one === 'string')).toEqual([]);
  let refused: CallClient | string = await call();
  while (typeof refused !== 'string') {
    await refused.hangUp();
    await beforeAskingAgain();
    refused = await call();
  }
  // The last minute may have gone between the upgrade and the start of the call.
  expect(refused).toMatch(/503|server_busy/);
  await service.stop();
  const kept = JSON.parse(readFileSync(file, 'utf8')) as { usedMs: Record<string, number> };
  expect(kept.usedMs['clinic/']).toBeGreaterThanOrEqual(60_000);
  await start();
  expect(await call()).toContain('503');
  await service.stop();
  writeFileSync(file, '{"day":');
  await start();
  expect(typeof (await call())).toBe('object');
});
