/** When what is said may be written down, also for the worker that takes the call up. */
import { describe, expect, it } from 'vitest';
import type { FlowNode } from '../../../worker/core/flow/flow.ts';
import { mayBeRecorded } from '../../../worker/core/delivery/conversation.ts';
import { decodeState, encodeState } from '../../../worker/core/snapshot.ts';
import { newCall, type CallState } from '../../../worker/core/state.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';

const node = (record?: boolean): FlowNode => ({
  prompt: 'Talk.',
  say: '',
  tools: [],
  next: [],
  end: false,
  ...(record !== undefined && { record }),
});
const flow = { start: 'talk', nodes: { talk: node(), told: node(true), pay: node(false) } };
const taken = (state: CallState): CallState =>
  decodeState(
    { state: JSON.parse(encodeState(state)) as unknown, history: '[]', shiftMs: 0 },
    state.setup.settings,
  );

describe('what is said', () => {
  it('may be written down but in nodes that say otherwise', () => {
    const state = newCall({ ...scriptSettings, flow });
    const there = ['talk', 'told', 'pay', 'gone'].map((name) => {
      if (state.conversation.flow !== undefined) state.conversation.flow.node = name;
      return mayBeRecorded(taken(state));
    });
    expect(there).toEqual([true, true, false, true]);
  });

  it('may not while a tool has paused the recording, whatever the node', () => {
    const state = newCall({ ...scriptSettings, flow });
    state.conversation.isUnrecorded = true;
    expect(mayBeRecorded(taken(state))).toBe(false);
    expect(mayBeRecorded(taken(newCall(scriptSettings)))).toBe(true);
  });
});
