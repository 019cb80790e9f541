/** The rules that hold after every step: a state that breaks one is told of, and the call goes on. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { newResponse } from '../../../worker/core/answer/response.ts';
import { step } from '../../../worker/core/call.ts';
import { newCall, type CallState } from '../../../worker/core/state.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';

const response = (source: 'answer' | 'line', context = 1): ReturnType<typeof newResponse> =>
  newResponse({
    epoch: 1,
    context,
    source,
    interruptible: true,
    owedSince: 0,
    msPerChar: 60,
    isSilent: false,
    now: 0,
  });

function brokenBy(change: (state: CallState) => void): string[] {
  const state = newCall({ ...scriptSettings, greeting: '' });
  step(state, { type: 'call.opened' }, 0);
  state.numbers.epoch = 1;
  state.numbers.context = 1;
  state.numbers.round = 1;
  change(state);
  return step(state, { type: 'voice.caught_up' }, 1).flatMap((action) =>
    action.type === 'told' && action.event.type === 'rule.broken' ? [action.event.rule] : [],
  );
}

describe('the rules of the core', () => {
  it('hold for a call that has just begun, and for one that answers', () => {
    expect(brokenBy(() => undefined)).toEqual([]);
    expect(
      brokenBy((state) => {
        state.delivery.response = response('line');
      }),
    ).toEqual([]);
  });

  it.each<readonly [string, (state: CallState) => void]>([
    [
      'a response belongs to an epoch and a context that the call has begun',
      ({ delivery }) => void (delivery.response = response('line', 2)),
    ],
    [
      'the LLM writes for a request that was made',
      ({ delivery }) => void (delivery.response = response('answer')),
    ],
    [
      'TTS has spoken no more than it was given',
      ({ delivery }) => {
        delivery.response = response('line');
        delivery.response.spoken.spokenSaid = 5;
      },
    ],
    [
      'the parts of a response lie within its text',
      ({ delivery }) => {
        delivery.response = response('line');
        delivery.response.writing.fillers.push({ from: 0, to: 9 });
      },
    ],
    [
      'the caller is asked what is in the history',
      ({ conversation }) => void (conversation.history.asked = 3),
    ],
  ])('tell of a state in which not: %s', (rule, change) => {
    expect(brokenBy(change)).toEqual([rule]);
  });
});

describe('the diagrams of docs/architecture/turn.md', () => {
  const page = readFileSync(new URL('../../../docs/architecture/turn.md', import.meta.url), 'utf8');
  const phasesIn = (file: string): string[] => {
    const source = readFileSync(new URL(`../../../worker/core/${file}`, import.meta.url), 'utf8');
    return [...source.matchAll(/phase: ((?:'[a-z]+'(?: \| )?)+)/g)].flatMap(([, union = '']) =>
      [...union.matchAll(/'([a-z]+)'/g)].map(([, phase = '']) => phase),
    );
  };

  it.each(['turn/turn.ts', 'answer/response.ts'])('show every phase of %s', (file) => {
    const shown = new Set([...page.matchAll(/\b([a-z]+)_?(?= -->|:|$)/gm)].map(([, phase]) => phase));
    expect([...new Set(phasesIn(file))].filter((phase) => !shown.has(phase))).toEqual([]);
  });
});
