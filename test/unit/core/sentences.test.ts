/** Cutting a stream of text into pieces that can be spoken. */
import fc from 'fast-check';
import { describe, it, expect } from 'vitest';
import { spokenLanguages } from '../../../shared/languages/languages.ts';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { longestAnswerChars } from '../../../worker/core/bounds.ts';
import {
  addText as addTextIn,
  finishText,
  newSplitter,
  type Splitter,
} from '../../../worker/core/answer/sentences.ts';

const { sentences } = vocabularyOf(spokenLanguages(['multi']));
const addText = (splitter: Splitter, text: string): string[] => addTextIn(splitter, text, sentences);
const leading = new Set('and the und die y los et les ve bir'.split(' '));

/** The pieces of a text that comes in parts. */
function piecesOf(...parts: string[]): string[] {
  const splitter = newSplitter();
  const pieces = parts.flatMap((part) => addText(splitter, part));
  const rest = finishText(splitter);
  return rest === undefined ? pieces : [...pieces, rest];
}

describe('pieces of text', () => {
  it('end where sentences end', () => {
    expect(piecesOf('This is one. This is another! And this?')).toEqual([
      'This is one. ',
      'This is another! ',
      'And this?',
    ]);
  });

  it('wait for what follows a full stop, because it may belong to a number', () => {
    const splitter = newSplitter();
    expect(addText(splitter, 'It costs 3.')).toEqual([]);
    expect(addText(splitter, '50 today. Fine')).toEqual(['It costs 3.50 today. ']);
  });

  it('do not end at abbreviations', () => {
    expect(piecesOf('Ask Dr. Miller at 5 p.m. today. He knows more.')).toEqual([
      'Ask Dr. Miller at 5 p.m. today. ',
      'He knows more.',
    ]);
  });

  it.each([
    [['We open on Jan. 5 in Apt. 4. ', 'See vol. 2 of it.']],
    [['Yahoo! is a firm. ', 'The bldg. is tall, et al. are in. ', 'It is so.']],
    [['He said "Hello." and left. ', 'She asked "Why?" and stayed.']],
    [['It is 5 min. away and weighs 10 lbs. net. ', 'Good.']],
    [['Dr. med. Müller kommt Mo. oder Di. um acht. ', 'Ja.']],
    [['Jean est avec J.-P. Martin. ', 'Oui.']],
    [['that is so fine. ', 'you can come. ', 'at ten we close.']],
  ])('do not end before a small letter that is there, but in a text of nothing else: %j', (pieces) => {
    expect(piecesOf(...(pieces.join('').match(/\s*\S+/g) ?? []))).toEqual(pieces);
  });

  it.each([
    [['Acme Inc. and Bell Co. Ltd. are both here. ', 'Ask them.']],
    [['Das dauert mind. zwei bzw. max. drei Tage. ', 'Geht das?']],
    [['It was written by J.K. Rowling. ', 'Do you know it?']],
    [['J. R. R. Tolkien and J.R.R. Tolkien are one. ', 'Yes.']],
    [['He was in the U.S. Army i.e. abroad (e.g. in the U.K. too). ', 'Then he left.']],
    [['Ask Jane Q. Public (a Ph.D. of St. Mary) at 5 p.m. Tuesday. ', 'All right?']],
    [['Rufen Sie z.B. Herrn Dr. A. B. Ott an. ', 'Danke.']],
    [['Книга А.С. Пушкина здесь. ', 'Да.']],
    [['She lives in the U.S. ', 'He does not.']],
    [['On Nov. 5th we open. ', 'On Sept. 6 as well.']],
    [['We open at 9 a.m. ', 'The doors close at 5 p.m. ', 'Please come.']],
    [['Take vitamin C. ', 'It helps a lot.']],
    [['Das ist in Zimmer Nr. 5 zu sehen. ', 'Danke.']],
    [['Habla con la Sra. López. ', 'Adiós.']],
    [['Der Termin ist am 3. Mai um zehn. ', 'Passt das?']],
    [['Ihr Zimmer liegt im 2. Stock rechts. ', 'Passt das?']],
    [['Odanız ikinci binada 3. katta. ', 'Tamam mı?']],
    [['Your table number is 5. ', 'Anything else?']],
    [['1. Mix the flour.\n', '2. Add the eggs.\n', '3. Bake.']],
  ])('do not end at numbers that go on, or at abbreviations of other languages: %j', (pieces) => {
    expect(piecesOf(...(pieces.join('').match(/\S+\s*/g) ?? []))).toEqual(pieces);
  });

  it.each([
    [
      [
        '你好。',
        '请问有什么可以帮您？',
        '今天天气很好！',
        '我们有三个选项：第一，红色；第二，蓝色。',
        '再见。',
      ],
    ],
    [['「はい。」', 'と昨日言いました！？', 'ありがとうございます。']],
    [['नमस्ते। ', 'मैं आपकी मदद करूँगा। ', 'धन्यवाद।']],
    [['كيف يمكنني مساعدتك؟ ', 'لدينا ثلاثة خيارات۔ ', 'شكرا']],
  ])('end where sentences of other scripts end: %j', (pieces) => {
    expect(piecesOf(...(pieces.join('').match(/./gsu) ?? []))).toEqual(pieces);
  });

  it('begin at a clause of a script without spaces as early as of another', () => {
    expect(piecesOf('如果您明天早上过来，请带一件外套因为天气很冷。')[0]).toBe('如果您明天早上过来，');
  });

  it('do not end within a tag', () => {
    const tag = '<a href="https://example.com/a" title="One. Two, three and a title that goes on for long">';
    expect(
      piecesOf(`Please go to the page of the order by the link that you find here: ${tag}here</a> now.`),
    ).toEqual(['Please go to the page of the order by the link that you find here: ', `${tag}here</a> now.`]);
  });

  it('start early at a clause, and only the first one does', () => {
    expect(piecesOf('When you come in the morning, bring a coat, because it is cold, and wait.')).toEqual([
      'When you come in the morning, ',
      'bring a coat, because it is cold, and wait.',
    ]);
  });

  it('keep short sentences together, except at the start', () => {
    expect(piecesOf('Yes. No. Maybe so, who knows. Well.')).toEqual([
      'Yes. ',
      'No. Maybe so, who knows. ',
      'Well.',
    ]);
  });

  it('are never longer than 300 characters and end between words where there are any', () => {
    const pieces = piecesOf('word '.repeat(400));
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(300);
    expect(pieces.every((piece) => piece.endsWith(' '))).toBe(true);
    expect(Math.max(...piecesOf('x'.repeat(2_000)).map((piece) => piece.length))).toBeLessThanOrEqual(300);
  });

  it.each(['\n', '\n ', 'etc. ', '。', 'a, '])('are found soon, also of %j over and over', (sign) => {
    let longest = 0;
    const text = sign.repeat(longestAnswerChars / sign.length);
    const watched = (pattern: RegExp): RegExp =>
      Object.assign(new RegExp(pattern), {
        test: (piece: string): boolean => {
          longest = Math.max(longest, piece.length);
          return pattern.test(piece);
        },
      });
    const { abbreviation, lastAbbreviation } = sentences;
    const words = {
      ...sentences,
      abbreviation: watched(abbreviation),
      lastAbbreviation: watched(lastAbbreviation),
    };
    const pieces = addTextIn(newSplitter(), text, words);
    expect(text.startsWith(pieces.join(''))).toBe(true);
    expect(longest).toBeLessThanOrEqual(600);
  });

  it('never end behind a word that leads on to the next, in any of the languages that it knows', () => {
    for (const words of [
      'please tell me and the other',
      'bitte sagen wir und die anderen',
      'por favor digame y los otros',
      'dites moi et les autres',
      'lütfen bana ve bir başka',
    ]) {
      const pieces = piecesOf(`${words} `.repeat(40));
      expect(pieces.length).toBeGreaterThan(2);
      const last = pieces.slice(0, -1).map((piece) => piece.trim().split(' ').at(-1));
      expect(last.filter((word) => leading.has(word ?? ''))).toEqual([]);
    }
  });

  it('are the clauses of a sentence that is long', () => {
    const clause = 'we can offer you a table by the window on that evening, ';
    const long = clause.repeat(6).trim();
    const pieces = piecesOf('Yes. ', long);
    expect(pieces.slice(1, 4)).toEqual([clause, clause, clause]);
  });

  it('hold nothing where there is nothing to speak', () => {
    expect(piecesOf('')).toEqual([]);
    expect(piecesOf(' \t ')).toEqual([]);
  });

  it('are the text that came in, however it is cut on its way', () => {
    const texts = fc.array(
      fc.constantFrom('a', 'word ', '. ', ', ', '! ', '\n', 'e.g. ', '…', '"', '3.5', '  ', 'é'),
      {
        maxLength: 120,
      },
    );
    fc.assert(
      fc.property(texts, fc.array(fc.nat(400), { maxLength: 12 }), (parts, cuts) => {
        const text = parts.join('');
        const places = [
          0,
          ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b),
          text.length,
        ];
        const chunks = places.slice(1).map((end, index) => text.slice(places[index], end));
        const pieces = piecesOf(...chunks);
        const spoken = pieces.join('');
        expect(text.startsWith(spoken)).toBe(true);
        expect(text.slice(spoken.length).trim()).toBe('');
        expect(pieces.every((piece) => piece.length <= 300)).toBe(true);
      }),
    );
  });
});
