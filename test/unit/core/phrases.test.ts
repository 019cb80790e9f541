/** What recognised words amount to: hesitation, or the agent's own voice. */
import { describe, it, expect } from 'vitest';
import { spokenLanguages } from '../../../shared/languages/languages.ts';
import { spokenWords } from '../../../shared/languages/spelling.ts';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import {
  beginsCorrection,
  endsInShortQuestion,
  endsSentence,
  withoutEcho as withoutEchoIn,
} from '../../../worker/core/turn/phrases.ts';
import { asksForTime, endsHesitant } from '../../../worker/core/turn/time-asked.ts';

const vocabulary = vocabularyOf(spokenLanguages(['multi']));
const withoutEcho = (words: readonly string[], played: readonly string[], options = {}) =>
  withoutEchoIn(words, played, { urgent: vocabulary.urgent, ...options });

describe('words', () => {
  it('are compared without case and punctuation, and keep what belongs inside them', () => {
    expect(spokenWords('Well, I DON’T know — twenty-one?')).toEqual([
      'well',
      'i',
      "don't",
      'know',
      'twenty-one',
    ]);
    expect(spokenWords('İstanbul’da çay, lütfen!')).toEqual(["istanbul'da", 'çay', 'lütfen']);
    expect(spokenWords('3 de mayo, a las 10')).toEqual(['3', 'de', 'mayo', 'a', 'las', '10']);
  });

  it('are none in a lone full stop, an ellipsis or nothing at all', () => {
    for (const text of ['', ' ', '.', ' . ', '...', '…', '-', '!?']) expect(spokenWords(text)).toEqual([]);
  });

  it('are told in scripts without spaces and with marks of their own', () => {
    expect(spokenWords('はい。')).toEqual(['はい']);
    expect(spokenWords('हाँ, ठीक है।')).toEqual(['हां', 'ठीक', 'है']);
  });
});

describe('echo', () => {
  const played = spokenWords('Your table is booked for two on Friday.');

  it('is a run of words that the bot has just said, in the same order', () => {
    expect(withoutEcho(spokenWords('table is booked'), played)).toEqual([]);
    expect(withoutEcho(spokenWords('Your table. On Friday'), played)).toEqual([]);
  });

  it('is not a single word, which callers repeat to answer', () => {
    expect(withoutEcho(['two'], played)).toEqual(['two']);
    expect(withoutEcho(['friday', 'two'], played)).toEqual(['friday', 'two']);
  });

  it('may be a single word, or the beginning of one, as long as more may follow', () => {
    const unfinished = { unfinished: true };
    expect(withoutEcho(['table'], played, unfinished)).toEqual([]);
    expect(withoutEcho(['table', 'is', 'boo'], played, unfinished)).toEqual([]);
    expect(withoutEcho(['stop'], played, unfinished)).toEqual(['stop']);
    expect(withoutEcho(['table', 'stop'], played, unfinished)).toEqual(['table', 'stop']);
  });

  it('leaves what the caller says into it', () => {
    expect(withoutEcho(spokenWords('table is no wait booked for'), played)).toEqual(['no', 'wait']);
  });

  it('is nothing when nothing was played', () => {
    expect(withoutEcho(['a', 'b'], [])).toEqual(['a', 'b']);
  });
});

describe('the end of what was said', () => {
  it('is hesitant behind a filling sound, a conjunction or an article', () => {
    for (const text of [
      'I need a',
      'So um',
      'Can you',
      'I need',
      'The day before',
      'Tomorrow and',
      'Yarın ve',
      'Bir',
      'My number is',
    ])
      expect(endsHesitant(text, vocabulary), text).toBe(true);
  });

  it('is hesitant behind a comma or an ellipsis, whatever the word', () => {
    for (const text of ['On Monday,', 'Well...', 'Let me think…', 'The number is five-'])
      expect(endsHesitant(text, vocabulary), text).toBe(true);
  });

  it.each([
    [
      'en',
      'Just a mo|Hold the line, please.|I am just getting my card|On the tip of my tongue|Can you hold on|Let me pull it up',
      'Where is it?|What was it again?|What was it again|I have a card|Hold my order',
    ],
    [
      'de',
      'Lassen Sie mich kurz überlegen.|Da muss ich nachschauen|Moment, ich hole sie|Gleich hab ichs|Bleiben Sie dran',
      'Wie war das noch mal|Ich hole sie morgen ab|Das überlege ich mir',
    ],
    [
      'fr',
      'Je vais chercher ma carte|Laissez-moi réfléchir.|Restez en ligne|Donnez-moi un instant|Deux petites secondes',
      'C’est quoi déjà|Je prends le menu|Un instant magique',
    ],
    [
      'es',
      'Voy a por la tarjeta|Deme un segundo.|No cuelgue|Déjeme buscarlo|Lo tengo en la punta de la lengua',
      'Cómo era|La tarjeta no funciona|Un segundo piso libre',
    ],
    [
      'tr',
      'Hemen söylüyorum|Kartımı alıyorum|Dilimin ucunda.|Bir dakikanızı rica edeyim|Bana bir saniye verin',
      'Neydi|Kartım çalışmıyor|Yarın söylerim',
    ],
  ])('asks for time by phrases, and not by what only sounds like them (%s)', (language, asking, other) => {
    const own = vocabularyOf(spokenLanguages([language]));
    for (const text of asking.split('|')) expect(asksForTime(text, own), text).toBe(true);
    for (const text of other.split('|')) expect(asksForTime(text, own), text).toBe(false);
  });

  it.each([
    ['en', 'no hang on Tuesday', 'hang on Tuesday'],
    ['de', 'nein warten Sie Dienstag', 'ja Dienstag'],
    ['pt', 'não espere terça', 'terça'],
    ['tr', 'hayır bekleyin salı', 'salı olsun'],
    ['pl', 'nie chwila wtorek', 'nie we wtorek'],
    ['hi', 'नहीं रुकिए मंगलवार', 'मंगलवार'],
  ])('takes a refusal that asks for a moment for a correction (%s)', (language, corrects, other) => {
    const own = vocabularyOf(spokenLanguages([language]));
    expect([corrects, other].map((text) => beginsCorrection(text, own))).toEqual([true, false]);
  });

  it.each([
    ['en', 'from the third and until when', 'until when I am back the'],
    ['de', 'ab dem dritten und bis wann', 'wann'],
    ['fr', "à partir du trois et jusqu'à quand", 'quand'],
    ['es', 'el viernes y a qué hora', 'a qué'],
    ['pl', 'od trzeciego a do kiedy', 'kiedy'],
    ['pt', 'a partir do dia três e até quando', 'quando'],
  ])('knows a question that ends behind its question word (%s)', (language, asks, other) => {
    const own = vocabularyOf(spokenLanguages([language]));
    expect([asks, other].map((text) => endsInShortQuestion(text, own))).toEqual([true, false]);
  });

  it('tells Turkish verbs that lead on by their endings, and nouns that end alike', () => {
    const own = vocabularyOf(['tr']);
    const begun = [
      'oraya gidip',
      'eve gelirken',
      'biletim olursa',
      'sizin istediğiniz gibi yaparak',
      'saat altıyı geçince',
    ];
    for (const text of begun) expect([text, endsHesitant(text, own)]).toEqual([text, true]);
    for (const text of ['çok erken', 'bir kulüp', 'o gerek', 'kayıp'])
      expect([text, endsHesitant(text, own)]).toEqual([text, false]);
  });

  it('is not hesitant behind a full stop or an ordinary word', () => {
    for (const text of ['Call me then.', 'That is what I am here for!', 'two tickets', 'Evet', '', '  '])
      expect(endsHesitant(text, vocabulary), text).toBe(false);
  });

  it('is a sentence behind its mark, also inside quotes, and not behind an ellipsis', () => {
    for (const text of ['Yes.', 'Really?', 'She said "no."', '好。', 'Go! '])
      expect(endsSentence(text), text).toBe(true);
    for (const text of ['Yes', 'Well...', 'Yes,', '']) expect(endsSentence(text), text).toBe(false);
  });
});
