/** STT whose sessions die at once is not opened hundreds of times a second. */
import { describe, it, expect } from 'vitest';
import { Scope } from '../../../shared/runtime/scope.ts';
import { CallStages } from '../../../worker/call/stages.ts';
import { FakeStages, Trap } from '../../support/fakes/fake-call.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

function newSetup() {
  const clock = newVirtualClock();
  const fakes = new FakeStages(new Trap());
  const heard: string[] = [];
  const stages = new CallStages({
    clock,
    scope: new Scope('call', (error) => {
      throw error;
    }),
    llmCall: {},
    stt: fakes.sttStage,
    llm: fakes.llmStage,
    tts: fakes.ttsStage,
    tell: (event) => {
      if (event.type === 'stt.failed') stages.reopenStt();
    },
    onTts: () => undefined,
    onWords: () => heard.push('words'),
    position: () => undefined,
    onFailure: () => undefined,
  });
  const die = (): void => fakes.stt.at(-1)!.emit({ type: 'error', error: { kind: 'disconnected' } });
  return { clock, fakes, stages, die, heard };
}

describe('STT that tells words', () => {
  it('proves that somebody has spoken, with each text and with none that is empty', () => {
    const { fakes, heard } = newSetup();
    const tells = (text: string, isFinal: boolean): void =>
      fakes.stt.at(-1)!.emit({ type: 'transcript', text, isFinal, speechFinal: false, fromFinalize: false });
    tells(' ', false);
    expect(heard).toEqual([]);
    tells('yes', false);
    tells('yes please', true);
    expect(heard).toEqual(['words', 'words']);
  });
});

describe('STT that dies at once', () => {
  it('is opened again at once the first time, and then with growing pauses of two seconds at most', () => {
    const { clock, fakes, die } = newSetup();
    die();
    expect(fakes.stt.length).toBe(2);
    const pauses = [250, 500, 1_000, 2_000, 2_000, 2_000];
    for (const [index, pauseMs] of pauses.entries()) {
      die();
      clock.advance(pauseMs - 1);
      expect(fakes.stt.length).toBe(index + 2);
      clock.advance(1);
      expect(fakes.stt.length).toBe(index + 3);
    }
  });

  it('is opened again at once when it had lived for a while', () => {
    const { clock, fakes, die } = newSetup();
    die();
    die();
    clock.advance(5_000);
    die();
    expect(fakes.stt.length).toBe(4);
  });

  it('is given what was said in the pause, in order, and of that the newest fifteen seconds', () => {
    const { clock, fakes, stages, die } = newSetup();
    die();
    die();
    const { stt } = stages;
    expect(stt.audio(new Int16Array(160))).toBe(true);
    stt.finalize();
    expect(stt.audio(new Int16Array(15 * 16_000))).toBe(false);
    clock.advance(250);
    const inner = fakes.stt.at(-1)!;
    expect(inner.asked).toEqual(['finalize']);
    expect(inner.heard).toBe(15 * 16_000);
    stt.audio(new Int16Array(160));
    expect(inner.heard).toBe(15 * 16_000 + 160);
  });

  it('finalizes once it is open, and is not opened for a call that is over', () => {
    const { clock, fakes, stages, die } = newSetup();
    die();
    die();
    stages.stt.finalize();
    clock.advance(250);
    expect(fakes.stt.at(-1)!.asked).toEqual(['finalize']);
    die();
    stages.close();
    clock.advance(5_000);
    expect(fakes.stt.length).toBe(3);
  });
});

it('what a stage failed with goes along with the fault that clients are told of', () => {
  const { stages, fakes } = newSetup();
  const failed = { type: 'fault.noticed', stage: 'stt', what: 'failed' } as const;
  expect(stages.withCause(failed)).toEqual(failed);
  fakes.stt.at(-1)!.emit({ type: 'error', error: { kind: 'rejected', status: 401 } });
  expect(stages.withCause(failed)).toEqual({ ...failed, cause: 'rejected 401' });
  const stalled = { ...failed, what: 'stalled' } as const;
  expect(stages.withCause(stalled)).toBe(stalled);
});
