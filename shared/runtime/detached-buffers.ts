/**
 * The engine compiles code that works on typed arrays for a program in which no buffer was ever given away, and throws all of that
 * code away when the first one is, which happens in the first call of a worker. Until it is compiled again,
 * what takes a millisecond takes fifty.
 */

/** Gives a buffer away before there is any such code. To be called first of all. */
export function giveBufferAway(): void {
  const buffer = new ArrayBuffer(1);
  structuredClone(buffer, { transfer: [buffer] });
}
