/** Units that appear in signatures all over the service. Aliases, not brands: names of fields carry the unit too. */

/** Milliseconds on the monotonic clock of one process, or a duration. */
export type Millis = number;

/** Length of the frame that the engine paces and clears at (docs/call-protocol.md, A call). */
export const FRAME_MS = 20;

/** Sample rate of everything between the edges of the engine: VAD and STT input, in Hz. */
export const ENGINE_RATE = 16_000;

/** The sample rates that a call may have, in Hz (docs/call-protocol.md, A call). */
export const SAMPLE_RATES: readonly number[] = [8000, 16_000, 22_050, 24_000, 44_100, 48_000];
