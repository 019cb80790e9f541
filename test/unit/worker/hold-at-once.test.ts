/** A word that may become a phrase of listening: the agent stands still at once, and without a click. */
import { expect, it } from 'vitest';
import { fakeSettings } from '../../support/fakes/fake-call.ts';
import { newWorld } from './one-call.ts';

const samplesOf = (frame: Buffer): number[] => [...new Int16Array(Uint8Array.from(frame).buffer)];

it('a voice that is to stand still at once fades in its next frame, and rises where it goes on', () => {
  const settings = fakeSettings();
  const interrupt = { ...settings.interrupt, minWords: 1, backchannels: ['no problem'] };
  const world = newWorld();
  const call = world.newCall({ agent: { settings: { ...settings, interrupt } } });
  const heard = (): number[] => call.transport.frames.flatMap(({ frame }) => samplesOf(frame));
  call.say(1, 5_000);
  world.clock.advance(1_000);
  call.hear(200, 0.9);
  const guess = (text: string): void =>
    call.stt().emit({ type: 'transcript', text, isFinal: false, speechFinal: false, fromFinalize: false });
  guess('no');
  call.hear(100, 0.9);
  const before = heard();
  expect(before.at(-1)).toBe(0);
  call.hear(60, 0.9);
  expect(heard()).toHaveLength(before.length);
  guess('no problem');
  call.hear(200, 0.01);
  const all = heard();
  expect(all.length).toBeGreaterThan(before.length);
  const steps = all.slice(1).map((sample, at) => Math.abs(sample - all[at]!));
  expect(Math.max(...steps)).toBeLessThan(5);
});
