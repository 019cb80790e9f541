/** Sounds behind the agent's voice that come back from a caller's loudspeaker: VAD takes them for nobody, as the page on sound says. */
import { expect, it } from 'vitest';
import { sileroPath } from '../../../inference/models.ts';
import { inputSamples, memoryFloats, Silero } from '../../../inference/silero/silero.ts';
import { vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';
import { makeSound } from '../../../worker/media/background/sounds.ts';

const model = Silero.open(sileroPath(undefined));

/** Of the frames of one turn of a sound, how many are a voice. */
function voiceFrames(pcm: Int16Array, gain: number): number {
  const input = new Float32Array(inputSamples);
  const context = inputSamples - vadFrameSamples;
  const memory = new Float32Array(memoryFloats);
  let count = 0;
  for (let at = 0; at + vadFrameSamples <= pcm.length; at += vadFrameSamples) {
    input.copyWithin(0, vadFrameSamples);
    for (let i = 0; i < vadFrameSamples; i += 1) input[context + i] = ((pcm[at + i] ?? 0) * gain) / 32_768;
    if (model.judge(input, memory) >= 0.5) count += 1;
  }
  return count;
}

it.each(
  (['office', 'street', 'keyboard'] as const).flatMap((name) =>
    [0.3, 0.1].map((gain) => [name, gain] as const),
  ),
)('%s at %d is nobody, also where all of it comes back', (name, gain) => {
  expect(voiceFrames(makeSound(name), gain)).toBe(0);
});
