/** Why a service takes no calls, as people read it in the live view. */
import { describe, expect, it } from 'vitest';
import { tokenAnswers } from '../../../shared/auth/token-fault.ts';
import { shownState } from '../../../cli/commands/top/shown-state.ts';
import { sentenceOf } from '../../../supervisor/service/live-view.ts';

describe('the reason why a service takes no calls', () => {
  it.each([
    ...['starting', 'draining', 'sessions_full', 'calls_full', 'hand_over_full', 'no_worker'],
    ...['inference_overloaded', 'workers_late', 'provider_budget', 'children_failing', 'inference_silent'],
    tokenAnswers.set_full.code,
  ])('%s is a sentence', (reason) => {
    expect(sentenceOf(reason)).toMatch(/^[a-z]+( \S+){3,}$/);
  });

  it('stands in the first line of the live view', () => {
    const rows = { calls: [], workers: [], providers: [], sessions: 3, maxSessions: 8 };
    const reason = 'inference_overloaded';
    const [first] = shownState({ ...rows, agent: 'desk', ready: false, reason, why: sentenceOf(reason) });
    expect(first).toBe(
      'desk: not ready (speech detection is behind: the processor is too busy for the calls it has), 3 of 8 calls',
    );
  });
});
