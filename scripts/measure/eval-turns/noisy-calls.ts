/**
 * Whole calls in noise that goes on from their first moment to their last: each caller asks three questions in one kind of noise at several
 * levels below their voice and in none, and each of these calls is heard as it is, with its noise taken out, and with that left to the service.
 */
import { noiseModes, type NoiseMode } from '../../../shared/protocol/noise-mode.ts';
import { callIn, callersDb, longestMs, type Cast, type Room } from './calls.ts';
import { mix, msOf, quieterBy, type Scenario } from './scenarios.ts';
import type { Recording } from './recordings.ts';
import { levelled, type Person } from './speakers.ts';
import { half } from './spoken.ts';

const noiseLevelsDb = [undefined, 20, 10, 5, 0] as const;
const room: Room = { moment: 'from the start', hasNoise: false, belowDb: undefined, isWritten: false };

/** Callers and noises that are kept aside come together; every other noise is. */
export function callsInNoise(
  persons: readonly Person[],
  noises: readonly Recording[],
  agent: Int16Array,
): Scenario[] {
  return persons.flatMap((caller, index) => {
    const own = caller.clips.filter(({ pcm }) => msOf(pcm.length) <= longestMs);
    const heard = noises.filter((_, at) => at % 2 === (caller.isAside ? 1 : 0));
    const noise = heard[(index >> 1) % Math.max(1, heard.length)];
    if (own.length === 0 || noise === undefined) return [];
    const db = callersDb[index % callersDb.length] ?? -27;
    const cast: Cast = { caller: { ...caller, clips: own }, db, talkers: [], agent };
    return noiseLevelsDb.flatMap((level) =>
      noiseModes.map((mode) => noisyCall(cast, { noise, level, mode })),
    );
  });
}

interface Noise {
  readonly noise: Recording;
  /** So much below the caller's voice; undefined: none at all. */
  readonly level: number | undefined;
  readonly mode: NoiseMode;
}

function noisyCall(cast: Cast, { noise, level, mode }: Noise): Scenario {
  const scenario = callIn(room, cast);
  const { call, pcm } = scenario;
  if (call === undefined) return scenario;
  const [voice] = cast.caller.clips;
  if (level !== undefined && voice !== undefined) {
    const gain = quieterBy(levelled(voice.pcm, cast.db), noise.pcm, level);
    for (let at = 0; at < pcm.length; at += noise.pcm.length) mix(pcm, noise.pcm, { at, gain });
  }
  const { isAside } = cast.caller;
  const kind = level === undefined ? 'no noise' : `noise -${level} dB`;
  return {
    ...scenario,
    group: `${kind}, ${half(isAside)}: taken out: ${mode}`,
    noise: mode,
    call: {
      ...call,
      family: `${kind}, ${half(isAside)}, taken out: ${mode}`,
      isPlain: level === undefined && mode === 'off',
    },
  };
}
