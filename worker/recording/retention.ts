/** Which recordings are to be deleted: those that are too old, and the oldest where there are too many. Pure. */

export interface KeptRecording {
  readonly path: string;
  readonly bytes: number;
  /** When it was finished, in milliseconds since 1970. */
  readonly at: number;
  /** The tenant whose it is; empty: the operator. */
  readonly owner?: string;
  /** As its agent has it; absent: as the service has it. */
  readonly keepDays?: number;
  /** It waits for its upload. */
  readonly isWaiting: boolean;
}

export interface RetentionSettings {
  /** Absent: for ever, while there is room. */
  readonly keepDays?: number;
  readonly mostBytes: number;
}

const dayMs = 86_400_000;

/**
 * Those to delete, the oldest first. A recording that waits for its upload goes last, and not for its age. For want of room the owner with the most
 * loses one after another: nobody takes the room of others by recording much.
 */
export function superfluous(
  recordings: readonly KeptRecording[],
  { keepDays, mostBytes }: RetentionSettings,
  now: number,
): KeptRecording[] {
  const isOld = ({ at, isWaiting, keepDays: own = keepDays }: KeptRecording): boolean =>
    !isWaiting && own !== undefined && at < now - own * dayMs;
  const gone = recordings.filter(isOld);
  const others = recordings
    .filter((one) => !isOld(one))
    .toSorted((a, b) => Number(a.isWaiting) - Number(b.isWaiting) || a.at - b.at);
  const owners = new Map<string, { bytes: number; readonly left: KeptRecording[] }>();
  let bytes = 0;
  for (const one of others) {
    const owner = owners.get(one.owner ?? '') ?? { bytes: 0, left: [] };
    owners.set(one.owner ?? '', owner);
    owner.bytes += one.bytes;
    owner.left.push(one);
    bytes += one.bytes;
  }
  while (bytes > mostBytes) {
    const [most] = [...owners.values()].toSorted((a, b) => b.bytes - a.bytes);
    const next = most?.left.shift();
    if (most === undefined || next === undefined) break;
    gone.push(next);
    most.bytes -= next.bytes;
    bytes -= next.bytes;
  }
  return gone;
}
