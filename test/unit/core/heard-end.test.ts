/** What is told of a response when it is over: what was heard of it in all, and how it ended. */
import { describe, expect, it } from 'vitest';
import type { HeardEnd } from '../../../worker/core/told.ts';
import { realCore, type Core } from '../../support/core/core.ts';
import { Script } from '../../support/core/script.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';

type Ended = HeardEnd & { readonly epoch: number };

function begin(settings: Partial<typeof scriptSettings> = {}) {
  const ends: Ended[] = [];
  const order: string[] = [];
  const core: Core = {
    ...realCore,
    step: (state, event, now) => {
      const actions = realCore.step(state, event, now);
      for (const action of actions) {
        if (action.type !== 'told') continue;
        order.push(action.event.type);
        if (action.event.type === 'bot.heard' && action.event.end !== undefined)
          ends.push({ epoch: action.event.epoch, ...action.event.end });
      }
      return actions;
    },
  };
  return { call: new Script({ core, settings: { ...scriptSettings, ...settings } }), ends, order };
}

describe('the end of a response, as it is told', () => {
  it('finished: all of it was heard, before the bot is told to have ended', () => {
    const { call, ends, order } = begin();
    call.opens().callerSays('Hi.').llmAnswers('It is ten. Anything else?').botFinishes();
    expect(ends).toEqual([{ epoch: 1, how: 'finished', complete: true, heard: 'It is ten. Anything else?' }]);
    expect(order.indexOf('turn.bot_ended')).toBe(order.lastIndexOf('bot.heard') + 1);
  });

  it('interrupted: what was heard up to there, before the interruption is told', () => {
    const { call, ends, order } = begin();
    call.opens().callerSays('Hi.').llmAnswers('One two three. Four five six. Seven eight nine.');
    call.botPlays(1_000).callerBegins().callerInsists();
    expect(ends).toMatchObject([{ epoch: 1, how: 'interrupted', complete: false }]);
    expect('One two three. Four five six. Seven eight nine.'.startsWith(ends[0]?.heard ?? '-')).toBe(true);
    expect(order.indexOf('turn.interrupted')).toBe(order.lastIndexOf('bot.heard') + 1);
  });

  it('interrupted before a sound, also of half a sentence: nothing was heard', () => {
    const { call, ends } = begin();
    call.opens().callerSays('Hi.').llmWrites('I am just look').callerBegins().callerInsists();
    expect(ends).toEqual([{ epoch: 1, how: 'interrupted', complete: false, heard: '' }]);
  });

  it('nothing is told of an answer of which nothing was written', () => {
    const { call, ends } = begin();
    call.opens().callerSays('A table').callerBegins().callerInsists();
    expect(ends).toEqual([]);
  });

  it('a line of the agent file is told of, too', () => {
    const { call, ends } = begin({ greeting: 'Hello there.' });
    call.opens().botFinishes();
    expect(ends).toEqual([{ epoch: 1, how: 'finished', complete: true, heard: 'Hello there.' }]);
  });

  it('call_ended: the caller hangs up into it', () => {
    const { call, ends } = begin();
    call.opens().callerSays('Hi.').llmAnswers('One two three. Four five six.').botPlays(200);
    call.tell({ type: 'call.closed' }).tell({ type: 'call.closed' });
    expect(ends).toMatchObject([{ epoch: 1, how: 'call_ended', complete: false }]);
  });

  it('call_ended: the service stops', () => {
    const { call, ends } = begin();
    call.opens().callerSays('Hi.').llmAnswers('One two three.').tell({ type: 'call.shutdown' });
    call.tell({ type: 'call.closed' });
    expect(ends).toEqual([{ epoch: 1, how: 'call_ended', complete: false, heard: '' }]);
  });

  it('finished in the voice of another session: both parts are one answer', () => {
    const { call, ends } = begin();
    const words = 'One two three. Four five six. Seven eight nine.';
    call.opens().callerSays('Hi.').llmAnswers(words).botPlays(400).ttsFails().botFinishes().botFinishes();
    expect(ends).toHaveLength(1);
    expect(ends[0]).toMatchObject({ epoch: 1, how: 'finished', complete: true });
    expect(ends[0]?.heard.replaceAll(/\s/g, '')).toContain('Seveneightnine.');
    expect(ends[0]?.heard.replaceAll(/\s/g, '')).toContain('Onetwothree.');
  });

  it('an answer as text alone counts as heard', () => {
    const { call, ends } = begin();
    call
      .opens()
      .tell({
        type: 'command.given',
        command: { type: 'text', text: 'Hi.', answer: 'text' },
        position: undefined,
      })
      .llmAnswers('It is ten.');
    expect(ends).toEqual([{ epoch: 1, how: 'finished', complete: true, heard: 'It is ten.' }]);
  });
});
