/** A call's state survives as text, whatever stands in it. */
import { describe, expect, it } from 'vitest';
import { decodePlain, encodePlain, encodeState } from '../../../worker/core/snapshot.ts';
import { newCall, noticeFault, type CallState } from '../../../worker/core/state.ts';
import { scriptSettings } from '../../support/script-settings.ts';

const roundTrip = (value: unknown, leftOut: readonly string[] = []): unknown =>
  decodePlain(encodePlain(value, new Set(leftOut)), 0);

describe('plain data as text', () => {
  it.each([
    ['texts with quotes, breaks, other scripts and half a pair', ['"\\\n\u0000', 'çğü 🎧', '\ud83c']],
    ['numbers that JSON does not know', [Infinity, -Infinity, 0, -1.5e-9, 1e21]],
    ['maps inside of maps', new Map([['a', new Map([[1, { n: null }]])]])],
    ['empty things', [{}, [], new Map(), '', null, true, false]],
    ['names that need quoting', { 'a"b': 1, '': 2, 'ü\n': 3 }],
  ])('holds %s', (_, value) => {
    expect(roundTrip(value)).toEqual(value);
  });

  it('holds what is not a number', () => {
    expect(roundTrip({ n: Number.NaN })).toEqual({ n: Number.NaN });
  });

  it('leaves out what has no value, and fields by name at any depth', () => {
    const value = {
      a: undefined,
      secret: 1,
      b: [{ secret: 2, c: 3 }],
      d: new Map([['secret', { secret: 4 }]]),
    };
    expect(roundTrip(value, ['secret'])).toEqual({ b: [{ c: 3 }], d: new Map([['secret', {}]]) });
  });

  it('is JSON that any reader takes, with more names than are remembered', () => {
    const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`name "${i}"`, i]));
    expect(JSON.parse(encodePlain([many, undefined]))).toEqual([many, null]);
  });

  it('brings times to another clock, and nothing else', () => {
    const text = encodePlain({ startedAt: 100, endBy: Infinity, count: 5, inner: [{ dueAt: -3 }] });
    expect(decodePlain(text, 10)).toEqual({
      startedAt: 110,
      endBy: Infinity,
      count: 5,
      inner: [{ dueAt: 7 }],
    });
  });

  it('brings to it since when a stage has been failing', () => {
    const state = newCall(scriptSettings);
    noticeFault({ state, now: 7_000, position: undefined, actions: [] }, 'tts', 'failed');
    const read = decodePlain(encodeState(state), 500) as CallState;
    expect(read.failingSince).toEqual({ sttAt: 500, llmAt: 500, ttsAt: 7_500, callAt: 500 });
  });
});
