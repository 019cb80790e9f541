/** The live view fits into its terminal. */
import { describe, expect, it } from 'vitest';
import type { LiveState } from '../../../shared/protocol/live.ts';
import { shownState } from '../../../cli/commands/top/shown-state.ts';

const state: LiveState = {
  ...{ agent: 'desk', ready: true, sessions: 20, maxSessions: 64 },
  calls: Array.from({ length: 20 }, (_, index) => ({
    ...{ call: `call-${index}`, ageMs: 61_000, speaker: 'caller' as const, isOwed: false, turns: 2 },
    ...{
      lastResponseMs: 900,
      interruptions: 0,
      runningTools: 0,
      faults: { stt: 0, llm: 0, tts: 0 },
      worker: 1,
    },
  })),
  workers: [{ worker: 1, calls: 20, latenessMs: 1, silentMs: 10 }],
  providers: [],
};

describe('the live view in a terminal', () => {
  it('shows all calls where there is room, or no window', () => {
    for (const rows of [undefined, 60]) {
      const text = shownState(state, rows).join('\n');
      expect(text).toContain('call-19');
      expect(text).not.toContain('more');
    }
  });

  it('leaves out calls that have no room, says how many, and keeps the rest', () => {
    const lines = shownState(state, 24);
    expect(lines.length).toBe(23);
    expect(lines[0]).toContain('20 of 64 calls');
    expect(lines).toContain('... and 6 more: all with --once, or in a higher window');
    expect(lines.join('\n')).toContain('LAST SIGN OF LIFE');
  });

  it('shows a call in the lowest window', () => {
    expect(shownState(state, 2).join('\n')).toContain('call-0');
  });
});
