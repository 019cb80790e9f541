/** How levels and times are shown. Invariant: pure, and defined for every number that a call can produce. */

/** The meters show from here to full scale. */
const QUIETEST_DB = -60;

/** From a root mean square of 0 to 1 to a share of the meter. */
export function meterShare(rms: number): number {
  if (rms <= 0) return 0;
  return Math.min(1, Math.max(0, 1 - (20 * Math.log10(rms)) / QUIETEST_DB));
}

export function formatMs(ms: number | undefined): string {
  if (ms === undefined) return '–';
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

export function formatLength(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const two = (count: number): string => String(count % 60).padStart(2, '0');
  const isLong = minutes >= 60;
  return `${isLong ? `${Math.floor(minutes / 60)}:${two(minutes)}` : minutes}:${two(seconds)}`;
}
