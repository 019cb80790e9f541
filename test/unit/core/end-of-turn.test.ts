/** When a pause is the end of the turn: one row for each thing that can be known of it. */
import fc from 'fast-check';
import { describe, it, expect } from 'vitest';
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
  const rows: readonly [string, Partial<PauseEvidence>, number][] = [
    ['nothing is known', {}, 700],
    ['words say nothing', { text: 'two tickets' }, 700],
    ['words hesitate', { text: 'two tickets and' }, 1_260],
    ['STT says that the sentence is over', { text: 'Two tickets.', speechFinal: true }, 400],
    ['it says so of a guess', { text: 'Two tickets.', speechFinal: true, guessed: true }, 700],
    ['it says so of half a sentence', { text: 'Two tickets', speechFinal: true }, 700],
    ['it says so of somebody who pauses a lot', { text: 'Two.', speechFinal: true, patienceMs: 250 }, 950],
    ['the model is sure', { probability: 0.9 }, 200],
    ['the model is just sure enough', { probability: 0.5 }, 200],
    ['the model is sure and the words hesitate', { text: 'a table for', probability: 0.9 }, 700],
    ['the model doubts a finished sentence', { text: 'Two.', speechFinal: true, probability: 0.1 }, 700],
    ['the model doubts', { text: 'two tickets', probability: 0.25 }, 1_600],
    ['the model doubts a little', { text: 'two tickets', probability: 0.49 }, 1_240],
    ['the model is sure that more comes', { text: 'two tickets', probability: 0 }, 2_500],
    ['the model doubts and the words hesitate', { text: 'two and', probability: 0.4 }, 2_500],
    ['the words may lead on', { text: 'i would like to book that' }, 910],
    ['the words may lead on and the melody is sure', { text: 'book that', probability: 0.9 }, 200],
    ['the words may lead on and the melody is not', { text: 'book that', probability: 0.6 }, 700],
    ['a number is too short', { asked: 'Your four-digit PIN, please?', text: 'one two' }, 2_000],
    ['a number is as long as it was to be', { asked: 'Your four-digit PIN?', text: 'one two 34' }, 400],
    ['a short number sounds finished', { asked: 'The four digits?', text: 'five', probability: 0.99 }, 2_000],
    ['a number may be whole', { asked: 'What is your phone number?', text: 'five five' }, 1_200],
    ['nobody asked for the number', { asked: 'Hello.', text: 'it is five five one' }, 1_200],
    ['it is no number', { asked: 'For how many?', text: 'five' }, 700],
    ['the caller pauses a lot', { patienceMs: 500 }, 1_200],
    ['the caller pauses a lot and the model is sure', { patienceMs: 500, probability: 0.9 }, 200],
  ];
  for (const [what, evidence, ms] of rows)
    it(`is ${ms} ms when ${what}`, () => expect(after(evidence)).toBeCloseTo(ms, 6));

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
