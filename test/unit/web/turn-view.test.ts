import { describe, expect, it } from 'vitest';
import { TurnView } from '../../../web/client/turn-view.ts';

describe('the view of the turn', () => {
  it('goes from listening over the speech and thinking to the answer and back', () => {
    const view = new TurnView();
    expect(view.at(0)).toBe('listening');
    view.callerStarted();
    expect(view.at(1_000)).toBe('caller-speaking');
    view.callerEnded(2_000);
    expect(view.at(2_100)).toBe('thinking');
    view.agentStarted();
    expect(view.at(3_000)).toBe('agent-speaking');
    view.agentEnded(4_000);
    expect(view.at(5_000)).toBe('listening');
  });

  it('does not flicker in the agent’s pauses between sentences', () => {
    const view = new TurnView();
    view.agentStarted();
    view.agentEnded(1_000);
    expect(view.at(1_200)).toBe('agent-speaking');
    expect(view.at(1_400)).toBe('listening');
  });

  it('stays with the agent until an interruption is confirmed, then says so until the caller pauses', () => {
    const view = new TurnView();
    view.agentStarted();
    view.callerStarted();
    expect(view.at(100)).toBe('agent-speaking');
    view.cleared(300);
    expect(view.at(5_000)).toBe('interrupted');
    view.callerEnded(5_100);
    expect(view.at(5_200)).toBe('thinking');
  });

  it('shows a cut for a moment when no speech was noticed here', () => {
    const view = new TurnView();
    view.agentStarted();
    view.cleared(1_000);
    expect(view.at(1_500)).toBe('interrupted');
    expect(view.at(2_500)).toBe('thinking');
  });

  it('gives up thinking when no answer comes', () => {
    const view = new TurnView();
    view.callerStarted();
    view.callerEnded(1_000);
    expect(view.at(8_999)).toBe('thinking');
    expect(view.at(9_000)).toBe('listening');
  });
});
