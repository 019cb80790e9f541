/** Whether the noise in a call is taken out before VAD hears it, as a number in the call's mailbox. */

const modes = ['off', 'auto', 'on'] as const;
export type NoiseMode = (typeof modes)[number];
export const noiseModes = modes;

export const codeOfNoise = (mode: NoiseMode): number => modes.indexOf(mode);

/** A number that nobody has written stands for off. */
export const noiseOfCode = (code: number): NoiseMode => modes[code] ?? 'off';
