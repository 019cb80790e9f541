/** Numbers and spelled words that are said piece by piece. */
import { describe, expect, it } from 'vitest';
import { spokenLanguages } from '../../../shared/languages/languages.ts';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { numberSaid } from '../../../worker/core/turn/numbers-said.ts';

const { numbers } = vocabularyOf(spokenLanguages(['multi']));

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
    ['Die vierstellige PIN?', 'zwölf vierunddreißig neun', 'whole'],
    ['Wie ist Ihre Nummer?', 'null eins vierunddreißig', 'open'],
    ['De viercijferige code?', 'zesendertig eenentachtig', 'whole'],
    ['Il codice di quattro cifre?', 'trentotto novantadue', 'whole'],
    ['Il codice di quattro cifre?', 'trentotto', 'begun'],
    ['The last six digits?', 'forty two ninety eleven', 'whole'],
    ['The last six digits?', 'forty two ninety', 'begun'],
    ['The four digit extension?', 'twenty oh one', 'whole'],
    ['The two digit code?', 'seventeen', 'whole'],
    ['Les quatre derniers chiffres ?', 'quarante-deux dix-sept', 'whole'],
    ['Les quatre derniers chiffres ?', 'soixante-dix-huit', 'begun'],
    ['Die letzten vier Ziffern?', 'zweiundvierzig siebzehn', 'whole'],
    ['Los cuatro últimos dígitos?', 'cuarenta y dos diecisiete', 'whole'],
    ['Rezervasyonunuzun altı karakterini söyler misiniz?', 'k 7 q', 'begun'],
    ['Kartın üzerindeki on altı haneyi okur musunuz?', '4012 8888 8888 1881', 'whole'],
    ['What is your phone number?', 'five five five', 'open'],
    ['Could you spell your name?', 's m i', 'open'],
    ['Could you spell your name?', 'it is smith s m i', 'begun'],
    ['Could you spell your name?', 'it is smith s m i t h', 'whole'],
    ['What is your last name?', 'it is kowalczyk k o w', 'begun'],
    ['What is your last name?', 'kowalczyk, k-o-w-a-l-c-z-y-k', 'whole'],
    ['What is your last name?', 'müller m ü l l e r', 'whole'],
    ['What is your last name?', 'Ibáñez I B A Ñ E Z', 'whole'],
    ['What is your last name?', 'Yıldız Y I L D I Z', 'whole'],
    ['What is your last name?', "O'Brien O B R I E N", 'whole'],
    ['What is your last name?', 'Mattsson M A double T S S O N', 'whole'],
    ['What is your last name?', 'Mattsson M A double T', 'begun'],
    ['What is your booking reference?', 'k seven', 'open'],
    ['Wie ist Ihr Buchungscode?', 'k sieben', 'open'],
    ['What is your last name?', 'it is smith b r o', 'open'],
    ['Can I have your postcode?', 'e c one', 'open'],
    ["What's your e-mail address?", 'john dot', 'begun'],
    ["What's your e-mail address?", 'john dot smith', 'open'],
    ["What's your email?", 'it is john dot smith at', 'begun'],
    ["What's your email?", 'john dot smith at gmail', 'open'],
    ["What's your email?", 'john.smith@gmail', 'open'],
    ['E-posta adresiniz nedir?', 'ali nokta', 'begun'],
    ['Wie ist Ihre E-Mail-Adresse?', 'anna punkt weber ät', 'begun'],
    ['¿Cuál es su correo?', 'ana arroba', 'begun'],
    ['Quel est votre e-mail ?', 'marie tiret', 'begun'],
  ])('%s %s: %s', (asked, text, what) => expect(numberSaid(asked, text, numbers)).toBe(what));

  it.each([
    ['What is your phone number?', 'I have it somewhere'],
    ['What is your phone number?', ''],
    ['How many guests?', 'two'],
    ['Hello.', 'at five thirty'],
    ['Hello.', 'one moment'],
    ["What's your email?", 'john dot smith at gmail dot com'],
    ["What's your email?", 'It is john.smith@gmail.com.'],
    ["What's your email?", 'I have none'],
    ['Where are you?', 'at'],
  ])('%s %s: none', (asked, text) => expect(numberSaid(asked, text, numbers)).toBeUndefined());

  it('is told from its digits where there are many', () =>
    expect(numberSaid('Hello.', 'my number is four two one', numbers)).toBe('open'));
});
