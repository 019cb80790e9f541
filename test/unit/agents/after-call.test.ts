/** What happens after calls of the agents of a folder: known by version, and refused where nobody keeps records. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newLog } from '../../../shared/runtime/log.ts';
import type { Agents } from '../../../supervisor/agents/agents.ts';
import { openAgents, type OpenAgentsOptions } from '../../../supervisor/agents/open-agents.ts';
import { goodFile } from '../config/agent-text.ts';

const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const env = { PROVIDER_API_KEY: 'k', HOOK: secret };
const hook = '\n[after_call]\nurl = "https://example.com/"\nsecret_env = "HOOK"\n';
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-agents-'));
  for (const tenant of ['clinic', 'diner']) {
    mkdirSync(join(dir, tenant));
    writeFileSync(
      join(dir, `${tenant}.tenant.toml`),
      '[allow]\nprivate_addresses = true\nenv = ["PROVIDER_API_KEY", "HOOK"]\n',
    );
  }
  writeFileSync(join(dir, 'clinic', 'desk.toml'), goodFile + hook);
  writeFileSync(join(dir, 'diner', 'desk.toml'), goodFile);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function opened(calls: object | undefined): Promise<Agents> {
  const version = { id: 'own', hash: 'f0', name: 'own', text: '', files: { texts: {}, recordings: {} } };
  const settings = { agents: { dir, unknown: 'default' }, telephony: {}, ...(calls && { calls }) };
  const agents = await openAgents({
    settings: settings as OpenAgentsOptions['settings'],
    own: {
      place: { path: join(dir, 'own.toml'), shown: 'own.toml' },
      version: { ...version, routing: { numbers: [], hosts: [], trunks: [], open: false, splits: [] } },
      named: [],
    },
    env,
    log: newLog({ role: 'supervisor', level: 'fatal' }),
    records: false,
    hasTurnModel: false,
  });
  if (!agents.ok || agents.value === undefined) throw new Error('there is a folder');
  agents.value.close();
  return agents.value;
}

it('what happens after calls is known by agent and version, of those that have it', async () => {
  const agents = await opened({});
  expect(agents.problems).toEqual([]);
  const { versions, kept, inForce } = agents.afterCall;
  expect(versions).toMatchObject([
    { agent: expect.stringMatching(/^clinic\//) as string, endpoints: [{ secretEnv: ['HOOK'] }] },
  ]);
  expect(versions[0]).toMatchObject({ tenant: 'clinic', secrets: { HOOK: secret } });
  expect(kept).toHaveLength(3);
  expect(inForce.find(({ id }) => id === versions[0]?.agent)?.hash).toBe(versions[0]?.version);
});

it('an agent after whose calls something is to happen needs records', async () => {
  const agents = await opened(undefined);
  expect(agents.problems).toEqual([
    'clinic/desk.toml: error: after_call needs SVC_CALLS_DB, which is read at the start',
  ]);
  expect(agents.afterCall.versions).toEqual([]);
});
