/** `examples/before-call`: its server answers what the service asks, and nobody else. */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../shared/runtime/clock.ts';
import { newWorkerMetrics } from '../../shared/runtime/metrics.ts';
import { LookUps } from '../../worker/agents/look-up.ts';
import { load } from '../unit/config/agent-text.ts';

const folder = new URL('../../examples/before-call/', import.meta.url);
const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';

interface Example {
  readonly newServer: (secret: string) => Server;
}

let server: Server;
beforeAll(async () => {
  const example = (await import(new URL('server.mjs', folder).href)) as Example;
  server = example.newServer(secret);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function ask(from: string, env = { BEFORE_CALL_SECRET: secret }) {
  const port = (server.address() as AddressInfo).port;
  const text = readFileSync(new URL('agent.toml', folder), 'utf8').replace(':8790', `:${port}`);
  const { definition, problems } = load(text, { env, requireSecrets: true });
  if (definition?.beforeCall === undefined) throw new Error(JSON.stringify(problems));
  const lookUps = new LookUps(definition.beforeCall, {
    ...{ clock: systemClock, wallClock: { now: () => Date.now() }, metrics: newWorkerMetrics() },
    ...{ failures: { note: () => undefined }, showsNumbers: true, agent: 'desk' },
  });
  const metadata = { 'session.transport': 'carrier_a', from, to: '+15550100009' };
  const start = {
    callId: 'c',
    sessionId: 's',
    at: 0,
    sampleRate: 8_000,
    encoding: 'mulaw',
    metadata,
  } as const;
  const found = await lookUps.ask(start);
  await lookUps.close();
  return found;
}

describe('the example of a server before calls', () => {
  it('knows a customer by the number', async () => {
    expect(await ask('+15550100001')).toMatchObject({
      answer: { variables: { name: 'Ada', plan: 'gold' }, problems: [] },
    });
  });

  it('says nothing of anybody else', async () => {
    expect(await ask('+15550100003')).toEqual({ kind: 'answered', answer: { variables: {}, problems: [] } });
    expect(await ask('__proto__')).toMatchObject({ answer: { variables: {} } });
  });

  it('says nothing to who does not have the secret', async () => {
    const other = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    expect(await ask('+15550100001', { BEFORE_CALL_SECRET: other })).toMatchObject({ kind: 'failed' });
  });
});
