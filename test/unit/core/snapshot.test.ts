/** A call's state survives as text, whatever stands in it, and data of users comes back as it was. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../../worker/core/events.ts';
import { step } from '../../../worker/core/call.ts';
import { decodeState, encodeHistory, encodeState } from '../../../worker/core/snapshot.ts';
import { addMessages } from '../../../worker/core/delivery/history.ts';
import { newCall, noticeFault, type CallState } from '../../../worker/core/state.ts';
import { nextDeadline } from '../../../worker/core/timers.ts';
import { runWorld } from '../../sim/world/world.ts';
import { realCore } from '../../support/core/core.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';

const flow = {
  start: 'ask',
  nodes: { ask: { prompt: 'Ask.', say: '', tools: [], next: [], end: false } },
};
const settings = { ...scriptSettings, flow };

function read(state: CallState, shiftMs = 0): CallState {
  const saved = { state: JSON.parse(encodeState(state)) as unknown, shiftMs };
  return decodeState(
    { ...saved, history: encodeHistory(state.conversation.history, 100_000) },
    state.setup.settings,
  );
}

/** Names and values that a careless reader would take for something of its own. */
const hostile = fc.dictionary(
  fc.oneof(
    fc.constantFrom(
      'pickupAt',
      'endBy',
      'history',
      'settings',
      '$map',
      '$number',
      'phase',
      'toJSON',
      'reasoning',
    ),
    fc.string(),
  ),
  fc.jsonValue(),
  { noNullPrototype: true },
);

describe('the state of a call as text', () => {
  it('gives back what flows have collected, whatever its names are', () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: -100_000, max: 100_000 }), (data, shiftMs) => {
        const state = newCall(settings);
        Object.assign(state.conversation.flow!.data, data);
        // As JSON: it knows no minus zero.
        expect(read(state, shiftMs).conversation.flow!.data).toEqual(
          JSON.parse(JSON.stringify(state.conversation.flow!.data)),
        );
      }),
    );
  });

  it('gives back the pickup time and the history that a caller told', () => {
    const state = newCall(settings);
    Object.assign(state.conversation.flow!.data, { pickupAt: 1900, history: 'asthma', list: { $map: 3 } });
    expect(read(state, -73_000).conversation.flow!.data).toEqual({
      pickupAt: 1900,
      history: 'asthma',
      list: { $map: 3 },
    });
  });

  it('gives back edits, lines, calls of tools and their results as they were', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, two) => {
        const state = newCall(settings);
        const call = { id: one, name: two, arguments: JSON.stringify({ dueAt: 5, [one]: two }) };
        state.conversation.edits.pending.push({
          systemPrompt: one,
          append: [{ role: 'user', text: two }],
          tools: null,
        });
        state.commands.lines.push({ id: two, text: one, interruptible: true, cuts: false });
        state.commands.texts.push({ id: undefined, text: two });
        state.tools.cutPairs.push({ call, text: two });
        addMessages(state.conversation.history, [{ role: 'assistant', text: two, toolCalls: [call] }]);
        const again = read(state, 77);
        expect(again.conversation.edits).toEqual(state.conversation.edits);
        expect(again.commands).toEqual(state.commands);
        expect(again.tools).toEqual(state.tools);
        expect(again.conversation.history).toEqual(state.conversation.history);
      }),
    );
  });

  it('brings times to another clock, and nothing else', () => {
    const state = newCall(settings, { now: 1_000 });
    noticeFault({ state, now: 7_000, position: undefined, actions: [] }, 'tts', 'failed');
    state.course.endsAt = 9_000;
    state.numbers.epoch = 1_000;
    state.caller.turn = {
      phase: 'pausing',
      words: {
        finals: [{ text: 'At', givenMs: 40 }],
        partial: '',
        fallback: '',
        speechFinal: false,
        toldAt: undefined,
      },
      startedAt: 10,
      interrupted: false,
      lastVoiceAt: 20,
      decideAt: 30,
      holdBy: Infinity,
      ask: 1,
      probability: 0.5,
    };
    const again = read(state, 500);
    expect(again.faults.last).toEqual({ sttAt: 500, llmAt: 500, ttsAt: 7_500, callAt: 500 });
    expect(again.course.endsAt).toBe(9_500);
    expect(again.numbers.epoch).toBe(1_000);
    expect(again.caller.turn).toEqual({
      ...state.caller.turn,
      startedAt: 510,
      lastVoiceAt: 520,
      decideAt: 530,
    });
  });

  it('leaves out what a provider wants back', () => {
    const state = newCall(settings);
    state.tools.reasoning = { provider: 'p', data: 'secret' };
    state.conversation.history.messages.push({
      role: 'assistant',
      text: 'Hm.',
      reasoning: { provider: 'p', data: 'secret' },
    });
    expect(encodeState(state) + encodeHistory(state.conversation.history, 1_000)).not.toContain('secret');
    expect(read(state).conversation.history.messages).toEqual([{ role: 'assistant', text: 'Hm.' }]);
  });

  it('refuses what is no state of this version', () => {
    const text = encodeState(newCall(settings));
    const wrong = [
      text.replace('"round":0', '"round":null'),
      text.replace('"phase":"idle"', '"phase":"dreaming"'),
      text.replace('"lines":[]', '"lines":{}'),
      '[]',
      'null',
    ];
    for (const state of wrong)
      expect(() =>
        decodeState({ state: JSON.parse(state) as unknown, history: '[]', shiftMs: 0 }, settings),
      ).toThrow(TypeError);
  });

  it('goes on in the same way at any step of any simulated call', () => {
    // What is left out on purpose changes nothing in these steps; every other difference would show in the orders.
    let compared = 0;
    const core = {
      ...realCore,
      step: (state: CallState, event: CallEvent, now: number) => {
        const isSame =
          (compared += 1) % 50 === 0 &&
          state.delivery.response?.playing.phase !== 'playing' &&
          !state.speculation.running;
        if (!isSame) return step(state, event, now);
        const again = read(state, 1_000);
        const orders = step(state, event, now);
        const deadline = nextDeadline(state);
        const later = deadline === undefined ? undefined : deadline + 1_000;
        const known = [...orders].map(({ type }) => type);
        expect(step(again, event, now + 1_000).map(({ type }) => type)).toEqual(known);
        expect(nextDeadline(again)).toBe(later);
        return orders;
      },
    };
    for (let seed = 1; seed <= 40; seed += 1) runWorld(core, seed);
    expect(compared).toBeGreaterThan(5_000);
  });
});
