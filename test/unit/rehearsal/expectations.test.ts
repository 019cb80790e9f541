import { describe, expect, it } from 'vitest';
import type { ConversationEvent } from '../../../cli/rehearsal/conversation.ts';
import { checkScenario, checkTurns, holds } from '../../../cli/rehearsal/scenarios/expectations.ts';
import { readScenarioFile } from '../../../cli/rehearsal/scenarios/scenario-file.ts';
import { Transcript } from '../../../cli/rehearsal/transcript.ts';

const transcriptOf = (events: readonly ConversationEvent[]): Transcript => {
  const transcript = new Transcript();
  for (const event of events) transcript.take(event);
  return transcript;
};

const scenarioOf = (keys: string, caller = '["Hi"]') =>
  readScenarioFile(`[[scenario]]\nname = "a"\ncaller = ${caller}\nexpect = ${keys}`, {}).file!.scenarios[0]!;

const call: readonly ConversationEvent[] = [
  { type: 'bot.text', response: 1, text: 'Hello. ' },
  { type: 'caller.said', text: 'A table for four.' },
  { type: 'tool.called', id: 'c1', name: 'book', arguments: '{"people":4,"at":{"day":"today","hour":7}}' },
  { type: 'tool.started', id: 'c1' },
  { type: 'tool.result', id: 'c1', name: 'book', text: 'ok', tookMs: 5 },
  { type: 'node.entered', node: 'booked' },
  { type: 'bot.text', response: 2, text: 'It\u2019s booked. ' },
  { type: 'bot.text', response: 2, text: 'Anything else?' },
  { type: 'turn.done', timings: { firstTextMs: 300, thoughtMs: 400, spokenMs: 1000 } },
  { type: 'caller.said', text: 'No.' },
  { type: 'bot.text', response: 3, text: 'Good bye.' },
  { type: 'turn.done', timings: { firstTextMs: 1200, thoughtMs: 1300, spokenMs: 1000 } },
  { type: 'ended', by: 'agent' },
];

describe('expectations', () => {
  it.each([
    '{ says = ["it\'s  BOOKED", "hello"] }',
    "{ matches = ['any(thing|body)', 'good ?bye'] }",
    '{ never_says = ["sorry"], never_matches = ["err"] }',
    '{ calls = [{ name = "book" }] }',
    '{ calls = [{ name = "book", arguments = { at = { hour = 7 } }, times = 1 }] }',
    '{ never_calls = ["cancel"], reaches = ["booked"] }',
    '{ first_text_ms = 1200, ended_by = "agent" }',
  ])('hold: %s', (keys) => {
    expect(checkScenario(scenarioOf(keys), transcriptOf(call), [1])).toEqual([]);
  });

  it.each([
    [
      '{ says = ["cancelled"] }',
      /expected the agent to say "cancelled"; it said "Hello\. It’s booked\. Anything/,
    ],
    ['{ matches = ["^cancel"] }', /something like \/\^cancel\//],
    ['{ never_says = ["anything ELSE"] }', /not to say "anything ELSE"/],
    ['{ never_matches = ["book"] }', /nothing like \/book\//],
    ['{ calls = [{ name = "cancel" }] }', /expected a call of cancel; run were book \{/],
    ['{ calls = [{ name = "book", arguments = { people = 5 } }] }', /book with \{"people":5\}; run were/],
    ['{ calls = [{ name = "book", times = 2 }] }', /expected a call of book 2 times, not 1/],
    ['{ never_calls = ["book"] }', /expected no call of book/],
    ['{ reaches = ["lost"] }', /expected the node lost; entered were booked/],
    ['{ first_text_ms = 1199 }', /within 1\.2 s; after "No\." it took 1\.2 s/],
    ['{ ended_by = "caller" }', /ended by the caller; it was ended by the agent/],
  ])('do not hold: %s', (keys, failure) => {
    const failures = checkScenario(scenarioOf(keys), transcriptOf(call), [1]);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatch(failure);
  });

  it('of a step look at the answer to that step alone', () => {
    const steps =
      '[{ say = "A table", expect = { says = ["bye"] } }, { say = "No", expect = { says = ["bye"] } }]';
    expect(checkScenario(scenarioOf('{}', steps), transcriptOf(call), [1, 2])).toEqual([
      'step 1: expected the agent to say "bye"; it said "It’s booked. Anything else?"',
    ]);
  });

  it('count what nobody heard as not said', () => {
    const { turns } = transcriptOf([
      { type: 'caller.said', text: 'Count.' },
      { type: 'bot.text', response: 1, text: 'One two three.' },
      { type: 'caller.said', text: 'Stop.' },
      { type: 'bot.text', response: 1, text: ' Four.' },
      { type: 'bot.cut', response: 1, heard: 'One' },
      { type: 'bot.text', response: 2, text: 'Sorry.' },
    ]);
    expect(turns.map(({ said }) => said)).toEqual(['', 'One', 'Sorry.']);
    const expected = { ...scenarioOf('{ never_says = ["two"] }').expect };
    expect(checkTurns(expected, turns)).toEqual([]);
  });

  it('compare arguments as a subset, at every level', () => {
    expect(holds({ a: 1 }, { a: 1, b: 2 })).toBe(true);
    expect(holds({ a: { b: [1, { c: 2 }] } }, { a: { b: [1, { c: 2, d: 3 }] } })).toBe(true);
    expect(holds({ a: [1] }, { a: [1, 2] })).toBe(false);
    expect(holds({ a: 1 }, { a: '1' })).toBe(false);
    expect(holds({ a: 1 }, [1])).toBe(false);
    expect(holds({ toString: 1 }, {})).toBe(false);
  });
});
