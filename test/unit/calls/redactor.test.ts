/** What is found in texts: written, and spoken in each language as recognition writes it. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Redactor } from '../../../shared/calls/privacy/redactor.ts';
import { detectorNames } from '../../../shared/calls/privacy/detectors.ts';
import { languages } from '../../../shared/languages/languages.ts';

const redactor = (redact: readonly string[], language = 'en'): Redactor =>
  new Redactor({ redact, patterns: {}, languages: [language] });
const clean = (kind: string, text: string, language = 'en'): string => redactor([kind], language).text(text);

describe('a card number', () => {
  it.each([
    ['My card is 4111111111111111.', 'My card is [card].'],
    ['4111 1111 1111 1111, and 5500-0055-5555-5559', '[card], and [card]'],
    ['It is 3782 822463 10005 expiring 12/27', 'It is [card] expiring 12/27'],
    ['{"card":"4111111111111111","cvc":"123"}', '{"card":"[card]","cvc":"123"}'],
    ['४१११ ११११ ११११ ११११', '[card]'],
    ['４１１１１１１１１１１１１１１１', '[card]'],
    ['four one one one one one one one one one one one one one one one', '[card]'],
    [
      'four one one one, uh, one one one one, then one one one one and one one one one please',
      '[card] please',
    ],
    ['four triple one, double one double one, one one one one, 1111', '[card]'],
    ['forty-one eleven eleven eleven eleven eleven eleven eleven', '[card]'],
    ['4111 1111 1111 one one one one', '[card]'],
    ['4111\u00a01111\u00a01111\u00a01111', '[card]'],
    ['4111_1111_1111_1111', '[card]'],
    ['4111 — 1111 — 1111 — 1111', '[card]'],
    ['4111\u20111111\u20111111\u20111111', '[card]'],
    ['4111·1111·1111·1111', '[card]'],
    ['four-one-one-one one-one-one-one 1111 one-one-one-one', '[card]'],
  ])('is taken out of %j', (text, expected) => expect(clean('card', text)).toBe(expected));

  it.each([
    'order 4111111111111112 has 16 digits and is no card',
    'we have one or two, three at most, four if you ask',
    '0000000000000000',
    'call me at 555 0100',
    '411111111111111111111111111111111',
    '',
  ])('is not %j', (text) => expect(clean('card', text)).toBe(text));

  it('is found among other digits around it', () => {
    expect(clean('card', '12 4111 1111 1111 1111 123')).not.toMatch(/1111/);
  });

  it.each([
    ['de', 'vier eins eins eins eins eins eins eins eins eins eins eins eins eins eins eins'],
    ['de', 'einundvierzig elf elf elf elf elf elf elf'],
    ['fr', 'quatre un un un un un un un un un un un un un un un'],
    ['fr', 'quarante-et-un onze onze onze onze onze onze onze'],
    ['fr', 'quatre-vingt-dix-sept, onze onze onze onze onze onze onze onze'],
    ['es', 'cuatro uno uno uno uno uno uno uno uno uno uno uno uno uno uno uno'],
    [
      'pl',
      'cztery jeden jeden jeden jeden jeden jeden jeden jeden jeden jeden jeden jeden jeden jeden jeden',
    ],
    ['hi', 'चार एक एक एक एक एक एक एक एक एक एक एक एक एक एक एक'],
    ['tr', 'dört bir bir bir bir bir bir bir bir bir bir bir bir bir bir bir'],
    ['it', 'quattro uno uno uno uno uno uno uno uno uno uno uno uno uno uno uno'],
    ['pt', 'quatro um um um um um um um um um um um um um um um'],
    ['nl', 'vier een een een een een een een een een een een een een een een'],
  ])('is heard in %s: %s', (language, text) => expect(clean('card', text, language)).toBe('[card]'));
});

describe('a bank account', () => {
  it.each([
    ['DE89 3704 0044 0532 0130 00', '[iban]'],
    ['de89370400440532013000', '[iban]'],
    ['to GB82 WEST 1234 5698 7654 32, please', 'to [iban], please'],
    ['FR1420041010050500013M02606', '[iban]'],
    ['D E eight nine, three seven zero four, 0044 0532 0130 00', '[iban]'],
    ['MT84MALT011000012345MTLCAST001S', '[iban]'],
  ])('is taken out of %j', (text, expected) => expect(clean('iban', text)).toBe(expected));

  it.each(['DE89 3704 0044 0532 0130 01', 'XX89 3704 0044 0532 0130 00', 'DE 12 tickets', 'Be at 10'])(
    'is not %j',
    (text) => expect(clean('iban', text)).toBe(text),
  );

  it('is heard in German', () =>
    expect(
      clean(
        'iban',
        'D E acht neun drei sieben null vier null null vier vier null fünf drei zwei null eins drei null null null',
        'de',
      ),
    ).toBe('[iban]'));
});

describe('an address for mail', () => {
  it.each([
    ['Write to jane.doe+shop@example.co.uk.', 'Write to [email].'],
    ['<zoë@exämple.de>', '<[email]>'],
    ['jane dot doe at example dot com', '[email]'],
    ['it is jane underscore doe at mail dot example dot com thanks', 'it is [email] thanks'],
    ['j a n e at gmail dot com', '[email]'],
    ['jane.doe at gmail.com', '[email]'],
    ['jane at gmail.com4111', '[email]4111'],
    ['a@b.co,c@d.org', '[email],[email]'],
    ['"mail":"x_y@z-z.io"', '"mail":"[email]"'],
    ['jane @ gmail.com', '[email]'],
    ['jane＠gmail.com', '[email]'],
    ['jane@gmail dot com', '[email]'],
    ['jane (at) gmail (dot) com', '[email]'],
    ['jane.doe [at] gmail [dot] com, please', '[email], please'],
  ])('is taken out of %j', (text, expected) => expect(clean('email', text)).toBe(expected));

  it.each([
    'meet me at 5',
    'look at this dot',
    '@home',
    'a@b',
    'arrive at five point three',
    'at',
    '@@@@',
    'me@',
    'three @ five dot three',
    'five (at most) dot',
  ])('is not %j', (text) => expect(clean('email', text)).toBe(text));

  it.each([
    ['de', 'jana punkt müller at beispiel punkt de'],
    ['de', 'jana klammeraffe beispiel punkt de'],
    ['fr', 'jeanne point martin arobase exemple point fr'],
    ['pl', 'jan kropka kowalski małpa poczta kropka pl'],
    ['es', 'juan punto perez arroba ejemplo punto es'],
  ])('is heard in %s: %s', (language, text) => expect(clean('email', text, language)).toBe('[email]'));
});

describe('a telephone number', () => {
  it.each([
    ['+1 (555) 010-0199', '[phone]'],
    ['call (030) 901820 today', 'call [phone] today'],
    ['030/901820', '[phone]'],
    ['0044 20 7946 0958', '[phone]'],
    ['five five five, oh one, double nine', '[phone]'],
    ['my number is 5550100', 'my number is [phone]'],
  ])('is taken out of %j', (text, expected) => expect(clean('phone', text)).toBe(expected));

  it.each([
    'on 28.11.2026',
    'on 2026-11-28',
    '1,000,000 times',
    '1.234.567,89 Euro',
    'room 1204',
    'at 10:30:00',
    'on 2026-11-28 10:30',
    'on 28.11.2026, 10:30',
  ])('is not %j', (text) => expect(clean('phone', text)).toBe(text));

  it('is heard in German', () =>
    expect(clean('phone', 'null drei null neun null eins acht zwei null', 'de')).toBe('[phone]'));
});

describe('digits', () => {
  it('are six or more, written or spoken', () => {
    expect(clean('digits', 'the code is 482913, or four eight two nine one three')).toBe(
      'the code is [digits], or [digits]',
    );
    expect(clean('digits', 'in 2026')).toBe('in 2026');
  });
});

describe('a redactor', () => {
  it('takes out what patterns of the agent name, and overlaps as one', () => {
    const both = new Redactor({
      redact: ['phone'],
      patterns: { customer: 'K-?[0-9]{7}' },
      languages: ['en'],
    });
    expect(both.text('I am K-1234567 at 5550100199')).toBe('I am [customer] at [phone]');
  });

  it('goes through values, numbers included, and leaves names of fields', () => {
    const card = {
      number: 4_111_111_111_111_111,
      list: ['4111 1111 1111 1111', 5, null, true],
      '4111111111111111': 1,
    };
    expect(redactor(['card']).value(card)).toEqual({
      number: '[card]',
      list: ['[card]', 5, null, true],
      '4111111111111111': 1,
    });
  });

  it('changes nothing where nothing is asked for', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => redactor([]).text(text) === text));
  });

  it('never throws, leaves no valid card, and finds nothing more in its own text', () => {
    const all = redactor(detectorNames);
    const part = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        ' at ',
        ' dot ',
        '@',
        '.com',
        'DE',
        'double ',
        'forty ',
        '4111111111111111',
        '+',
        '(',
        ' one',
        '-',
      ),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const once = all.text(parts.join(''));
        expect(once).not.toContain('4111111111111111');
        expect(all.text(once)).toBe(once);
      }),
      { numRuns: 500, examples: [[[' at ', ' at ', 'a', ' dot ', '4111111111111111']]] },
    );
  });

  it.each(languages.map(({ code }) => code))('knows the digits of %s', (language) => {
    const words = languages.find(({ code }) => code === language)?.numbers.values.slice(0, 10) ?? [];
    const spoken = Array.from('4111111111111111', (digit) => words[Number(digit)]?.split('/')[0]).join(' ');
    expect(clean('card', spoken, language)).toBe('[card]');
  });

  it('takes a time that grows no faster than the text', () => {
    const all = redactor(detectorNames);
    for (const piece of ['a-', 'a.', '@', 'a@', '1 ', 'at dot ', 'DE', '(', 'one '])
      expect(all.text(piece.repeat(20_000)).length).toBeGreaterThan(0);
  }, 10_000);
});
