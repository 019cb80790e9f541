/** Numbers and spelled words that are said piece by piece. */
import { describe, expect, it } from 'vitest';
import { numberSaid } from '../../../worker/core/turn/numbers-said.ts';

describe('a number that the bot asked for', () => {
  it.each([
    ['Please tell me your six-digit order number.', 'four two', 'begun'],
    ['Please tell me your six-digit order number.', 'four two one nine oh seven', 'whole'],
    ['Please tell me your six-digit order number.', 'it is 421 907', 'whole'],
    ['The last four digits of your card?', 'double seven', 'begun'],
    ['The last four digits of your card?', 'double seven one two', 'whole'],
    ['The last 4 digits?', "that's seven, uh, seven", 'begun'],
    ['Dört haneli şifreniz nedir?', 'bir iki', 'begun'],
    ['Dört haneli şifreniz nedir?', 'bir iki üç dört', 'whole'],
    ['Nennen Sie die sechsstellige Nummer.', 'eins zwei', 'begun'],
    ['¿Cuáles son los cuatro dígitos?', 'uno dos', 'begun'],
    ['Les quatre chiffres de votre code ?', 'un deux trois quatre', 'whole'],
    ['What is your phone number?', 'five five five', 'open'],
    ['Could you spell your name?', 's m i', 'open'],
    ['Can I have your postcode?', 'e c one', 'open'],
  ])('%s %s: %s', (asked, text, what) => expect(numberSaid(asked, text)).toBe(what));

  it.each([
    ['What is your phone number?', 'I have it somewhere'],
    ['What is your phone number?', ''],
    ['How many guests?', 'two'],
    ['Hello.', 'at five thirty'],
    ['Hello.', 'one moment'],
  ])('%s %s: none', (asked, text) => expect(numberSaid(asked, text)).toBeUndefined());

  it('is told from its digits where there are many', () =>
    expect(numberSaid('Hello.', 'my number is four two one')).toBe('open'));
});
