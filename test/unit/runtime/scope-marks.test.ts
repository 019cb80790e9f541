/** Which call a process works for stands in memory that outlives it. */
import { afterEach, describe, expect, it } from 'vitest';
import { keepMarksIn, Scope } from '../../../shared/runtime/scope.ts';

const marks = new Int32Array([99]);
const scopeOf = (mark: number): Scope => new Scope(`call ${mark}`, () => undefined, mark);

afterEach(() => keepMarksIn(new Int32Array(1)));

describe('the mark of the scope that runs', () => {
  it('stands there while it runs, and that of the one around it behind it', () => {
    keepMarksIn(marks);
    const seen: (number | undefined)[] = [marks[0]];
    const [outer, inner] = [scopeOf(3), scopeOf(5)];
    outer.run(() => {
      seen.push(marks[0]);
      inner.run(() => void seen.push(marks[0]));
      seen.push(marks[0]);
    });
    expect([...seen, marks[0]]).toEqual([0, 3, 5, 3, 0]);
  });

  it('goes with what was thrown', () => {
    keepMarksIn(marks);
    scopeOf(3).run(() => {
      throw new Error('no');
    });
    expect(() =>
      scopeOf(4).marked(() => {
        throw new Error('told');
      }),
    ).toThrow('told');
    expect(marks[0]).toBe(0);
  });

  it('stands there for work that goes on after a wait', async () => {
    keepMarksIn(marks);
    const scope = scopeOf(7);
    let seen: number | undefined;
    let done: Promise<void> | undefined;
    scope.run(() => {
      done = Promise.resolve().then(() => scope.marked(() => void (seen = marks[0])));
    });
    await done;
    expect([seen, marks[0]]).toEqual([7, 0]);
  });
});
