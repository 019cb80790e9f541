/** What operators read: whole texts without what must not be kept, and everything as it comes where nothing is to be taken out. */
import { describe, expect, it } from 'vitest';
import { redactionOf } from '../../../shared/calls/privacy/redaction.ts';
import type { ConversationMessage } from '../../../shared/protocol/conversation.ts';
import { ShownWords } from '../../../worker/monitor/shown-words.ts';

const cards = { privacy: { redact: ['card'], patterns: {}, languages: ['en'] } };
const before = {
  settings: { languages: ['en'], dtmf: { interDigitMs: 3_000 } },
  entries: [],
  digits: '',
};
const words = (agent: Parameters<typeof redactionOf>[0] = {}): ShownWords => {
  const shown = new ShownWords(redactionOf(agent));
  shown.begin(before, 0);
  return shown;
};
const epoch = 1;
const round: readonly ConversationMessage[] = [
  { type: 'bot.llm_started', epoch },
  { type: 'bot.text', epoch, text: 'I have 4111 1111 ' },
  { type: 'bot.tts_text', epoch, text: 'I have 4111 1111' },
  { type: 'bot.text', epoch, text: '1111 1111.' },
  { type: 'bot.llm_stopped', epoch },
];
const heard = (text: string): ConversationMessage => ({
  ...{ type: 'bot.heard', epoch, text, heard: `I have 4111 1111 1111 ${text}` },
  ...{ complete: true, ended: 'finished' },
});
const press = (shown: ShownWords, keys: string): void => {
  for (const key of keys) shown.pressed(key, 1_000);
};

describe('what operators read', () => {
  it('is everything as it comes, where nothing is taken out', () => {
    const shown = words();
    press(shown, '12#');
    expect(round.flatMap((message) => shown.of(message))).toEqual(round);
  });

  it('is no number, however it is spread over pieces', () => {
    const shown = words(cards);
    expect(round.flatMap((message) => shown.of(message))).toEqual([
      { type: 'bot.llm_started', epoch },
      { type: 'bot.text', epoch, text: 'I have [card].' },
      { type: 'bot.llm_stopped', epoch },
    ]);
    expect(shown.of({ type: 'bot.heard', epoch, text: '4111 11' })).toEqual([]);
    expect(shown.of(heard('1111'))).toEqual([
      { ...heard('1111'), text: 'I have [card]', heard: 'I have [card]' },
    ]);
    expect(shown.of({ type: 'user.transcript', text: 'four one one', final: false })).toEqual([]);
    expect(shown.of({ type: 'user.text', epoch, text: '4111 1111 1111 1111' })).toEqual([
      { type: 'user.text', epoch, text: '[card]' },
    ]);
    expect(shown.of({ type: 'operator.text', text: '4111 1111 1111 1111' })).toEqual([
      { type: 'operator.text', text: '[card]' },
    ]);
  });

  it('is no key that the caller has pressed, from the moment on at which one is more than a choice', () => {
    const shown = words();
    press(shown, '4711');
    expect(round.flatMap((message) => shown.of(message))).toHaveLength(3);
    expect(shown.of({ type: 'bot.text', epoch, text: 'Four seven double one?' })).toEqual([
      { type: 'bot.text', epoch, text: '[redacted]?' },
    ]);
  });

  it('is no key of before another worker took the call up', () => {
    const shown = new ShownWords(redactionOf({}));
    shown.begin({ ...before, entries: ['4711'] }, 0);
    expect(shown.of({ type: 'user.text', epoch, text: 'It was 4 7 1 1.' })).toEqual([
      { type: 'user.text', epoch, text: 'It was [redacted].' },
    ]);
  });
});
