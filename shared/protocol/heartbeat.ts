/**
 * Signs of life in shared memory: milliseconds of the machine's monotonic clock in 31 bits, comparable between processes. They
 * are compared by age only, because they wrap.
 */

/** Milliseconds of the machine's monotonic clock as a heartbeat. */
export const heartbeatOf = (monotonicMs: number): number => Math.floor(monotonicMs) & 0x7fff_ffff;

/** A process that is held up between looking at the clock and at a heartbeat finds the heartbeat ahead of the clock by so much at most. */
const mostAheadMs = 600_000;

/** Age of a heartbeat in milliseconds, also across the wrap; 0 when it is younger than `nowMs`. */
export function heartbeatAge(nowMs: number, beatMs: number): number {
  const age = (heartbeatOf(nowMs) - beatMs) & 0x7fff_ffff;
  return age > 0x7fff_ffff - mostAheadMs ? 0 : age;
}
