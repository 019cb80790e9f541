/** How a server with the chat completions interface says what the suite of LLM stages wants to hear. */
import { newChatCompatible } from '../../../worker/stages/llm/chat-compatible/adapter.ts';
import { DONE_EVENT, FakeChat, choice, sse, usage } from '../../support/fakes/fake-chat.ts';
import type { LlmDialect } from './llm-suite.ts';

const call = (index: number, id: string, name: string, args: string): object => ({
  index,
  id,
  function: { name, arguments: args },
});
const more = (index: number, args: string): object => ({ index, function: { arguments: args } });
const calls = (...list: object[]): string => choice({ tool_calls: list });
const tail = [usage(310, 24, 256), DONE_EVENT];

export const chatDialect: LlmDialect<FakeChat> = {
  hasAnyModel: true,
  name: 'chat_compatible',
  newFake: () => new FakeChat(),
  newStage: (fake) => newChatCompatible({ baseUrl: fake.baseUrl, model: 'm' }),
  text: (text) => [
    ...(text.match(/\S+\s*/g) ?? []).map((word) => choice({ content: word })),
    choice({}, 'stop'),
    ...tail,
  ],
  begun: (text) => [choice({ content: text })],
  calls: [
    calls(call(0, 'a', 'f', ''), call(1, 'b', 'g', '{"y"')),
    calls(more(0, '{"x":1}'), more(1, ':2}')),
    choice({}, 'tool_calls'),
    ...tail,
  ],
  many: (count) => [
    calls(...Array.from({ length: count }, (_, n) => call(n, `c${n}`, 'f', ''))),
    choice({}, 'tool_calls'),
    ...tail,
  ],
  cut: [calls(call(0, 'a', 'f', '{"x')), choice({}, 'length'), ...tail],
  filtered: [choice({ content: 'I' }), choice({}, 'content_filter'), ...tail],
  inStream: [
    [sse({ error: { code: 429, message: 'm' } }), 429],
    [sse({ error: { code: 'server_error', message: 'm' } }), 502],
  ],
  sign: ': ping\n\n',
};
