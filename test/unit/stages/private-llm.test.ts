/** What an LLM reads where values are hidden from it, and what becomes of its answers. */
import { describe, expect, it } from 'vitest';
import { Redactor } from '../../../shared/calls/privacy/redactor.ts';
import { Scope } from '../../../shared/runtime/scope.ts';
import { privateLlm } from '../../../worker/stages/private-llm.ts';
import type {
  ChatMessage,
  LlmEvent,
  LlmRequest,
  LlmStage,
  StageContext,
} from '../../../worker/stages/stage.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const redactor = new Redactor({
  redact: ['card', 'iban', 'email', 'phone'],
  patterns: { guest: 'G-[0-9]{4}', odd: 'q"[a-z]+"' },
  languages: ['en'],
});
const card = '4111 1111 1111 1111';
const scope = new Scope('test', () => undefined);
const context: StageContext = { clock: newVirtualClock(), bind: (callback) => scope.bind(callback) };

/** One round: what the LLM was asked, and what came of its answer. */
function round(
  messages: readonly ChatMessage[],
  answer: readonly LlmEvent[] = [],
): {
  readonly asked: readonly ChatMessage[];
  readonly text: string;
  readonly calls: string[];
  readonly events: LlmEvent[];
} {
  let asked: LlmRequest | undefined;
  const llm: LlmStage = {
    provider: 'fake',
    open: () => ({
      start: (request, sink) => {
        asked = request;
        for (const event of answer) sink(event);
        return { cancel: () => undefined };
      },
      close: () => undefined,
    }),
    close: () => Promise.resolve(),
  };
  const events: LlmEvent[] = [];
  privateLlm(llm, redactor)
    .open(context, {})
    .start({ messages, tools: [] }, (event) => events.push(event));
  const calls: string[] = [];
  for (const event of events)
    if (event.type === 'tool-call') calls[event.index] = (calls[event.index] ?? '') + event.arguments;
  const text = events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('');
  return { asked: asked?.messages ?? [], text, calls, events };
}

const system: ChatMessage = { role: 'system', text: 'You are a desk.' };
const user = (text: string): ChatMessage => ({ role: 'user', text });
const text = (piece: string): LlmEvent => ({ type: 'text', text: piece });
const done: LlmEvent = { type: 'done', finish: 'stop', usage: undefined };
const failed: LlmEvent = { type: 'error', error: { kind: 'disconnected' } };
/** Each character a piece of its own. */
const pieces = (whole: string): LlmEvent[] => Array.from(whole, text);
const callPieces = (whole: string): LlmEvent[] =>
  Array.from(whole, (piece, at) => ({
    type: 'tool-call',
    index: 0,
    ...(at === 0 && { id: 'a', name: 'pay' }),
    arguments: piece,
  }));

describe('what the LLM reads', () => {
  it('has the same placeholder for the same value, however it is said and wherever it stands', () => {
    const spoken = 'four one one one one one one one one one one one one one one one';
    const { asked } = round([
      { ...system, text: `Caller's card: ${card}.` },
      user(`My card is ${card}.`),
      {
        role: 'assistant',
        text: `${card}?`,
        toolCalls: [{ id: 'a', name: 'pay', arguments: `{"card":4111111111111111,"n":2.50}` }],
      },
      { role: 'tool', callId: 'a', name: 'pay', text: '{"card": "4111-1111-1111-1111", "ok": true}' },
      user(`Yes, ${spoken}. And 5500 0000 0000 0004.`),
    ]);
    expect(asked[0]?.text).toMatch(/^Caller's card: \[card 1\]\.\n\nWords in brackets/);
    expect(asked.slice(1)).toEqual([
      user('My card is [card 1].'),
      {
        role: 'assistant',
        text: '[card 1]?',
        toolCalls: [{ id: 'a', name: 'pay', arguments: '{"card":"[card 1]","n":2.50}' }],
      },
      { role: 'tool', callId: 'a', name: 'pay', text: '{"card": "[card 1]", "ok": true}' },
      user('Yes, [card 1]. And [card 2].'),
    ]);
  });

  it('is what was said, to the letter, where nothing is hidden', () => {
    const messages = [system, user('A table for 4, on 12.12.2026.')];
    expect(round(messages).asked).toBe(messages);
  });

  it('has no value in the result of a tool that is no JSON', () => {
    const result = {
      role: 'tool',
      callId: 'a',
      name: 'find',
      text: `Found jane@example.com (G-1234)`,
    } as const;
    expect(round([system, result]).asked[1]?.text).toBe('Found [email 1] ([guest 1])');
  });
});

describe('what the LLM answers', () => {
  it('has the values back, in whatever pieces it comes', () => {
    const messages = [system, user(`My card is ${card}, and jane@example.com.`)];
    const answer = 'I have [card 1] and [Email 1]. [card 7] [ok] a[0] [card';
    expect(round(messages, [...pieces(answer), done]).text).toBe(
      'I have 4111111111111111 and jane@example.com. [card 7] [ok] a[0] [card',
    );
    expect(round(messages, [text(answer), done]).events.at(-1)).toEqual(done);
  });

  it('gives tools the values, as JSON has them', () => {
    const messages = [system, user(`My card is ${card}, or q"x" or G-1234 or +49 30 1234567.`)];
    const given = '{"card": "[card 1]", "more": ["[odd 1]", "[guest 1]", [1, [2]]], "phone": "[phone 1]"}';
    const { calls, events } = round(messages, [...callPieces(given), done]);
    expect(JSON.parse(calls[0] ?? '')).toEqual({
      card: '4111111111111111',
      more: ['q"x"', 'G-1234', [1, [2]]],
      phone: '+49301234567',
    });
    expect(events[0]).toMatchObject({ type: 'tool-call', id: 'a', name: 'pay' });
  });

  it('holds no piece back that cannot become a placeholder, and gives a rest before the end', () => {
    const messages = [system, user(`My card is ${card}.`)];
    expect(round(messages, [text('Hello ['), text('x], '), text('[card 1')]).text).toBe('Hello [x], ');
    expect(round(messages, [text('[card 1'), failed]).text).toBe('');
    expect(round(messages, [text('[card 1'), done]).events).toEqual([text('[card 1'), done]);
  });
});

describe('a value as a program takes it', () => {
  it.each([
    ['card', 'four one one one, double one', '411111'],
    ['phone', '(+49) 30 / 123 45 67', '+49301234567'],
    ['iban', 'd e eight nine three seven', 'DE8937'],
    ['iban', 'DE89 3704 0044', 'DE8937040044'],
    ['email', 'jane dot doe at example dot com', 'jane dot doe at example dot com'],
    ['guest', 'G-1234', 'G-1234'],
  ])('%s: %s', (kind, written, plain) => expect(redactor.plain(kind, written)).toBe(plain));
});
