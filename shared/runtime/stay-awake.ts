/** Keeps the process alive while something waits for nothing but a timer, which alone does not. */

const longMs = 60_000;

/** Until the returned function is called, the process does not end on its own. */
export function stayAwake(): () => void {
  const handle = setInterval(() => undefined, longMs);
  return () => clearInterval(handle);
}
