/**
 * Whole calls with a sound behind the caller that goes on from their first moment to their last: each caller asks three questions in each kind of
 * noise and beside a second talker, at several levels below their voice, and with nothing behind them. Each of these calls is heard as it is, with
 * its noise taken out, and with that left to the service.
 */
import { noiseModes } from '../../../shared/protocol/noise-mode.ts';
import { callIn, callersAmong, type Cast, type Room } from './calls.ts';
import { mix, quieterBy, type Scenario } from './scenarios.ts';
import type { Recording } from './recordings.ts';
import { levelled, type Person } from './speakers.ts';
import { half } from './spoken.ts';

const levelsDb = [20, 10, 5, 0] as const;
const room: Room = { moment: 'from the start', hasNoise: false, belowDb: undefined, isWritten: false };

/** The sound behind the caller: a noise, a second talker, or nothing. */
interface Behind {
  readonly kind: string;
  readonly noise?: Recording;
  readonly talker?: Person;
  /** STT writes the talker down as well. */
  readonly isWritten?: true;
  /** So much below the caller's voice. */
  readonly level?: (typeof levelsDb)[number];
}

/** Callers, talkers and noises that are kept aside come together; every other noise is. */
export const callsInNoise = (
  persons: readonly Person[],
  noises: readonly Recording[],
  { agent, mostOfHalf = Infinity }: { readonly agent: Int16Array; readonly mostOfHalf?: number },
): Scenario[] =>
  callersAmong(persons, mostOfHalf).flatMap(({ caller, db, others: [talker] }) => {
    const heard = noises.filter((_, at) => at % 2 === (caller.isAside ? 1 : 0));
    const kinds: Behind[] = heard.map((noise) => ({ kind: kindOf(noise), noise }));
    if (talker !== undefined)
      kinds.push(
        { kind: 'second talker', talker },
        { kind: 'second talker, written', talker, isWritten: true },
      );
    const behind = kinds.flatMap((kind) => levelsDb.map((level): Behind => ({ ...kind, level })));
    return [{ kind: 'no noise' }, ...behind].flatMap((what) =>
      noisyCalls({ caller, db, talkers: [], agent }, what),
    );
  });

/** By the name of its file. */
const kindOf = ({ name }: Recording): string => name.replace(/\.wav$/i, '').replaceAll('_', ' ');

/** One call, heard in each of the modes. */
function noisyCalls(cast: Cast, behind: Behind): Scenario[] {
  const { kind, noise, talker, isWritten = false, level } = behind;
  const scenario =
    talker === undefined
      ? callIn(room, cast)
      : callIn({ ...room, belowDb: level, isWritten }, { ...cast, talkers: [talker] });
  const { call, pcm } = scenario;
  const [voice] = cast.caller.clips;
  if (call === undefined || voice === undefined) return [];
  if (noise !== undefined && level !== undefined) {
    const gain = quieterBy(levelled(voice.pcm, cast.db), noise.pcm, level);
    for (let at = 0; at < pcm.length; at += noise.pcm.length) mix(pcm, noise.pcm, { at, gain });
  }
  const which = half(cast.caller.isAside);
  return noiseModes.map((mode) => ({
    ...scenario,
    group: `${kind}${level === undefined ? '' : ` -${level} dB`}, ${which}: taken out: ${mode}`,
    noise: mode,
    call: {
      ...call,
      family: `${kind}, ${which}, taken out: ${mode}`,
      isPlain: level === undefined && mode === 'off',
    },
  }));
}
