/** Answers to "shall I do that?", as recognisers write them. */
import { describe, expect, it } from 'vitest';
import { builtInTexts } from '../../../shared/config/agent/texts.ts';
import { readConfirmation } from '../../../worker/tools/confirmation.ts';

const read = (answer: string, language: string) =>
  readConfirmation(answer, builtInTexts(language), { language });

describe('in English', () => {
  it.each([
    ...[
      'Yes.',
      'yes',
      'YES!',
      'Yes, please.',
      'Yeah, go ahead.',
      'Yep',
      'Sure.',
      'OK',
      'Okay, do it.',
      'Um, yes.',
    ],
    ...[
      "That's right.",
      'That is right',
      'that’s right',
      'Please go ahead',
      'Of course, thank you very much.',
    ],
    ...['Yes, book it.', 'Yes, please book the table.', 'I said yes.', 'Yes yes yes.', 'Sure, no problem.'],
    ...['Yes, why not.', 'Correct.', 'Please do.', 'Absolutely.', 'I confirm.', 'Yes I do.'],
  ])('%j is a yes', (answer) => expect(read(answer, 'en-US')).toBe('yes'));

  it.each([
    ...[
      'No.',
      'No, thank you.',
      'Nope',
      'Stop!',
      'Wait.',
      "Don't do that.",
      'dont',
      'Never mind.',
      'Cancel.',
    ],
    ...[
      'I do not want that.',
      'Please stop.',
      'Hold on a second.',
      "No, that's wrong.",
      'No, yes, I mean no.',
    ],
    ...["That's not right.", 'Rather not.', 'Not yet.'],
  ])('%j is a no', (answer) => expect(read(answer, 'en')).toBe('no'));

  it.each([
    ...['', '   ', '...', 'Um.', 'What?', 'Yes?', 'How much is it?', 'Yes, but make it tomorrow.', 'Maybe.'],
    ...['Yes, if it is free.', 'Right now I am busy.', 'The right date is Monday.', 'Okay tomorrow then.'],
    ...[
      'Do it on Friday.',
      'Yes, at 8.',
      'Yes, cancel it.',
      'Yes, no, wait.',
      'Yesterday.',
      'Sure thing is sure.',
    ],
    ...['I guess so.', 'Can you repeat that?', 'Absolutely not.', 'Fine print.', 'No problem.'],
    'Yes I would like to tell you a long story about my day before we go on with this table.',
  ])('%j is unclear', (answer) => expect(read(answer, 'en')).toBe('unclear'));
});

describe('in Turkish', () => {
  it.each([
    ...[
      'Evet.',
      'EVET',
      'Evet, lütfen.',
      'Tamam.',
      'Olur.',
      'Tabii.',
      'Elbette, teşekkür ederim.',
      'Onaylıyorum.',
    ],
    ...['Evet, masayı ayırtın lütfen.', 'Şey, evet.', 'Lütfen yapın.', 'Evet, sorun yok.', 'Aynen.'],
  ])('%j is a yes', (answer) => expect(read(answer, 'tr-TR')).toBe('yes'));

  it.each([
    ...['Hayır.', 'HAYIR', 'Hayır, teşekkürler.', 'Yok.', 'İPTAL', 'İptal edin.', 'Olmaz.', 'İstemiyorum.'],
    ...['Bekleyin lütfen.', 'Gerek yok.', 'Bu değil.'],
  ])('%j is a no', (answer) => expect(read(answer, 'tr')).toBe('no'));

  it.each([
    ...[
      '',
      'Ne?',
      'Evet mi?',
      'Evet ama yarın olsun.',
      'Belki.',
      'Ne kadar tutar?',
      'Tamam mı',
      'Doğru değil.',
    ],
    ...['Evet, 8 kişi.', 'Evet hayır bilmiyorum.'],
  ])('%j is unclear', (answer) => expect(read(answer, 'tr')).toBe('unclear'));
});

describe('in German, Spanish and French', () => {
  it.each([
    [
      'de',
      [
        'Ja.',
        'Ja, bitte.',
        'Ja, machen Sie das.',
        'Genau, danke schön.',
        'Ja, kein Problem.',
        'Auf jeden Fall!',
      ],
    ],
    [
      'es',
      ['Sí.', 'Sí, por favor.', 'Claro que sí.', 'Vale, muchas gracias.', 'Sí, hágalo.', 'Por supuesto.'],
    ],
    ['fr', ['Oui.', "Oui, s'il vous plaît.", "D'accord.", 'Bien sûr, merci.', 'Allez-y.', "C'est ça, oui."]],
  ])('a yes is one (%s)', (language, answers) => {
    for (const answer of answers) expect([answer, read(answer, language)]).toEqual([answer, 'yes']);
  });

  it.each([
    ['de', ['Nein.', 'Nein, danke.', 'Bitte nicht.', 'Warten Sie.', 'Das ist falsch.']],
    ['es', ['No.', 'No, gracias.', 'Espere.', 'Mejor no.', 'No es correcto.']],
    ['fr', ['Non.', 'Non merci.', 'Surtout pas.', 'Attendez.', "Ce n'est pas ça."]],
  ])('a no is one (%s)', (language, answers) => {
    for (const answer of answers) expect([answer, read(answer, language)]).toEqual([answer, 'no']);
  });

  it.each([
    ['de', ['Vielleicht.', 'Ja, aber morgen.', 'Ja?', 'Genau um acht.', 'Wie viel kostet das?']],
    ['es', ['Quizás.', 'Sí, pero mañana.', '¿Sí?', 'Sí, si es gratis.', '¿Cuánto cuesta?']],
    ['fr', ['Peut-être.', 'Oui, mais demain.', 'Oui ?', "D'accord, si c'est gratuit.", "C'est combien ?"]],
  ])('what is hedged is neither (%s)', (language, answers) => {
    for (const answer of answers) expect([answer, read(answer, language)]).toEqual([answer, 'unclear']);
  });
});

describe('of callers who may change the language', () => {
  it.each(['en', 'de', 'es', 'fr', 'tr'])(
    'is read with the words of all languages as with those of %s',
    (language) => {
      const { yes, no } = builtInTexts(language);
      const all = builtInTexts('en', { several: true });
      const readings = (which: (answer: string) => string): string[] => [...yes, ...no].map(which);
      expect(readings((answer) => readConfirmation(answer, all, { language: 'en' }))).toEqual(
        readings((answer) => read(answer, language)),
      );
    },
  );
});

describe('in any other language', () => {
  const words = { yes: ['ja', 'genau'], no: ['nein', 'nicht'] };
  const german = (answer: string) => readConfirmation(answer, words, { language: 'de' });

  it('takes the words of the agent file', () => {
    expect(german('Ja.')).toBe('yes');
    expect(german('Ja, machen Sie das.')).toBe('yes');
    expect(german('Genau.')).toBe('yes');
    expect(german('Genau um acht.')).toBe('unclear');
    expect(german('Nein.')).toBe('no');
    expect(german('Bitte nicht.')).toBe('no');
    expect(german('Vielleicht.')).toBe('unclear');
  });
});
