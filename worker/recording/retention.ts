/** Which recordings are to be deleted: those that are too old, and the oldest where there are too many. Pure. */

export interface KeptRecording {
  readonly path: string;
  readonly bytes: number;
  /** When it was finished, in milliseconds since 1970. */
  readonly at: number;
  /** It waits for its upload. */
  readonly isWaiting: boolean;
}

export interface RetentionSettings {
  /** Absent: for ever, while there is room. */
  readonly keepDays?: number;
  readonly mostBytes: number;
}

const dayMs = 86_400_000;

/** Those to delete, the oldest first. A recording that waits for its upload goes last, and not for its age. */
export function superfluous(
  recordings: readonly KeptRecording[],
  { keepDays, mostBytes }: RetentionSettings,
  now: number,
): KeptRecording[] {
  const oldestAt = keepDays === undefined ? -Infinity : now - keepDays * dayMs;
  const isOld = ({ at, isWaiting }: KeptRecording): boolean => !isWaiting && at < oldestAt;
  const gone = recordings.filter(isOld);
  let bytes = recordings.reduce((sum, one) => sum + one.bytes, 0);
  for (const { bytes: freed } of gone) bytes -= freed;
  const others = recordings
    .filter((one) => !isOld(one))
    .toSorted((a, b) => Number(a.isWaiting) - Number(b.isWaiting) || a.at - b.at);
  for (const one of others) {
    if (bytes <= mostBytes) break;
    gone.push(one);
    bytes -= one.bytes;
  }
  return gone;
}
