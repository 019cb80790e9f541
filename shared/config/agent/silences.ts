/**
 * The three silences of a turn: their defaults, which differ with and without a turn model, and what must hold between them.
 * A model tells pauses from ends after half a second of silence far better than after less; without one, waiting so long would
 * make every answer late. The figures stand in docs/eval-turns.md.
 */
import type { ProblemList } from '../problem.ts';

/** In milliseconds: stopMs <= silenceEndMs <= maxSilenceMs. */
export interface Silences {
  readonly stopMs: number;
  readonly silenceEndMs: number;
  readonly maxSilenceMs: number;
}

interface GivenSilences {
  readonly stop: number | undefined;
  readonly end: number | undefined;
  readonly most: number | undefined;
}

const defaults = {
  withModel: { stopMs: 300, silenceEndMs: 1500, maxSilenceMs: 2000 },
  withoutModel: { stopMs: 200, silenceEndMs: 700, maxSilenceMs: 2500 },
} as const;

/** What holds when some are given: a default makes room for them. */
export const silencesOf = (given: GivenSilences) => ({
  withModel: fitted(given, defaults.withModel),
  withoutModel: fitted(given, defaults.withoutModel),
});

function fitted({ stop, end, most }: GivenSilences, byDefault: Silences): Silences {
  const middle = Math.min(Math.max(byDefault.silenceEndMs, stop ?? 0), most ?? Infinity);
  const silenceEndMs = end ?? middle;
  return {
    stopMs: stop ?? Math.min(byDefault.stopMs, silenceEndMs),
    silenceEndMs,
    maxSilenceMs: most ?? Math.max(byDefault.maxSilenceMs, silenceEndMs),
  };
}

/** Bounds between those that are given: stop_ms <= silence_end_ms <= max_silence_ms. */
export function checkSilences(
  given: { readonly stop_ms?: number; readonly silence_end_ms?: number; readonly max_silence_ms?: number },
  problems: ProblemList,
): void {
  const { stop_ms: stop, silence_end_ms: end, max_silence_ms: most } = given;
  if (stop !== undefined && end !== undefined && end < stop)
    problems.error(['turn', 'silence_end_ms'], 'must be at least turn.stop_ms');
  if (end !== undefined && most !== undefined && end > most)
    problems.error(['turn', 'silence_end_ms'], 'must be at most turn.max_silence_ms');
  if (stop !== undefined && most !== undefined && stop > most)
    problems.error(['turn', 'stop_ms'], 'must be at most turn.max_silence_ms');
}
