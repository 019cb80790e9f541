/** The evaluation of turns drives the call core as the service does: what its rows say of simple scenarios. */
import { describe, expect, it } from 'vitest';
import { CoreDecider } from '../../../scripts/measure/eval-turns/core-decider.ts';
import { service } from '../../../scripts/measure/eval-turns/main.ts';
import type { Scenario } from '../../../scripts/measure/eval-turns/scenarios.ts';
import { SpeechDetector } from '../../../worker/media/vad/speech-detector.ts';
import { pausedAt, WordEar, wordsOver } from '../../../scripts/measure/eval-turns/words.ts';

const frameMs = 32;
const { withoutModel, withModel } = service(false);
const [atTheEnd, streamed] = withoutModel.cores.map((row) => ({ ...row, speech: withoutModel.speech }));
const [right] = withModel.cores.map((row) => ({ ...row, speech: withModel.speech }));

/** Frames of voice and silence, so many milliseconds of each in turn, silence first. */
function play(decider: CoreDecider, ...partsMs: readonly number[]): void {
  const speech = decider.name === right!.name ? withModel.speech : withoutModel.speech;
  const detector: SpeechDetector = new SpeechDetector(speech, (fact) =>
    decider.take(fact, {
      isNoEcho: false,
      isFaint: false,
      silenceMs: detector.silenceMs,
      quietMs: 0,
      lastedMs: detector.lastedMs,
      belowCallerDb: undefined,
    }),
  );
  let nowMs = 0;
  partsMs.forEach((ms, index) => {
    for (let at = 0; at < ms; at += frameMs) {
      nowMs += frameMs;
      decider.advanceTo(nowMs);
      detector.take(index % 2 === 0 ? 0.02 : 0.95, frameMs);
    }
  });
}

function turn(endMs: number, words: Scenario['words']): Scenario {
  const pcm = new Int16Array(0);
  return { kind: 'turn', group: 'quiet', pcm, startMs: 512, endMs, words, botText: '', botMsPerChar: 0 };
}

const decide = (scenario: Scenario, row: typeof atTheEnd): CoreDecider =>
  new CoreDecider({ ...row!, scenario, ask: () => undefined });

describe('the core in the evaluation', () => {
  it('ends a turn after its silence, and answers', () => {
    const scenario = turn(2_048, wordsOver('where is my order', 512, 2_048));
    const decider = decide(scenario, atTheEnd);
    play(decider, 512, 1_536, 3_200);
    expect(decider.endsMs).toHaveLength(1);
    expect(decider.endsMs[0]! - scenario.endMs).toBeGreaterThanOrEqual(500);
    expect(decider.endsMs[0]! - scenario.endMs).toBeLessThanOrEqual(1_000);
    // STT and LLM were asked in the silence; what is left is TTS.
    expect(decider.audibleMs[0]).toBeGreaterThan(decider.endsMs[0]! + 200);
  });

  it('ends a paused turn too early without a model, and once with one that is right', () => {
    const queens = 'yedi kraliçe sekiz kralı yener bugün';
    const scenarioOf = (text: string, pauseMs: number): Scenario =>
      turn(2_560 + pauseMs, pausedAt(wordsOver(text, 512, 2_560), 1_536, pauseMs));
    const tooEarly = (pauseMs: number, decider: CoreDecider): number => {
      play(decider, 512, 1_024, pauseMs, 1_024, 3_200);
      return decider.endsMs.filter((atMs) => atMs < 2_560 + pauseMs).length;
    };
    const scenario = scenarioOf(queens, 1_536);
    const whole = decide(scenario, right);
    expect(tooEarly(1_536, decide(scenario, streamed))).toBe(1);
    expect(tooEarly(1_536, whole)).toBe(0);
    // Words that ask for more are waited for, with no model at all.
    expect(tooEarly(1_024, decide(scenarioOf(queens, 1_024), streamed))).toBe(1);
    expect(tooEarly(1_024, decide(scenarioOf('i would like a table for two', 1_024), streamed))).toBe(0);
    expect(whole.endsMs[0]! - scenario.endMs).toBeLessThan(700);
  });

  it('cuts a bot that speaks when the caller does, and lets it go on after a noise', () => {
    const bot = { botText: 'This is a long story that goes on and on. '.repeat(5), botMsPerChar: 60 };
    const scenario = { ...turn(3_000, wordsOver('stop please', 1_536, 3_000)), ...bot };
    const caller = decide({ ...scenario, kind: 'interruption' }, streamed);
    play(caller, 1_536, 1_472, 500);
    expect(caller.confirmedMs).toHaveLength(1);
    // STT has the first word after 0.9 s; a voice that goes on without one would have lasted long enough after 1 s.
    expect(caller.confirmedMs[0]! - 1_536).toBeLessThan(1_020);
    const noise = decide({ ...scenario, kind: 'no interruption', words: [] }, streamed);
    play(noise, 1_536, 160, 2_000);
    expect(noise.confirmedMs).toEqual([]);
    // It is over before the agent, which has only become softer, falls silent.
    expect(noise.heldMs).toBe(0);
    const longer = decide({ ...scenario, kind: 'no interruption', words: [] }, streamed);
    play(longer, 1_536, 960, 2_000);
    expect(longer.confirmedMs).toEqual([]);
    expect(longer.heldMs).toBeGreaterThan(0);
  });
});

describe('the recogniser that knows the words', () => {
  const words = wordsOver('one two three', 1_000, 2_400);

  it('tells a word after it was said, and each change once', () => {
    const ear = new WordEar(words);
    expect(ear.partial(3_000)).toBeUndefined();
    ear.listen(900);
    expect([ear.partial(1_200), ear.partial(1_800), ear.partial(1_800), ear.partial(2_800)]).toEqual([
      undefined,
      'one',
      undefined,
      'one two three',
    ]);
  });

  it('tells every word in one utterance only', () => {
    const ear = new WordEar(words);
    ear.listen(900);
    expect(ear.finish(1_900)).toBe('one two');
    ear.listen(1_300);
    expect(ear.finish(3_000)).toBe('three');
    expect(ear.finish(3_000)).toBe('');
  });

  it('speaks later what comes behind a pause', () => {
    const paused = pausedAt(words, 1_600, 500);
    expect(paused.map(({ fromMs }, index) => Math.round(fromMs - words[index]!.fromMs))).toEqual([
      0, 500, 500,
    ]);
  });
});
