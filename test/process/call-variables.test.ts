/**
 * What comes with a call reaches the agent's words and its tools, as docs/variables.md says, in the worker that began the call and
 * in the one that takes it up.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from '@iarna/toml';
import { loadFlite } from '../../examples/demo/flite.ts';
import { mintSessionToken } from '../../shared/auth/mint.ts';
import { answer, toolCall } from '../support/fakes/fake-chat.ts';
import { TestService } from '../support/process/service.ts';

const page = readFileSync(new URL('../../docs/variables.md', import.meta.url), 'utf8');
const snippet = (kind: string, nth: number): string =>
  [...page.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\\n\`\`\``, 'g'))][nth]?.[1] ?? '';
const agent = (parse(snippet('toml', 0)) as { agent: { prompt: string; greeting: string } }).agent;
const [greeting, prompt] = [snippet('text', 0), snippet('text', 1)];

const secret = 'current-secret-of-at-least-32-bytes!';
const maxS = 1;
const sid = `canary-${randomUUID()}`;

function token(): string {
  const meta = { plan: 'gold', customer: 'c/17' };
  const minted = mintSessionToken(
    { aud: 'svc-ws', ttlS: 60, sid, agent: 'support', maxS, meta },
    { secret, nowS: Math.floor(Date.now() / 1000) },
  );
  if (!minted.ok) throw new Error(minted.error);
  return minted.value;
}

let service: TestService;
let shop: ReturnType<typeof createServer>;
afterEach(async () => {
  await service.stop();
  shop.close();
});

async function startWithTool(): Promise<string[]> {
  const asked: string[] = [];
  shop = createServer((request, response) => {
    asked.push(`${request.url} ${String(request.headers['x-session'])} ${String(request.headers['x-call'])}`);
    response.end('none');
  });
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
  service = await TestService.start({
    workers: 2,
    prompt: agent.prompt,
    greeting: agent.greeting,
    env: { SVC_SPARE_WORKER: 'on', SVC_SESSION_SECRET: secret },
    turn: `
[[tools]]
name = "list_orders"
description = "The caller's open orders"
[tools.http]
url = "${url}/customers/{{session.meta.customer}}/orders"
headers = { X-Session = "{{session_id}}", X-Call = "{{session.transport}}/{{call.id}}/{{call.from | nobody}}" }
allow_private = true
`,
  });
  return asked;
}

describe('what comes with a call', () => {
  it('is what the documented example says, also after another worker took the call up', async () => {
    const asked = await startWithTool();
    const { llm, stt, tts } = service.providers;
    const metadata = {
      name: 'Ada',
      'session.agent': 'forged',
      'session.call.from': '+1',
      'note-of-caller': 'canary-note',
    };
    const call = await service.call({ token: token(), metadata });
    await tts.until(() => tts.inputs.join(' ').includes(greeting));
    const worker = await service.workerOf(call);
    expect(service.said('call started')?.['metadata']).toEqual([
      'name',
      'note-of-caller',
      'sample_rate',
      'session_id',
      'session.agent',
      'session.max_s',
      'session.meta.plan',
      'session.meta.customer',
    ]);

    await service.readiness();
    process.kill(worker, 'SIGKILL');
    expect((await service.says('call taken up'))['pid']).not.toBe(worker);

    llm.script.push(toolCall('list_orders', {}), answer('You have none.'));
    stt.utterances.push('what did I order');
    const flite = await loadFlite();
    const question = flite('Could you tell me what I have ordered, please?', { voice: 'slt', speed: 1 });
    // A call may be longer than the max_s of its token, which this listener reports and does not enforce.
    expect(question.length / 16_000).toBeGreaterThan(maxS);
    await call.say(question);
    await llm.until(() => llm.requests.length === 2);
    for (const { body } of llm.requests)
      expect((body['messages'] as unknown[])[0]).toEqual({ role: 'system', content: prompt });
    const callId = String(service.said('call started')?.['call']);
    expect(asked).toEqual([`/customers/c%2F17/orders ${sid} websocket/${callId}/nobody`]);
    expect(await call.hangUp()).toEqual({ code: 1000, reason: 'ended' });
    expect(JSON.stringify([service.log, service.text])).not.toMatch(/Ada|canary|c\/17|gold/);
  });
});
