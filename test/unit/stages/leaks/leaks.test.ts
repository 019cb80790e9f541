/** What leaks of a model's own form is neither spoken nor does it cost a call. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { habitOf, LeakFilter, type LeakHabit } from '../../../../worker/stages/llm/leak-filter.ts';
import { OfferedTools } from '../../../../worker/stages/llm/leaked-calls.ts';
import type { LlmEvent } from '../../../../worker/stages/stage.ts';
import { guarded, sameForAnyCut, tools } from './guarded.ts';

const one = 'get {"x":"one"}';

describe('a call that is written into the text is taken for one, and not said', () => {
  it.each([
    // Phi, FunctionGemma, Cline, and code of Gemini without its fence
    ['functools[{"name":"get","arguments":{"x":"one"}}]', ''],
    ['<start_function_call>call:get{x:<escape>one<escape>}<end_function_call>', ''],
    ['So. <get><x>one</x></get>', 'So. '],
    ['<get x="one"/>', ''],
    ['tool_code\nprint(default_api.get(x="one"))', ''],
    // Qwen, Hermes, DeepSeek, GLM, Qwen coder
    ['<tool_call>\n{"name": "get", "arguments": {"x":"one"}}\n</tool_call>', ''],
    ['One moment. <tool_call>{"name":"get","arguments":{"x":"one"}}</tool_call>\nSo.', 'One moment. So.'],
    ['<tool_call>{"name":"get","arguments":"{\\"x\\":\\"one\\"}"}</tool_call>', ''],
    ['<tool_call>{"name":"get","arguments":{"x":"one"}}\n<tool_call>', ''],
    ['<tool_call>{"name":"get","arguments":{"x":"one"}}', ''],
    ['{"name":"get","arguments":{"x":"one"}}\n</tool_call>', ''],
    ['<tool_call>get\n<arg_key>x</arg_key>\n<arg_value>one</arg_value>\n</tool_call>', ''],
    ['<tool_call>\n<function=get>\n<parameter=x>\none\n</parameter>\n</function>\n</tool_call>', ''],
    ['<function=get>\n<parameter=x>\none\n</parameter>\n</function>\n</tool_call>', ''],
    // Llama
    ['<function=get>{"x": "one"}</function>', ''],
    ['<function=get{"x": "one"}</function>', ''],
    ['<function=get>{"x":"one"}<|eom_id|>', ''],
    ['<|python_tag|>{"name": "get", "parameters": {"x": "one"}}<|eom_id|>', ''],
    ['<|python_tag|>get(x="one")', ''],
    ['[get(x="one")]', ''],
    ['{"type": "function", "name": "get", "parameters": {"x": "one"}}', ''],
    // Anthropic’s old form, MiniMax, DeepSeek
    ['<function_calls><invoke name="get"><parameter name="x">one</parameter></invoke></function_calls>', ''],
    [
      '<minimax:tool_call><invoke name="get"><parameter name="x">one</parameter></invoke></minimax:tool_call>',
      '',
    ],
    [
      '<｜DSML｜function_calls><｜DSML｜invoke name="get"><｜DSML｜parameter name="x" string="true">one</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>',
      '',
    ],
    [
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get\n```json\n{"x": "one"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      '',
    ],
    // Kimi
    [
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.get:0<|tool_call_argument_begin|>{"x": "one"}<|tool_call_end|><|tool_calls_section_end|>',
      '',
    ],
    ['functions.get:0 {"x": "one"}', ''],
    // Mistral
    ['[TOOL_CALLS][{"name": "get", "arguments": {"x": "one"}, "id": "D681PevKs"}]', ''],
    ['[TOOL_CALLS]get{"x": "one"}', ''],
    ['Sure. [TOOL_CALLS]get[CALL_ID]D681PevKs[ARGS]{"x": "one"}', 'Sure. '],
    // gpt-oss
    ['<|channel|>commentary to=functions.get <|constrain|>json<|message|>{"x":"one"}<|call|>', ''],
    ['<|start|>assistant<|channel|>commentary to=functions.get<|message|>{"x":"one"}', ''],
    ['commentary to=functions.get json{"x":"one"}', ''],
    ['assistantcommentary to=functions.get json {"x":"one"}', ''],
    ['analysisThe user wants one.assistantcommentary to=functions.get json{"x":"one"}', ''],
    [' to=functions.get  天天中彩票能json\n  {"x":"one"}цҳауеит\nPatty, well.', ' Patty, well.'],
    // Granite, InternLM, Cohere, LM Studio, Gemini
    ['<|tool_call|>[{"name": "get", "arguments": {"x": "one"}}]', ''],
    ['<|action_start|><|plugin|>{"name": "get", "parameters": {"x": "one"}}<|action_end|>', ''],
    ['<|START_ACTION|>[{"tool_name": "get", "parameters": {"x": "one"}}]<|END_ACTION|>', ''],
    ['[TOOL_REQUEST]{"name": "get", "arguments": {"x": "one"}}[END_TOOL_REQUEST]', ''],
    ["print(default_api.get(x='one'))", ''],
    ['default_api.get(x="one")', ''],
    // None of these
    ['{"name": "get", "arguments": {"x": "one"}}', ''],
    ['Let me see. get({"x":"one"}) Done.', 'Let me see. Done.'],
    ['get(x="one")', ''],
    ['get {"x":"one"}', ''],
    ['get: {"x":"one"}', ''],
    ['{"tool_calls": [{"function": {"name": "get", "arguments": "{\\"x\\":\\"one\\"}"}}]}', ''],
    ['[{"name": "get", "arguments": {"x": "one"}}]', ''],
    ['{"tool": "get", "args": {"x": "one"}}', ''],
    ['<get>{"x":"one"}</get>', ''],
    ['to=get {"x":"one"}', ''],
    ['tool_call: {"name":"get","arguments":{"x":"one"}}', ''],
    ['Action: get\nAction Input: {"x":"one"}', ''],
    ['<|python_tag|>get.call(x="one")', ''],
    ['<|tool_call>call:get{x:<|"|>one<|"|>}<tool_call|>', ''],
    // Functionary, LangChain, vendors' own names for the same tags
    ['<|from|>assistant<|recipient|>get<|content|>{"x":"one"}', ''],
    ['<|from|> assistant\n<|recipient|> get\n<|content|> {"x":"one"}', ''],
    ['Thought: I should look.\nAction: get\nAction Input: {"x":"one"}', ''],
    ['{"action":"get","action_input":{"x":"one"}}', ''],
    ['{"tool_name":"get","tool_args":{"x":"one"}}', ''],
    ['{"get": {"x":"one"}}', ''],
    ['<use_tool><name>get</name><arguments>{"x":"one"}</arguments></use_tool>', ''],
    ['<functions.get>{"x":"one"}</functions.get>', ''],
    ['<acme_tool_call>{"name":"get","arguments":{"x":"one"}}</acme_tool_call>', ''],
    ['<calls>[get(x="one")]</calls>', ''],
    // A note on the call
    ['[tool_call: get(x="one")]', ''],
    ['One moment. [Calling tool: get({"x":"one"})]', 'One moment. '],
    ['[get] {"x":"one"}', ''],
  ])('%s', (text, said) => {
    sameForAnyCut(text, { said, calls: [one], finish: 'tool_calls' });
  });

  it('several of them, with their digits, each once', () => {
    const text =
      '<tool_call>{"name":"get","arguments":{"x":"a","n":1915883588174806058}}</tool_call>' +
      '<tool_call>{"name":"book","arguments":{"party-size":10.00}}</tool_call>' +
      '<tool_call>{"name":"book","arguments":{"party-size":10.00}}</tool_call>end_call()';
    expect(guarded([text])).toEqual({
      said: '',
      calls: ['get {"x":"a","n":1915883588174806058}', 'book {"party-size":10.00}', 'end_call {}'],
      finish: 'tool_calls',
    });
    for (const bye of ['Bye.\n', 'Bye! ', ''])
      sameForAnyCut(`${bye}end_call()`, { said: bye, calls: ['end_call {}'], finish: 'tool_calls' });
  });

  it.each([
    'Bye. [end_call]',
    'Bye. <end_call>',
    'Bye. <end_call/>',
    'Bye. end_call',
    'Bye. {"end_call":{}}',
  ])('by its name alone, where the tool wants nothing: %s', (text) => {
    sameForAnyCut(text, { said: 'Bye. ', calls: ['end_call {}'], finish: 'tool_calls' });
  });

  it('with values of the kind that the tool wants', () => {
    const pieces = '<parameter=x>7</parameter><parameter=n>7</parameter>';
    expect(guarded([`<function=get>${pieces}</function>`]).calls).toEqual(['get {"x":"7","n":7}']);
    expect(guarded(["get(x='it\\'s', n=-5, y=True, z=[1, {\"a\": None}])"]).calls).toEqual([]);
    expect(guarded(["get(x='it\\'s', n=-5, y=True, z=[1])"]).calls).toEqual([
      'get {"x":"it\'s","n":-5,"y":true,"z":[1]}',
    ]);
  });
});

describe('a leak that is no call of an offered tool is not said', () => {
  it.each([
    ['<think>x</think>\n\nHello.', 'Hello.'],
    ['a<b <think>x<think></think> \nc</think> d <thin', 'a<b c d <thin'],
    ['<thinking>x</thinking>Yes, <thought>y</thought>sir.', 'Yes, sir.'],
    ['<think>or <tool_call></think>Yes.', 'Yes.'],
    ['<seed:think>x</seed:think>Yes.', 'Yes.'],
    ['[THINK]x[/THINK]Yes.', 'Yes.'],
    ['◁think▷x◁/think▷Yes.', 'Yes.'],
    ['<|begin_of_thought|>x<|end_of_thought|>Yes.', 'Yes.'],
    ['<|channel>thought\nx<channel|>Yes.', 'Yes.'],
    ['</think>\n\nYes.', 'Yes.'],
    ['<think>never closed', ''],
    ['<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>Yes.', 'Yes.'],
    ['<|channel|>commentary<|message|>One moment.<|end|>', 'One moment.'],
    ['<|channel|>commentary<|message|>{"path": "/"}<|end|>', ''],
    ['analysisThe user wants four.assistantfinalfour', 'four'],
    ['commentary {"path":"/"}', ''],
    ['commentary json{"path":"/"}\nDone.', 'Done.'],
    ['commentary<|message|>{"path":"/"}', ''],
    ['[TOOL_CALLS][]', ''],
    ['[TOOL_CALLS] []Sorry.', 'Sorry.'],
    ['[TOOL_CALLS]Sorry.', 'Sorry.'],
    ['[TOOL_RESULTS]{"a":1}[/TOOL_RESULTS]Done.', 'Done.'],
    ['[INST]Hi[/INST]Hello.', 'Hello.'],
    ['Hello.[/INST]', 'Hello.'],
    ['<tool_call></tool_call>Yes.', 'Yes.'],
    ['<tool_calls>[]</tool_calls>', ''],
    ['<function_calls>\n</function_calls>', ''],
    ['<tools></tools>Yes.', 'Yes.'],
    ['<tool_response>{"a":1}</tool_response>Yes.', 'Yes.'],
    ['<answer>Yes.</answer>', 'Yes.'],
    ['Yes.</s>', 'Yes.'],
    ['Yes.<|im_end|>\n<|im_start|>user\nAnd now?<|im_end|>', 'Yes.'],
    ['<|im_start|>assistant\nYes.', 'Yes.'],
    ['<|start_header_id|>assistant<|end_header_id|>\n\nYes.<|eot_id|>', 'Yes.'],
    ['Yes.<end_of_turn>\n<start_of_turn>user\nAnd?', 'Yes.'],
    ['<|turn>model\nYes.<turn|>\n<|turn>user\nAnd?', 'Yes.'],
    ['<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Yes.<|END_RESPONSE|>', 'Yes.'],
    ['<|assistant|>Yes.<|user|>And?', 'Yes.'],
    ['Bye.<|im_e', 'Bye.'],
    ['{"name":"other","arguments":{"y":1}}', ''],
    ['functions.other:3 {"y":1}', ''],
    ["{'name': 'get', 'arguments': {'x': 'one'}}", ''],
    ['{"x":"one"}', ''],
    ['get("one")', ''],
    ['Yes.<tool_call>{}</tool_call>No.', 'Yes. No.'],
    ['get<|channel|>commentary', ''],
    ['commentary<|channel|> {"x":"one"}', ''],
    ['commentary<|message|>', ''],
    ['to=get Sure.', 'Sure.'],
    ['<get_weather>{"y":1}</get_weather>Yes.', 'Yes.'],
    ['<anything></anything>Yes.', 'Yes.'],
    ['<anything>\n</anything>', ''],
    ['<arguments>{"y":1}</arguments>', ''],
    ['<output>Yes.</output>', 'Yes.'],
    ['<reasoning_content>x</reasoning_content>Yes.', 'Yes.'],
    ['assistant\n\nYes.', 'Yes.'],
    ['Assistant: Yes.', 'Yes.'],
    ['<0x0A>Yes.', 'Yes.'],
    ['Yes. <thinking', 'Yes. '],
    ['<plan>x</plan>Yes.', 'Yes.'],
    ['<analysis>x</analysis>Yes.', 'Yes.'],
    ['<antThinking>x</antThinking>Yes.', 'Yes.'],
    ['[thinking]x[/thinking]Yes.', 'Yes.'],
    ['Thought: I know it.\nFinal Answer: Yes.', 'Yes.'],
    ['final<|message|>Yes.', 'Yes.'],
    ['<|from|>assistant\n<|recipient|>all\n<|content|>Yes.', 'Yes.'],
    ['<longcat_tool_call>other\n<longcat_arg_key>y</longcat_arg_key></longcat_tool_call>', ''],
    ['[get]', ''],
  ])('%s', (text, said) => {
    sameForAnyCut(text, { said, calls: [], finish: 'stop' });
  });
});

describe('a call of a tool that is not offered now, but was called before', () => {
  const before = [
    { role: 'assistant' as const, text: '', toolCalls: [{ id: 'a', name: 'get', arguments: '{}' }] },
  ];

  it.each([
    'get({"x":"one"})',
    '[get(x="one")]',
    '<get>{"x":"one"}</get>',
    'to=get {"x":"one"}',
    'get {"x":"one"}',
  ])('is neither said nor made: %s', (text) => {
    const filter = new LeakFilter(new OfferedTools([], before));
    expect(filter.push(text) + filter.end()).toBe('');
    expect(filter.calls).toEqual([]);
  });
});

describe('speech stays as it is, whatever it is about', () => {
  it.each([
    'I get what you mean, and I can book a table (for four) now.',
    'We are get(ting) there: book(ing) is easy.',
    'You get: a room, a key. Get {one} of [the list].',
    'Write {name} and {"name": "get"}, or {} and [].',
    'An object looks like {"a": 1}, a list like [1, 2] or ["a"].',
    'Call the function get() first, then print(x).',
    'Its name is get()',
    'Use the <function> tag, <b>bold</b> or <break time="1s"/>.',
    'If a<b and c>d, then 1 < 2 < 3 <3.',
    'The commentary on the match, the analysis, and to be sure: to=you.',
    'Commentary to follow. Analysis: none. In the final answer it is [A].',
    'It opened { and [ and < and (.',
    'Mail to <bob@example.com> or see [our page](https://example.com/a?b={c}).',
    'Press [STAR] or [INSERT], then say “[NAME]”.',
    'functions are nice, default values too; tool, call, action.',
    'A|B <| C |> D and a || b.',
    '{"never closed',
    '日本語です。「はい」、{そう}です。',
    '  Hello.\n\n',
    'tofu, c, com, comment, as',
    'The assistant said: <spell>AB</spell> <emotion value="happy"/> <speak>Hi</speak>.',
    'I am your assistant: ask me. Action: none.',
    'to=you and tool_call are words, so is function_call.',
    'Say <name> and <b> {x}</b>.',
    'Thought: it was free. Plan: none. The final < of [note: all].',
    'It is called end_call, or end-call.',
  ])('%s', (text) => {
    sameForAnyCut(text, { said: text, calls: [], finish: 'stop' });
  });

  it('also what opens and never closes, of any length', () => {
    for (const piece of ['{"', '<', '[', 'get(x={', '<|', '[get: ']) {
      const text = piece.repeat(20_000 / piece.length);
      expect(guarded(text.match(/.{1,16}/gs) ?? []).said.length).toBeGreaterThan(15_000);
    }
    const thought = `Thought:${'\n'.repeat(20_000)}`;
    expect(guarded(thought.match(/.{1,16}/gs) ?? []).said.length).toBeGreaterThan(15_000);
  });

  it('and is held back for no longer than it may be something else', () => {
    const filter = new LeakFilter(tools);
    const given = ['Good ', 'morning, ', 'I ', 'get', ' it. ', 'Use [', 'A] ', 'or {', 'b}.'];
    expect(given.map((text) => filter.push(text))).toEqual([
      ...['Good ', 'morning, ', 'I ', '', 'get it. ', 'Use ', '[A] ', 'or ', '{b}.'],
    ]);
  });
});

describe('calls that the server understood', () => {
  const made = (name: string, ...parts: string[]): LlmEvent[] => [
    { type: 'tool-call', index: 0, id: 'a', name, arguments: '' },
    ...parts.map((text): LlmEvent => ({ type: 'tool-call', index: 0, arguments: text })),
  ];

  it.each([
    'get({"x":"one"})',
    'commentary {"x":"one"}',
    '<tool_call>{"name":"get","arguments":{"x":"one"}}</tool_call>',
    '{"x":"one"}',
    '[TOOL_CALLS]get{"x":"two"}',
  ])('are made once, and their echo in the text is not said: %s', (text) => {
    expect(guarded([text], { events: made('get', '{"x":', '"one"}') })).toEqual({
      said: '',
      calls: [`get {"x":"one"}`],
      finish: 'stop',
    });
  });

  it.each([
    'get<|channel|>commentary',
    'functions.get',
    'functions.get:0',
    'assistant<|channel|>commentary to=functions.get',
    'get<|constrain|>json',
    'default_api.get',
    ' get ',
    'get\n',
    '<|tool_call_begin|>functions.get:12',
    'Get',
    'functions.GET',
  ])('are known by a name with remnants: %s', (name) => {
    expect(guarded([], { events: made(name, '{"x":"one"}') }).calls).toEqual([`get {"x":"one"}`]);
  });

  it.each([
    ['{"x":"one"}<|call|>', '{"x":"one"}'],
    ['{"x":"one"}<|im_end|>', '{"x":"one"}'],
    ['<|constrain|>json<|message|>{"x":"one"}', '{"x":"one"}'],
    ['```json\n{"x":"one"}\n```', '{"x":"one"}'],
    ['{"x":"one"}}', '{"x":"one"}'],
    ['{"x":"a}b"}</tool_call>', '{"x":"a}b"}'],
    ['json{"n":1915883588174806058}', '{"n":1915883588174806058}'],
    ['"{\\"x\\":\\"one\\"}"', '{"x":"one"}'],
    ['null', '{}'],
    ['{"x":10.00 }', '{"x":10.00 }'],
    // What nobody can read is left to the tool's own check.
    ['{"x":1}{"x":2}', '{"x":1}{"x":2}'],
    ['{"x":', '{"x":'],
    ['[1]', '[1]'],
  ])('have arguments without what stands around them: %s', (text, args) => {
    expect(guarded([], { events: made('get', ...text.split('')) }).calls).toEqual([`get ${args}`]);
  });

  it.each(['endCall', 'End-Call', 'functions.endcall'])(
    'are known however their words are put together: %s',
    (name) => {
      expect(guarded([], { events: made(name, '{}') }).calls).toEqual(['end_call {}']);
    },
  );

  it('keep a name that no tool has', () => {
    expect(guarded([], { events: made('other', '{}') }).calls).toEqual(['other {}']);
    expect(guarded([], { events: made('other<|channel|>x', '{}') }).calls).toEqual(['other {}']);
  });

  it('that were cut stay cut, and no call is taken from a text that was', () => {
    expect(guarded([], { events: made('get', '{"x":"o'), finish: 'length' })).toEqual({
      said: '',
      calls: ['get {"x":"o'],
      finish: 'length',
    });
    const text = '<tool_call>{"name":"get","arguments":{"x":"one"}}</tool_call>';
    expect(guarded([text], { finish: 'length' })).toEqual({ said: '', calls: [], finish: 'length' });
  });
});

describe('a server that leaves out the tag in front of the thoughts', () => {
  const said = (habit: LeakHabit, text: string, cut = false): string =>
    guarded(text.match(/.{1,3}/gs) ?? [], { habit, finish: cut ? 'length' : 'stop' }).said;

  it('is known by its first answer, until one comes without thoughts', () => {
    const habit = { thinksFirst: false, isKnown: false };
    expect(said(habit, 'I shall be brief.</think> Yes.')).toBe('I shall be brief. Yes.');
    expect(said(habit, 'And again.</think>\n\nNo.')).toBe('No.');
    expect(said(habit, 'Thoughts without an end', true)).toBe('');
    expect(said(habit, 'Just <tool_call>{}</tool_call>an answer.')).toBe('Just an answer.');
    expect(habit.thinksFirst).toBe(false);
  });

  it('says none of them where their end comes with them', () => {
    expect(guarded(['I shall be brief.</think> Yes.']).said).toBe('Yes.');
    expect(guarded(['I shall be brief.[/THINK]', ' Yes.']).said).toBe('Yes.');
    expect(guarded(['Yes. ', '<think>x</think>', 'And more.</think> No.']).said).toBe('Yes. And more. No.');
  });

  it('is expected of a model that thinks in any case', () => {
    for (const model of [
      'deepseek-r1:8b',
      'Qwen/QwQ-32B',
      'Qwen3-30B-A3B-Thinking-2507',
      'deepseek-reasoner',
    ])
      expect(said(habitOf(model), 'I shall be brief.</think> Yes.')).toBe('Yes.');
    expect(habitOf('gpt-5.4-mini').thinksFirst).toBe(false);
  });

  it('is not expected of a server that gives thoughts apart', () => {
    const habit = habitOf('deepseek-r1');
    expect(guarded(['Yes, ', 'sir.'], { habit, thinksApart: () => true }).said).toBe('Yes, sir.');
    expect(habit.thinksFirst).toBe(false);
  });

  const unknown = (): LeakHabit => ({ thinksFirst: false, isKnown: false });

  it.each([
    'Okay, the user wants a table. I should reply briefly.',
    'Okay, so the user is asking about opening hours, let me see.',
    'The caller just said hello.\n\nI need to greet them.',
    'Hmm, the user asked for a refund. But no order was given.',
    'We need to answer in one sentence. The user says hi.',
    'Der Nutzer möchte einen Tisch. Ich antworte kurz.',
    "L'utilisateur veut une table.",
    '用户想要预订一张桌子。我应该简短回答。',
    'User asks for the weather. Use the tool.',
  ])('says nothing of the first thoughts where they speak about the user: %j', (thoughts) => {
    const habit = unknown();
    expect(said(habit, `${thoughts}</think>\n\nYes, sir.`).trim()).toBe('Yes, sir.');
    expect(habit).toEqual({ thinksFirst: true, isKnown: true });
    expect(said(unknown(), thoughts, true)).toBe('');
  });

  it('says what stands in front of such a sentence, and no more', () => {
    expect(said(unknown(), 'Let me see. The user wants tea. Yes.</think> Tea it is.')).toBe(
      'Let me see. Tea it is.',
    );
  });

  it.each([
    'Okay, your table is booked.',
    'So, the user account is locked. The users of it were told.',
    'We need to see your card. I should tell you that it is late.',
    'They close at ten.',
    'Okay, the user wants a table: that is how the manual begins.',
    'Ok',
    ' \n',
  ])('says all of a first answer that is none: %j', (text) => {
    const habit = unknown();
    expect(said(habit, text)).toBe(text);
    expect(habit).toEqual({ thinksFirst: false, isKnown: true });
  });

  it('gives sentences on as they come, but for those that begin as thoughts do, and in the first answer alone', () => {
    const habit = unknown();
    const first = new LeakFilter(tools, habit);
    expect(['Your', ' table', ' is'].map((part) => first.push(part)).join('')).toBe('Your table ');
    expect(first.push(' free. Okay, it')).toBe('is free. ');
    expect(first.push(' is at eight. We')).toBe('Okay, it is at eight. ');
    expect(first.end()).toBe('We');
    expect(new LeakFilter(tools, habit).push('Okay, the user ')).toBe('Okay, the user ');
  });

  it('is not concluded from an end without thoughts', () => {
    const habit = { thinksFirst: false, isKnown: false };
    expect(said(habit, '\n</think>\n\nYes.')).toBe('\nYes.');
    expect(habit.thinksFirst).toBe(false);
  });
});

describe('a text of any kind', () => {
  const piece = fc.constantFrom(
    ...['<', '<|', '|>', '>', '[', ']', '{', '}', '(', ')', '"', "'", ':', '=', ',', ' ', '\n', '\\'],
    ...[
      'get',
      'book',
      'x',
      'one',
      'functions.',
      'commentary',
      'analysis',
      'assistantfinal',
      'to=functions.get',
    ],
    ...[
      '<think>',
      '</think>',
      '<tool_call>',
      '</tool_call>',
      '<function=',
      '</function>',
      '[TOOL_CALLS]',
      '[THINK]',
    ],
    ...['<|channel|>', '<|message|>', '<|end|>', '<|im_start|>', '<|im_end|>', '{"x":"one"}', '"name":"get"'],
    ...[
      '[INST]',
      '[ARGS]',
      '[/',
      '◁think▷',
      '▷',
      '<｜',
      '｜>',
      '{"',
      'json',
      '<invoke name="get">',
      '</invoke>',
      '</s>',
    ],
    ...[
      '<parameter name="x">',
      '</parameter>',
      '.',
      'a',
      'assistant',
      'print(',
      'role',
      '<|python_tag|>',
      'ö',
      '<|start|>',
    ],
    ...[
      'find_x(',
      'final',
      'call:',
      'Human:',
      '### ',
      'User:',
      'assistant\n\n',
      '[EOS]',
      '<ctrl94>',
      '<ctrl95>',
    ],
    ...[
      '<<SYS>>',
      'multi_tool_use',
      'function=',
      'USER:',
      '```json',
      '<__function=',
      'x="a"',
      'function call<',
    ],
    ...[
      'findX',
      'api.',
      '_',
      ' {"a": ',
      'tool: a\n',
      'args: ',
      'Action: ',
      'Thought: ',
      '<SendX a="b">',
      '-',
      '!',
    ],
  );

  it('comes out the same however it is cut', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 14 }),
        fc.array(fc.nat(120), { maxLength: 8 }),
        (pieces, cuts) => {
          // Without a beginning, thoughts are told by what came with their end.
          const text = `<think></think>${pieces.join('')}`;
          const places = [0, ...cuts.filter((at) => at < text.length).sort((a, b) => a - b), text.length];
          const parts = places.slice(1).map((end, at) => text.slice(places[at], end));
          expect(guarded(parts)).toEqual(guarded([text]));
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
