/** How much of a response counts as heard, whatever the order in which marks and positions come. */
import fc from 'fast-check';
import { describe, it, expect } from 'vitest';
import { newClientPlayout } from '../../../worker/core/delivery/client-playout.ts';
import {
  defaultMsPerChar,
  expectMark,
  heardChars,
  heardCodec,
  newHeardState,
  noteGap,
  noteMarkPlayed,
  noteMarkSent,
  noteSpoken,
  noteWord,
  wordsBefore,
} from '../../../worker/core/delivery/heard.ts';
import { newRespelling } from '../../../worker/core/answer/response.ts';

const text = 'Alpha beta gamma. Delta epsilon zeta. Eta theta iota.';
const ends = [18, 38, 53];

function response(known: readonly number[] = [900, 1_900, 2_650]) {
  const heard = newHeardState();
  for (const end of ends) heard.pieces.push({ endChars: end, endSaid: end, endMs: undefined });
  for (const [index, endMs] of known.entries()) noteSpoken(heard, ends[index]!, endMs);
  return heard;
}

const pronounce = newRespelling({});
const at = (sentMs: number) => ({ context: 1, sentMs });

describe('what was heard', () => {
  it('grows with the position and always ends between words', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 4_000 }), { maxLength: 30 }),
        fc.nat(3),
        (times, known) => {
          const heard = response([900, 1_900, 2_650].slice(0, known));
          let before = 0;
          for (const sentMs of times.sort((a, b) => a - b)) {
            const chars = heardChars(heard, {
              text,
              pronounce,
              position: at(sentMs),
              client: newClientPlayout(),
              now: 0,
            });
            expect(chars).toBeGreaterThanOrEqual(before);
            expect(chars).toBeLessThanOrEqual(text.length);
            const inside = /\S/.test(text.charAt(chars - 1)) && /\S/.test(text.charAt(chars));
            expect(inside).toBe(false);
            before = chars;
          }
        },
      ),
    );
  });

  it('counts a word once half of the space behind it has passed', () => {
    const heard = response([]);
    const chars = (sentMs: number): number =>
      heardChars(heard, { text, pronounce, position: at(sentMs), client: newClientPlayout(), now: 0 });
    const perChar = heard.msPerChar;
    expect(text.slice(0, chars(10.4 * perChar)).trim()).toBe('Alpha');
    expect(text.slice(0, chars(10.6 * perChar)).trim()).toBe('Alpha beta');
  });

  it('leaves out a sentence that an estimate has only just reached, not one that begins at a known place', () => {
    const chars = (known: readonly number[], sentMs: number): string => {
      const client = newClientPlayout();
      const heard = response(known);
      return text.slice(0, heardChars(heard, { text, pronounce, position: at(sentMs), client, now: 0 }));
    };
    const perChar = newHeardState().msPerChar;
    expect(chars([], 40 * perChar)).toBe('Alpha beta gamma. Delta epsilon zeta.');
    expect(chars([], 48 * perChar)).toBe('Alpha beta gamma. Delta epsilon zeta. Eta theta');
    expect(chars([900, 1_900], 1_900 + 4 * 50)).toBe('Alpha beta gamma. Delta epsilon zeta. Eta');
  });

  it('is told by the times of words, wherever words are said otherwise than they are written', () => {
    const written = 'Ask SQL or XML for one, then SQL for two more.';
    const respell = newRespelling({ SQL: 'structured query language', XML: 'ex em el' });
    const said = respell(written);
    const heard = newHeardState();
    heard.pieces.push({ endChars: written.length, endSaid: said.length, endMs: undefined });
    const starts = [...said.matchAll(/\S+/g)].map(({ index }) => index);
    for (const [index, chars] of starts.entries()) noteWord(heard, { chars, startMs: index * 300 });
    const upTo = (words: number): string =>
      written.slice(
        0,
        heardChars(heard, {
          text: written,
          pronounce: respell,
          position: at(words * 300 + 1),
          client: newClientPlayout(),
          now: 0,
        }),
      );
    expect(upTo(1).trim()).toBe('Ask');
    expect(upTo(3).trim()).toBe('Ask');
    expect(upTo(4).trim()).toBe('Ask SQL');
    expect(upTo(10).trim()).toBe('Ask SQL or XML for one,');
    expect(upTo(14).trim()).toBe('Ask SQL or XML for one, then SQL');
  });

  it('is known to a worker that has no times of words, by how fast the voice was', () => {
    const spoken = newHeardState();
    spoken.pieces.push({ endChars: 53, endSaid: 53, endMs: undefined, flows: true });
    // Four times as slow as a voice that nobody has heard yet.
    for (const { index } of text.matchAll(/\S+/g))
      noteWord(spoken, { chars: index, startMs: index * 4 * defaultMsPerChar });
    const heard = heardCodec.read(JSON.parse(heardCodec.write(spoken)), 0);
    for (const chars of [10, 23, 47])
      expect(wordsBefore(heard, text, (chars + 1) * 4 * defaultMsPerChar)).toBe(chars);
  });

  it('is nothing without a position and without marks', () => {
    expect(
      heardChars(response(), { text, pronounce, position: undefined, client: newClientPlayout(), now: 0 }),
    ).toBe(0);
  });

  it('holds every piece whose mark came back, also when earlier echoes are missing', () => {
    const heard = response();
    const client = newClientPlayout();
    expectMark(heard, 'a', { chars: 18, atMs: 900 });
    expectMark(heard, 'b', { chars: 38, atMs: 1_900 });
    noteMarkSent(heard, 'a', { client: newClientPlayout(), now: 900 });
    noteMarkSent(heard, 'b', { client: newClientPlayout(), now: 1_900 });
    expect(noteMarkPlayed(heard, { id: 'b', client, now: 2_000 })).toBe(true);
    expect(client).toMatchObject({ echoesMarks: true, delayMs: 100 });
    expect(heard.marks.size).toBe(0);
    expect(heardChars(heard, { text, pronounce, position: undefined, client, now: 2_000 })).toBe(38);
  });

  it('does not believe echoes of marks that were never sent, or sent once and echoed twice', () => {
    const heard = response();
    const client = newClientPlayout();
    expectMark(heard, 'a', { chars: 18, atMs: 900 });
    expect(noteMarkPlayed(heard, { id: 'a', client, now: 10 })).toBe(false);
    expect(noteMarkPlayed(heard, { id: 'x', client, now: 10 })).toBe(false);
    noteMarkSent(heard, 'a', { client: newClientPlayout(), now: 20 });
    expect(noteMarkPlayed(heard, { id: 'a', client, now: 30 })).toBe(true);
    expect(noteMarkPlayed(heard, { id: 'a', client, now: 40 })).toBe(false);
    expect(heard.echoedChars).toBe(18);
  });

  it('stays behind the client, less the longer nothing has been sent', () => {
    const heard = response();
    const client = { ...newClientPlayout(), echoesMarks: true, delays: [500] };
    const chars = (now: number): number =>
      heardChars(heard, { text, pronounce, position: at(900), client, now });
    expect(text.slice(0, chars(1_000)).trim()).toBe('Alpha');
    noteGap(heard, 1_000);
    expect(text.slice(0, chars(1_000)).trim()).toBe('Alpha');
    expect(text.slice(0, chars(1_400)).trim()).toBe('Alpha beta');
    expect(text.slice(0, chars(1_500)).trim()).toBe('Alpha beta gamma.');
    expect(chars(9_000)).toBe(chars(1_500));
  });
});

describe('respelling', () => {
  it('replaces whole words, longest first, whatever their case', () => {
    const respell = newRespelling({ SQL: 'sequel', 'SQL Server': 'sequel server', 'C++': 'see plus plus' });
    expect(respell('sql, MySQL, SQL server and C++.')).toBe(
      'sequel, MySQL, sequel server and see plus plus.',
    );
  });

  it('takes what is asked for literally', () => {
    expect(newRespelling({ 'a.b': '$&$1' })('a.b axb')).toBe('$&$1 axb');
    expect(newRespelling({})('as it is')).toBe('as it is');
  });
});
