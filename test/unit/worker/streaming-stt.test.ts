/** What a worker knows of an agent's STT before it has told words in a call. */
import { expect, it } from 'vitest';
import { FakeStages, fakeSettings, Trap } from '../../support/fakes/fake-call.ts';
import { newWorld } from './one-call.ts';

/** The greeting is spoken, the caller laughs into it for so long, and so much sound of the agent comes in the last 100 ms. */
function heardUnderLaughter({ streamed, laughMs }: { streamed: boolean; laughMs: number }): number {
  const settings = fakeSettings();
  const world = newWorld();
  const stages = new FakeStages(new Trap());
  const { stt } = world.lend(stages);
  const agent = { settings: { ...settings, interrupt: { ...settings.interrupt, minWords: 1 } }, stt };
  const first = world.newCall({ agent });
  const told = { speechFinal: false, fromFinalize: false, isFinal: !streamed };
  first.hear(400, 0.9);
  stages.stt.at(-1)!.emit({ type: 'transcript', text: 'hello', ...told });
  const call = world.newCall({ agent });
  call.say(1, 5_000);
  world.clock.advance(1_000);
  call.hear(laughMs - 100, 0.9);
  const before = call.transport.frames.length;
  call.hear(100, 0.9);
  return call.transport.frames.length - before;
}

it('where an STT streamed in another call, the first laugh of a call silences the agent for a second', () => {
  expect(heardUnderLaughter({ streamed: true, laughMs: 900 })).toBe(0);
  expect(heardUnderLaughter({ streamed: true, laughMs: 1_300 })).toBeGreaterThan(0);
  expect(heardUnderLaughter({ streamed: false, laughMs: 1_300 })).toBe(0);
});
