/** Whole calls of the evaluation: who is in them, and what is counted of them. */
import { describe, expect, it } from 'vitest';
import type { CallNotes, Said } from '../../../scripts/measure/eval-turns/call-world.ts';
import { callsInRooms } from '../../../scripts/measure/eval-turns/calls.ts';
import { findingsOf } from '../../../scripts/measure/eval-turns/calls-table.ts';
import { callsInNoise } from '../../../scripts/measure/eval-turns/noisy-calls.ts';
import { laugh, laughers } from '../../../scripts/measure/eval-turns/laughter.ts';
import { wilson } from '../../../scripts/measure/eval-turns/print.ts';
import { rms, type CallScene, type Scenario } from '../../../scripts/measure/eval-turns/scenarios.ts';
import { personsOf } from '../../../scripts/measure/eval-turns/speakers.ts';

/** A second of a tone between silences, as a recording of somebody. */
const recording = (name: string, text: string) => ({
  name,
  text,
  pcm: Int16Array.from({ length: 24_000 }, (_, i) =>
    i < 4_000 || i >= 20_000 ? 0 : Math.round(8_000 * Math.sin(i / 10)),
  ),
});
const persons = personsOf(
  ['ann_1', 'ann_2', 'bob_1', 'cas_1', 'dan_1'].map((name) => recording(`${name}.wav`, `words of ${name}`)),
);
const calls = callsInRooms(persons, new Int16Array(16_000));

describe('calls in a room', () => {
  it('knows speakers by their names, and keeps every other one aside', () => {
    expect(persons.map(({ name, isAside, clips }) => [name, isAside, clips.length])).toEqual([
      ['ann', false, 2],
      ['bob', true, 1],
      ['cas', false, 1],
      ['dan', true, 1],
    ]);
  });

  it('lets nobody talk behind a caller of the other half', () => {
    const written = calls.filter(({ group }) => group.endsWith('written'));
    expect(written.length).toBeGreaterThan(0);
    for (const { clip, words } of written) {
      const heard = new Set(words.map(({ word }) => word).filter((word) => word.includes('_')));
      const half = ['ann', 'cas'].includes(clip ?? '') ? /^(ann|cas)/ : /^(bob|dan)/;
      for (const word of heard) expect(word).toMatch(half);
    }
  });

  it('plays each call also without a talker, to compare it with', () => {
    const plain = new Set(calls.flatMap(({ call }) => (call?.isPlain === true ? [call.name] : [])));
    expect(calls.every(({ call }) => call !== undefined && plain.has(call.name))).toBe(true);
  });

  it('makes the same calls for fewer callers', () => {
    const few = callsInRooms(persons, new Int16Array(16_000), 1);
    expect(new Set(few.map(({ clip }) => clip))).toEqual(new Set(['ann', 'bob']));
    const same = calls.filter(({ clip }) => clip === 'ann' || clip === 'bob');
    expect(few.map(({ group }) => group)).toEqual(same.map(({ group }) => group));
    expect(
      few.every(({ pcm }, at) => Buffer.from(pcm.buffer).equals(Buffer.from(same[at]!.pcm.buffer))),
    ).toBe(true);
  });

  it('puts the talker so much below the caller', () => {
    const call = calls.find(({ group }) => group === 'talker from the start, quiet, seen: -20 dB');
    const question = call?.call?.questions[0];
    if (call === undefined || question === undefined) throw new Error('no such call');
    const of = (fromMs: number, toMs: number): number => rms(call.pcm.subarray(fromMs * 16, toMs * 16));
    const below = 20 * Math.log10(of(question.fromMs, question.endMs) / of(1_300, 2_100));
    expect(below).toBeGreaterThan(18);
    expect(below).toBeLessThan(22);
  });
});

describe('calls in noise', () => {
  const noises = ['coffee_shop', 'street', 'kitchen', 'car'].map((name) => recording(`${name}.wav`, ''));
  const noisy = callsInNoise(persons, noises, { agent: new Int16Array(16_000) });
  const groupsOf = (half: string): Set<string> =>
    new Set(noisy.flatMap(({ call }) => (call?.family.includes(half) === true ? [call.family] : [])));

  it('has each kind of sound in three modes, and other noises for those who are kept aside', () => {
    const kinds = (...names: string[]): string[] =>
      ['no noise', ...names, 'second talker', 'second talker, written'].flatMap((name) =>
        ['off', 'auto', 'on'].map((mode) => `${name}|${mode}`),
      );
    const found = (half: string): string[] =>
      [...groupsOf(half)].map((family) => family.replace(`, ${half}, taken out: `, '|'));
    expect(found('seen').toSorted()).toEqual(kinds('coffee shop', 'kitchen').toSorted());
    expect(found('kept aside').toSorted()).toEqual(kinds('street', 'car').toSorted());
  });

  it('lets one other person of the same half talk, at four levels, whom STT writes down or not', () => {
    const talked = noisy.filter(({ group }) => group.startsWith('second talker, written'));
    expect(talked).toHaveLength(persons.length * 4 * 3);
    const alone = noisy.filter(({ group }) => group.startsWith('second talker -'));
    const isSame = ({ pcm }: Scenario, at: number): boolean => rms(pcm) === rms(talked[at]!.pcm);
    expect(alone.map(isSame)).toEqual(talked.map(() => true));
    for (const { words, clip } of alone)
      expect(words.filter(({ word }) => word.includes('_') && !word.startsWith(clip ?? ''))).toEqual([]);
    for (const { words, clip } of talked) {
      const said = new Set(words.map(({ word }) => word).filter((word) => word.includes('_')));
      const half = ['ann', 'cas'].includes(clip ?? '') ? /^(ann|cas)/ : /^(bob|dan)/;
      expect(said.size).toBeGreaterThan(1);
      for (const word of said) expect(word).toMatch(half);
    }
  });

  it.each([20, 10, 5, 0])('puts a second talker %i dB below the caller', (db) => {
    const call = noisy.find(({ group }) => group === `second talker -${db} dB, seen: taken out: on`);
    const question = call?.call?.questions[0];
    if (call === undefined || question === undefined) throw new Error('no such call');
    const of = (fromMs: number, toMs: number): number => rms(call.pcm.subarray(fromMs * 16, toMs * 16));
    const alone = noisy.find(({ group }) => group === 'no noise, seen: taken out: on');
    const voice = rms(alone!.pcm.subarray(question.fromMs * 16, question.endMs * 16));
    const below = 20 * Math.log10(voice / of(1_300, 2_100));
    expect(below).toBeGreaterThan(db - 2);
    expect(below).toBeLessThan(db + 2);
  });
});

const scene: CallScene = {
  name: 'a',
  family: 'a',
  isPlain: false,
  questions: [{ fromMs: 5_000, endMs: 6_000, text: 'where is it' }],
  answer: 'Let me look at that for you.',
  other: { fromMs: 0, belowDb: 20 },
};
const scenario = { pcm: new Int16Array(14_000 * 16) } as unknown as Scenario;
const greeted: Said = { text: 'Hello.', fromMs: 200, toMs: 4_000, end: 'whole' };

function played(said: readonly Said[], turns: CallNotes['turns'] = []) {
  const sounds = said.map(({ fromMs, toMs }) => ({ fromMs, toMs }));
  return { scenario, scene, notes: { said, sounds, turns } as unknown as CallNotes };
}
const answered = (fromMs: number, end: Said['end'] = 'whole'): Said => ({
  text: scene.answer,
  fromMs,
  toMs: fromMs + 2_000,
  end,
});
const plain = played([greeted, answered(7_000)]);

describe('what is counted of a call', () => {
  it.each([
    ['as without the talker', [greeted, answered(7_000)], { laterMs: [0], isCut: false, silentMs: 1_000 }],
    ['late', [greeted, answered(7_800)], { laterMs: [800], isCut: false, silentMs: 1_800 }],
    ['never', [greeted], { laterMs: [undefined], isCut: false, silentMs: 8_000 }],
    ['cut', [greeted, answered(7_000, 'cut')], { laterMs: [undefined], isCut: true, silentMs: 5_000 }],
  ])('tells an answer that came %s', (_, said, found) => {
    expect(findingsOf(played(said), plain)).toMatchObject({ ...found, isGreeted: true });
  });

  it('tells a greeting that was not played to its end, or late', () => {
    const isGreeted = (said: Said): boolean => findingsOf(played([said, answered(7_000)]), plain).isGreeted;
    expect(isGreeted({ ...greeted, end: 'cut' })).toBe(false);
    expect(isGreeted({ ...greeted, toMs: 4_400 })).toBe(false);
    expect(isGreeted({ ...greeted, toMs: 4_200 })).toBe(true);
  });

  it('tells a turn in which the caller has said nothing, and a question for what was not understood', () => {
    const of = (text: string) => findingsOf(played([greeted], [{ text, atMs: 7_000 }]), plain).answersOther;
    expect([of('the weather tomorrow'), of('where is it'), of('weather where')]).toEqual([
      true,
      false,
      false,
    ]);
    const asks = { ...answered(7_000), text: 'Sorry, I did not catch that. Could you say it again?' };
    expect(findingsOf(played([greeted, asks]), plain).asksAgain).toBe(true);
  });
});

describe('figures and sounds', () => {
  it('knows the interval of a share', () => {
    expect(wilson(0, 10).map((end) => end.toFixed(2))).toEqual(['0.00', '0.28']);
    expect(wilson(5, 10).map((end) => end.toFixed(2))).toEqual(['0.24', '0.76']);
    expect(wilson(0, 0)).toEqual([0, 1]);
  });

  it('makes laughter of the length that is asked for, in bursts', () => {
    const [laugher] = laughers;
    if (laugher === undefined) throw new Error('nobody laughs');
    const pcm = laugh(laugher, 2_000, 1);
    expect(pcm.length).toBe(32_000);
    const levels = Array.from({ length: 60 }, (_, i) => rms(pcm.subarray(i * 480, (i + 1) * 480)));
    expect(Math.max(...levels)).toBeGreaterThan(20 * Math.min(...levels));
  });
});
