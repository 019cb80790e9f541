/** TTS whose sessions die without a sound is not opened hundreds of times a second. */
import { describe, it, expect } from 'vitest';
import { withPauses } from '../../../worker/stages/later-tts.ts';
import type { TtsEvent } from '../../../worker/stages/stage.ts';
import { FakeStages, Trap } from '../../support/fakes/fake-call.ts';
import { newStageContext } from '../../support/core/stage-context.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

function newSetup() {
  const clock = newVirtualClock();
  const fakes = new FakeStages(new Trap());
  const stage = withPauses(fakes.ttsStage);
  const context = newStageContext(clock);
  const told: TtsEvent[] = [];
  const open = () => stage.open(context, (event) => told.push(event));
  const die = (): void => fakes.tts.at(-1)!.emit({ type: 'error', error: { kind: 'disconnected' } });
  return { clock, fakes, told, open, die, stage };
}

describe('TTS that dies without a sound', () => {
  it('is opened again at once the first time, and then with growing pauses of a second at most', () => {
    const { clock, fakes, open, die } = newSetup();
    open();
    die();
    open();
    expect(fakes.tts.length).toBe(2);
    for (const [index, pauseMs] of [250, 500, 1_000, 1_000].entries()) {
      die();
      const session = open();
      expect(session.sampleRate).toBe(16_000);
      clock.advance(pauseMs - 1);
      expect(fakes.tts.length).toBe(index + 2);
      clock.advance(1);
      expect(fakes.tts.length).toBe(index + 3);
    }
  });

  it('is opened at once for another call, and for one that has heard it since', () => {
    const { clock, fakes, open, die, stage } = newSetup();
    for (let death = 0; death < 2; death += 1) {
      open();
      die();
    }
    stage.open(newStageContext(clock), () => undefined);
    expect(fakes.tts.length).toBe(3);
    open();
    clock.advance(250);
    fakes.tts.at(-1)!.emit({ type: 'audio', context: 1, pcm: new Int16Array(1) });
    die();
    open();
    expect(fakes.tts.length).toBe(5);
  });

  it('is told what was asked in the pause, without what was cancelled', () => {
    const { clock, fakes, told, open, die } = newSetup();
    for (let death = 0; death < 2; death += 1) {
      open();
      die();
    }
    const session = open();
    session.speak(1, 'Never mind.');
    session.flush(1);
    session.cancel(1);
    session.speak(2, 'Hello ');
    session.speak(2, 'there.');
    session.flush(2);
    session.pause();
    clock.advance(250);
    expect(told.slice(2)).toEqual([{ type: 'cancelled', context: 1 }]);
    expect(fakes.tts.at(-1)!.asked).toEqual(['pause', 'speak 2 Hello there.', 'flush 2']);
    session.close();
    expect(fakes.tts.at(-1)!.closed).toBe(true);
  });

  it('is not opened for a call that is over', () => {
    const { clock, fakes, open, die } = newSetup();
    for (let death = 0; death < 2; death += 1) {
      open();
      die();
    }
    open().close();
    clock.advance(5_000);
    expect(fakes.tts.length).toBe(2);
  });
});
