import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ConversationEvent, DEFAULT_EVENTS } from '../../../web/client/conversation-events.ts';
import { Conversation } from '../../../web/client/conversation.ts';
import { decodeServerMessage } from '../../../web/client/wire.ts';

function linesOf(events: readonly ConversationEvent[]): string[] {
  const conversation = new Conversation();
  for (const event of events) conversation.take(event);
  return conversation.lines.map(({ who, text, state }) => `${who} ${state}: ${text}`);
}

const heard = (text: string, final = false): ConversationEvent => ({ type: 'user.transcript', text, final });
const asked = (epoch: number, text: string): ConversationEvent => ({ type: 'user.text', epoch, text });
const says = (epoch: number, text: string): ConversationEvent => ({ type: 'bot.text', epoch, text });
const ended = (epoch: number): ConversationEvent => ({ type: 'turn.bot_ended', epoch });
const interrupted = (epoch: number): ConversationEvent => ({ type: 'turn.interrupted', epoch });

describe('the conversation', () => {
  it('grows the line of the caller word by word, and ends it with what the agent answers', () => {
    expect(linesOf([heard('I would')])).toEqual(['caller open: I would']);
    expect(linesOf([heard('I would'), heard('I would like', true), heard('a table')])).toEqual([
      'caller open: I would like a table',
    ]);
    expect(
      linesOf([heard('I would', true), heard('a table', true), asked(1, 'I would like a table.')]),
    ).toEqual(['caller done: I would like a table.']);
  });

  it('puts the deltas of an answer into one line, and answers into lines of their own', () => {
    const events = [says(0, 'Hello.'), ended(0), asked(1, 'Time?'), says(1, 'It is'), says(1, ' three.')];
    expect(linesOf(events)).toEqual(['agent done: Hello.', 'caller done: Time?', 'agent open: It is three.']);
  });

  it('parts two sentences that came without a space, and no number', () => {
    expect(linesOf([says(1, 'One moment.'), says(1, 'It is 3.'), says(1, '5 degrees.')])).toEqual([
      'agent open: One moment. It is 3.5 degrees.',
    ]);
  });

  it('marks where the caller interrupted, and leaves out what comes late of it', () => {
    const events = [
      asked(1, 'Weather?'),
      says(1, 'In Boston it'),
      interrupted(2),
      says(1, ' is cold'),
      says(2, 'Yes?'),
    ];
    expect(linesOf(events)).toEqual(['caller done: Weather?', 'agent cut: In Boston it', 'agent open: Yes?']);
  });

  it('does not call an answer cut that was played to its end', () => {
    expect(linesOf([says(1, 'Done.'), ended(1), interrupted(2)])).toEqual(['agent done: Done.']);
  });

  it('says which agent speaks, once the first one has handed the caller over', () => {
    const conversation = new Conversation();
    const changed: ConversationEvent = { type: 'agent.changed', agent: 'billing' };
    for (const event of [says(1, 'One moment.'), changed, says(2, 'Billing here.'), asked(3, 'Hello.')])
      conversation.take(event);
    expect(conversation.lines).toMatchObject([
      { who: 'agent', text: 'One moment.', state: 'done' },
      { who: 'agent', agent: 'billing', text: 'Billing here.' },
      { who: 'caller', text: 'Hello.' },
    ]);
    expect(conversation.lines[0]).not.toHaveProperty('agent');
    expect(conversation.lines[2]).not.toHaveProperty('agent');
  });

  it('keeps what was heard and led to no turn, and begins the next turn anew', () => {
    const events = [
      says(1, 'There are'),
      heard('mm-hmm', true),
      says(2, 'Yes?'),
      heard('three'),
      asked(3, 'three'),
    ];
    expect(linesOf(events)).toEqual([
      'agent done: There are',
      'caller done: mm-hmm',
      'agent open: Yes?',
      'caller done: three',
    ]);
  });

  it('says which line an event has changed', () => {
    const conversation = new Conversation();
    expect(conversation.take(says(1, 'Hello'))).toMatchObject({ id: 1, who: 'agent', text: 'Hello' });
    expect(conversation.take({ type: 'turn.user_started', epoch: 2 })).toBeUndefined();
    expect(conversation.take(interrupted(2))).toMatchObject({ id: 1, state: 'cut' });
  });

  it('is bounded in lines and in their length, whatever comes', () => {
    const conversation = new Conversation();
    for (let epoch = 1; epoch <= 1_000; epoch += 1) {
      conversation.take(says(epoch, 'x'.repeat(5_000)));
      conversation.take(says(epoch, 'x'.repeat(5_000)));
    }
    expect(conversation.lines).toHaveLength(300);
    expect(conversation.lines.every(({ text }) => text.length <= 8_000)).toBe(true);
    conversation.close();
    expect(conversation.lines.at(-1)?.state).toBe('done');
  });
});

describe('an event of the conversation', () => {
  const read = (message: object): unknown => decodeServerMessage(JSON.stringify(message));

  it('is read with the names of the protocol', () => {
    const metrics = { end_of_turn_ms: 300, response_ms: 812.5, llm_ttft_ms: null, later: 1 };
    expect(read({ type: 'turn.metrics', epoch: 3, metrics })).toEqual({
      type: 'event',
      event: { type: 'turn.metrics', epoch: 3, metrics: { endOfTurnMs: 300, responseMs: 812.5 } },
    });
    expect(read({ type: 'stage.failed', stage: 'tts', reason: 'timeout' })).toEqual({
      type: 'event',
      event: { type: 'stage.failed', stage: 'tts', reason: 'timeout' },
    });
    expect(read({ type: 'user.transcript', text: 'hi', final: true, confidence: 1 })).toEqual({
      type: 'event',
      event: heard('hi', true),
    });
  });

  it.each([
    { type: 'bot.text', text: 'no epoch' },
    { type: 'turn.interrupted' },
    { type: 'user.transcript' },
  ])('that lacks a field is none: %o', (message) => {
    expect(read(message)).toEqual({ type: 'unknown', name: message.type });
  });

  it('never throws, whatever its fields', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...DEFAULT_EVENTS),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (type, fields) => {
          read({ ...fields, type });
        },
      ),
    );
  });
});
