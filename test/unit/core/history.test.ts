/** What the LLM gets to see of a call. */
import { describe, it, expect } from 'vitest';
import { addHeard, addUser, contextFor, newHistory } from '../../../worker/core/delivery/history.ts';
import { addFinal, forgetReplayed, newWords, wholeText } from '../../../worker/core/turn/turn.ts';

describe('the context of a request', () => {
  it('starts with the prompt and keeps the order of what was said', () => {
    const history = newHistory();
    addUser(history, 'Hi.');
    addHeard(history, ' Hello. ');
    addUser(history, 'Well?');
    expect(contextFor(history, { prompt: 'Be brief.', budgetTokens: 1_000 })).toEqual([
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'Hi.' },
      { role: 'assistant', text: 'Hello.' },
      { role: 'user', text: 'Well?' },
    ]);
  });

  it('has no system message without a prompt, and no message of which nothing was heard', () => {
    const history = newHistory();
    addHeard(history, '  ');
    addUser(history, 'Hi.');
    expect(contextFor(history, { prompt: '', budgetTokens: 1_000 })).toEqual([{ role: 'user', text: 'Hi.' }]);
  });

  it('keeps the newest messages that fit the budget', () => {
    const history = newHistory();
    for (let turn = 0; turn < 50; turn += 1) addUser(history, `message number ${turn}`.padEnd(35, '.'));
    const kept = contextFor(history, { prompt: '', budgetTokens: 74 });
    expect(kept).toHaveLength(5);
    expect(kept.at(-1)?.text).toContain('number 49');
    expect(kept[0]?.text).toContain('number 45');
  });

  it('always holds what is to be answered, however long', () => {
    const history = newHistory();
    addUser(history, 'x'.repeat(10_000));
    expect(contextFor(history, { prompt: 'p', budgetTokens: 10 })).toHaveLength(2);
  });

  it('does not grow without end', () => {
    const history = newHistory();
    for (let turn = 0; turn < 3_000; turn += 1) addUser(history, `${turn}`);
    expect(history.messages).toHaveLength(2_000);
    expect(history.messages.at(-1)?.text).toBe('2999');
  });
});

describe('the words of a turn', () => {
  it('are its finals and the partial that no final has replaced', () => {
    const words = newWords();
    addFinal(words, ' one ');
    words.partial = 'two';
    expect(wholeText(words)).toBe('one two');
    addFinal(words, 'two three');
    expect(wholeText(words)).toBe('one two three');
  });

  it('count once where two sessions heard the same audio, however often a session is replaced', () => {
    const words = newWords();
    addFinal(words, 'one two three.', 500);
    addFinal(words, 'four', 2_000);
    forgetReplayed(words, 1_000);
    expect(wholeText(words)).toBe('one two three. four');
    addFinal(words, 'three four five.', 2_500);
    expect(wholeText(words)).toBe('one two three four five.');
    forgetReplayed(words, 2_600);
    addFinal(words, 'five six', 3_000);
    expect(wholeText(words)).toBe('one two three four five six');
  });

  it('are bounded', () => {
    const words = newWords();
    for (let final = 0; final < 100; final += 1) addFinal(words, 'y'.repeat(1_000));
    expect(wholeText(words).length).toBeLessThanOrEqual(16_384 + words.finals.length);
    expect(words.finals.length).toBeGreaterThan(10);
  });
});
