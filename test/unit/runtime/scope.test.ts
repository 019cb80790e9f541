/** The scope of a call: what is thrown inside ends this call and no other. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { currentScope, Scope } from '../../../shared/runtime/scope.ts';

function newScope(name = 'a'): { scope: Scope; faults: unknown[] } {
  const faults: unknown[] = [];
  const scope: Scope = new Scope(name, (error) => {
    faults.push(error);
    scope.close();
  });
  return { scope, faults };
}

describe('a scope', () => {
  it('catches what its work throws and tells it', () => {
    const { scope, faults } = newScope();
    const error = new Error('inside');
    scope.run(() => {
      throw error;
    });
    expect([faults, scope.closed]).toEqual([[error], true]);
  });

  it('passes arguments on, and does nothing once it is closed', () => {
    const { scope, faults } = newScope();
    const seen: number[] = [];
    const bound = scope.bind((a: number, b: number) => seen.push(a, b));
    bound(1, 2);
    scope.close();
    bound(3, 4);
    scope.run(() => seen.push(5));
    scope.fault(new Error('late'));
    expect([seen, faults]).toEqual([[1, 2], []]);
  });

  it('leaves another scope alone, also when it was entered from that one', () => {
    const outer = newScope('outer');
    const inner = newScope('inner');
    let after = false;
    outer.scope.run(() => {
      inner.scope.run(() => {
        throw new Error('inside');
      });
      after = true;
      expect(currentScope()).toBe(outer.scope);
    });
    expect([after, outer.faults.length, inner.faults.length]).toEqual([true, 0, 1]);
    expect(currentScope()).toBeUndefined();
  });

  it('is known wherever its work goes on: promises, timers and callbacks of the system', async () => {
    const { scope } = newScope();
    const names: (string | undefined)[] = [];
    const note = (): void => void names.push(currentScope()?.name);
    const done: Promise<void>[] = [];
    scope.run(() => {
      done.push(Promise.resolve().then(note), pause(0).then(note));
      done.push(new Promise<void>((resolve) => setImmediate(resolve)).then(note));
      done.push(new Promise<void>((resolve) => process.nextTick(resolve)).then(note));
    });
    await Promise.all(done);
    expect(names).toEqual(['a', 'a', 'a', 'a']);
  });
});
