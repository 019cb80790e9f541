/** Figures as they stand in tables, and tables of text. */

/** Of a normal distribution, so that 95 of 100 lie within it. */
const z = 1.96;

/** The interval in which the share lies that so few of so many stand for (Wilson). */
export function wilson(part: number, whole: number): readonly [number, number] {
  if (whole === 0) return [0, 1];
  const [share, square] = [part / whole, (z * z) / whole];
  const spread = z * Math.sqrt((share * (1 - share)) / whole + square / (4 * whole));
  return [(share + square / 2 - spread) / (1 + square), (share + square / 2 + spread) / (1 + square)];
}

/** A share with that interval. */
export function shareWithin(part: number, whole: number): string {
  const ends = wilson(part, whole).map((end) => Math.round(Math.abs(100 * end)));
  return whole === 0 ? '-' : `${part}/${whole} (${ends.join(' to ')} %)`;
}

export function quantile(values: readonly number[], share: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === Infinity) return 'never';
  return value === undefined ? '-' : `${Math.round(value)} ms`;
}

export const share = (part: number, whole: number): string =>
  whole === 0 ? '-' : `${part}/${whole} (${((100 * part) / whole).toFixed(1)} %)`;

export function print(title: readonly string[], lines: readonly (readonly string[])[]): string {
  const rows = [title, ...lines];
  const widths = title.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** A decision this much before the end of speech may still be about it: frames are 32 ms, and words fade. */
export const toleranceMs = 150;
