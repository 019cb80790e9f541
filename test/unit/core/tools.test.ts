/** The tool machine alone: its rules one by one, then thousands of seeded calls with tools that misbehave. */
import { describe, expect, it } from 'vitest';
import { newPrng, type Prng } from '../../../shared/base/prng.ts';
import { resumeTools, takeAtSafePoint } from '../../../worker/core/tools-cut.ts';
import { newToolState } from '../../../worker/core/tools-state.ts';
import type {
  RequestedCall,
  ToolEvent,
  ToolOrder,
  ToolRule,
  ToolSettings,
  ToolState,
} from '../../../worker/core/tools-state.ts';
import { nextToolDeadline, stepTools } from '../../../worker/core/tools.ts';

const reading: ToolRule = {
  kind: 'read_only',
  timeoutMs: 5000,
  fillerAfterMs: 700,
  confirm: false,
  repeatable: false,
};
const acting: ToolRule = { ...reading, kind: 'side_effect' };
const rules: Readonly<Record<string, ToolRule>> = {
  look: reading,
  book: acting,
  ring: { ...acting, repeatable: true },
  pay: { ...acting, confirm: true },
};
const settings: ToolSettings = {
  session: 's1',
  maxRounds: 3,
  ruleOf: (name) => rules[name],
  validate: (_name, text) =>
    text === 'bad' ? { ok: false, rule: 'must be good' } : { ok: true, canonical: text },
};
const offered = Object.keys(rules);

function newBench(): {
  state: ToolState;
  send: (event: ToolEvent, atMs?: number) => ToolOrder[];
  round: (
    calls: readonly RequestedCall[],
    more?: Partial<Extract<ToolEvent, { type: 'round.completed' }>>,
  ) => ToolOrder[];
} {
  const state = newToolState();
  let now = 0;
  const send = (event: ToolEvent, atMs = now): ToolOrder[] => {
    now = atMs;
    return stepTools(state, event, { settings, now });
  };
  return {
    state,
    send,
    round: (calls, more) =>
      const finish = prng.chance(0.1) ? 'length' : 'tool_calls';
      send({ type: 'round.completed', epoch, finish, speculative, offered, calls });
    } else if (pick < 6 && running.size > 0) {
      const key = prng.pick([...running.keys()]);
      const event = prng.chance(0.6)
        ? result(key, 'r', running.get(key)!.attempt)
        : broken(key, prng.chance(0.5), running.get(key)!.attempt);
      running.delete(key);
      send(event);
      if (prng.chance(0.3)) send(event);
    } else if (pick === 6) {
      epoch += 1;
      if (speculative && state.round?.isSpeculative === true) promised -= state.round.keys.length;
      speculative = false;
      send({ type: 'epoch.moved', epoch });
      paired += takeAtSafePoint(state).pairs.length;
    } else if (pick === 7 && speculative) {
      if (prng.chance(0.5)) {
        speculative = false;
        send({ type: 'round.promoted' });
      } else {
        promised -= state.round?.keys.length ?? 0;
        send({ type: 'round.discarded' });
        speculative = false;
      }
    } else if (pick === 8) send({ type: 'question.heard', key: heardKey });
    else if (pick === 9)
      send({ type: 'caller.answered', verdict: prng.pick(['yes', 'no', 'unclear'] as const), epoch });
  }
  if (speculative && state.round?.isSpeculative === true) promised -= state.round.keys.length;
  speculative = false;
  epoch += 1;
  send({ type: 'epoch.moved', epoch });
  for (let due = nextToolDeadline(state); due !== undefined; due = nextToolDeadline(state)) {
    now = Math.max(now, due);
    send({ type: 'deadline.reached' });
  }
  paired += takeAtSafePoint(state).pairs.length;
  expect(paired, `seed ${seed}: every call has one result`).toBe(promised);
  send({ type: 'call.ended' });
  expect(nextToolDeadline(state)).toBeUndefined();
}

describe('tools that hang, fail, answer late, twice and repeat', () => {
  it('break no rule over 2,000 seeds', () => {
    for (let seed = 1; seed <= 2000; seed += 1) simulate(seed);
  });
});
