/** A whole call whose agent listens aloud: what the caller hears of it, and that nothing else knows. */
import { expect, it } from 'vitest';
import { newWorld, type OneCall } from './one-call.ts';

const samplesOf = (frame: Buffer): number[] => [...new Int16Array(Uint8Array.from(frame).buffer)];
const line = new Int16Array(16 * 300).fill(1_000);
/** 8 dB softer. */
const soft = Math.round(1_000 * 10 ** (-8 / 20));

/** The caller tells something, with a pause behind words that go on. */
function told(murmurs?: Readonly<Record<string, Int16Array | undefined>>) {
  const world = newWorld();
  const call = world.newCall(murmurs && { murmurs });
  call.say(1, 400);
  world.clock.advance(1_500);
  call.hear(5_000, 0.9);
  call.stt().emit({
    type: 'transcript',
    text: 'So I ordered the table and',
    isFinal: false,
    speechFinal: false,
    fromFinalize: false,
  });
  call.hear(700, 0.01);
  return { world, call };
}

/** What was heard of the line. */
const murmured = ({ transport }: OneCall): number[] =>
  transport.backdrops.flatMap(({ frame }) => samplesOf(frame)).filter((sample) => sample !== 0);

it('is heard softly, once, in frames that nothing counts', () => {
  const { call } = told({ 'Mm-hm.': line });
  const { transport } = call;
  const heard = murmured(call);
  expect(heard).toHaveLength(line.length);
  expect(new Set(heard)).toEqual(new Set([soft]));
  const silent = told();
  expect(silent.call.transport.backdrops).toEqual([]);
  expect(transport.told.filter((what) => !what.startsWith('mark'))).toEqual(
    silent.call.transport.told.filter((what) => !what.startsWith('mark')),
  );
  expect(transport.frames.length).toBe(silent.call.transport.frames.length);
});

it('is left out where TTS has not made it yet, and where it is long', () => {
  expect(murmured(told({ 'Mm-hm.': undefined }).call)).toEqual([]);
  expect(murmured(told({ 'Mm-hm.': new Int16Array(16 * 2_000).fill(1_000) }).call)).toEqual([]);
});

it('ends with the call', () => {
  const { call, world } = told({ 'Mm-hm.': line });
  call.enter(() => call.runner.shutdown());
  world.clock.advance(20_000);
  const { length } = call.transport.backdrops;
  expect(call.transport.told.at(-1)).toMatch(/^end/);
  world.clock.advance(1_000);
  expect(call.transport.backdrops).toHaveLength(length);
});
