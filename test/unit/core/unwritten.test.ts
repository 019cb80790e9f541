/** Turns whose words come later than their answers: a note stands for them, and judges nothing. */
import { expect, it } from 'vitest';
import { unwritten } from '../../../worker/core/unwritten.ts';
import { addUser, amendUser, newHistory } from '../../../worker/core/delivery/history.ts';
import { realCore } from '../../support/core/core.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';

it('a turn of several stretches has its words once they are known, and no note any more', () => {
  const history = newHistory();
  addUser(history, `${unwritten} ${unwritten}`);
  addUser(history, `well ${unwritten}`);
  expect(amendUser(history, 'what time is it')).toBe(true);
  expect(amendUser(history, 'and $& tomorrow')).toBe(true);
  expect(amendUser(history, 'nothing')).toBe(false);
  expect(history.messages.map((message) => 'text' in message && message.text)).toEqual([
    'what time is it',
    'well and $& tomorrow',
  ]);
});

it('a pause behind a note is as long as one behind no words', () => {
  const endOf = (text: string): number | undefined => {
    const call = realCore.newCall({ ...scriptSettings, languages: ['en'] });
    realCore.step(call, { type: 'call.opened' }, 0);
    realCore.step(call, { type: 'speech.started' }, 100);
    realCore.step(call, { type: 'speech.stopped' }, 1_000);
    realCore.step(call, { type: 'stt.final', text, speechFinal: false, position: undefined }, 1_010);
    const { turn } = call.caller;
    return turn.phase === 'pausing' ? turn.decideAt : undefined;
  };
  expect(endOf('')).toBe(1_500);
  expect(endOf(unwritten)).toBe(1_500);
  expect(endOf('I would like to book a table')).not.toBe(1_500);
});
