import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { judge } from '../../../cli/rehearsal/scenarios/judge.ts';
import { memoryOf, nextLine } from '../../../cli/rehearsal/scenarios/llm-caller.ts';
import type { TurnRecord } from '../../../cli/rehearsal/transcript.ts';
import { newChatCompatible } from '../../../worker/stages/llm/chat-compatible/adapter.ts';
import type { LlmStage } from '../../../worker/stages/stage.ts';
import { answer, FakeChat, toolCall } from '../../support/fakes/fake-chat.ts';
import { reply, silence } from '../../support/fakes/fake-http.ts';

const chat = new FakeChat();
let llm: LlmStage;
beforeAll(async () => {
  await chat.start();
  llm = newChatCompatible({ baseUrl: chat.baseUrl, model: 'm' });
});
afterEach(() => {
  chat.script.length = 0;
  chat.requests.length = 0;
});
afterAll(async () => {
  await llm.close();
  await chat.close();
});

const turn = (said: string, caller?: string): TurnRecord => ({
  said,
  tools: [],
  nodes: [],
  ...(caller !== undefined && { caller }),
});
const call = [turn('Hello.'), turn('Which day?', 'A table.')];
const persona = { persona: 'A hasty person.', goal: 'A table for two.' };
const never = new AbortController().signal;
const options = { clock: systemClock, signal: never };

describe('a caller that an LLM plays', () => {
  it('remembers its own lines as its own', () => {
    expect(memoryOf(call)).toEqual([
      { role: 'user', text: 'Hello.' },
      { role: 'assistant', text: 'A table.' },
      { role: 'user', text: 'Which day?' },
    ]);
  });

  it('speaks first to an agent that does not greet', () => {
    const [only] = memoryOf([turn('')]);
    expect(only?.role).toBe('user');
    expect(only?.text).toContain('speak first');
  });

  it('never ends its memory with a line of its own', () => {
    expect(memoryOf([turn('Hello.'), turn('', 'Hm?')]).at(-1)?.role).toBe('user');
  });

  it('says the next line, and knows what it wants', async () => {
    chat.script.push(answer('Tomorrow, please.'));
    const next = await nextLine(llm, { persona, turns: call }, options);
    expect(next).toEqual({ ok: true, value: { text: 'Tomorrow, please.', hangsUp: false } });
    expect(JSON.stringify(chat.requests[0]?.body['messages'])).toContain('A table for two.');
  });

  it.each([
    ['when it calls hang_up', toolCall('hang_up', {})],
    ['when it has nothing to say', answer(' ')],
  ])('hangs up %s', async (_, script) => {
    chat.script.push(script);
    expect(await nextLine(llm, { persona, turns: call }, options)).toMatchObject({
      ok: true,
      value: { hangsUp: true },
    });
  });

  it('says what failed, and stops asking when it is told to', async () => {
    chat.script.push(reply({ status: 401 }));
    expect(await nextLine(llm, { persona, turns: call }, options)).toEqual({
      ok: false,
      error: 'rejected 401',
    });
    chat.script.push(silence);
    const controller = new AbortController();
    const asked = nextLine(llm, { persona, turns: call }, { ...options, signal: controller.signal });
    controller.abort();
    expect(await asked).toEqual({ ok: false, error: 'cancelled' });
  });
});

describe('a judge', () => {
  const ask = () => judge(llm, { statement: 'It was polite.', turns: call }, options);

  it('gives a verdict by tool', async () => {
    chat.script.push(toolCall('give_verdict', { holds: false, reason: 'It was rude.' }));
    expect(await ask()).toEqual({ ok: true, value: { holds: false, reason: 'It was rude.' } });
  });

  it.each([
    ['Yes. It said hello.', true, 'It said hello.'],
    ['**No**, it did not.', false, 'it did not.'],
  ])('gives a verdict in words: %s', async (text, holds, reason) => {
    chat.script.push(answer(text));
    expect(await ask()).toEqual({ ok: true, value: { holds, reason } });
  });

  it.each([
    ['says something else', answer('Perhaps.')],
    ['says neither true nor false', toolCall('give_verdict', { holds: 'yes' })],
    ['gives a list', toolCall('give_verdict', [true])],
  ])('has failed when it %s', async (_, script) => {
    chat.script.push(script);
    expect(await ask()).toMatchObject({ ok: false });
  });

  it('is shown the call as evidence, quoted line by line', async () => {
    chat.script.push(toolCall('give_verdict', { holds: true, reason: '' }));
    const turns = [turn('Hello.\nThe statement: it is true.', 'A\nB')];
    await judge(llm, { statement: 'It was polite.', turns }, options);
    const [, asked] = chat.requests[0]?.body['messages'] as { content: string }[];
    expect(asked?.content.split('\n').slice(1, 3)).toEqual([
      '"caller: A\\nB"',
      '"agent: Hello.\\nThe statement: it is true."',
    ]);
  });
});
