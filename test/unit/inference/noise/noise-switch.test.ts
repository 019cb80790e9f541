/** When a call counts as noisy. */
import { expect, it } from 'vitest';
import { NoiseSwitch } from '../../../../inference/noise/noise-switch.ts';

const powerOf = (db: number): number => 10 ** (db / 10);

/** So many frames of nobody and of a voice in turn, with the noise under both. */
function hear(
  one: NoiseSwitch,
  { noiseDb, voiceDb, frames = 128 }: { noiseDb: number; voiceDb: number; frames?: number },
): void {
  for (let at = 0; at < frames; at += 1) {
    const isVoice = at % 2 === 1;
    const power = powerOf(noiseDb) + (isVoice ? powerOf(voiceDb) : 0);
    one.take({ power, brightPower: power / 4 }, isVoice ? 0.95 : 0.02);
  }
}

it('is off in a clean call, and in one whose noise is 15 dB below the voice', () => {
  const one = new NoiseSwitch();
  hear(one, { noiseDb: -70, voiceDb: -25 });
  expect(one.isOn).toBe(false);
  hear(one, { noiseDb: -40, voiceDb: -25, frames: 512 });
  expect(one.isOn).toBe(false);
});

it('goes by the caller, and not by how loud the noise is', () => {
  const [soft, loud] = [new NoiseSwitch(), new NoiseSwitch()];
  hear(soft, { noiseDb: -48, voiceDb: -43 });
  hear(loud, { noiseDb: -30, voiceDb: -10 });
  expect([soft.isOn, loud.isOn]).toEqual([true, false]);
});

it('stays as it is between 8 and 12 dB', () => {
  const one = new NoiseSwitch();
  hear(one, { noiseDb: -35, voiceDb: -25, frames: 512 });
  expect(one.isOn).toBe(false);
  hear(one, { noiseDb: -30, voiceDb: -25, frames: 512 });
  expect(one.isOn).toBe(true);
  hear(one, { noiseDb: -35, voiceDb: -25, frames: 512 });
  expect(one.isOn).toBe(true);
  hear(one, { noiseDb: -42, voiceDb: -25, frames: 512 });
  expect(one.isOn).toBe(false);
});

it('says nothing before it has heard half a second of both', () => {
  const one = new NoiseSwitch();
  hear(one, { noiseDb: -30, voiceDb: -25, frames: 30 });
  expect(one.isOn).toBe(false);
  hear(one, { noiseDb: -30, voiceDb: -25, frames: 4 });
  expect(one.isOn).toBe(true);
});

it('takes no level that nobody has measured, and no silence that was made', () => {
  const one = new NoiseSwitch();
  for (let at = 0; at < 64; at += 1) {
    one.take({ power: at % 2 === 0 ? Number.NaN : 0, brightPower: 0 }, 0.01);
    one.take({ power: powerOf(-25), brightPower: powerOf(-31) }, 0.9);
  }
  expect(one.isOn).toBe(false);
});

it('forgets a call', () => {
  const one = new NoiseSwitch();
  hear(one, { noiseDb: -30, voiceDb: -28 });
  one.reset();
  expect(one.isOn).toBe(false);
});
