/** A client whose loudspeaker leaks into its microphone, in a call in virtual time: what the call makes of words that are the agent's own. */
import { describe, expect, it } from 'vitest';
import { madeVoice } from '../../support/audio/made-voice.ts';
import { level } from '../../support/audio/echo-path.ts';
import { newWorld } from './one-call.ts';

const frameSamples = 320;
const delaySamples = 2_400;
const gain = 0.25;
/** When the caller begins, in ms of the call. */
const speaksAtMs = 2_500;
/** VAD takes it for a voice, and is not sure of it. */
const voice = 0.55;

const bot = madeVoice({ seed: 7, pitchHz: 190, ms: 5_000 });
const caller = madeVoice({ seed: 103, pitchHz: 135, ms: 800 });

/** What the client is told while STT writes down what the agent says; the agent comes back where it `leaks`. */
function toldIn({ leaks }: { leaks: boolean }): readonly string[] {
  const world = newWorld();
  const call = world.newCall({ confirmMs: 400 });
  call.tts().emit({ type: 'audio', context: 1, pcm: bot });
  call.tts().emit({ type: 'flushed', context: 1 });
  const heard: number[] = [];
  let isWritten = false;
  for (let nowMs = 0; nowMs < speaksAtMs + 700; nowMs += 20) {
    const sent = Buffer.concat(call.transport.frames.map(({ frame }) => frame));
    const said = nowMs - speaksAtMs;
    const frame = Int16Array.from({ length: frameSamples }, (_, i) => {
      const at = 2 * (16 * nowMs + i - delaySamples);
      const leak = leaks && at >= 0 && at < sent.length ? sent.readInt16LE(at) * gain : 0;
      return Math.round(leak + (said < 0 ? 0 : (caller[16 * said + i] ?? 0)));
    });
    heard.push(...frame);
    call.enter(() => call.runner.audio(new Uint8Array(frame.buffer)));
    world.clock.advance(20);
    world.inference.beat(world.clock.now());
    world.inference.judge(call.slot, () => (level(heard.slice(-512)) > 100 ? voice : 0.02));
    call.enter(() => call.runner.collectSpeech());
    if (isWritten || call.stt().heard === 0) continue;
    isWritten = true;
    const text = 'hello there';
    call.stt().emit({ type: 'transcript', text, isFinal: false, speechFinal: false, fromFinalize: false });
  }
  expect(isWritten).toBe(true);
  return call.transport.told;
}

describe("a voice of which STT knows nothing but the bot's words", () => {
  it('interrupts where the echo of the call is well known, and it is none', () => {
    expect(toldIn({ leaks: true })).toContain('clear 2');
  });

  it('does not where no echo is known', () => {
    expect(toldIn({ leaks: false }).filter((what) => what.startsWith('clear'))).toEqual([]);
  });
});
