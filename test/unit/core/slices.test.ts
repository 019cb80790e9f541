/** The slices of a call's state that decide something by themselves. */
import { describe, expect, it } from 'vitest';
import { outputFor, isQuiet, newCaller } from '../../../worker/core/turn/caller.ts';
import {
  courseDeadline,
  courseIsDue,
  endCourse,
  endSoon,
  isEnding,
  isOpen,
  newCourse,
  openCourse,
} from '../../../worker/core/course.ts';
import { countFault, forgetFaults, newFaults } from '../../../worker/core/faults.ts';
import { newSpeculation, wasteSpeculation } from '../../../worker/core/dialogue/speculation-state.ts';
import { builtInTexts } from '../../../shared/config/agent/texts.ts';
import { newSilence, nextFiller } from '../../../worker/core/answer/silence-state.ts';
import { newCall } from '../../../worker/core/state.ts';
import { newWords } from '../../../worker/core/turn/turn.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';

describe('the state of a call', () => {
  it('has at most thirteen slices', () => {
    expect(Object.keys(newCall(scriptSettings)).length).toBeLessThanOrEqual(13);
  });
});

describe('the course of a call', () => {
  it('opens once', () => {
    const course = newCourse();
    expect(isOpen(course)).toBe(false);
    expect(openCourse(course, 1_000)).toBe(true);
    expect(openCourse(course, 9_000)).toBe(false);
    expect(course).toEqual({ phase: 'open', endsAt: 1_000, parting: 'none' });
  });

  it('goes to its end when its time is over, and is ended 30 s later', () => {
    const course = newCourse();
    openCourse(course, 1_000);
    expect(courseIsDue(course, 999)).toBe(false);
    expect(isEnding(course)).toBe(false);
    expect(courseIsDue(course, 1_000)).toBe(false);
    expect(isEnding(course) && isOpen(course)).toBe(true);
    expect(courseDeadline(course)).toBe(31_000);
    expect(courseIsDue(course, 30_999)).toBe(false);
    expect(courseIsDue(course, 31_000)).toBe(true);
  });

  it('never goes back', () => {
    const course = newCourse();
    endSoon(course);
    expect(course.phase).toBe('opening');
    openCourse(course, 1_000);
    endSoon(course);
    expect(openCourse(course, 2_000)).toBe(false);
    expect(course.phase).toBe('ending');
    expect(endCourse(course)).toBe(true);
    expect(endCourse(course)).toBe(false);
    endSoon(course);
    expect(course.phase).toBe('ended');
  });
});

describe('the faults of a call', () => {
  const settings = { ...scriptSettings, outage: { ...scriptSettings.outage, keepMs: 10_000 } };
  const count = (faults: ReturnType<typeof newFaults>, stage: 'stt' | 'llm' | 'tts', now: number): boolean =>
    countFault(faults, stage, { settings, now });

  it('are too many when a stage fails three times, and for longer than callers are kept', () => {
    for (const stage of ['stt', 'llm', 'tts'] as const) {
      const faults = newFaults();
      expect([0, 1, 9_999].map((now) => count(faults, stage, now))).toEqual([false, false, false]);
      expect(count(faults, stage, 10_000)).toBe(true);
    }
  });

  it('are counted anew once the stage has done what it owed, and for each stage by itself', () => {
    const faults = newFaults();
    count(faults, 'tts', 0);
    count(faults, 'tts', 1);
    forgetFaults(faults, 'tts');
    expect([20_000, 20_001, 29_999].map((now) => count(faults, 'tts', now))).toEqual([false, false, false]);
    expect(count(faults, 'stt', 30_000)).toBe(false);
    expect(count(faults, 'tts', 30_000)).toBe(true);
  });

  it('are no single outage when nothing was tried for long between them', () => {
    const faults = newFaults();
    const settings60 = { ...settings, outage: { ...settings.outage, keepMs: 60_000 } };
    const failsAt = (now: number): boolean => countFault(faults, 'stt', { settings: settings60, now });
    // Half a minute of keys between two sentences that STT lost: 15 s of it count.
    expect([0, 30_000, 60_000, 90_000].map(failsAt)).toEqual([false, false, false, false]);
    expect(failsAt(104_999)).toBe(false);
    expect(failsAt(105_000)).toBe(true);
  });
});

describe('the caller', () => {
  const held = {
    words: newWords(),
    startedAt: 0,
    lastedMs: 0,
    loud: false,
    isNoEcho: false,
    position: undefined,
  };

  it('is quiet without a turn and without a voice', () => {
    const caller = newCaller();
    expect(isQuiet(caller)).toBe(true);
    caller.voice = 'speech';
    expect(isQuiet(caller)).toBe(false);
    caller.voice = 'silent';
    caller.turn = { phase: 'speaking', words: newWords(), startedAt: 0, interrupted: false };
    expect(isQuiet(caller)).toBe(false);
  });

  it('gives way with a candidate that has not taken too long', () => {
    const caller = newCaller();
    expect(outputFor(caller)).toBe('plain');
    caller.turn = { phase: 'candidate', ...held, output: 'held' };
    expect(outputFor(caller)).toBe('held');
    caller.turn = { phase: 'fading', ...held, output: 'held', lastVoiceAt: 0, resumeAt: 0 };
    expect(outputFor(caller)).toBe('held');
    caller.turn = { phase: 'candidate', ...held, output: 'plain' };
    expect(outputFor(caller)).toBe('plain');
  });
});

describe('fillers', () => {
  it('are spoken one after another, from the first again, and one without words is none', () => {
    const silence = newSilence();
    const lines = ['One.', ' ', 'Three.'];
    expect([1, 2, 3, 4].map(() => nextFiller(silence, lines))).toEqual(['One.', undefined, 'Three.', 'One.']);
    expect(nextFiller(newSilence(), [])).toBeUndefined();
  });

  it.each(['en', 'tr'])('of the engine itself in %s are none of the three before', (language) => {
    const silence = newSilence();
    const { fillers } = builtInTexts(language);
    const said = Array.from({ length: 12 }, () => nextFiller(silence, fillers));
    for (const [at, line] of said.entries()) expect(said.slice(Math.max(0, at - 3), at)).not.toContain(line);
  });
});

describe('an answer that was asked for early', () => {
  it('counts as wasted only when there was one', () => {
    const guess = newSpeculation();
    wasteSpeculation(guess);
    expect(guess.wasted).toBe(0);
    guess.running = {
      round: 1,
      text: 'Hm',
      basis: 0,
      guessed: false,
      held: '',
      firstTextAt: undefined,
      isPrepared: false,
      done: undefined,
    };
    wasteSpeculation(guess);
    expect(guess).toEqual({ running: undefined, wasted: 1, trustsStt: true });
  });
});
