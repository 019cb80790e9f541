/** The journal of systemd reads how serious a line is from what stands before it (`<4>`); without that its own filters find nothing. */
import { fstatSync } from 'node:fs';

/** Syslog's numbers, by the level of a line. */
const priorities = new Map([
  [20, 7],
  [30, 6],
  [40, 4],
  [50, 3],
  [60, 2],
]);

/** True when this descriptor leads into the journal. systemd names its stream, and a child may have been given another output since. */
export function isJournal(descriptor: number, stream: string | undefined): boolean {
  if (stream === undefined) return false;
  const { dev, ino } = fstatSync(descriptor);
  return stream === `${dev}:${ino}`;
}

export const forJournal = (level: number, line: string): string => `<${priorities.get(level) ?? 7}>${line}`;
