/** Sounds behind the agent's voice that come back from a caller's loudspeaker: VAD takes them for nobody, as the page on sound says. */
import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { beforeAll, expect, it } from 'vitest';
import { sileroPath } from '../../../inference/models.ts';
import { openVadModel } from '../../../inference/vad-thread.ts';
import { vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';
import { makeSound } from '../../../worker/media/background/sounds.ts';

let session: InferenceSession;

beforeAll(async () => {
  session = await openVadModel(sileroPath(undefined));
});

/** Of the frames of one turn of a sound, how many are a voice. */
async function voiceFrames(pcm: Int16Array, gain: number): Promise<number> {
  const input = new Float32Array(64 + vadFrameSamples);
  let state = new Float32Array(256);
  let count = 0;
  for (let at = 0; at + vadFrameSamples <= pcm.length; at += vadFrameSamples) {
    input.copyWithin(0, vadFrameSamples);
    for (let i = 0; i < vadFrameSamples; i += 1) input[64 + i] = ((pcm[at + i] ?? 0) * gain) / 32_768;
    const { output, stateN } = await session.run({
      input: new Tensor('float32', input, [1, input.length]),
      state: new Tensor('float32', state, [2, 1, 128]),
      sr: new Tensor('int64', BigInt64Array.of(16_000n), []),
    });
    state = stateN?.data as Float32Array<ArrayBuffer>;
    if (((output?.data as Float32Array)[0] ?? 0) >= 0.5) count += 1;
  }
  return count;
}

it.each(
  (['office', 'street', 'keyboard'] as const).flatMap((name) =>
    [0.3, 0.1].map((gain) => [name, gain] as const),
  ),
)('%s at %d is nobody, also where all of it comes back', async (name, gain) => {
  expect(await voiceFrames(makeSound(name), gain)).toBe(0);
});
