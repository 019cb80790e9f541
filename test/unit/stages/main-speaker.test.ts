/** Whose words count, where a recogniser tells who says them. */
import { describe, expect, it } from 'vitest';
import { MainSpeaker, spokenWords } from '../../../worker/stages/stt/main-speaker.ts';
import { spokenIn, textOf } from '../../support/fakes/fake-recogniser.ts';

class Heard {
  readonly #speaker = new MainSpeaker();

  /** What counts of it. */
  final(said: string): string {
    return this.#speaker.own(textOf(said), spokenIn(said), { isFinal: true }).text;
  }

  partial(said: string): string {
    const { text, isOthers } = this.#speaker.own(textOf(said), spokenIn(said), { isFinal: false });
    return isOthers ? `${text}|` : text;
  }
}

const words = (count: number, speaker: string): string =>
  Array.from({ length: count }, (_, at) => `w${at}@${speaker}`).join(' ');
const known = (): Heard => {
  const heard = new Heard();
  for (let turns = 0; turns < 3; turns += 1) heard.final(words(4, 'A'));
  return heard;
};

describe('the caller', () => {
  it('is who says most of the first turns; before that nothing is left out', () => {
    const heard = new Heard();
    expect(heard.final(words(9, 'B'))).not.toBe('');
    expect(heard.final(words(6, 'A'))).not.toBe('');
    expect(heard.final(words(9, 'A'))).not.toBe('');
    expect(heard.final(words(6, 'A'))).not.toBe('');
    expect(heard.final(words(5, 'B'))).toBe('');
    expect(heard.final('yes@A')).toBe('yes');
  });

  it('is nobody where two say as much', () => {
    const heard = new Heard();
    for (let turns = 0; turns < 6; turns += 1) {
      expect(heard.final(words(5, 'A'))).not.toBe('');
      expect(heard.final(words(5, 'B'))).not.toBe('');
    }
  });

  it('is not known by one long sentence of a television', () => {
    const heard = new Heard();
    heard.final(words(30, 'B'));
    expect(heard.final('hello@A there@A who@A is@A this@A')).toBe('hello there who is this');
  });

  it('is still heard where a short word is taken for a new speaker', () => {
    const heard = known();
    expect(heard.final('yes@B')).toBe('yes');
    expect(heard.final('no@C thanks@C')).toBe('no thanks');
  });

  it('is parted from others within a sentence, whose text stays as it is written where all count', () => {
    const heard = known();
    heard.final(words(4, 'B'));
    expect(heard.final('two@A people@A and@B now@B please@A')).toBe('two people please');
    expect(new MainSpeaker().own('£20.', [{ text: '20', speaker: 'A' }], { isFinal: true }).text).toBe(
      '£20.',
    );
  });

  it('is told from others in partials, also where those are new', () => {
    const heard = known();
    expect(heard.partial('one@B two@B three@B')).toBe('one two three');
    expect(heard.partial('one@B two@B three@B four@B')).toBe('|');
    expect(heard.partial('at@A eight@A one@B two@B three@B four@B')).toBe('at eight|');
    expect(heard.partial('one@B two@B three@B four@B at@A eight@A')).toBe('at eight');
  });

  it('says the words that nobody is named for, unless they stand behind those of another', () => {
    const heard = known();
    heard.final(words(4, 'B'));
    expect(heard.final('at eight')).toBe('at eight');
    expect(heard.final('and@B now the news')).toBe('');
    expect(heard.final('at@A half past eight')).toBe('at half past eight');
  });

  it('are told in partials once it is sure whose they are, where others are heard', () => {
    const heard = known();
    expect(heard.partial('at@A eig')).toBe('at eig');
    heard.final(words(4, 'B'));
    expect(heard.partial('now')).toBe('');
    expect(heard.partial('now@B the@B new')).toBe('|');
    expect(heard.partial('at@A eig')).toBe('at');
  });
});

describe('a phone that is handed over', () => {
  it('is answered to whoever has it once the caller was silent for 20 s of speech', () => {
    const heard = known();
    for (let turns = 0; turns < 9; turns += 1) expect(heard.final(words(5, 'B'))).toBe('');
    expect(heard.final(words(5, 'B'))).not.toBe('');
    expect(heard.final('hello@B')).toBe('hello');
  });

  it('is not, as long as the caller says a word now and then', () => {
    const heard = known();
    for (let turns = 0; turns < 40; turns += 1) {
      expect(heard.final(words(8, 'B'))).toBe('');
      if (turns % 5 === 4) expect(heard.final('yes@A')).toBe('yes');
    }
  });

  it('is the caller’s again at once when it is given back', () => {
    const heard = known();
    for (let turns = 0; turns < 10; turns += 1) heard.final(words(5, 'B'));
    expect(heard.final('it@A is@A me@A again@A')).toBe('it is me again');
    expect(heard.final(words(5, 'B'))).toBe('');
  });
});

describe('labels on the wire', () => {
  it('are numbers or names; no label is one that says so, and nothing else', () => {
    const told = [0, 'B', 'UNKNOWN', null, undefined, -1, {}].map((speaker) => ({ text: 'a', speaker }));
    expect(spokenWords(told, ['text']).map(({ speaker }) => speaker)).toEqual([
      '0',
      'B',
      ...Array<undefined>(5).fill(undefined),
    ]);
    expect(
      spokenWords([{ word: 'a', punctuated_word: 'A,' }, {}, 3, null], ['punctuated_word', 'word']),
    ).toEqual([{ text: 'A,', speaker: undefined }]);
    for (const none of [undefined, null, {}, 'words']) expect(spokenWords(none, ['text'])).toEqual([]);
  });
});
