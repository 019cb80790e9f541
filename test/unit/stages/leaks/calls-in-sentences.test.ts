/** A call that stands within a sentence as code, of a tool that is offered or of none. */
import { describe, expect, it } from 'vitest';
import { guarded, sameForAnyCut } from './guarded.ts';

describe('a call of a tool that nobody knows is not said', () => {
  it.each([
    // By their names
    ['Sure. Calling get_weather(city="Paris") now.', 'Sure. Calling now.'],
    ['One moment, fetchBalance(accountId=42) please.', 'One moment, please.'],
    ["One moment, crm.contacts.find(name='Ann') please.", 'One moment, please.'],
    ['I will run check_inventory(sku="a (b) c", note="it\'s"), okay?', 'I will run , okay?'],
    ['Sure, prüfe_bestand(sku="5") now.', 'Sure, now.'],
    ['好的,check_stock(sku="5")请稍等。', '好的, 请稍等。'],
    ['Please hold, transfer_call() thank you.', 'Please hold, thank you.'],
    ['Sure, mcp__shop__check(5, true) now.', 'Sure, now.'],
    ['Sure, check_stock (sku="5") now.', 'Sure, now.'],
    ["Sure, check_stock(sku=Ann's) now.", 'Sure, now.'],
    ['Sure, check_stock(\n  sku="5",\n  n=2,\n)\nnow.', 'Sure, now.'],
    ['Sure, await checkStock({ sku: "5" }) now.', 'Sure, await now.'],
    ['Sure, check_stock: {"sku": "5"} now.', 'Sure, now.'],
    ['Sure, check_stock {"sku": 007} now.', 'Sure, now.'],
    ['Sure, check_stock(sku="5', 'Sure, '],
    ['Sure, get(x="one", n=1', 'Sure, '],
    // By what they hold, whatever their names are
    ['Sure, weather(city="Paris") now.', 'Sure, now.'],
    ['Sure, weather({"city": "Paris"}) now.', 'Sure, now.'],
    ['Sure, Check-Stock(sku="5") now.', 'Sure, now.'],
    // In other forms
    ['Okay {"send_sms": {"to": "+49"}} now.', 'Okay now.'],
    ['Okay <tool>send_sms</tool> now.', 'Okay now.'],
    ['Okay <SendSms to="+49"></SendSms> now.', 'Okay now.'],
    ['Action: search[flights to Paris]', ''],
    ['Thought: I need it.\nAction: find_it\nAction Input: {"x": 1}', ''],
    ['Sure.\nThought: I need it.\nAction: find_it\nAction Input: Paris\nOkay.', 'Sure.\nOkay.'],
    ['Sure <check_stock><sku>5</sku></check_stock> now.', 'Sure now.'],
    ['Sure <check_stock sku="5"/> now.', 'Sure now.'],
    ['Sure.\nname: check_stock\narguments:\n  sku: "5"\n  n: 2\nOkay.', 'Sure.\nOkay.'],
    ['Sure.\ntool: check_stock\nargs: {"sku": "5"}\nOkay.', 'Sure.\nOkay.'],
    ['Sure.\ntool_call:\n  name: check_stock\n  arguments:\n    sku: 5\n', 'Sure.\n'],
  ])('%s', (text, said) => {
    sameForAnyCut(text, { said, calls: [], finish: 'stop' });
  });
});

describe('a call of an offered tool is made once', () => {
  it.each([
    ['I will use `get({"x": "one"})` for it.', 'I will use `` for it.', 'get {"x":"one"}'],
    ['Sure, get(x="get(1)", n={"x":"two"}) now.', 'Sure, now.', 'get {"x":"get(1)","n":{"x":"two"}}'],
    ['{"name": "get", "arguments": {"x": "get(x=\'two\')"}}', '', 'get {"x":"get(x=\'two\')"}'],
    ['Goodbye. end_call.', 'Goodbye. ', 'end_call {}'],
    ['Take care, end_call() and goodbye.', 'Take care, and goodbye.', 'end_call {}'],
  ])('%s', (text, said, call) => {
    sameForAnyCut(text, { said, calls: [call], finish: 'tool_calls' });
  });
});

describe('speech stays as it is', () => {
  it.each([
    'Call me (maybe), see section 3(b) or 4.2(a)(1), and ask Mr. Smith (the manager).',
    'If f(x) = 2x, then f(2) is 4; f(x=2) is the same, and sin(x) is not.',
    'The iPhone(15), the U.S.(United States) and example.com (our site); the child(ren).',
    'Your user_name (your email) and guest_net (password "hello") are in report_final.pdf (two pages).',
    'In Python, print("hello") says hello, and len(x) is a length.',
    'Name: Ann. name: Ann\nage: 5\nAction: none\nThe end.',
    'It is well-known (to me), i.e. (that is) so.',
    'Hello,\nname: Ann\nparameters: none known',
  ])('%s', (text) => {
    sameForAnyCut(text, { said: text, calls: [], finish: 'stop' });
  });
});

it('brackets that never close are looked at in no time', () => {
  for (const piece of ['get(x{} ', 'get(', 'find_x(y={', 'a.b-', 'find_x: ', 'name: a\n'])
    expect(guarded(piece.repeat(40_000 / piece.length).match(/.{1,16}/gs) ?? []).said.length).toBeGreaterThan(
      0,
    );
});
