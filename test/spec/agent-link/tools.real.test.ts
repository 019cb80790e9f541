/**
 * Remote tools (docs/reference/agent-link.md, Tool declaration) on the running service: fillers, confirmation, cancelling, and an agent that sends
 * without end and never reads.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { toolCall } from '../../support/fakes/fake-chat.ts';
import { TestService } from '../../support/process/service.ts';
import { accepting, RawAgent, type AgentSession } from '../../support/raw-agent.ts';

let agent: RawAgent;
let service: TestService;

beforeAll(async () => {
  agent = await RawAgent.start();
  service = await TestService.start({
    greeting: 'Hello.',
    agent: '[agent.confirm]\nask = "Shall I do it?"',
    env: { SVC_AGENT_URL: agent.url, SVC_LOG_LEVEL: 'debug' },
  });
});
afterAll(async () => {
  await service.stop();
  await agent.close();
});

interface Linked {
  readonly call: CallClient;
  readonly session: AgentSession;
}

/** A call whose agent brought these tools, after its greeting. */
async function linked(tools: readonly Readonly<Record<string, unknown>>[] = []): Promise<Linked> {
  agent.onEvent = accepting({ tools });
  const at = agent.sessions.length;
  const call = await service.call();
  const session = await agent.session(at);
  await session.says('turn.bot_ended');
  return { call, session };
}

async function ended({ call, session }: Linked): Promise<void> {
  call.abandon();
  await session.closed();
}

const lastTold = (): string => JSON.stringify(service.providers.llm.requests.at(-1)?.body['messages']);

/** Until the LLM has been told of a tool. */
const told = (what: string): Promise<void> => service.providers.llm.until(() => lastTold().includes(what));

const use = ({ call }: Linked, name: string, id = 'call_a'): void => {
  service.providers.llm.script.push(toolCall(name, {}, id));
  call.sendText('use it');
};

const count = ({ session }: Linked, type: string): number =>
  session.events.filter((event) => event.type === type).length;

describe('Tool declaration', () => {
  it('filler_after_ms: a filler is spoken after this long without a result', async () => {
    const one = await linked([{ name: 'slow', filler_after_ms: 100 }]);
    const before = count(one, 'bot.tts_text');
    use(one, 'slow');
    const asked = await one.session.says('tool.call');
    await agent.until(() => count(one, 'bot.tts_text') > before);
    one.session.send({ type: 'tool.result', id: asked['id'], result: 'here at last' });
    await told('here at last');
    await ended(one);
  });

  it('confirm: no tool.call before the caller has said yes, and none after a no', async () => {
    const one = await linked([{ name: 'book', kind: 'side_effect', confirm: true }]);
    const { session, call } = one;
    const question = async (id: string): Promise<void> => {
      const heard = count(one, 'turn.bot_ended');
      use(one, 'book', id);
      await agent.until(() => count(one, 'turn.bot_ended') > heard);
      expect(session.said('bot.tts_text')).toMatchObject({ text: 'Shall I do it?' });
    };
    await question('call_a');
    call.sendText('no');
    await agent.until(() => session.said('turn.bot_ended')?.['epoch'] !== 2);
    expect(session.said('tool.call')).toBeUndefined();
    await question('call_b');
    call.sendText('yes');
    expect(await session.says('tool.call')).toMatchObject({ name: 'book', kind: 'side_effect' });
    await ended(one);
  });

  it('timeout_ms: then tool.cancel says timeout, and the LLM is told', async () => {
    const one = await linked([{ name: 'slow', timeout_ms: 100, filler_after_ms: 0 }]);
    use(one, 'slow');
    const asked = await one.session.says('tool.call');
    expect(asked).toMatchObject({ timeout_ms: 100 });
    expect(await one.session.says('tool.cancel')).toMatchObject({ id: asked['id'], reason: 'timeout' });
    await told('no answer in time');
    // A later result is ignored, and no fault.
    const errors = count(one, 'error');
    one.session.send({ type: 'tool.result', id: asked['id'], result: 'too late' });
    one.session.send({ type: 'say', id: 's', text: 'On we go.' });
    await one.session.says('command.result');
    expect([count(one, 'error'), lastTold().includes('too late')]).toEqual([errors, false]);
    await ended(one);
  });

  it('tool.cancel: interrupted, when the caller goes on', async () => {
    const one = await linked([{ name: 'slow' }]);
    use(one, 'slow');
    const asked = await one.session.says('tool.call');
    one.call.sendText('never mind');
    expect(await one.session.says('tool.cancel')).toMatchObject({ id: asked['id'], reason: 'interrupted' });
    await ended(one);
  });

  it('tool.cancel: none for a side_effect call when the caller goes on: its outcome reaches the LLM later', async () => {
    const one = await linked([{ name: 'pay', kind: 'side_effect' }]);
    use(one, 'pay');
    const asked = await one.session.says('tool.call');
    one.call.sendText('never mind');
    await told('never mind');
    one.session.send({ type: 'tool.result', id: asked['id'], result: 'paid with card' });
    // The caller speaks on another connection: the result has arrived once what comes behind it is answered.
    one.session.send({ type: 'tools.set', id: 'behind', enabled: null });
    await one.session.says('command.result');
    one.call.sendText('are you there');
    await told('paid with card');
    expect(count(one, 'tool.cancel')).toBe(0);
    await ended(one);
  });

  it('repeatable: without it an identical call of the same turn is answered already_done', async () => {
    const one = await linked([{ name: 'book', kind: 'side_effect', filler_after_ms: 0 }]);
    const { llm } = service.providers;
    llm.script.push(toolCall('book', {}, 'call_a'), toolCall('book', {}, 'call_b'));
    one.call.sendText('book it');
    const asked = await one.session.says('tool.call');
    one.session.send({ type: 'tool.result', id: asked['id'], result: 'booked' });
    await told('already_done');
    expect(count(one, 'tool.call')).toBe(1);
    await ended(one);
  });

  it('unknown_tool: a call of what tools.set took away is answered without running', async () => {
    const one = await linked([{ name: 'slow' }]);
    one.session.send({ type: 'tools.set', id: 't', enabled: [] });
    await one.session.says('command.result');
    use(one, 'slow');
    await told('unknown_tool');
    expect(one.session.said('tool.call')).toBeUndefined();
    await ended(one);
  });
});

const residentKib = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Sends so many messages without looking what becomes of them. */
function flood({ session }: Linked, count: number): void {
  const refused = JSON.stringify({ type: 'dance', id: 'x'.repeat(60) });
  for (let at = 0; at < count; at += 1) session.socket.send(refused);
}

const slowed = 'the agent process sends too much: it is read more slowly';

describe('An agent that never reads and never stops to send', () => {
  it('costs bounded memory, is read more slowly, and leaves its call and those of others as they are', async () => {
    const other = await linked();
    const one = await linked();
    const { session, call } = one;
    const worker = await service.workerOf(call);
    const before = residentKib(worker);
    session.socket.pause();
    // More than all buffers on the way can hold.
    flood(one, 200_000);
    await service.says(slowed, (line) => line['call'] === call.callId);
    const { llm } = service.providers;
    for (const { call: each } of [one, other]) {
      const asked = llm.requests.length;
      each.sendText('are you there');
      await llm.until(() => llm.requests.length > asked);
    }
    for (let at = 0; at < 20; at += 1) {
      other.session.send({ type: 'context.update', id: `c${at}`, append: [{ role: 'user', text: 'x' }] });
      await other.session.says('command.result', (event) => event['id'] === `c${at}`);
    }
    expect((residentKib(worker) - before) / 1_024).toBeLessThan(64);
    expect(service.log.filter(({ msg }) => msg === slowed)).toHaveLength(1);
    session.socket.terminate();
    await ended(other);
    call.abandon();
  });
});
