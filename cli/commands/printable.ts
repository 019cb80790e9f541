/** Text of models and tools as one line that a terminal or a report cannot mistake for orders. */

const longestShown = 2_000;

export function printable(text: string): string {
  const line = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
    .trim();
  return line.length > longestShown ? `${line.slice(0, longestShown)}...` : line;
}

/** A duration for people. */
export const shownMs = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
