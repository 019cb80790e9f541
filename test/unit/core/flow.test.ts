/** The flow machine alone. */
import { describe, expect, it } from 'vitest';
import { flowPrompt, flowTransitions, newFlow, stepFlow } from '../../../worker/core/flow/flow.ts';
import type { FlowEvent, FlowNode, FlowAction, FlowSettings } from '../../../worker/core/flow/flow.ts';

const node = (prompt: string, more: Partial<FlowNode> = {}): FlowNode => ({
  prompt,
  say: '',
  tools: [],
  next: [],
  end: false,
  ...more,
});
const settings: FlowSettings = {
  start: 'identify',
  nodes: {
    identify: node('Ask who it is.', {
      tools: ['lookup'],
      maxTurns: 2,
      maxMs: 60_000,
      otherwise: 'human',
      next: [{ to: 'help', when: 'the caller is known', collect: { customer: { type: 'string' } } }],
    }),
    help: node('Help.', { say: 'Thank you.' }),
    human: node('Hand over.', { end: true }),
  },
};
const run = (...events: readonly (readonly [FlowEvent['type'], number?])[]) => {
  const state = newFlow(settings, 0);
  const orders: FlowAction[] = [];
  for (const [type, now = 0] of events) {
    const event: FlowEvent =
      type === 'transition.called'
        ? { type, tool: 'go_to_help', data: { customer: 'K-7', other: 1 } }
        : { type };
    orders.push(...stepFlow(state, event, { settings, now }));
  }
  return { state, orders };
};

describe('a flow', () => {
  it("starts with the start node's prompt, tools and transitions", () => {
    const { state } = run();
    expect(flowPrompt(state, settings)).toBe('Ask who it is.');
    expect(flowTransitions(state, settings)).toEqual([
      {
        name: 'go_to_help',
        description: 'Call this when the caller is known.',
        parameters: {
          type: 'object',
          properties: { customer: { type: 'string' } },
          required: ['customer'],
          additionalProperties: false,
        },
      },
    ]);
  });

  it('moves at the next safe point and takes along what was collected and declared', () => {
    expect(run(['transition.called']).orders).toEqual([]);
    const { state, orders } = run(['transition.called'], ['safe-point.reached']);
    expect(orders).toEqual([{ type: 'node.enter', node: 'help', say: 'Thank you.' }]);
    expect(flowPrompt(state, settings)).toContain('{"customer":"K-7"}');
    expect(state.leavesAt).toBeUndefined();
  });

  it('takes the other way after its turns or its time', () => {
    const byTurns = run(['turn.taken'], ['turn.taken'], ['turn.taken'], ['safe-point.reached']);
    expect(byTurns.orders).toEqual([{ type: 'node.enter', node: 'human', say: '' }]);
    const byTime = run(['deadline.reached', 60_000], ['safe-point.reached', 60_000]);
    expect(byTime.orders).toEqual([{ type: 'node.enter', node: 'human', say: '' }]);
    expect(run(['turn.taken'], ['turn.taken'], ['safe-point.reached']).orders).toEqual([]);
  });

  it('ends the call after the answer of an end node, and of no other', () => {
    const { state, orders } = run(
      ['answer.completed'],
      ['deadline.reached', 60_000],
      ['safe-point.reached', 60_000],
    );
    expect(orders).toHaveLength(1);
    expect(stepFlow(state, { type: 'answer.completed' }, { settings, now: 1 })).toEqual([
      { type: 'call.end' },
    ]);
  });

  it('ignores a transition that the node does not have', () => {
    const { state } = run(['transition.called'], ['safe-point.reached']);
    const again: FlowEvent = { type: 'transition.called', tool: 'go_to_human', data: {} };
    expect(stepFlow(state, again, { settings, now: 0 })).toEqual([]);
    expect(state.pending).toBeUndefined();
  });
});
