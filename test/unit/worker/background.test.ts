/** A whole call with a sound behind the voice: the caller hears it, and the conversation is the same. */
import { describe, expect, it } from 'vitest';
import { rmsDbfs } from '../../../shared/audio/pcm.ts';
import type { BackgroundDefinition } from '../../../shared/config/agent/background.ts';
import { SoundLoop } from '../../../worker/media/background/loop.ts';
import { newWorld, type OneCall } from './one-call.ts';

const loop = (when: BackgroundDefinition['when']): SoundLoop =>
  new SoundLoop({ source: 'street', volume: 0.5, when });
const always = loop('always');
const thinking = loop('thinking');

const pcmOf = (frame: Buffer): Int16Array => new Int16Array(Uint8Array.from(frame).buffer);

/** STT understands what the caller has said. */
function understood(call: OneCall, text: string): void {
  call.stt().emit({ type: 'transcript', text, isFinal: true, speechFinal: true, fromFinalize: true });
  call.stt().emit({ type: 'finalized' });
}

/** A greeting that the caller lets end, a question, and an answer that is cut. */
function conversation(background?: readonly SoundLoop[]) {
  const world = newWorld();
  const call = world.newCall(background && { background });
  call.say(1, 400);
  world.clock.advance(1_500);
  call.hear(500, 0.9);
  call.hear(700, 0.01);
  understood(call, 'What time is it?');
  world.clock.advance(300);
  call.llm().emit({ type: 'text', text: 'It is noon, and it will be for a while.' });
  call.llm().emit({ type: 'done', finish: 'stop', usage: undefined });
  call.say(2, 5_000);
  world.clock.advance(1_000);
  call.hear(600, 0.9);
  call.hear(900, 0.01);
  understood(call, 'Thank you, that is enough.');
  world.clock.advance(300);
  return { world, call };
}

describe('a call with a background', () => {
  it('hears it while the agent is silent, also before it has said a word', () => {
    const world = newWorld();
    const { transport } = world.newCall({ background: [always] });
    world.clock.advance(1_000);
    expect(transport.frames).toEqual([]);
    expect(transport.backdrops.length).toBeGreaterThanOrEqual(49);
    expect(rmsDbfs(pcmOf(transport.backdrops.at(-1)!.frame))).toBeGreaterThan(-60);
    expect(transport.backdrops.every(({ rate, frame }) => rate === 16_000 && frame.length === 640)).toBe(
      true,
    );
  });

  it('tells the client and those who follow it the same as one without', () => {
    const plain = conversation();
    const { call } = conversation([always]);
    const { transport } = call;
    expect(transport.told).toEqual(plain.call.transport.told);
    expect(transport.told.some((what) => what.startsWith('clear'))).toBe(true);
    expect(transport.events).toEqual(plain.call.transport.events);
    // Where it stands in the grid of frames decides about the last one before a cut.
    const { length } = plain.call.transport.frames;
    expect(Math.abs(transport.frames.length - length)).toBeLessThanOrEqual(1);
    expect(transport.backdrops.length).toBeGreaterThan(100);
    expect(plain.call.transport.backdrops).toEqual([]);
  });

  it('does not make the output stand still when the agent does', () => {
    expect(conversation().call.transport.pauses).toBeGreaterThan(0);
    expect(conversation([always]).call.transport.pauses).toBe(0);
    expect(conversation([thinking]).call.transport.pauses).toBeGreaterThan(0);
  });

  it('ends with the call', () => {
    const { world, call } = conversation([always]);
    call.enter(() => call.runner.shutdown());
    world.clock.advance(20_000);
    const { length } = call.transport.backdrops;
    expect(call.transport.told.at(-1)).toMatch(/^end/);
    world.clock.advance(1_000);
    expect(call.transport.backdrops).toHaveLength(length);
  });
});

describe('a call with a sound of thinking', () => {
  it('hears it when the LLM has taken a second, until the first sound of the answer', () => {
    const world = newWorld();
    const call = world.newCall({ background: [thinking] });
    const { transport } = call;
    call.say(1, 400);
    world.clock.advance(1_500);
    call.hear(500, 0.9);
    call.hear(700, 0.01);
    expect(transport.backdrops).toEqual([]);
    understood(call, 'What time is it?');
    const asked = world.clock.now();
    while (transport.backdrops.length === 0 && world.clock.now() < asked + 3_000) world.clock.advance(5);
    // The caller has waited since the end of the turn, which STT needed a moment for.
    expect(world.clock.now() - asked).toBeGreaterThan(500);
    expect(world.clock.now() - asked).toBeLessThanOrEqual(1_010);
    world.clock.advance(200);
    expect(transport.backdrops.length).toBeGreaterThanOrEqual(10);
    call.llm().emit({ type: 'text', text: 'It is noon.' });
    call.llm().emit({ type: 'done', finish: 'stop', usage: undefined });
    const { length } = transport.backdrops;
    call.say(2, 600);
    const voiced = transport.frames.length;
    world.clock.advance(2_000);
    expect(transport.backdrops).toHaveLength(length);
    // It fades under the first 100 ms, and the voice is alone from then on.
    const voice = (at: number): Int16Array => pcmOf(transport.frames[voiced - 1 + at]!.frame);
    expect(new Set(voice(1)).size).toBeGreaterThan(1);
    expect(new Set(voice(8))).toEqual(new Set([500]));
  });

  it('hears it while a tool runs behind words of the agent', () => {
    const world = newWorld();
    const call = world.newCall({ background: [thinking] });
    const { transport } = call;
    call.say(1, 400);
    world.clock.advance(1_500);
    call.hear(500, 0.9);
    call.hear(700, 0.01);
    understood(call, 'What time is it?');
    call.llm().emit({ type: 'text', text: 'Let me look. ' });
    call.say(2, 400, false);
    world.clock.advance(1_300);
    expect(transport.backdrops).toEqual([]);
    world.clock.advance(200);
    expect(transport.backdrops.length).toBeGreaterThan(0);
    call.say(2, 400, false);
    const { length } = transport.backdrops;
    world.clock.advance(300);
    expect(transport.backdrops).toHaveLength(length);
  });

  it('is not heard while the caller speaks, or has nothing to wait for', () => {
    const world = newWorld();
    const call = world.newCall({ background: [thinking] });
    call.say(1, 400);
    world.clock.advance(4_000);
    call.hear(3_000, 0.9);
    expect(call.transport.backdrops).toEqual([]);
  });
});
