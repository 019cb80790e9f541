/** When the terminal caller speaks and hangs up, and what it tells. */
import { describe, expect, it } from 'vitest';
import {
  defaultPace,
  nextPhase,
  reportLines,
  reportOf,
  speechIn,
} from '../../../cli/commands/call/call-report.ts';
import type { CallFacts, CallPace, CallRecord } from '../../../cli/commands/call/call-report.ts';

const silent: CallFacts = { saidMs: undefined, callerEndMs: undefined, agent: [] };
const at = (nowMs: number, pace: Partial<CallPace> = {}): { nowMs: number; pace: CallPace } => ({
  nowMs,
  pace: { ...defaultPace, ...pace },
});
const span = (startMs: number, endMs: number): CallRecord['agent'][number] => ({
  startMs,
  endMs,
  arrivedMs: startMs - 40,
});

describe('nextPhase', () => {
  it('speaks when the greeting has been over for a while', () => {
    const facts = { ...silent, agent: [span(300, 2000)] };
    expect(nextPhase('greeting', facts, at(2700))).toBe('greeting');
    expect(nextPhase('greeting', facts, at(2800))).toBe('talking');
  });

  it('speaks without a greeting when none comes, or when told not to wait', () => {
    expect(nextPhase('greeting', silent, at(4999))).toBe('greeting');
    expect(nextPhase('greeting', silent, at(5000))).toBe('talking');
    expect(nextPhase('greeting', silent, at(0, { waitGreeting: false }))).toBe('talking');
  });

  it('listens when the recording has been sent', () => {
    expect(nextPhase('talking', silent, at(9000))).toBe('talking');
    expect(nextPhase('talking', { ...silent, saidMs: 9000 }, at(9000))).toBe('answer');
  });

  it('hangs up when the answer is over', () => {
    const facts = { saidMs: 9000, callerEndMs: 8500, agent: [span(9400, 11_000)] };
    expect(nextPhase('answer', facts, at(13_400))).toBe('answer');
    expect(nextPhase('answer', facts, at(13_500))).toBe('over');
  });

  it('does not take the greeting for an answer', () => {
    const facts = { saidMs: 9000, callerEndMs: 8500, agent: [span(300, 2000)] };
    expect(nextPhase('answer', facts, at(16_900))).toBe('answer');
    expect(nextPhase('answer', facts, at(17_000))).toBe('over');
  });

  it('hangs up at the latest when it has listened long enough', () => {
    const facts = { saidMs: 9000, callerEndMs: 8500, agent: [span(9400, 99_000)] };
    expect(nextPhase('answer', facts, at(11_999, { listenMs: 3000 }))).toBe('answer');
    expect(nextPhase('answer', facts, at(12_000, { listenMs: 3000 }))).toBe('over');
  });

  it('stays over', () => expect(nextPhase('over', silent, at(0))).toBe('over'));
});

describe('speechIn', () => {
  it('finds the first and the last frame of speech over background noise', () => {
    const pcm = Int16Array.from({ length: 16_000 }, (_, i) => (i % 2 ? 20 : -20));
    pcm.fill(8000, 3200, 4800);
    pcm.fill(8000, 6400, 8000);
    expect(speechIn(pcm, 16_000)).toEqual({ startMs: 200, endMs: 500 });
  });

  it('finds none in silence or in nothing', () => {
    expect(speechIn(new Int16Array(8000), 8000)).toBeUndefined();
    expect(speechIn(new Int16Array(0), 8000)).toBeUndefined();
  });
});

describe('reportOf', () => {
  const record: CallRecord = {
    callId: 'c',
    wire: [{ atMs: 9000, what: 'stop: ended' }],
    agent: [span(340, 2000), span(5440, 8000)],
    caller: { startMs: 3000, endMs: 4800 },
    clears: 0,
    marksPlayed: 2,
    errors: [],
    closeCode: 1000,
    stopReason: 'ended',
    endMs: 9000,
  };

  it('measures the gap from the end of speech to the arrival of the answer', () => {
    const report = reportOf(record);
    expect(report.gapMs).toBe(600);
    expect(report.answered).toBe(true);
    expect(report.timeline.map((entry) => entry.what)).toEqual([
      'greeting arrived',
      'greeting ended',
      'caller began to speak',
      'caller stopped speaking',
      'answer arrived, 600 ms after the caller',
      'answer ended',
      'stop: ended',
    ]);
    expect(reportLines(report).at(-1)).toBe('answered after 600 ms; 0 clear, 2 marks played');
    expect(reportLines(report)[0]).toBe('    0.300 s  greeting arrived');
  });

  it('says so when there was no answer', () => {
    const report = reportOf({ ...record, agent: [span(340, 2000)] });
    expect(report.answered).toBe(false);
    expect(reportLines(report).at(-1)).toMatch(/^no answer;/);
  });

  it('claims no gap for an agent that was speaking already', () => {
    const report = reportOf({ ...record, agent: [span(4000, 7000)] });
    expect(report.gapMs).toBeUndefined();
    expect(report.answered).toBe(true);
    expect(reportLines(report).at(-1)).toMatch(/^the bot was speaking/);
  });

  it('tells nothing of what would have been played after the end', () => {
    const report = reportOf({ ...record, endMs: 5000 });
    expect(report.answered).toBe(false);
  });
});
