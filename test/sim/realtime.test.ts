/**
 * Calls of models that hear and speak, seeded: a conversation goes on while sessions end, expire, stay silent, answer in pieces and call
 * tools, while callers cut answers, words come late, and while prompts change.
 */
import { expect, it } from 'vitest';
import { tries } from '../support/sampled.ts';
import { SimulatedCall } from './realtime-call.ts';

function play(seed: number): SimulatedCall {
  const call = new SimulatedCall(seed);
  for (let turn = 0; turn < 12; turn += 1) {
    call.disturb();
    if (call.prng.chance(0.1)) call.prompt = `You are clerk ${turn}.`;
    if (call.prng.chance(0.1)) call.history.push({ role: 'assistant', text: `line ${turn}` });
    call.speak();
    call.ask();
  }
  return call;
}

it('a session holds what was said and heard, whatever becomes of sessions', () => {
  let sessions = 0;
  let fellBack = 0;
  let late = 0;
  for (let seed = 1; seed <= tries(20_000, 1_000); seed += 1) {
    try {
      const call = play(seed);
      sessions += call.vendor.sessions.length;
      fellBack += call.fellBack;
      late += call.late;
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
  expect(sessions).toBeGreaterThan(1_000);
  expect(fellBack).toBeGreaterThan(0);
  expect(late).toBeGreaterThan(1_000);
});
