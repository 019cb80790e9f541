/** Many agents in one running service: who answers which call, while files change, break and go. */
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CallRefused } from '../../../cli/commands/call/call-wire.ts';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { mintSessionToken } from '../../../shared/auth/mint.ts';
import { AgentFolder } from '../../support/process/agent-folder.ts';
import {
  beforeAskingAgain,
  Providers,
  TestService,
  type TestServiceOptions,
} from '../../support/process/service.ts';
import { restarted, stopAll } from '../../support/process/succession.ts';

const secret = 'a secret of at least thirty-two bytes';
let service: TestService;
let folder: AgentFolder;
const calls: CallClient[] = [];

beforeEach(() => {
  folder = new AgentFolder();
});
afterEach(async () => {
  await Promise.all(calls.splice(0).map((call) => call.hangUp()));
  await stopAll(service);
  await folder.close();
});

/** Providers are there before the service: files of agents name them. */
async function start(
  ids: readonly string[],
  options: TestServiceOptions = {},
  more: Record<string, string> = {},
): Promise<void> {
  const providers = await new Providers().start();
  for (const id of ids)
    await folder.put({ id, ...(more[id] !== undefined && { more: more[id] }) }, providers);
  service = await TestService.start({
    ...options,
    agentText: await folder.textOf({ id: 'own' }, providers),
    env: {
      SVC_AGENTS_DIR: folder.dir,
      SVC_SESSION_SECRET: secret,
      SVC_CALLBACK_ADDR: '127.0.0.1:0',
      SVC_CALLBACK_SECRET: secret.replaceAll(' ', '-'),
      ...options.env,
    },
    providers,
  });
}

const token = (agent?: string): string => {
  const minted = mintSessionToken(
    { aud: 'svc-ws', ttlS: 60, sid: randomUUID(), ...(agent !== undefined && { agent }) },
    { secret, nowS: Math.floor(Date.now() / 1000) },
  );
  if (!minted.ok) throw new Error(minted.error);
  return minted.value;
};

async function call(agent?: string, metadata: Readonly<Record<string, string>> = {}): Promise<CallClient> {
  const client = await service.call({ token: token(agent), metadata });
  calls.push(client);
  return client;
}

/** Whose voice a caller hears, once one is heard for half a second. */
async function voiceOf(client: CallClient): Promise<string | undefined> {
  const from = client.heard().length;
  for (;;) {
    await client.next((event) => event.type === 'audio');
    const heard = client.heard().subarray(from);
    if (heard.length >= 12_000 && folder.heard(heard.subarray(-8_000), 16_000) !== undefined)
      return folder.heard(heard.subarray(-8_000), 16_000);
  }
}

const ask = async (
  method: string,
  path: string,
): Promise<{ agents: Record<string, unknown>[]; problems: string[] }> => {
  const response = await fetch(`http://${service.address('callback')}${path}`, {
    method,
    headers: { Authorization: `Bearer ${secret.replaceAll(' ', '-')}` },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as { agents: Record<string, unknown>[]; problems: string[] };
};
const row = async (agent: string): Promise<Record<string, unknown> | undefined> =>
  (await ask('GET', '/agents')).agents.find((one) => one['agent'] === agent);

describe('a call by the call protocol', () => {
  it('gets the agent that its token names, or asks for where that is open, or else that of SVC_AGENT_FILE', async () => {
    await start(['clinic/desk', 'diner/host'], {}, { 'diner/host': '[routing]\nopen = true' });
    expect(await voiceOf(await call('clinic/desk'))).toBe('clinic/desk');
    expect(await voiceOf(await call(undefined, { agent: 'diner/host' }))).toBe('diner/host');
    expect(await voiceOf(await call(undefined, { agent: 'clinic/desk' }))).toBe('own');
    expect(await voiceOf(await call('clinic/desk', { agent: 'diner/host' }))).toBe('clinic/desk');
    expect(await voiceOf(await call('nobody'))).toBe('own');
    expect(await voiceOf(await call())).toBe('own');
    const started = await service.says('call started', (line) => line['agent'] === 'clinic/desk');
    expect(started).toMatchObject({
      agentBy: 'signed',
      agentVersion: (await row('clinic/desk'))?.['version'],
    });
  });

  it('is refused where it names an agent that is not there and the operator wants that: before it is answered', async () => {
    await start(['clinic/desk'], { env: { SVC_AGENT_UNKNOWN: 'refuse' } });
    const refused = await call('nobody').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(CallRefused);
    expect(String(refused)).toContain('404');
    const asked = await call(undefined, { agent: 'clinic/desk' }).catch((error: unknown) => error);
    expect(String(asked)).toContain('start.metadata.agent');
    expect(await voiceOf(await call('clinic/desk'))).toBe('clinic/desk');
  });
});

describe('a change', () => {
  it('is for new calls: a running one goes on with what it began with, also when its worker dies', async () => {
    await start(['clinic/desk'], { workers: 2 });
    const before = await call('clinic/desk');
    expect(await voiceOf(before)).toBe('clinic/desk');
    const first = await row('clinic/desk');
    expect(first).toMatchObject({ tenant: 'clinic', calls: 1, problem: null });
    await folder.put({ id: 'clinic/desk', agent: 'farewell = "Changed."' }, service.providers);
    await service.says('an agent was changed: new calls get this version');
    const second = await row('clinic/desk');
    expect(second?.['version']).not.toBe(first?.['version']);
    const after = await call('clinic/desk');
    expect(await voiceOf(after)).toBe('clinic/desk');
    const started = (client: CallClient): ReturnType<TestService['says']> =>
      service.says('call started', (line) => line['call'] === client.callId);
    expect((await started(before))['agentVersion']).toBe(first?.['version']);
    expect((await started(after))['agentVersion']).toBe(second?.['version']);
    process.kill(await service.workerOf(before), 'SIGKILL');
    await service.says('call taken up', (line) => line['call'] === before.callId);
    expect(await voiceOf(before)).toBe('clinic/desk');
    expect((await row('clinic/desk'))?.['calls']).toBe(2);
  });

  it('that is wrong keeps what was there, and says so everywhere; what is right again comes into force', async () => {
    await start(['clinic/desk'], { env: { SVC_LIVE_TOKEN: secret.replaceAll(' ', '-') } });
    const text = await folder.textOf({ id: 'clinic/desk' }, service.providers);
    writeFileSync(folder.pathOf('clinic/desk'), text.slice(0, text.length / 2));
    await service.says('an agent file is wrong: its earlier settings stay in force');
    expect(await service.readiness()).toMatchObject({ ready: 1, agents: 2, agents_wrong: 1 });
    expect((await row('clinic/desk'))?.['problem']).toContain('clinic/desk.toml');
    expect(await service.metric('svc_agents{state="problem"}')).toBe(1);
    const live = await service.get('/live/state', { Authorization: `Bearer ${secret.replaceAll(' ', '-')}` });
    expect(await live.text()).toContain('clinic/desk.toml');
    expect(await voiceOf(await call('clinic/desk'))).toBe('clinic/desk');
    writeFileSync(folder.pathOf('clinic/desk'), text);
    const { problems } = await ask('POST', '/agents/reload');
    expect(problems).toEqual([]);
  });

  it('survives a restart without a gap: what was in force stays, also where its file is wrong', async () => {
    await start(['clinic/desk', 'diner/host']);
    const running = await call('clinic/desk');
    const before = await row('clinic/desk');
    writeFileSync(folder.pathOf('clinic/desk'), 'this is no agent');
    await service.says('an agent file is wrong: its earlier settings stay in force');
    await restarted(service);
    expect(await voiceOf(await call('clinic/desk'))).toBe('clinic/desk');
    expect(await voiceOf(await call('diner/host'))).toBe('diner/host');
    expect(await row('clinic/desk')).toMatchObject({
      version: before?.['version'],
      since: before?.['since'],
    });
    expect(await voiceOf(running)).toBe('clinic/desk');
  });

  it('may take an agent away while it has calls, and bring another in', async () => {
    await start(['clinic/desk']);
    const client = await call('clinic/desk');
    expect(await voiceOf(client)).toBe('clinic/desk');
    rmSync(folder.pathOf('clinic/desk'));
    await folder.put({ id: 'diner/host' }, service.providers);
    await service.says('an agent was removed: it gets no new calls');
    expect(await voiceOf(client)).toBe('clinic/desk');
    expect(await voiceOf(await call('clinic/desk'))).toBe('own');
    while ((await row('diner/host')) === undefined) await beforeAskingAgain();
    expect(await voiceOf(await call('diner/host'))).toBe('diner/host');
    expect(await row('clinic/desk')).toMatchObject({ calls: 1 });
  });
});
