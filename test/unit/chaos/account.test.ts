/** What a caller of the chaos driver notices: it is the judge of every run, so each broken promise must be one for it. */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { Account } from '../../../scripts/measure/chaos/account.ts';
import {
  GroupReader,
  groupsPerWord,
  speechFor,
  wordText,
} from '../../../scripts/measure/chaos/coded-audio.ts';
import { faultNames, plan } from '../../../scripts/measure/chaos/faults.ts';

const words = (call: number, reply: number, from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => wordText(call, reply, from + at)).join(' ');

/** Lets the account hear texts as audio, cut into frames that do not fit the words. */
function hear(account: Account, ...texts: readonly string[]): void {
  const reader = new GroupReader();
  const audio = Buffer.concat(texts.map(speechFor));
  for (let at = 0; at < audio.length; at += 958)
    reader.read(audio.subarray(at, at + 958), (group) => account.heard(group));
}

const keys = (entry: string) => ({ role: 'user', content: `[The caller pressed the keys: ${entry}]` });
const said = (content: string) => ({ role: 'assistant', content });

describe('the ear', () => {
  it('finds nothing wrong with replies in order, and leaves out lines of other words', () => {
    const account = new Account(3);
    hear(account, words(3, 1, 0, 9), 'Sorry, what was that?', words(3, 2, 0, 4));
    expect(account).toMatchObject({ doubledMs: 0, lostMs: 0, wordsDoubled: 0, wordsLost: 0, violations: [] });
    expect([account.reply, account.heardGroups]).toEqual([2, 4 * groupsPerWord]);
  });

  it('counts words that come again and words that are left out', () => {
    const account = new Account(3);
    hear(account, words(3, 1, 0, 4), words(3, 1, 2, 6), words(3, 1, 9, 10));
    expect(account).toMatchObject({ wordsDoubled: 2, wordsLost: 3 });
    expect([Math.round(account.doubledMs), Math.round(account.lostMs)]).toEqual([320, 480]);
  });

  it('complains about words of another call and of an earlier reply', () => {
    const account = new Account(3);
    hear(account, words(3, 2, 0, 1), words(4, 2, 0, 1));
    expect(account.violations[0]).toContain('heard a word of call 4');
    const other = new Account(3);
    hear(other, words(3, 2, 0, 1), words(3, 1, 0, 1));
    expect(other.violations[0]).toContain('heard reply 1 after reply 2');
  });

  it('complains about an epoch that comes again', () => {
    const account = new Account(3);
    account.cleared(4);
    account.cleared(4);
    expect(account.violations).toEqual(['call 3: epoch 4 after 4']);
  });
});

describe('the comparison with the service', () => {
  /** An account that has sent two entries and heard five words of the first reply. */
  function talked(): Account {
    const account = new Account(3);
    account.keysSent('3*1');
    account.keysSent('3*2');
    hear(account, words(3, 1, 0, 5));
    return account;
  }

  it('agrees with a context of what was said and heard', () => {
    const account = talked();
    account.asked([keys('3*1')]);
    account.asked([keys('3*1'), said(words(3, 1, 0, 5)), keys('3*2')]);
    expect(account.violations).toEqual([]);
  });

  it.each([
    ['words that nobody heard', [keys('3*1'), said(words(3, 1, 0, 6))], 'was not heard'],
    ['a word that is left out', [keys('3*1'), said(`${words(3, 1, 0, 2)} ${words(3, 1, 3, 5)}`)], 'not 2'],
    ['a word twice', [keys('3*1'), said(`${words(3, 1, 0, 2)} ${words(3, 1, 1, 3)}`)], 'not 2'],
    ['words of another call', [keys('3*1'), said(words(4, 1, 0, 1))], 'of call 4'],
    ['keys twice', [keys('3*1'), keys('3*1')], 'twice'],
    ['keys that were not sent', [keys('3*9')], 'were not sent'],
  ])('complains about %s', (_, messages, complaint) => {
    const account = talked();
    account.asked(messages);
    expect(account.violations.join()).toContain(complaint);
  });

  it('expects no hearing of what is being said while the model goes on from it, and hearing of it afterwards', () => {
    const account = talked();
    const goOn = { role: 'system', content: 'Your last message was cut off. Go on.' };
    account.asked([keys('3*1'), said(words(3, 1, 0, 9)), goOn], { isHeld: true });
    // The model is asked once more.
    account.asked([keys('3*1'), said(words(3, 1, 0, 9)), goOn, said('')], { isHeld: true });
    expect(account.violations).toEqual([]);
    account.asked([keys('3*1'), said(words(3, 1, 0, 9)), keys('3*2')], { isHeld: true });
    expect(account.violations.join()).toContain('word 5 of reply 1 is in the context and was not heard');
    const other = talked();
    other.asked([keys('3*1'), said(words(3, 1, 0, 6)), keys('3*2'), said(words(3, 2, 0, 6)), goOn]);
    expect(other.violations).toEqual(['call 3: word 5 of reply 1 is in the context and was not heard']);
  });

  it('expects no hearing of what is said softly, and goes on to judge what follows', () => {
    const account = talked();
    const reader = new GroupReader();
    const soft = speechFor(words(3, 1, 5, 9));
    for (let at = 0; at < soft.length; at += 2) soft.writeInt16LE(Math.round(soft.readInt16LE(at) * 0.2), at);
    expect(reader.read(speechFor('Sorry, what was that?'), (group) => account.heard(group))).toBe(false);
    if (reader.read(soft, (group) => account.heard(group))) account.softened();
    account.asked([keys('3*1'), said(words(3, 1, 0, 9)), keys('3*2')]);
    expect(account.violations).toEqual([]);
    hear(account, words(3, 4, 0, 2));
    account.asked([keys('3*1'), said(words(3, 1, 0, 9)), keys('3*2'), said(words(3, 4, 0, 3)), keys('3*2')]);
    expect(account.violations.join()).toContain('word 2 of reply 4 is in the context and was not heard');
  });

  it('expects of a caller that reads nothing no hearing', () => {
    const account = talked();
    account.setReading(false);
    account.asked([keys('3*1'), said(words(3, 1, 0, 9))]);
    expect(account.violations).toEqual([]);
  });

  it('complains about a context that forgets', () => {
    const account = talked();
    account.asked([keys('3*1'), said(words(3, 1, 0, 2)), keys('3*2')]);
    expect(account.violations).toEqual([]);
    account.asked([keys('3*1'), said(words(3, 1, 0, 3)), keys('3*2')]);
    account.asked([keys('3*2')]);
    expect(account.violations).toHaveLength(2);
  });
});

describe('the schedule', () => {
  it('is the same for the same seed, holds every fault that fits, and keeps to its time', () => {
    const schedule = plan(faultNames, { seconds: 500, providerMs: 2_000, prng: newPrng(7) });
    expect(plan(faultNames, { seconds: 500, providerMs: 2_000, prng: newPrng(7) })).toEqual(schedule);
    expect(plan(faultNames, { seconds: 500, providerMs: 2_000, prng: newPrng(8) })).not.toEqual(schedule);
    expect(new Set(schedule.map(({ name }) => name)).size).toBe(faultNames.length - 2);
    expect(schedule.at(-1)?.atMs).toBeLessThan(500_000);
  });

  it('leaves out what lasts too long, and holds what fits', () => {
    const schedule = plan(faultNames, { seconds: 60, providerMs: 2_000, prng: newPrng(7) });
    expect(schedule.length).toBeGreaterThan(5);
    expect(schedule.map(({ name }) => name)).not.toContain('worker-kill-often');
  });

  it('is empty without faults', () => {
    expect(plan(['log-full'], { seconds: 60, providerMs: 2_000, prng: newPrng(1) })).toEqual([]);
  });
});
