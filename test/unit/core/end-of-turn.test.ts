/** When a pause is the end of the turn: one row for each thing that can be known of it. */
import fc from 'fast-check';
import { describe, it, expect } from 'vitest';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import {
  endOfTurn,
  newPatience,
  noteDecision,
  noteRightEnd,
  noteSpeechAfterDecision,
  type PauseEvidence,
} from '../../../worker/core/turn/end-of-turn.ts';
import type { TurnSettings } from '../../../worker/core/settings.ts';

const settings: TurnSettings = {
  minSpeechMs: 100,
  stopMs: 200,
  askEarlyMs: 300,
  silenceEndMs: 700,
  maxSilenceMs: 2_500,
  model: true,
  completeAt: 0.5,
  speculate: false,
};

const after = (evidence: Partial<PauseEvidence>): number =>
  endOfTurn(
    {
      vocabulary: vocabularyOf(['en', 'tr']),
      text: '',
      asked: '',
      guessed: false,
      speechFinal: false,
      probability: undefined,
      patienceMs: 0,
      ...evidence,
    },
    settings,
  );

describe('the silence that ends a turn', () => {
  it('is long behind words that have surely begun, also where STT puts a full stop', () => {
    expect(after({ text: "I'm calling because.", speechFinal: true })).toBeGreaterThan(1_500);
    expect(after({ text: "I'm calling because of you.", speechFinal: true })).toBeLessThan(500);
  });

  it.each([
    ['tr', 'Uçuşum iptal oldu ve.', 'Uçuşum iptal oldu.'],
    ['it', 'Vorrei prenotare un tavolo per.', 'Vorrei prenotare un tavolo.'],
    ['pt', 'O problema é que.', 'O problema é esse.'],
    ['nl', 'Mijn vlucht is geannuleerd en.', 'Mijn vlucht is geannuleerd.'],
    ['pl', 'Chodzi o to że.', 'Chodzi o to zamówienie.'],
    ['hi', 'मेरी फ्लाइट रद्द हो गई और.', 'मेरी फ्लाइट रद्द हो गई.'],
  ])('so it is in %s, which no model of sentences has learned', (code, begun, whole) => {
    const said = { vocabulary: vocabularyOf([code]), speechFinal: true };
    expect(after({ ...said, text: begun })).toBe(1_260);
    expect(after({ ...said, text: whole })).toBe(400);
  });

  it.each([
    ['en', 'It depends on.', 'It depends on the price.'],
    ['en', 'How shall I put this.', 'How shall I put this on?'],
    ['tr', 'Sorun şu ki.', 'Sorun çözüldü.'],
  ])('is long behind a beginning alone (%s)', (code, begun, whole) => {
    const said = { vocabulary: vocabularyOf([code]), speechFinal: true };
    expect(after({ ...said, text: begun })).toBeGreaterThan(1_200);
    expect(after({ ...said, text: whole })).toBeLessThan(500);
  });

  it('is short behind a word or three that call for a stop or ask, whatever the model of sentences says', () => {
    for (const text of ['stop', 'no', 'how much'])
      expect([text, after({ text }) <= 910]).toEqual([text, true]);
    expect(after({ text: 'stop' })).toBe(700);
    expect(after({ text: 'I would like to' })).toBeGreaterThan(1_500);
  });

  const rows: readonly [string, Partial<PauseEvidence>, number][] = [
    ['nothing is known', {}, 700],
    ['words say nothing', { text: 'iki bilet' }, 700],
    [
      'STT puts a stop behind what may be an answer',
      { text: 'In the.', asked: 'Where?', speechFinal: true },
      400,
    ],
    ['words end in a short question', { text: 'from the third and until when' }, 700],
    ['words hesitate', { text: 'iki bilet ve' }, 1_260],
    ['STT says that the sentence is over', { text: 'Two tickets.', speechFinal: true }, 400],
    ['it says so of a guess', { text: 'Two tickets.', speechFinal: true, guessed: true }, 700],
    ['it says so of half a sentence', { text: 'İki bilet', speechFinal: true }, 700],
    ['it says so of somebody who pauses a lot', { text: 'Two.', speechFinal: true, patienceMs: 250 }, 950],
    ['the model is sure', { probability: 0.9 }, 200],
    ['the model is just sure enough', { probability: 0.5 }, 200],
    ['the model is sure and the words hesitate', { text: 'iki kişi için', probability: 0.9 }, 700],
    ['the model doubts a finished sentence', { text: 'Two.', speechFinal: true, probability: 0.1 }, 700],
    ['the model doubts', { text: 'iki bilet', probability: 0.25 }, 1_600],
    ['the model doubts a little', { text: 'iki bilet', probability: 0.49 }, 1_240],
    ['the model is sure that more comes', { text: 'iki bilet', probability: 0 }, 2_500],
    ['the model doubts and the words hesitate', { text: 'iki ve', probability: 0.4 }, 2_500],
    ['the word may lead on', { text: 'that', asked: 'Which?' }, 910],
    ['the word may lead on and the melody is sure', { text: 'that', asked: 'Which?', probability: 0.9 }, 200],
    ['the word may lead on and the melody is not', { text: 'that', asked: 'Which?', probability: 0.6 }, 700],
    ['words are rather whole than begun', { text: 'my package has not arrived' }, 500],
    ['they are, and the caller pauses a lot', { text: 'my package has not arrived', patienceMs: 250 }, 950],
    ['words are whole and the melody is sure', { text: 'my package has not arrived', probability: 0.9 }, 200],
    ['a number is too short', { asked: 'Your four-digit PIN, please?', text: 'one two' }, 2_000],
    ['a number is as long as it was to be', { asked: 'Your four-digit PIN?', text: 'one two 34' }, 400],
    ['a short number sounds finished', { asked: 'The four digits?', text: 'five', probability: 0.99 }, 2_000],
    ['a number may be whole', { asked: 'What is your phone number?', text: 'five five' }, 1_200],
    ['words ask for time', { text: 'Let me see.', speechFinal: true, probability: 0.9 }, 2_500],
    ['all that was said begins something', { text: 'Yani.', speechFinal: true }, 1_260],
    ['it does, and melody and STT call it whole', { text: 'Şey.', speechFinal: true, probability: 0.9 }, 700],
    ['words take something back', { text: 'no sorry five people', probability: 0.95 }, 900],
    ['a name is to be spelled', { asked: 'Could you spell it?', text: 'kowalczyk', probability: 0.9 }, 1_200],
    ['twenty-two digits are asked for', { asked: 'All twenty-two digits?', text: 'one two' }, 2_000],
    ['nobody asked for the number', { asked: 'Hello.', text: 'it is five five one' }, 1_200],
    ['it is no number', { asked: 'For how many?', text: 'five' }, 700],
    ['the caller pauses a lot', { patienceMs: 500 }, 1_200],
    ['the caller pauses a lot and the model is sure', { patienceMs: 500, probability: 0.9 }, 200],
  ];
  for (const [what, evidence, ms] of rows)
    it(`is ${ms} ms when ${what}`, () => expect(after(evidence)).toBeCloseTo(ms, 6));

  it('is longer the surer it is that words have only begun', () => {
    const [begun, hardlyBegun] = ['i would like to book a', 'i want to order a pizza with'].map((text) =>
      after({ text }),
    );
    expect(begun).toBeGreaterThan(1_700);
    expect(hardlyBegun).toBeGreaterThan(1_260);
    expect(after({ text: 'i want to order a pizza' })).toBeLessThan(900);
  });

  it('goes by the words first and by the melody then', () => {
    const begun = { text: 'i would like to book a' };
    const whole = { text: 'my package has not arrived' };
    expect(after({ ...begun, probability: 0.95 })).toBeGreaterThan(1_500);
    expect(after({ ...begun, probability: 0.05 })).toBeGreaterThan(after({ ...begun, probability: 0.95 }));
    expect(after({ ...whole, probability: 0.05 })).toBeLessThan(1_000);
    // Rather whole, and a melody that says nothing: not yet.
    expect(after({ text: 'the child almost hurt the small dog', probability: 0.5 })).toBeGreaterThan(300);
  });

  it('lies between the shortest and the longest, whatever is known', () => {
    fc.assert(
      fc.property(
        fc.record({
          text: fc.constantFrom('', 'yes', 'Yes.', 'and', 'well,', 'So…', 'one two'),
          asked: fc.constantFrom('', 'Your PIN?', 'Four digits, please.'),
          guessed: fc.boolean(),
          speechFinal: fc.boolean(),
          probability: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
          patienceMs: fc.nat(5_000),
        }),
        (evidence) => {
          const ms = after(evidence);
          expect(ms).toBeGreaterThanOrEqual(settings.stopMs);
          expect(ms).toBeLessThanOrEqual(settings.maxSilenceMs);
        },
      ),
    );
  });

  it('never grows with the certainty of the model', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom('yes', 'Yes.', 'and'),
        (one, other, text) => {
          const [less, more] = one < other ? [one, other] : [other, one];
          expect(after({ text, probability: more })).toBeLessThanOrEqual(after({ text, probability: less }));
        },
      ),
    );
  });
});

describe('patience', () => {
  it('grows with every caller who goes on right after a decision, up to a second', () => {
    const patience = newPatience();
    for (const extraMs of [250, 500, 750, 1_000, 1_000]) {
      noteDecision(patience, 10_000);
      noteSpeechAfterDecision(patience, 11_000);
      expect(patience.extraMs).toBe(extraMs);
    }
  });

  it('does not grow when the caller speaks much later, or twice for one decision', () => {
    const patience = newPatience();
    noteDecision(patience, 0);
    noteSpeechAfterDecision(patience, 1_501);
    noteSpeechAfterDecision(patience, 1_400);
    expect(patience.extraMs).toBe(0);
  });

  it('goes down by a step after three right ends in a row', () => {
    const patience = newPatience();
    noteDecision(patience, 0);
    noteSpeechAfterDecision(patience, 100);
    for (const extraMs of [250, 250, 0, 0]) {
      noteDecision(patience, 0);
      noteRightEnd(patience);
      expect(patience.extraMs).toBe(extraMs);
    }
  });

  it('counts right ends from the newest wrong one', () => {
    const patience = newPatience();
    const right = (): void => {
      noteDecision(patience, 0);
      noteRightEnd(patience);
    };
    const wrong = (): void => {
      noteDecision(patience, 0);
      noteSpeechAfterDecision(patience, 100);
    };
    wrong();
    right();
    right();
    wrong();
    right();
    right();
    expect(patience.extraMs).toBe(500);
    right();
    expect(patience.extraMs).toBe(250);
  });

  it('counts an audible answer once', () => {
    const patience = newPatience();
    noteDecision(patience, 0);
    noteSpeechAfterDecision(patience, 100);
    noteDecision(patience, 0);
    for (let times = 0; times < 5; times += 1) noteRightEnd(patience);
    expect(patience.extraMs).toBe(250);
  });
});
