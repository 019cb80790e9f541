/** Figures as they stand in tables, and tables of text. */

export function quantile(values: readonly number[], share: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
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
