/** The diagrams of docs/architecture/diagrams.md say what the code does. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  newRestart,
  stepRestart,
  type RestartEvent,
  type RestartPhase,
} from '../supervisor/restart/restart.ts';

const root = new URL('../', import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const diagrams = [
  ...textOf('docs/architecture/diagrams.md').matchAll(/```mermaid\n(\w+)[^\n]*\n([^`]*)```/g),
].map(([, kind = '', text = '']) => ({ kind, text }));

/** What processes and parties say to one another. */
const protocols = [
  'shared/protocol/ipc.ts',
  'shared/protocol/takeover.ts',
  'shared/protocol/call.ts',
  'shared/agent-link/agent-messages.ts',
  'shared/agent-link/service-messages.ts',
];

describe('a sequence', () => {
  it('has messages that are in the protocols', () => {
    const known = protocols.map(textOf).join('\n');
    const said = diagrams
      .filter(({ kind }) => kind === 'sequenceDiagram')
      .flatMap(({ text }) => [...text.matchAll(/--?>>\w+: ([^\n]*)/g)].map(([, words = '']) => words))
      .map((words) => words.split(',')[0] ?? '')
      .filter((word) => !/^(GET|101|audio.*|started as a child)$/.test(word));
    expect(said.length).toBeGreaterThan(15);
    expect(said.filter((word) => !known.includes(`'${word}'`))).toEqual([]);
  });
});

const phases: readonly RestartPhase[] = [
  { phase: 'idle' },
  { phase: 'starting', until: 1 },
  { phase: 'copying', until: 1 },
  { phase: 'handing', until: 1 },
  { phase: 'over' },
  { phase: 'stopping' },
];
const events: readonly RestartEvent[] = [
  { type: 'restart.asked' },
  { type: 'stop.asked' },
  { type: 'successor.prepared' },
  { type: 'successor.copied' },
  { type: 'successor.took' },
  { type: 'successor.failed', reason: '' },
  { type: 'deadline.reached' },
];

describe('the states of a restart', () => {
  it('are those of the machine, with every change of them', () => {
    const found = phases.flatMap((state) =>
      events.flatMap((event) => {
        const restart = newRestart(1_000);
        restart.state = state;
        const actions = stepRestart(restart, event, 2).map(({ type }) => ` / ${type}`);
        if (restart.state.phase === state.phase) return [];
        return [`${state.phase} --> ${restart.state.phase}: ${event.type}${actions.join()}`];
      }),
    );
    const drawn = diagrams.find(({ kind }) => kind === 'stateDiagram')?.text.match(/^ +\w+ --> .*$/gm) ?? [];
    expect(drawn.map((line) => line.trim()).toSorted()).toEqual(found.toSorted());
  });
});
