/** Answers to "shall I do that?", as recognisers write them. */
import { describe, expect, it } from 'vitest';
import { builtInTexts } from '../../../shared/config/agent/texts.ts';
import { spokenLanguages } from '../../../shared/languages/languages.ts';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { readConfirmation } from '../../../worker/tools/confirmation.ts';

const answersIn = (...tags: string[]) => vocabularyOf(spokenLanguages(tags)).answers;
const read = (answer: string, language: string) =>
  readConfirmation(answer, builtInTexts(language), answersIn(language));

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
    ...['I guess so.', 'Can you repeat that?', 'Fine print.', 'Yes, why not tomorrow?', 'No problem.'],
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

/** What callers answer, in each language: agreement in a sentence, politeness, orders; refusals; and what is neither. */
const answers: Readonly<Record<string, Readonly<Record<'yes' | 'no' | 'unclear', readonly string[]>>>> = {
  en: {
    yes: [
      'Yes, I would like that, thank you.',
      'Yes, I would like that',
      "Yes, I'd like that very much, thank you.",
      'I would like that.',
      'Yes I would.',
      'Yes, that would be great, thanks.',
      'Thank you, yes.',
      'Thank you so much, yes please.',
      'Okay, great, thank you.',
      'Sure, that sounds good.',
      'Yes, that works for me.',
      "Yes, that's right, please go ahead.",
      'Yes, you can go ahead.',
      "Yes, if you don't mind.",
      "That's very kind of you, yes please.",
      'Please, yes, by all means.',
      'Yes, please send it to me.',
      'Yes, transfer the money now.',
      'Absolutely, please do.',
      'Well, yes, I agree.',
      'I want that, yes.',
      'Yes, that sounds good to me.',
    ],
    no: [
      'No, thank you, that is very kind.',
      "No, I wouldn't like that, no.",
      'No, but book it later.',
      "I don't want that, thanks.",
      'Please, not that.',
      "No, that's not what I said.",
      'No, I know.',
    ],
    unclear: [
      'Yeah, I know.',
      'Yeah, I see.',
      'Yes, I understand.',
      'Yes, I heard you.',
      'Yeah, right, I mean the other one.',
      'Yes, I am still here.',
      'Yes, hello?',
      'Yes, speaking.',
      'Yes, my name is John.',
      'Yes, I have a question.',
      'Yes, I would like to know more.',
      'Yes, I would like to complain.',
      'Yes, I would, but not today.',
      'Yes, for two people.',
      'Yes, tomorrow.',
      'Yes, the blue table.',
      'Yes, to Berlin.',
      'Yes, Berlin.',
      'Yes, business class.',
      'Yes, and a coffee.',
      'Yes, on Friday.',
      'Yes, you said that.',
      'Yes, how much would that be?',
      'Mm-hmm.',
      'Uh-huh, got it.',
      'Okay, I understand.',
      'Great.',
      'Thank you.',
      'Yes, in a moment.',
      'I would like a table.',
      'Yeah, we were wondering about that.',
    ],
  },
  de: {
    yes: [
      'Ja, das möchte ich, danke.',
      'Ja, von mir aus.',
      'Ja, ich möchte das, vielen Dank.',
      'Ja, das hätte ich gerne.',
      'Ja gerne, das wäre sehr nett.',
      'Das wäre toll, danke.',
      'Danke, ja.',
      'Ja, sehr gerne, vielen Dank.',
      'Ja, ich bin einverstanden.',
      'Ja, so machen wir das.',
      'Ja, das können Sie machen.',
      'Ja, buchen Sie den Tisch.',
      'Ja, bitte buchen.',
      'Okay, super, danke.',
      'Natürlich, machen Sie es.',
      'Ja, das passt mir.',
      'Ja, nichts dagegen.',
    ],
    no: [
      'Nein, das möchte ich nicht, danke.',
      'Nein danke, sehr freundlich.',
      'Nein, aber später.',
      'Ich möchte das nicht.',
      'Nein, das weiß ich.',
      'Bitte nicht.',
    ],
    unclear: [
      'Ja, ich weiß.',
      'Ja, verstehe.',
      'Ja, ich verstehe.',
      'Ja, ich habe Sie gehört.',
      'Ja, ich bin noch da.',
      'Ja, hallo?',
      'Ja, mein Name ist Meier.',
      'Ja, ich habe eine Frage.',
      'Ja, ich möchte wissen, was das kostet.',
      'Ja, ich möchte mich beschweren.',
      'Ja, aber für zwei Personen.',
      'Ja, für zwei.',
      'Ja, morgen.',
      'Ja, am Freitag.',
      'Ja, der blaue Tisch.',
      'Ja, nach Berlin.',
      'Ja, Berlin.',
      'Ja, und einen Kaffee.',
      'Ja, wenn es geht.',
      'Mhm.',
      'Okay, verstanden.',
      'Danke.',
      'Ja, das habe ich gesagt, oder?',
      'Ja, aber nicht heute.',
    ],
  },
  fr: {
    yes: [
      'Oui, je veux bien, merci.',
      'Oui, je voudrais bien, merci beaucoup.',
      "Oui, j'aimerais bien.",
      'Oui, ce serait parfait, merci.',
      'Oui, avec plaisir.',
      'Merci, oui.',
      "Oui, je suis d'accord.",
      'Oui, vous pouvez y aller.',
      'Oui, ça me convient.',
      'Oui, réservez la table.',
      "D'accord, très bien, merci.",
      'Oui, faites donc.',
      "Oui, c'est gentil, merci.",
      'Oui, pas de souci.',
      'Volontiers, merci bien.',
      "Oui, s'il vous plaît, madame.",
    ],
    no: [
      'Non, je ne veux pas, merci.',
      "Non merci, c'est gentil.",
      'Non, mais plus tard.',
      'Je ne veux pas.',
      'Non, je sais.',
      'Pas ça.',
    ],
    unclear: [
      'Oui, je sais.',
      'Oui, je comprends.',
      'Ouais, je vois.',
      "Oui, j'ai compris.",
      'Oui, je suis là.',
      'Oui, allô ?',
      "Oui, je m'appelle Jean.",
      "Oui, j'ai une question.",
      'Oui, je voudrais savoir le prix.',
      'Oui, je voudrais une autre table.',
      'Oui, mais pour deux personnes.',
      'Oui, pour deux.',
      'Oui, demain.',
      'Oui, la table bleue.',
      'Oui, à Paris.',
      'Oui, Paris.',
      'Oui, et un café.',
      'Oui, si possible.',
      "D'accord, je comprends.",
      'Merci.',
      'Oui, vous avez dit ça.',
      'Hmm.',
      'Oui, combien ça coûte ?',
    ],
  },
  es: {
    yes: [
      'Sí, me gustaría, gracias.',
      'Sí, lo quiero, muchas gracias.',
      'Sí, me encantaría.',
      'Sí, sería genial, gracias.',
      'Gracias, sí.',
      'Sí, con mucho gusto.',
      'Sí, estoy de acuerdo.',
      'Sí, puede hacerlo.',
      'Sí, me parece bien.',
      'Sí, reserve la mesa.',
      'Vale, perfecto, gracias.',
      'Sí, si es tan amable.',
      'Sí, si no le importa.',
      'Sí, muy amable, señora.',
      'Claro que sí, adelante.',
      'De acuerdo, muy bien.',
    ],
    no: [
      'No, no me gustaría, gracias.',
      'No, gracias, muy amable.',
      'Para nada, gracias.',
      'No, pero más tarde.',
      'No lo quiero.',
      'No, ya lo sé.',
      'Eso no.',
    ],
    unclear: [
      'Sí, ya lo sé.',
      'Sí, lo sé.',
      'Sí, entiendo.',
      'Sí, le escucho.',
      'Sí, sigo aquí.',
      '¿Sí, hola?',
      'Sí, dígame.',
      'Sí, me llamo Juan.',
      'Sí, tengo una pregunta.',
      'Sí, me gustaría saber el precio.',
      'Sí, quiero cambiar la fecha.',
      'Sí, pero para dos personas.',
      'Sí, para dos.',
      'Sí, mañana.',
      'Sí, la mesa azul.',
      'Sí, a Madrid.',
      'Sí, López.',
      'Sí, y un café.',
      'Sí, si es posible.',
      'Vale, entiendo.',
      'Gracias.',
      'Ajá.',
      'Sí, el viernes.',
    ],
  },
  tr: {
    yes: [
      'Evet, isterim, teşekkürler.',
      'Evet, çok isterim, teşekkür ederim.',
      'Evet, bunu istiyorum.',
      'Evet, iyi olur, sağ olun.',
      'Evet, memnun olurum.',
      'Teşekkürler, evet.',
      'Evet, kabul ediyorum.',
      'Evet, öyle yapalım.',
      'Evet, devam edebilirsiniz.',
      'Evet, rica ederim.',
      'Evet, zahmet olmazsa.',
      'Tamam, harika, teşekkürler.',
      'Evet, masayı ayırtın.',
      'Tabii, memnuniyetle.',
      'Evet, itirazım yok.',
      'Onaylıyorum, teşekkür ederim efendim.',
    ],
    no: [
      'Hayır, istemiyorum, teşekkürler.',
      'Hayır, çok naziksiniz ama olmaz.',
      'Hayır ama sonra.',
      'Bunu istemiyorum.',
      'Hayır, biliyorum.',
      'Bu olmaz.',
    ],
    unclear: [
      'Evet, biliyorum.',
      'Evet, anladım.',
      'Evet, anlıyorum.',
      'Evet, duydum.',
      'Evet, dinliyorum.',
      'Evet, buradayım.',
      'Evet, alo?',
      'Evet, benim.',
      'Evet, bir sorum var.',
      'Evet, fiyatını öğrenmek istiyorum.',
      'Evet, şikayet etmek istiyorum.',
      'Evet ama iki kişi için.',
      'Evet, iki kişilik.',
      'Evet, yarın.',
      'Evet, cuma günü.',
      'Evet, mavi masa.',
      'Evet, bir de kahve.',
      'Evet, mümkün mü?',
      'Tamam, anladım.',
      'Teşekkürler.',
      'Hı hı.',
      'Evet, söylemiştim.',
    ],
  },
};

describe.each(Object.entries(answers))('the whole answer decides (%s)', (language, table) => {
  const cases = (['yes', 'no', 'unclear'] as const).flatMap((meaning) =>
    table[meaning].map((answer) => [answer, meaning] as const),
  );
  it.each(cases)('%j: %s', (answer, meaning) => {
    expect(read(answer, language)).toBe(meaning);
  });
  it('also where callers may change the language, but that more may be unclear', () => {
    const all = builtInTexts(language, { several: true });
    for (const [answer, meaning] of cases)
      expect([answer, meaning, 'unclear']).toContain(
        readConfirmation(answer, all, answersIn(language, 'multi')),
      );
  });
});

describe('what is to be told once more, or thought about, is asked for by no yes', () => {
  it.each([
    [
      'en',
      [
        'Yes, let me check.',
        'Yes, repeat that please.',
        'Yes, give me a minute please.',
        'Yes, explain that.',
      ],
    ],
    ['de', ['Ja, erklären Sie das.', 'Ja, wiederholen Sie das bitte.', 'Ja, sprechen Sie lauter.']],
    ['fr', ['Oui, répétez.', 'Oui, expliquez-moi.', 'Oui, donnez-moi une minute.', 'Oui, écoutez.']],
    ['es', ['Sí, léalo.', 'Sí, repítalo.', 'Sí, explíqueme.']],
    ['nl', ['Ja, eens kijken.', 'Ja, herhalen.']],
    ['pl', ['Tak, proszę powtórzyć.']],
    ['pt', ['Sim, vamos ver.', 'Sim, repete.']],
    ['it', ['Sì, ripeta.', 'Sì, vediamo.']],
    ['tr', ['Evet, tekrar edin.', 'Evet, bakalım.', 'Evet, açıklayın.']],
  ])('%s', (language, answers) => {
    for (const answer of answers) expect([answer, read(answer, language)]).toEqual([answer, 'unclear']);
  });

  it.each([
    [
      'en',
      [
        'Agreed.',
        "It's fine.",
        'Yes, everything is correct.',
        "Yes, that's all fine, thank you.",
        'For sure.',
      ],
    ],
    ['de', ['Jep.', 'Ja, alles richtig.', 'Ja, das bestätige ich.']],
    ['fr', ["Oui, je l'accepte."]],
    ['tr', ['Hay hay.']],
  ])('and these are one (%s)', (language, answers) => {
    for (const answer of answers) expect([answer, read(answer, language)]).toEqual([answer, 'yes']);
  });

  it('nor does "boş verin"', () => expect(read('Evet, boş verin.', 'tr')).not.toBe('yes'));
});

describe('a firm word before a no is a no, and "why not?" asks nothing', () => {
  it.each([
    [
      'en',
      ['Absolutely not.', 'Of course not.'],
      [
        'Sure, why not?',
        'Yes, thanks a million.',
        'That is what I would like, please.',
        'Sounds about right.',
      ],
    ],
    ['de', ['Natürlich nicht.', 'Sicher nicht.'], ['Klar, warum nicht?', 'Ja, vielen lieben Dank.']],
    ['fr', ['Bien sûr que non.', 'Certainement pas.'], ['Oui, pourquoi pas ?']],
    ['es', ['Claro que no.', 'Por supuesto que no.'], ['Sí, ¿por qué no?']],
    ['it', ['Certo che no.', 'Assolutamente no.'], ['Sì, perché no?']],
    ['nl', ['Natuurlijk niet.', 'Zeker niet.'], ['Ja, waarom niet?']],
    [
      'pl',
      ['Oczywiście, że nie.', 'Na pewno nie.'],
      ['Tak, czemu nie?', 'Tak, proszę bardzo, niech pan to zrobi.'],
    ],
    ['pt', ['Claro que não.', 'Com certeza não.'], ['Sim, por que não?']],
    ['tr', ['Tabii ki hayır.', 'Kesinlikle olmaz.'], ['Evet, neden olmasın?']],
    ['hi', ['बिल्कुल नहीं।'], ['हाँ, क्यों नहीं?']],
  ])('in %s', (language, refusals, assents) => {
    for (const answer of refusals) expect([answer, read(answer, language)]).toEqual([answer, 'no']);
    for (const answer of assents) expect([answer, read(answer, language)]).toEqual([answer, 'yes']);
  });
});

describe('of callers who may change the language', () => {
  it.each(['en', 'de', 'es', 'fr', 'tr'])(
    'is read with the words of all languages as with those of %s',
    (language) => {
      const { yes, no } = builtInTexts(language);
      const all = builtInTexts('en', { several: true });
      const readings = (which: (answer: string) => string): string[] => [...yes, ...no].map(which);
      expect(readings((answer) => readConfirmation(answer, all, answersIn('en', 'multi')))).toEqual(
        readings((answer) => read(answer, language)),
      );
    },
  );
});

describe('in any other language', () => {
  const words = { yes: ['ja', 'genau'], no: ['nein', 'nicht'] };
  const german = (answer: string) => readConfirmation(answer, words, answersIn('de'));

  it('takes the words of the agent file', () => {
    expect(german('Ja.')).toBe('yes');
    expect(german('Ja, machen Sie das.')).toBe('yes');
    expect(german('Genau.')).toBe('yes');
    expect(german('Genau um acht.')).toBe('unclear');
    expect(german('Nein.')).toBe('no');
    expect(german('Bitte nicht.')).toBe('no');
    expect(german('Vielleicht.')).toBe('unclear');
  });

  it('knows a question by its mark', () => {
    for (const answer of ['Ja?', 'Ja？', 'Ja؟']) expect(german(answer)).toBe('unclear');
  });
});
