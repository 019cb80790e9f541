/** Answers that hold a word such as "cancel", about tools that cancel something and about others. */
import { describe, expect, it } from 'vitest';
import { builtInTexts } from '../../../shared/config/agent/texts.ts';
import { languages, spokenLanguages } from '../../../shared/languages/languages.ts';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { readConfirmation } from '../../../worker/tools/confirmation.ts';

interface Asked {
  readonly name: string;
  readonly arguments: string;
}

const call = (name: string, given: object = {}): Asked => ({ name, arguments: JSON.stringify(given) });
const cancels = call('cancel_booking', { number: 'A-17', reason: 'the caller is ill' });
const books = call('book_table');
const deletes = call('delete_account');

const read = (answer: string, language: string, ...asked: readonly Asked[]) =>
  readConfirmation(answer, builtInTexts(language), vocabularyOf(spokenLanguages([language])).answers, asked);

type Table = Readonly<Record<'yes' | 'no' | 'unclear', readonly string[]>>;

/** To "shall I do that?" about `cancel_booking`. */
const cancelling: Readonly<Record<string, Table>> = {
  en: {
    yes: [
      'Please cancel it, yes.',
      'Yes, please cancel it.',
      'Yes, cancel it.',
      'Cancel that, yes.',
      'Yes, cancel the booking.',
      'Yes, cancel my booking please.',
      'Cancel the booking, yes.',
      'Cancel it.',
      'Please cancel it.',
      'Cancel the booking.',
      'Cancel my booking, please.',
      'Yes.',
      'Go ahead and cancel it.',
      'Sure, cancel it, no problem.',
      'Okay, cancel.',
      'Yes, you can cancel it.',
    ],
    no: [
      "Don't.",
      "Don't cancel it.",
      "No, don't cancel.",
      "No, please don't cancel it.",
      'Please do not cancel my booking.',
      'No, wait.',
      'No, no, leave it.',
      "I don't want to cancel.",
      'Never mind.',
      'No, stop.',
      'Not the booking.',
      'No.',
    ],
    unclear: [
      'Cancel.',
      'Cancel that.',
      'No, cancel it.',
      'Yes, cancel it tomorrow.',
      'Yes, but cancel the other one.',
      'Can you cancel it?',
      "Yes, don't cancel it.",
      'Cancel it, I changed my mind.',
      'They said cancel it.',
      'Yes, cancel 2 of them.',
      'Cancel it if it is free.',
    ],
  },
  de: {
    yes: [
      'Bitte stornieren, ja.',
      'Ja, bitte stornieren.',
      'Ja, stornieren Sie die Buchung.',
      'Ja, stornieren Sie es bitte.',
      'Stornieren Sie das, ja.',
      'Bitte stornieren.',
      'Stornieren Sie bitte.',
      'Ja, sagen Sie den Termin ab.',
      'Ja, bitte absagen.',
      'Ja, abbrechen.',
      'Sagen Sie ihn ab.',
      'Genau, bitte stornieren.',
      'Ja, kein Problem, stornieren Sie es.',
    ],
    no: [
      'Nein, nicht stornieren.',
      'Bitte nicht stornieren.',
      'Stornieren Sie nicht.',
      'Nein, warten Sie.',
      'Lassen Sie das.',
      'Nein, stopp.',
    ],
    unclear: [
      'Abbrechen.',
      'Nein, stornieren Sie es.',
      'Ja, aber stornieren Sie die andere.',
      'Stornieren Sie morgen.',
      'Können Sie das stornieren?',
    ],
  },
  fr: {
    yes: [
      "Annulez, s'il vous plaît, oui.",
      'Oui, annulez.',
      'Oui, annulez-la.',
      'Oui, annulez la réservation.',
      'Annulez ça, oui.',
      'Annulez-la.',
      'Oui, vous pouvez annuler.',
      "D'accord, annulez.",
      'Veuillez annuler.',
    ],
    no: ["Non, n'annulez pas.", "N'annulez pas.", 'Surtout pas.', 'Non, attendez.', 'Non.'],
    unclear: ['Annulez.', 'Annulez ça.', 'Non, annulez.', 'Oui, annulez demain.', 'Annulez si possible.'],
  },
  es: {
    yes: [
      'Cancélela, sí.',
      'Sí, cancele.',
      'Sí, cancele la reserva.',
      'Sí, cancélela por favor.',
      'Por favor, cancele, sí.',
      'Cancélela.',
      'Claro, cancele.',
      'Cancele eso, sí.',
    ],
    no: ['No, no cancele.', 'No cancele.', 'No la cancele.', 'No, espere.', 'No.'],
    unclear: ['Cancele.', 'Cancele eso.', 'No, cancele.', 'Sí, pero cancele la otra.', 'Cancele mañana.'],
  },
  it: {
    yes: [
      'La annulli, sì.',
      'Sì, annulli.',
      'Sì, annulli la prenotazione.',
      'Sì, la cancelli per favore.',
      'Annulli pure, sì.',
      'Per favore annulli.',
      'Va bene, annulli.',
    ],
    no: ['No, non annulli.', 'Non annulli.', 'Non cancelli niente.', 'No, aspetti.', 'No.'],
    unclear: ['Annulli.', 'No, annulli.', 'Sì, ma annulli l’altra.', 'Annulli domani.'],
  },
  pt: {
    yes: [
      'Cancele, sim.',
      'Sim, cancele.',
      'Sim, cancele a reserva.',
      'Sim, pode cancelar.',
      'Pode cancelar.',
      'Por favor, cancele.',
      'Cancele isso, sim.',
    ],
    no: ['Não, não cancele.', 'Não cancele.', 'Não, espere.', 'Não.', 'De jeito nenhum.'],
    unclear: ['Cancele.', 'Cancele isso.', 'Não, cancele.', 'Sim, mas cancele a outra.', 'Cancele amanhã.'],
  },
  nl: {
    yes: [
      'Annuleer maar, ja.',
      'Ja, annuleer het.',
      'Ja, annuleer de boeking.',
      'Ja, graag annuleren.',
      'Annuleer dat, ja.',
      'Annuleer het.',
      'Annuleert u het maar.',
      'Zeg het maar af.',
    ],
    no: ['Nee, niet annuleren.', 'Niet annuleren.', 'Annuleer het niet.', 'Nee, wacht.', 'Nee.'],
    unclear: ['Annuleren.', 'Nee, annuleer het.', 'Ja, maar annuleer de andere.', 'Annuleer het morgen.'],
  },
  pl: {
    yes: [
      'Proszę anulować, tak.',
      'Tak, proszę anulować.',
      'Tak, anuluj.',
      'Tak, anuluj rezerwację.',
      'Anuluj to, tak.',
      'Proszę anulować.',
      'Proszę ją odwołać.',
      'Dobrze, anuluj.',
    ],
    no: ['Nie, nie anuluj.', 'Nie anuluj.', 'Proszę nie anulować.', 'Nie, czekaj.', 'Nie.'],
    unclear: ['Anuluj.', 'Anuluj to.', 'Nie, anuluj.', 'Tak, ale anuluj inną.', 'Anuluj jutro.'],
  },
  tr: {
    yes: [
      'İptal edin, evet.',
      'Evet, iptal edin.',
      'Evet, rezervasyonu iptal edin.',
      'Evet, lütfen iptal edin.',
      'Lütfen iptal edin.',
      'Bunu iptal edin, evet.',
      'İptal edebilirsiniz.',
      'Tamam, iptal edin.',
    ],
    no: ['Hayır, iptal etmeyin.', 'İptal etmeyin.', 'İptal etme.', 'Hayır, bekleyin.', 'İptal istemiyorum.'],
    unclear: [
      'İptal.',
      'Bunu iptal edin.',
      'Hayır, iptal edin.',
      'Evet ama yarın iptal edin.',
      'İptal ettim.',
    ],
  },
  hi: {
    yes: [
      'कैंसिल कर दीजिए, हाँ।',
      'हाँ, कैंसिल कर दो।',
      'हाँ, बुकिंग कैंसिल कर दीजिए।',
      'हाँ जी, रद्द कर दीजिए।',
      'कैंसिल कर दीजिए।',
      'haan, cancel kar do',
      'cancel kar dijiye',
    ],
    no: ['नहीं, कैंसिल मत करो।', 'कैंसिल मत कीजिए।', 'कैंसिल नहीं करना।', 'नहीं, रुकिए।', 'nahi, cancel mat karo'],
    unclear: ['कैंसिल।', 'नहीं, कैंसिल कर दो।', 'हाँ, लेकिन दूसरी कैंसिल करो।'],
  },
};

const rows = Object.entries(cancelling).flatMap(([language, table]) =>
  Object.entries(table).flatMap(([meaning, said]) =>
    said.map((answer) => [language, answer, meaning] as const),
  ),
);

describe('about a tool that cancels', () => {
  it('has answers in every language', () => {
    expect(Object.keys(cancelling).sort()).toEqual(languages.map(({ code }) => code).sort());
  });

  it.each(rows)('%s: %j is %s', (language, answer, meaning) => {
    expect(read(answer, language, cancels)).toBe(meaning);
  });

  it.each(rows.filter(([, answer, meaning]) => meaning === 'no' && answer.length > 0))(
    '%s: %j is no yes about any tool (%s)',
    (language, answer) => {
      for (const asked of [books, deletes, call('cancelBooking'), call('update', { action: 'cancel' })])
        expect(read(answer, language, asked)).not.toBe('yes');
    },
  );

  it('is told by its name in any spelling, and by an argument of one word', () => {
    for (const asked of [
      call('cancelBooking'),
      call('bookings.cancel'),
      call('CANCEL'),
      call('update_booking', { status: 'cancelled' }),
    ])
      expect(read('Please cancel it, yes.', 'en', asked)).toBe('yes');
    expect(read('Bitte stornieren, ja.', 'de', call('termin_stornieren'))).toBe('yes');
  });

  it('is not told by longer arguments, which the LLM fills with what was said', () => {
    const asked = call('book_table', { note: 'free to cancel until six' });
    expect(read('Cancel it.', 'en', asked)).toBe('no');
    expect(read('Please cancel it, yes.', 'en', asked)).toBe('unclear');
  });
});

describe('about other tools', () => {
  it.each([
    ['en', 'Cancel.', 'no'],
    ['en', 'Please cancel it.', 'no'],
    ['en', 'No, cancel it.', 'no'],
    ['en', 'Cancel that, please.', 'no'],
    ['de', 'Abbrechen.', 'no'],
    ['fr', 'Annulez.', 'no'],
    ['es', 'Cancele.', 'no'],
    ['pt', 'Cancele isso.', 'unclear'],
    ['tr', 'İptal edin.', 'no'],
    ['hi', 'कैंसिल।', 'no'],
    ['en', 'Please cancel it, yes.', 'unclear'],
    ['en', 'Cancel that, yes.', 'unclear'],
    ['en', 'Yes, cancel it.', 'unclear'],
    ['de', 'Abbrechen, ja.', 'unclear'],
    ['fr', 'Annulez, oui.', 'unclear'],
    ['nl', 'Annuleer, ja.', 'unclear'],
  ] as const)('%s: %j is %s', (language, answer, meaning) => {
    expect(read(answer, language, books)).toBe(meaning);
  });

  it('where one call cancels and another does not, only a plain yes runs both', () => {
    expect(read('Yes, cancel it.', 'en', cancels, books)).toBe('unclear');
    expect(read('Yes, please.', 'en', cancels, books)).toBe('yes');
    expect(read('No, cancel it.', 'en', cancels, books)).toBe('unclear');
  });

  it.each([
    ['delete_account', 'en', 'Go ahead and delete it.', 'yes'],
    ['delete_account', 'en', 'Delete it.', 'yes'],
    ['delete_account', 'en', "Don't delete it.", 'no'],
    ['delete_account', 'en', 'Delete.', 'unclear'],
    ['delete_account', 'en', 'Cancel it.', 'no'],
    ['delete_account', 'de', 'Ja, löschen Sie es.', 'yes'],
    ['delete_account', 'de', 'Bitte nicht löschen.', 'no'],
    ['delete_account', 'tr', 'Silin lütfen.', 'yes'],
    ['delete_account', 'tr', 'Silmeyin.', 'no'],
    ['stop_subscription', 'en', 'Yes, stop it.', 'yes'],
    ['stop_subscription', 'en', 'Stop.', 'unclear'],
    ['stop_subscription', 'en', 'Please stop it.', 'yes'],
    ['book_table', 'en', 'Go ahead and book it.', 'yes'],
    ['book_table', 'en', 'Go ahead and tell me the price.', 'unclear'],
  ] as const)('%s, %s: %j is %s', (name, language, answer, meaning) => {
    expect(read(answer, language, call(name))).toBe(meaning);
  });
});
