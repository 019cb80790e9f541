/** The rules of the conversation, as conversations. */
import { describe, expect, it } from 'vitest';
import { newDialogue, step } from '../../../examples/demo/dialogue.ts';
import { reply, sayResult, type Message, type Tool } from '../../../examples/demo/replies.ts';
import { findOrderNumber, findTime, toWords } from '../../../examples/demo/spoken-values.ts';

const now = new Date(2026, 2, 6, 16, 5);
const user = (text: string): Message => ({ role: 'user', text, calls: [] });

/** What the agent answers to each sentence in turn, with its own answers in the history. */
function talk(...said: string[]): string[] {
  const messages: Message[] = [user('.'), { role: 'assistant', text: 'Welcome.', calls: [] }];
  return said.map((text) => {
    messages.push(user(text));
    const answer = reply({ messages, tools: [], now });
    messages.push({ role: 'assistant', text: answer.text, calls: [] });
    return answer.text;
  });
}

describe('one question', () => {
  it.each([
    ['what time is it', 'It is 4:05 PM.'],
    ["What's the time?", 'It is 4:05 PM.'],
    ['what day is it today', 'Today is Friday, March 6, 2026.'],
    ["what's the weather like in new york", 'In New York it is 16 degrees'],
    ["what's the weather like in london", 'demo data'],
    ['will it rain in Paris tomorrow?', 'In Paris it will be 19 degrees with clear sky tomorrow'],
    ['where is order number four two seven', 'Order 4 2 7'],
    ['Order number 1593, please.', 'Order 1 5 9 3'],
    ['where is my order', 'What is your order number?'],
    ['hello', 'Hello!'],
    ['how are you', 'I am fine'],
    ['thank you very much', 'You are welcome'],
    ['who are you', 'demo agent'],
    ['are you human', 'computer program'],
    ['what can you do', 'You can ask me about'],
    ["i'd like to speak to customer support", 'cannot connect you'],
    ['turn on the light', 'I cannot help with that'],
    ['[unclear]', 'Sorry, I did not catch that. You can ask about'],
    ['goodbye', 'Goodbye!'],
    ["that's all thanks", 'Goodbye!'],
    ['can you repeat that', 'Welcome.'],
  ])('%s', (said, answer) => {
    expect(talk(said)[0]).toContain(answer);
  });
});

describe('a caller who wants a person', () => {
  const said = [user('i want to speak to a human')];
  const tool = (choices: Readonly<Record<string, readonly string[]>>): Tool => ({
    ...{ name: 'transfer_call', parameters: Object.keys(choices), choices },
  });

  it('is handed over, warm where that is offered and no department was named, to whom there is', () => {
    const tools = [tool({ destination: ['billing', 'support'], mode: ['cold', 'warm'], summary: [] })];
    const answer = reply({ messages: said, tools, now });
    expect(answer).toMatchObject({
      text: 'One moment, I will connect you.',
      call: { name: 'transfer_call', arguments: { destination: 'billing', mode: 'warm' } },
    });
    const support = [user("i'd like to speak to customer support")];
    expect(reply({ messages: support, tools, now }).call?.arguments).toMatchObject({
      destination: 'support',
      mode: 'cold',
    });
    const cold = [tool({ destination: ['billing'], mode: ['cold'] })];
    expect(reply({ messages: said, tools: cold, now }).call?.arguments).toMatchObject({ mode: 'cold' });
  });

  it('hears nothing more when they are handed over, and why when they are not', () => {
    const called: Message = { role: 'assistant', text: '', calls: ['transfer_call'] };
    const told = (text: string): string =>
      reply({ messages: [...said, called, { role: 'tool', text, calls: [] }], tools: [], now }).text;
    expect(told('{"status":"initiated","mode":"cold"}')).toBe('');
    expect(told('{"error":"the line is busy"}')).toContain('the line is busy');
  });
});

describe('a booking', () => {
  const done = /^Done\. Your table for 4, tomorrow at 7:30 PM, is booked\./;

  it('asks for what is missing, one thing at a time', () => {
    expect(talk('i would like to book a table', 'four', 'tomorrow', 'half past seven', 'yes please')).toEqual(
      [
        'For how many people?',
        'On which day?',
        'At what time?',
        'A table for 4, tomorrow at 7:30 PM. Shall I book it?',
        expect.stringMatching(done),
      ],
    );
  });

  it('takes everything from one sentence', () => {
    expect(talk('book a table for four tomorrow at seven thirty', "that's right")[1]).toMatch(done);
    expect(talk('Book a table for 4 people tomorrow at 7:30 p.m.', 'Yes.')[1]).toMatch(done);
  });

  it('changes what the caller wants otherwise', () => {
    const answers = talk('book a table for four tomorrow at eight', 'no', 'the time', 'seven thirty', 'yes');
    expect(answers.slice(1, 3)).toEqual([expect.stringContaining('What should I change'), 'At what time?']);
    expect(answers[4]).toMatch(done);
  });

  it('keeps the booking through a question in between and asks again after an unclear answer', () => {
    const answers = talk(
      'i want to book a table',
      'what time is it',
      '[unclear]',
      'we are five',
      'cancel that',
      'yes',
    );
    expect(answers[1]).toContain('4:05');
    expect(answers[2]).toBe('Sorry, I did not catch that. For how many people?');
    expect(answers[3]).toBe('On which day?');
    expect(answers[4]).toContain('dropped the booking');
    expect(answers[5]).not.toContain('booked');
  });
});

describe('other turns of a conversation', () => {
  it('keeps the city and the topic of the weather', () => {
    const answers = talk("what's the weather", 'london', 'and in paris', 'tomorrow');
    expect(answers[0]).toContain('For which city?');
    expect(answers.slice(1).map((text) => text.split(' it ')[0])).toEqual([
      'In London',
      'In Paris',
      'In Paris',
    ]);
  });

  it('asks for the order number until it has three digits', () => {
    expect(talk('where is my order', 'two', 'four two seven')).toEqual([
      expect.stringContaining('What is your order number?'),
      expect.stringContaining('at least three digits'),
      expect.stringContaining('Order 4 2 7'),
    ]);
  });

  it('repeats its last words, also twice', () => {
    const answers = talk("what's the weather in rome", 'say that again', 'repeat that');
    expect(answers[1]).toBe(answers[0]);
    expect(answers[2]).toBe(answers[0]);
  });

  it('gives the same next step for the same messages', () => {
    expect(step(newDialogue, 'order number four two seven')).toEqual(
      step(newDialogue, 'order number four two seven'),
    );
  });
});

describe('spoken values', () => {
  it.each([
    ['at seven', 19, 0],
    ['half past eight', 20, 30],
    ['quarter to nine', 20, 45],
    ['quarter past one', 13, 15],
    ["eight o'clock", 20, 0],
    ['six forty five', 18, 45],
    ['ten a m', 10, 0],
    ['10:15 am', 10, 15],
    ['18:40', 18, 40],
    ['noon', 12, 0],
    ['seven in the evening', 19, 0],
  ])('reads the time in "%s"', (text, hour, minute) => {
    expect(findTime(toWords(text), { bare: false })?.time).toEqual({ hour, minute });
  });

  it('takes a bare number for a time only when a time was asked for', () => {
    expect(findTime(['seven'], { bare: false })).toBeUndefined();
    expect(findTime(['seven'], { bare: true })?.time).toEqual({ hour: 19, minute: 0 });
    expect(findTime(toWords('99:99'), { bare: true })).toBeUndefined();
  });

  it.each([
    ['four two seven', '427'],
    ['number one oh nine three', '1093'],
    ['it is 42 7 9', '4279'],
    ['two', undefined],
  ])('reads the order number in "%s"', (text, number) => {
    expect(findOrderNumber(toWords(text))).toBe(number);
  });
});

describe('an order line', () => {
  const tools: Tool[] = [
    { name: 'menu', parameters: [] },
    { name: 'change_order', parameters: ['item', 'count'], integers: ['count'] },
    { name: 'repeat_order', parameters: [] },
    { name: 'place_order', parameters: ['name'] },
    { name: 'order_status', parameters: ['number'], integers: ['number'] },
    { name: 'end_call', parameters: [] },
  ];
  const after = (...said: string[]) => reply({ messages: said.map(user), tools, now });

  it.each([
    ["what's on the menu", 'menu', {}],
    ['I would like to order.', 'menu', {}],
    ['two pizzas please', 'change_order', { item: 'pizza', count: 2 }],
    ["I'd like a lasagna", 'change_order', { item: 'lasagna', count: 1 }],
    ['i would like to order three water', 'change_order', { item: 'water', count: 3 }],
    ['no tiramisu', 'change_order', { item: 'tiramisu', count: 0 }],
    ['repeat my order', 'repeat_order', {}],
    ['order number one zero one', 'order_status', { number: 101 }],
  ])('%s', (said, name, values) => {
    expect(after(said)).toEqual({ text: '', call: { name, arguments: values } });
  });

  it('asks for a name before it places the order, and ends the call only behind that', () => {
    for (const all of ["that's all", 'place the order'])
      expect(after('a pizza', all).text).toBe('What name is the order for?');
    for (const name of ['anna', 'my name is Anna', 'for Anna.'])
      expect(after('a pizza', "that's all", name).call).toEqual({
        name: 'place_order',
        arguments: { name: 'Anna' },
      });
    expect(after('a pizza', "that's all", 'my name is Ottilie').call?.arguments).toEqual({ name: 'Ottilie' });
    expect(after('a pizza', "that's all", '[unclear]').text).toMatch(/did not catch that. What name/);
    expect(after('a pizza', "that's all", 'anna', 'yes', "that's all").call?.name).toBe('end_call');
  });

  it('is none without the tools: nothing is pretended', () => {
    for (const said of ["what's on the menu", 'two pizzas'])
      expect(talk(said)[0]).toBe('I take no orders myself. I can look one up by its number.');
  });
});

describe('with tools', () => {
  const tools: Tool[] = [
    { name: 'get_weather', parameters: ['location', 'day'] },
    { name: 'get_time', parameters: [] },
    { name: 'book_table', parameters: ['people', 'day', 'time'] },
    { name: 'order_status', parameters: ['order_number'] },
    { name: 'end_call', parameters: ['reason'] },
  ];
  it.each([
    [['will it rain in paris tomorrow'], 'get_weather', { location: 'Paris', day: 'tomorrow' }],
    [['what time is it'], 'get_time', {}],
    [['order number four two seven'], 'order_status', { order_number: '427' }],
    [
      ['book a table for two on friday at eight', 'yes'],
      'book_table',
      { people: 2, day: 'friday', time: '20:00' },
    ],
  ])('%j calls the matching tool', (said, name, values) => {
    expect(reply({ messages: said.map(user), tools, now })).toEqual({
      text: '',
      call: { name, arguments: values },
    });
  });

  it('says goodbye and ends the call', () => {
    const answer = reply({ messages: [user('goodbye')], tools, now });
    expect(answer).toEqual({ text: 'Thank you for calling.', call: { name: 'end_call', arguments: {} } });
  });

  it('answers itself when no tool fits', () => {
    expect(reply({ messages: [user('what time is it')], tools: tools.slice(4), now }).text).toBe(
      'It is 4:05 PM.',
    );
  });

  it('answers from the result of the tool and says nothing after the end of the call', () => {
    const after = (name: string, content: string): string => {
      const messages = [
        user('x'),
        { role: 'assistant', text: '', calls: [name] },
        { role: 'tool', text: content, calls: [] },
      ];
      return reply({ messages, tools, now }).text;
    };
    expect(after('get_weather', '{"summary":"Sunny and warm."}')).toBe('Sunny and warm.');
    expect(after('end_call', '{"ok":true}')).toBe('');
  });

  it.each([
    ['It rains.', 'It rains.'],
    ['', 'That is done.'],
    ['{}', 'That is done.'],
    ['{"error":"timeout"}', 'Sorry, that did not work: timeout.'],
    ['{"error":{"code":"connection_failed","message":"Tell the caller."}}', 'Sorry, that did not work.'],
    ['{"error":null,"status":"packed"}', 'Here is what I found. status: packed.'],
    ['{"temperature_c":21,"sky":"clear"}', 'Here is what I found. temperature c: 21, sky: clear.'],
    ['42', '42.'],
  ])('speaks the result %j', (content, text) => {
    expect(sayResult(content)).toBe(text);
  });
});
