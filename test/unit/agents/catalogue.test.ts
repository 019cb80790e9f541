/** Which versions are in force while files come, change, break and go. */
import { describe, expect, it } from 'vitest';
import { noRouting } from '../../../shared/agents/routing.ts';
import { claimsOf } from '../../../shared/agents/claims.ts';
import type { AgentVersion } from '../../../shared/agents/version.ts';
import { newPrng } from '../../../shared/base/prng.ts';
import { Catalogue, type FileReading } from '../../../supervisor/agents/catalogue.ts';

const version = (id: string, numbers: readonly string[], text = ''): AgentVersion => ({
  id,
  name: id,
  hash: `${id} ${numbers.join(',')} ${text}`,
  text,
  files: { texts: {}, recordings: {} },
  routing: { ...noRouting, numbers },
});
const good = (
  path: string,
  id: string,
  numbers: readonly string[] = [],
  text = '',
): [string, FileReading] => [path, { shown: path, version: version(id, numbers, text), problems: [] }];
const wrong = (path: string): [string, FileReading] => [path, { shown: path, problems: ['line 1 is wrong'] }];

function catalogueOf(...readings: [string, FileReading][]): Catalogue {
  const catalogue = new Catalogue();
  catalogue.apply(new Map(readings), 1);
  return catalogue;
}
const state = (catalogue: Catalogue): Record<string, string> =>
  Object.fromEntries(
    [...catalogue.rows].map(([path, row]) => [
      path,
      `${row.version?.hash ?? 'nothing'}${row.problem ? ` (${row.problem})` : ''}`,
    ]),
  );

describe('the catalogue', () => {
  it('keeps what was in force while a file is wrong, and takes it when it is right again', () => {
    const catalogue = catalogueOf(good('a', 'a', ['1']));
    const change = catalogue.apply(new Map([wrong('a')]), 2);
    expect(state(catalogue)).toEqual({ a: 'a 1  (line 1 is wrong)' });
    expect(change).toMatchObject({ changed: [], removed: [], refused: [{ file: 'a' }] });
    expect(catalogue.apply(new Map([wrong('a')]), 3).refused).toEqual([]);
    catalogue.apply(new Map([good('a', 'a', ['2'])]), 4);
    expect(state(catalogue)).toEqual({ a: 'a 2 ' });
    expect([...catalogue.rows.values()][0]?.since).toBe(4);
  });

  it('does not move when a file says the same again', () => {
    const catalogue = catalogueOf(good('a', 'a'));
    expect(catalogue.apply(new Map([good('a', 'a')]), 2)).toMatchObject({
      added: [],
      changed: [],
      removed: [],
    });
    expect([...catalogue.rows.values()][0]?.since).toBe(1);
  });

  it('refuses both of two new files with one number, and neither harms the others', () => {
    const catalogue = catalogueOf(good('a', 'a', ['1']), good('b', 'b', ['1']), good('c', 'c', ['2']));
    expect(state(catalogue)).toEqual({
      a: 'nothing (an entry of routing.numbers is also that of b)',
      b: 'nothing (an entry of routing.numbers is also that of a)',
      c: 'c 2 ',
    });
  });

  it('lets nobody take the number, the name or the place of an agent that is in force', () => {
    const catalogue = catalogueOf(good('a', 'a', ['1']));
    catalogue.apply(new Map([good('b', 'b', ['1']), good('c', 'a', ['3'])]), 2);
    expect(catalogue.inForce.map(({ hash }) => hash)).toEqual(['a 1 ']);
    // What is given up is free for the one that waited.
    catalogue.apply(new Map([good('a', 'a', ['9'])]), 3);
    expect(state(catalogue)).toMatchObject({ a: 'a 9 ', b: 'b 1 ' });
    catalogue.apply(new Map([['a', undefined]]), 4);
    expect(state(catalogue)).toEqual({ b: 'b 1 ', c: 'a 3 ' });
  });

  it('lets two files exchange their numbers at once', () => {
    const catalogue = catalogueOf(good('a', 'a', ['1']), good('b', 'b', ['2']));
    catalogue.apply(new Map([good('a', 'a', ['2']), good('b', 'b', ['1'])]), 2);
    expect(state(catalogue)).toEqual({ a: 'a 2 ', b: 'b 1 ' });
  });

  it('tells of a file whose agent has another name now as of one that is gone and one that has come', () => {
    const catalogue = catalogueOf(good('a', 'a'));
    const { added, removed } = catalogue.apply(new Map([good('a', 'z')]), 2);
    expect([added.map(({ id }) => id), removed.map(({ id }) => id)]).toEqual([['z'], ['a']]);
  });

  it('goes on in another process with what was in force, also where the files say something else by now', () => {
    const old = catalogueOf(
      good('a', 'a', ['1']),
      good('b', 'b', ['2']),
      good('c', 'c', ['3']),
      good('d', 'd'),
    );
    old.apply(new Map([wrong('a'), good('e', 'e', ['2']), ['d', undefined]]), 2);
    const given = old.given();
    expect(given.map(({ path, version: text }) => [path, text !== undefined])).toEqual([
      ['a', true],
      ['b', false],
      ['c', false],
    ]);
    // It reads the same files, and cannot know who of two had the number first.
    const fresh = new Catalogue();
    fresh.apply(
      new Map([wrong('a'), good('b', 'b', ['2']), good('c', 'c', ['4']), good('e', 'e', ['2'])]),
      9,
    );
    expect(fresh.inForce.map(({ id }) => id)).toEqual(['c']);
    expect(fresh.inherit(given).added.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(state(fresh)).toEqual({
      a: 'a 1  (line 1 is wrong)',
      b: 'b 2 ',
      c: 'c 4 ',
      e: 'nothing (an entry of routing.numbers is also that of b)',
    });
    expect([...fresh.rows.values()].map(({ since }) => since)).toEqual([1, 1, 9, undefined]);
  });

  it('inherits nothing that another one has by now', () => {
    const given = catalogueOf(good('a', 'a', ['1']))
      .given()
      .map((one) => ({ ...one, version: version('a', ['1']) }));
    const fresh = catalogueOf(wrong('a'), good('b', 'b', ['1']));
    fresh.inherit(given);
    expect(fresh.inForce.map(({ id }) => id)).toEqual(['b']);
  });

  it('never has two agents in force with one claim, whatever comes in whatever order', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const prng = newPrng(seed);
      const below = (most: number): number => prng.below(most);
      const catalogue = new Catalogue();
      for (let round = 0; round < 12; round += 1) {
        const readings = new Map<string, FileReading | undefined>();
        for (let count = below(4); count >= 0; count -= 1) {
          const path = `f${below(6)}`;
          const kind = below(8);
          if (kind === 0) readings.set(path, undefined);
          else
            readings.set(
              ...(kind === 1 ? wrong(path) : good(path, `a${below(5)}`, [`${below(4)}`], `${below(3)}`)),
            );
        }
        const before = new Map([...catalogue.rows].map(([path, row]) => [path, row.version]));
        catalogue.apply(readings, round);
        const claims = catalogue.inForce.flatMap((one) => claimsOf(one).map(({ key }) => key));
        expect(new Set(claims).size).toBe(claims.length);
        for (const [path, row] of catalogue.rows) {
          // Nothing that was in force is lost but with its file.
          if (before.get(path) !== undefined) expect(row.version).toBeDefined();
          if (row.problem !== undefined) expect(row.version?.hash).toBe(before.get(path)?.hash);
        }
      }
    }
  });
});
