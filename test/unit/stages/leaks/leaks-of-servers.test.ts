/** What leaks where a server, a vendor or a prompt has a form of its own, by public reports. */
import { describe, expect, it } from 'vitest';
import type { LlmEvent } from '../../../../worker/stages/stage.ts';
import { guarded, sameForAnyCut } from './guarded.ts';

const one = 'get {"x":"one"}';

describe('a call is taken for one, and not said', () => {
  it.each([
    // OpenAI
    ['{"recipient_name":"functions.get","parameters":{"x":"one"}}', ''],
    ['{"tool_uses":[{"recipient_name":"functions.get","parameters":{"x":"one"}}]}', ''],
    [
      'multi_tool_use.parallel({"tool_uses":[{"recipient_name":"functions.get","parameters":{"x":"one"}}]})',
      '',
    ],
    [
      'to=multi_tool_use.parallel {"tool_uses":[{"recipient_name":"functions.get","parameters":{"x":"one"}}]}',
      '',
    ],
    ['{"function_call":{"name":"get","arguments":"{\\"x\\":\\"one\\"}"}}', ''],
    // Google, Amazon
    ['{"functionCall":{"name":"get","args":{"x":"one"}}}', ''],
    ['call:default_api:get{x:<ctrl46>one<ctrl46>}', ''],
    ['{"toolUse":{"name":"get","input":{"x":"one"}}}', ''],
    ['<__function=get>\n<__parameter=x>one</__parameter>\n</__function>', ''],
    // Llama as Groq tells that it failed
    ['(function=get>{"x":"one"}</function>', '('],
    ['<function/get{"x":"one"}', ''],
    ['<function=get,{"x":"one"}</function>', ''],
    ['<function=get [{"x":"one"}]</function>', ''],
    ['<function>get{"x":"one"}</function>', ''],
    ['get>{"x":"one"}</function>', ''],
    // GigaChat, Apertus, DeepSeek without its tokens
    ['function call<|role_sep|>\n{"name": "get", "arguments": {"x":"one"}}', ''],
    ['<|tools_prefix|>[{"get": {"x":"one"}}]<|tools_suffix|>', ''],
    ['get\n```json\n{"x":"one"}\n```', '```'],
    // Small models
    ['[{"get": {"x":"one"}}]', ''],
    ['{"name":"get","x":"one"}', ''],
    ['{"name": "get", "arguments": {"x": "one"}', ''],
    ['One moment. {"name": "get", "arguments": {"x": "one"', 'One moment. '],
    ['get({x: "one"})', ''],
  ])('%s', (text, said) => {
    sameForAnyCut(text, { said, calls: [one], finish: 'tool_calls' });
  });

  it.each(['Bye. {"name":"end_call"}', 'Bye. {"tool":"end_call"}', 'Bye. [tool_use: end_call]'])(
    'by its name alone: %s',
    (text) => {
      sameForAnyCut(text, { said: 'Bye. ', calls: ['end_call {}'], finish: 'tool_calls' });
    },
  );
});

describe('what is no call of an offered tool is not said', () => {
  it.each([
    // Tools that are not there
    ['[get_weather(city="Paris"), find_time()]', ''],
    ['get_weather(city="Paris", days=3)', ''],
    ['Sure! memory_tool(key="foo")', 'Sure! '],
    ['Sure.\nsaveAnswer({"a": 1})\nGo on.', 'Sure.\nGo on.'],
    ['end_conversation()', ''],
    ['action="promote", library_id="foo")', ''],
    ['call:other{y:1}', ''],
    ['print(default_api.get_weather(city="Paris"))', ''],
    ['default_api.other(y=1) Done.', 'Done.'],
    ['print(get_weather(city="Paris"))', ''],
    // Calls that are cut, or without arguments
    ['{"name": "get", "arguments": {"x": ', ''],
    ['{"name":"get"}', ''],
    ['[Tool call: get]', ''],
    // Thoughts by other names
    ['<scratch_pad>x</scratch_pad>Yes.', 'Yes.'],
    ['<thought_process>x</thought_process>Yes.', 'Yes.'],
    ['<inner-thought>x</inner-thought>Yes.', 'Yes.'],
    ['<self_reflection>x</self_reflection>Yes.', 'Yes.'],
    ['<search_quality_reflection>x</search_quality_reflection>Yes.', 'Yes.'],
    ['<seed:cot_budget_reflect>x</seed:cot_budget_reflect>Yes.', 'Yes.'],
    ['<longcat_think>x</longcat_think>Yes.', 'Yes.'],
    ['<|inner_prefix|>x<|inner_suffix|>Yes.', 'Yes.'],
    ['<ctrl94>thought\nx<ctrl95>Yes.<ctrl100>', 'Yes.'],
    ['Yes.\n[END FINAL RESPONSE]', 'Yes.\n'],
    ['<system-reminder>x</system-reminder>Yes.', 'Yes.'],
    // gpt-oss without its tokens
    ['analysis We need to greet.assistantfinal Yes.', 'Yes.'],
    ['analysis\nWe need to greet.\nassistantfinal\nYes.', 'Yes.'],
    ['<|channel|>analysis<|message|>x.assistantfinalYes.', 'Yes.'],
    ['final\nYes.', 'Yes.'],
    ['finalYes.', 'Yes.'],
    ['<note kind="x">{"y":1}</note>Yes.', 'Yes.'],
    // Ends and beginnings
    ['[gMASK]<sop><|assistant|>\nYes.', 'Yes.'],
    ['<|think|>x<|end|><|begin|>assistant<|content|>Yes.<|end|>', 'Yes.'],
    ['assistant<|role_sep|>\nYes.<|message_sep|>', 'Yes.'],
    ['Yes.<eop>', 'Yes.'],
    ['Yes.[EOS]', 'Yes.'],
    ['Yes.<<SYS>>', 'Yes.'],
    ['Yes.</model>', 'Yes.'],
    ['### Response:\nYes.', 'Yes.'],
    ['Agent: Yes.', 'Yes.'],
    // Turns that the model makes up
    ['Yes.\n\nHuman: And?\n\nAssistant: No.', 'Yes.\n\n'],
    ['Yes. USER: And? ASSISTANT: No.', 'Yes. '],
    ['Yes.\n### User:\nAnd?', 'Yes.\n'],
    ['Yes.assistant\n\nYes. Yes.', 'Yes.'],
    ['Yes.assistant', 'Yes.'],
  ])('%s', (text, said) => {
    sameForAnyCut(text, { said, calls: [], finish: 'stop' });
  });
});

it('thoughts are none of the answer by whatever name they end', () => {
  for (const end of ['</thinking_process>', '\n[BEGIN FINAL RESPONSE]\n'])
    expect(guarded([`I shall be brief.${end}Yes.`]).said).toBe('Yes.');
});

describe('arguments that are no JSON', () => {
  const made = (text: string): readonly string[] => {
    const call: LlmEvent = { type: 'tool-call', index: 0, id: 'a', name: 'get', arguments: '' };
    return guarded([], { events: [call, { type: 'tool-call', index: 0, arguments: text }] }).calls;
  };

  it.each([
    // Sent twice, or behind an empty beginning
    ['{"x":"one"}{"x":"one"}', '{"x":"one"}'],
    ['{}{"x":"one"}', '{"x":"one"}'],
    ['{"x":"one"}{}', '{"x":"one"}'],
    // Of Python and JavaScript
    ["{'x': 'it\\'s \"one\"', 'y': True, 'z': None}", '{"x":"it\'s \\"one\\"","y":true,"z":null}'],
    ['{x: "one", n: 1915883588174806058}', '{"x":"one","n":1915883588174806058}'],
    ['{"x":"one",}', '{"x":"one"}'],
    ['{"l":[1,2,],}', '{"l":[1,2]}'],
    ['{"x":"a\nb\tc"}', '{"x":"a\\nb\\tc"}'],
    ['None', '{}'],
    // Not closed
    ['{"x":"one"', '{"x":"one"}'],
    ['{"x":{"l":["a"', '{"x":{"l":["a"]}}'],
  ])('are taken as they are meant: %s', (text, args) => {
    expect(made(text)).toEqual([`get ${args}`]);
  });

  it.each([
    '{"n": 10',
    '{"x":"on',
    '{"x":',
    '{"x" "y"}',
    '{x: one}',
    '{"x":1}{"x":2}',
    '{"d":2024-01-01}',
    '{"x":"one"} {"y":1} {}',
  ])('stay as they are where nobody knows: %s', (text) => {
    expect(made(text)).toEqual([`get ${text}`]);
  });

  it('are looked at in no time, however long they are', () => {
    for (const text of ['{"a":[', "{'", '{a', `{"a"${' '.repeat(60_000)}x`, `{${"'a':1,".repeat(9_000)}x`])
      expect(made(text.padEnd(60_000, text.slice(-3)))).toHaveLength(1);
  });
});

describe('speech stays as it is', () => {
  it.each([
    'iPhone (red) is here. macOS(beta) too. e.g. this. www.example.com, a.b@c.de.',
    'ok. sure, note_a(b) is a name. snake_case is one, too. x="1" is true, but y = 2.',
    'The final bill: finally, my analysis. human: no. A user: yes. Agent: in the middle.',
    'Your name? assistant manager it is. The assistant waits.',
    'Call: 5. call: me. call:bob and function=none. Say ### or #1.',
    'I reason; <reason> and <name> stay. Think of <my word>.',
    '[the list_of(all) things], [note_a (b)], [EU], [AB CD].',
    'He said {"name": "get"} and "action".',
    'Human: is what it says at the beginning.',
  ])('%s', (text) => {
    sameForAnyCut(text, { said: text, calls: [], finish: 'stop' });
  });

  it('and waits only for a word with a small letter that begins a sentence', () => {
    expect(guarded(['Yes', '. ', 'and', ' so on']).said).toBe('Yes. and so on');
  });
});
