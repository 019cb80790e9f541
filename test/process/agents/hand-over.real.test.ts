/** One agent hands the caller over to another within a call: whose voice, prompt and tools the call has, also when its worker dies. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { mintSessionToken } from '../../../shared/auth/mint.ts';
import { toolCall } from '../../support/fakes/fake-chat.ts';
import { AgentFolder } from '../../support/process/agent-folder.ts';
import { Providers, TestService } from '../../support/process/service.ts';

const secret = 'a secret of at least thirty-two bytes';
const asked = 'could you tell me about my invoice please';
let service: TestService;
let folder: AgentFolder;
let question: Int16Array;

beforeAll(async () => {
  question = (await loadFlite())(asked, { voice: 'slt', speed: 1 });
});
beforeEach(() => {
  folder = new AgentFolder();
});
afterEach(async () => {
  await service.stop();
  await folder.close();
});

const team = '[agent.team]\nagents = { billing = "Invoices." }\nfarewell = "I will put you through."';

async function start(workers = 1): Promise<void> {
  const providers = await new Providers().start();
  await folder.put({ id: 'clinic/desk', more: team }, providers);
  await folder.put({ id: 'clinic/billing', agent: 'tools = ["end_call"]' }, providers);
  service = await TestService.start({
    workers,
    providers,
    agentText: await folder.textOf({ id: 'own' }, providers),
    env: { SVC_AGENTS_DIR: folder.dir, SVC_SESSION_SECRET: secret },
  });
}

async function call(): Promise<CallClient> {
  const claims = { aud: 'svc-ws', ttlS: 60, sid: randomUUID(), agent: 'clinic/desk' } as const;
  const minted = mintSessionToken(claims, { secret, nowS: Math.floor(Date.now() / 1000) });
  if (!minted.ok) throw new Error(minted.error);
  return service.call({ token: minted.value });
}

/** Hears the call until this agent speaks. */
async function hears(client: CallClient, agent: string): Promise<void> {
  for (;;) {
    await client.next((event) => event.type === 'audio');
    const heard = client.heard();
    if (heard.length >= 8_000 && folder.heard(heard.subarray(-6_000), 16_000) === agent) return;
  }
}

async function ask(client: CallClient): Promise<void> {
  service.providers.stt.utterances.push(asked);
  await client.say(question);
}

const systemOf = (request: { readonly body: Readonly<Record<string, unknown>> } | undefined): string =>
  JSON.stringify(request?.body['messages'] ?? '');

describe('a caller who is handed over', () => {
  it('hears the other agent, which has its own prompt and tools, and goes on with it in another worker', async () => {
    await start(2);
    const { llm } = service.providers;
    llm.script.push(toolCall('transfer_to_agent', { agent: 'billing' }));
    const client = await call();
    await hears(client, 'clinic/desk');
    await ask(client);
    await hears(client, 'clinic/billing');
    expect(folder.said('clinic/desk')).toContain('I will put you through.');
    expect(JSON.stringify(llm.requests[0]?.body['tools'])).toContain('transfer_to_agent');
    await service.says('another agent has the call', (line) => line['to'] === 'billing');
    expect(JSON.stringify(llm.requests[1]?.body['tools'])).not.toContain('transfer_to_agent');
    expect(systemOf(llm.requests[1])).toContain('Another agent has handed the caller over to you.');
    process.kill(await service.workerOf(client), 'SIGKILL');
    await service.says('call taken up', (line) => line['agent'] === 'clinic/billing');
    await hears(client, 'clinic/billing');
    await client.hangUp();
    const ended = await service.says('call ended', (line) => line['call'] === client.callId);
    expect(ended['agent']).toBe('clinic/billing');
  });

  it('stays with the first agent where the other is not there', async () => {
    await start();
    const { llm } = service.providers;
    const reply = toolCall('transfer_to_agent', { agent: 'billing' });
    llm.script.push(reply);
    const client = await call();
    await hears(client, 'clinic/desk');
    rmSync(folder.pathOf('clinic/billing'));
    await service.says('an agent was removed: it gets no new calls');
    await ask(client);
    await service.says('a call is not handed over: its tenant has no such agent');
    await llm.until(() => llm.requests.length > 1);
    expect(JSON.stringify(llm.requests[1]?.body['messages'])).toContain('the other agent is not there');
    await client.hangUp();
  });
});
