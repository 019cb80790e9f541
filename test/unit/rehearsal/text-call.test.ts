import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { openAgent, type OpenAgent } from '../../../cli/rehearsal/agent.ts';
import type { Conversation, ConversationEvent } from '../../../cli/rehearsal/conversation.ts';
import { agentText } from './agent-text.ts';
import { answer, FakeChat, toolCall } from '../../support/fakes/fake-chat.ts';
import { silence } from '../../support/fakes/fake-http.ts';

const chat = new FakeChat();
const opened: OpenAgent[] = [];
const calls: Conversation[] = [];
beforeAll(() => chat.start());
afterAll(() => chat.close());
afterEach(async () => {
  for (const call of calls.splice(0)) call.close();
  for (const agent of opened.splice(0)) await agent.close();
  chat.script.length = 0;
  chat.requests.length = 0;
});

async function newCall(keys = '', seen: (event: ConversationEvent) => void = () => undefined) {
  const events: ConversationEvent[] = [];
  const { agent, problems } = await openAgent('agent.toml', {
    env: {},
    readFile: () => agentText(chat.baseUrl, keys),
    readBytes: () => undefined,
    clock: systemClock,
    writeError: () => undefined,
  });
  if (agent === undefined) throw new Error(problems.map(({ message }) => message).join());
  opened.push(agent);
  const call = agent.newCall({
    pace: 'none',
    sink: (event) => {
      events.push(event);
      seen(event);
    },
  });
  calls.push(call);
  const said = (): string =>
    events.flatMap((event) => (event.type === 'bot.text' ? [event.text] : [])).join('');
  return { call, events, said };
}

const messages = (index: number): { role: string; content: string }[] =>
  chat.requests[index]?.body['messages'] as { role: string; content: string }[];

describe('a call without sound', () => {
  it('opens with the greeting, in no time', async () => {
    const { call, said } = await newCall('greeting = "Hello there, how can I help?"');
    await call.run({ until: 'quiet' });
    expect(said()).toBe('Hello there, how can I help?');
    expect(chat.requests).toEqual([]);
  });

  it('has nothing that comes with a call: variables become their fallbacks', async () => {
    const { call, said } = await newCall('greeting = "Hello {{metadata.name | there}}{{session.agent}}."');
    await call.run({ until: 'quiet' });
    expect(said()).toBe('Hello there.');
  });

  it('lets the LLM answer what the caller says, knowing what was heard before', async () => {
    chat.script.push(answer('It is noon. Anything else?'), answer('Goodbye then.'));
    const { call, events, said } = await newCall('greeting = "Hello."');
    await call.run({ until: 'quiet' });
    call.say('What time is it?');
    await call.run({ until: 'quiet' });
    call.say('No, thank you.');
    await call.run({ until: 'quiet' });
    expect(said()).toBe('Hello.It is noon. Anything else?Goodbye then.');
    expect(messages(1).slice(1)).toEqual([
      // Strict templates want the caller first.
      { role: 'user', content: '.' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'What time is it?' },
      { role: 'assistant', content: 'It is noon. Anything else?' },
      { role: 'user', content: 'No, thank you.' },
    ]);
    const done = events.filter((event) => event.type === 'turn.done');
    expect(done).toHaveLength(2);
    expect(done[0]?.timings.firstTextMs).toBeGreaterThan(0);
    expect(done[0]?.timings.spokenMs).toBe('It is noon. Anything else?'.length * 65);
  });

  it('takes a caller who repeats what was said for a caller', async () => {
    chat.script.push(answer('Shall I book it?'), answer('Done.'));
    const { call, said } = await newCall();
    call.say('A table for four.');
    await call.run({ until: 'quiet' });
    call.say('Book it.');
    await call.run({ until: 'quiet' });
    expect(said()).toBe('Shall I book it?Done.');
  });

  it('goes on after words of listening, without asking the LLM', async () => {
    chat.script.push(answer('One two three four five six seven eight nine ten eleven twelve.'));
    const { call, said } = await newCall();
    call.say('Count for me, please.');
    await call.run({ until: 'words', count: 3 });
    call.say('Mm-hmm.');
    await call.run({ until: 'quiet' });
    expect(chat.requests).toHaveLength(1);
    expect(said()).toContain('twelve');
  });

  it('speaks a filler while the LLM is silent', async () => {
    chat.script.push(silence);
    const { call, events } = await newCall('fillers = ["One moment."]', (event) => {
      const [request] = chat.requests;
      if (event.type === 'bot.text' && event.text.includes('moment') && request !== undefined)
        answer('At last.')(request);
    });
    call.say('What time is it?');
    await call.run({ until: 'quiet' });
    const texts = events.flatMap((event) => (event.type === 'bot.text' ? [event.text.trim()] : []));
    expect(texts).toEqual(['One moment.', 'At last.']);
  });

  it('cuts an answer after the words that were heard', async () => {
    chat.script.push(answer('One two three four five six seven eight.'), answer('Sorry.'));
    const { call, events } = await newCall();
    await call.run({ until: 'quiet' });
    call.say('Count for me, please.');
    await call.run({ until: 'words', count: 3 });
    call.say('Stop it now.');
    await call.run({ until: 'quiet' });
    expect(events).toContainEqual(expect.objectContaining({ type: 'bot.cut', heard: 'One two three' }));
    expect(messages(1).slice(1)).toEqual([
      { role: 'user', content: 'Count for me, please.' },
      { role: 'assistant', content: 'One two three' },
      { role: 'user', content: 'Stop it now.' },
    ]);
  });

  it('counts the words of the answer to the last line, not those of what it was said into', async () => {
    chat.script.push(answer('One two three four five six seven eight.'), answer('Nine ten eleven twelve.'));
    const { call, events } = await newCall('\n[turn.interrupt]\nenabled = false');
    call.say('Count for me, please.');
    await call.run({ until: 'words', count: 3 });
    call.say('And then what comes after that, could you tell me that as well, please?');
    await call.run({ until: 'words', count: 2 });
    expect(chat.requests).toHaveLength(2);
    expect(events.map(({ type }) => type)).not.toContain('bot.cut');
  });

  it('waits for the end of an answer that has fewer words', async () => {
    chat.script.push(answer('One two.'), answer('Fine.'));
    const { call, events } = await newCall();
    call.say('Count for me, please.');
    await call.run({ until: 'words', count: 3 });
    call.say('Go on please.');
    await call.run({ until: 'quiet' });
    expect(events.map(({ type }) => type)).not.toContain('bot.cut');
    expect(messages(1).slice(1)[1]).toEqual({ role: 'assistant', content: 'One two.' });
  });

  it('lets the caller break in and speak later', async () => {
    chat.script.push(answer('One two three four five six seven eight.'), answer('Sorry.'));
    const { call, events } = await newCall();
    expect(call.interrupt()).toBe(false);
    call.say('Count for me, please.');
    await call.run({ until: 'words', count: 2 });
    expect(call.interrupt()).toBe(true);
    await call.run({ until: 'quiet' });
    expect(chat.requests).toHaveLength(1);
    call.say('That is enough.');
    await call.run({ until: 'quiet' });
    expect(events).toContainEqual(expect.objectContaining({ type: 'bot.cut', heard: 'One two' }));
    expect(messages(1).at(-1)).toEqual({ role: 'user', content: 'That is enough.' });
  });

  it('takes keys as one entry', async () => {
    const { call } = await newCall();
    await call.run({ until: 'quiet' });
    call.press('12');
    await call.run({ until: 'quiet' });
    expect(chat.requests).toHaveLength(1);
    expect(messages(0).at(-1)?.content).toMatch(/12/);
  });

  it('asks a silent caller whether somebody is there, after the time of the call and not that of the clock', async () => {
    const { call, events, said } = await newCall();
    await call.run({ until: 'quiet' });
    await call.run({ until: 'time', ms: 20_000 });
    expect(said()).toBe('Are you still there?');
    await call.run({ until: 'time', ms: 60_000 });
    expect(events.at(-1)).toEqual({ type: 'ended', by: 'agent' });
    expect(call.isOver).toBe(true);
  });

  it('ends when the LLM calls end_call, with the farewell', async () => {
    chat.script.push(toolCall('end_call', {}));
    const { call, events, said } = await newCall('farewell = "Bye bye."');
    call.say('Goodbye for today.');
    await call.run({ until: 'quiet' });
    expect(said()).toBe('Bye bye.');
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool.called', name: 'end_call' }));
    expect(events.at(-1)).toEqual({ type: 'ended', by: 'agent' });
  });

  it('is over when the caller hangs up, and says nothing after that', async () => {
    const { call, events } = await newCall();
    await call.run({ until: 'quiet' });
    call.hangUp();
    const { length } = events;
    expect(events.at(-1)).toEqual({ type: 'ended', by: 'caller' });
    call.say('Is somebody there?');
    await call.run({ until: 'quiet' });
    expect(events).toHaveLength(length);
  });
});
