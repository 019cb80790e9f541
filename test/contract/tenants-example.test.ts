/** `examples/agents/tenants`: a clinic and a restaurant on one service, as docs/agents.md explains them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCheckFolder } from '../../cli/commands/check/check-folder.ts';
import { AgentTable, type CallFacts } from '../../shared/agents/choose.ts';
import { listAgents, readAgentAt, type AgentReading } from '../../shared/installation/agents-folder.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { newWorkerMetrics } from '../../shared/runtime/metrics.ts';
import { LookUps } from '../../worker/agents/look-up.ts';

const dir = fileURLToPath(new URL('../../examples/agents/tenants', import.meta.url));
const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
let secretsDir: string;

beforeAll(() => {
  secretsDir = mkdtempSync(join(tmpdir(), 'svc-secrets-'));
  mkdirSync(join(secretsDir, 'restaurant'));
  writeFileSync(join(secretsDir, 'restaurant/BEFORE_CALL_SECRET'), secret);
});
afterAll(() => rmSync(secretsDir, { recursive: true }));

const check = async (env: Readonly<Record<string, string>>): Promise<readonly [number, string]> => {
  const lines: string[] = [];
  const status = await runCheckFolder(dir, { requireSecrets: true, env, write: (line) => lines.push(line) });
  return [status, lines.join('\n')];
};

const readAll = async (): Promise<readonly AgentReading[]> =>
  await Promise.all(
    listAgents(dir).places.map((place) => readAgentAt(place, {}, { requireSecrets: true, secretsDir })),
  );

describe('the clinic and the restaurant', () => {
  it('are valid with the secret of the restaurant in its folder, and with that alone', async () => {
    expect(await check({ SVC_SECRETS_DIR: secretsDir })).toEqual([0, `${dir}: 3 agents, all valid`]);
    const [status, said] = await check({ BEFORE_CALL_SECRET: secret });
    expect(status).toBe(1);
    expect(said).toContain('BEFORE_CALL_SECRET, which is not set');
  });

  it('get the calls of their own numbers', async () => {
    const versions = (await readAll()).flatMap(({ version }) => version ?? []);
    const table = new AgentTable(versions, { fallback: { id: 'own', hash: 'own' }, unknown: 'default' });
    const chosen = (facts: CallFacts): string => {
      const choice = table.choose(facts);
      return choice.kind === 'chosen' ? choice.agent.id : 'refused';
    };
    expect(chosen({ numbers: ['+15550100031'] })).toBe('restaurant/host');
    expect(chosen({ asked: 'restaurant/host' })).toBe('restaurant/host');
    expect(chosen({ asked: 'clinic/front-desk' })).toBe('own');
    const desks = Array.from({ length: 1000 }, (_, at) =>
      chosen({ numbers: ['+15550100011'], share: `caller ${at}` }),
    );
    const tried = desks.filter((id) => id === 'clinic/front-desk-b').length;
    expect(tried).toBeGreaterThan(60);
    expect(tried).toBeLessThan(140);
    expect(new Set(desks)).toEqual(new Set(['clinic/front-desk', 'clinic/front-desk-b']));
  });

  it('the restaurant greets those by name whom its server knows', async () => {
    const example = (await import(
      new URL('../../examples/before-call/server.mjs', import.meta.url).href
    )) as {
      readonly newServer: (secret: string) => Server;
    };
    const server = example.newServer(secret);
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    const beforeCall = (await readAll()).flatMap(({ definition }) => definition?.beforeCall ?? [])[0]!;
    const url = new URL(beforeCall.url);
    url.port = String(port);
    const lookUps = new LookUps(
      { ...beforeCall, url },
      {
        ...{ clock: systemClock, wallClock: { now: () => Date.now() }, metrics: newWorkerMetrics() },
        ...{ failures: { note: () => undefined }, showsNumbers: true, agent: 'host', tenant: 'restaurant' },
      },
    );
    const metadata = { 'session.transport': 'carrier_a', from: '+15550100001', to: '+15550100031' };
    const start = {
      callId: 'c',
      sampleRate: 8000,
      encoding: 'mulaw',
      metadata,
      sessionId: 's',
      at: 0,
    } as const;
    expect(await lookUps.ask(start)).toMatchObject({
      kind: 'answered',
      answer: { variables: { name: 'Ada' } },
    });
    await lookUps.close();
    server.closeAllConnections();
    server.close();
  });
});
