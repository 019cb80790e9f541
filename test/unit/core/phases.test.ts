/** The diagrams of a turn and of a response in docs/architecture/turn.md have the changes of phase that the golden conversations go through, and no others. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { chapters } from '../../golden/chapters.ts';
import { realCore, type Core } from '../../support/core/core.ts';
import { Script } from '../../support/core/script.ts';
import type { CallState } from '../../../worker/core/state.ts';

type Machine = 'turn' | 'writing' | 'spoken' | 'playing';

/** Tells of each new value of a property, also of one that is set and changed again within a step. */
function watch<T extends object, K extends keyof T>(
  target: T,
  key: K,
  changed: (before: T[K], after: T[K]) => void,
): void {
  let value = target[key];
  Object.defineProperty(target, key, {
    enumerable: true,
    configurable: true,
    get: () => value,
    set: (next: T[K]) => {
      const before = value;
      value = next;
      changed(before, next);
    },
  });
}

/** The core, with a list of the changes of phase that its calls go through. */
function watchedCore(): { core: Core; changes: Record<Machine, Set<string>> } {
  const changes: Record<Machine, Set<string>> = {
    turn: new Set(),
    writing: new Set(),
    spoken: new Set(),
    playing: new Set(),
  };
  const note = (machine: Machine, before: string, after: string): void => {
    if (before !== after) changes[machine].add(`${before} --> ${after}`);
  };
  const watchResponse = (response: CallState['delivery']['response']): void => {
    if (response === undefined) return;
    watch(response.writing, 'phase', (before, after) => note('writing', before, after));
    watch(response.spoken, 'phase', (before, after) => note('spoken', before, after));
    watch(response, 'playing', (before, after) => note('playing', before.phase, after.phase));
  };
  const watched = new WeakSet<CallState>();
  const watchCall = (state: CallState): void => {
    if (watched.has(state)) return;
    watched.add(state);
    watch(state.caller, 'turn', (before, after) => {
      // Each phase has this way out; the diagram leaves it to the sentence above it.
      const isLast = state.course.phase === 'ended' || state.course.shutdown !== undefined;
      if (after.phase !== 'idle' || !isLast) note('turn', before.phase, after.phase);
    });
    watchResponse(state.delivery.response);
    watch(state.delivery, 'response', (_, after) => watchResponse(after));
  };
  const step: Core['step'] = (state, event, now) => {
    watchCall(state);
    return realCore.step(state, event, now);
  };
  return { core: { ...realCore, step }, changes };
}

const { core, changes } = watchedCore();
beforeAll(() => {
  for (const dialogues of Object.values(chapters))
    for (const { play } of dialogues) {
      play((options) => new Script({ ...options, core }));
    }
});

const [turnDiagram = '', responseDiagram = ''] = [
  ...readFileSync(new URL('../../../docs/architecture/turn.md', import.meta.url), 'utf8').matchAll(
    /```mermaid\nstateDiagram[^\n]*\n([^`]*)```/g,
  ),
].map(([, text = '']) => text);

/** The arrows of a diagram but for its beginning and end. A name that Mermaid knows already ends in `_`. */
const arrowsIn = (diagram: string): string[] =>
  [...diagram.matchAll(/^ +(\w+) --> (\w+)/gm)].map(([, from = '', to = '']) =>
    `${from} --> ${to}`.replaceAll(/_\b/g, ''),
  );

describe('the diagram', () => {
  it('of a turn has every change of its phase, and no other', () => {
    expect(arrowsIn(turnDiagram).toSorted()).toEqual([...changes.turn].toSorted());
  });

  it.each(['writing', 'spoken', 'playing'] as const)(
    'of a response has every change of what is %s',
    (part) => {
      const drawn = responseDiagram.match(new RegExp(`state ${part} \\{([^}]*)\\}`))?.[1] ?? '';
      expect(arrowsIn(drawn).toSorted()).toEqual([...changes[part]].toSorted());
    },
  );
});
