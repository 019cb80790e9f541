/** Whether words are a whole sentence: what everybody would say of them, in each language that was learned. */
import { describe, expect, it } from 'vitest';
import { completeness, decodeWeights, hashOf } from '../../../worker/core/turn/completeness.ts';

describe('words that have only begun', () => {
  const begun: readonly string[] = [
    'i would like to',
    'can you tell me if the',
    'my phone number is five and',
    'i am calling because my',
    'ich möchte einen termin für den',
    'könnten sie mir sagen wo die',
    'je voudrais réserver une table pour',
    'pouvez-vous me dire si la',
    'quiero reservar una mesa para el',
    'quiero cancelar la',
  ];
  for (const text of begun) it(text, () => expect(completeness(text, { answers: true })).toBeLessThan(0.15));
});

describe('whole sentences', () => {
  const whole: readonly string[] = [
    'my package has not arrived',
    'i want to cancel my appointment',
    'i want to speak to a human',
    'that is all thank you',
    'wie viel kostet das',
    'ich möchte einen tisch reservieren',
    'je voudrais annuler ma commande',
    'quiero cancelar mi cita',
  ];
  for (const text of whole)
    it(text, () => expect(completeness(text, { answers: true })).toBeGreaterThan(0.5));
});

describe('what cannot be told', () => {
  it('is a single word, which is an answer as often as a beginning', () => {
    for (const text of ['', 'five', 'zwei', 'yes'])
      expect(completeness(text, { answers: true })).toBeUndefined();
  });

  it('is another language', () => {
    for (const text of [
      'bir masa ayırtmak istiyorum',
      '私は予約をしたいです',
      'chciałbym zarezerwować stolik',
    ])
      expect(completeness(text, { answers: true })).toBeUndefined();
  });

  it('is not a name within words that are known', () => {
    expect(completeness('i would like to speak to przemysław', { answers: true })).toBeDefined();
  });
});

it('reads weights as they were written: distances in sevens of bits, then a byte with its sign', () => {
  const { hashes, weights } = decodeWeights(Buffer.from([5, 3, 128, 1, 255, 127, 127]).toString('base64'));
  expect([...hashes]).toEqual([5, 133, 260]);
  expect([...weights]).toEqual([3, -1, 127]);
});

it('has hashes of 24 bits', () => expect(hashOf('1 table')).toBeLessThan(2 ** 24));
