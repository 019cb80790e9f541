/**
 * The bounded log of protocol messages that the page shows.
 *
 * Invariant: at most `limit` rows. Audio is one row per run of frames that grows in place, so that a long call does not
 * push out the messages around it. It must not hold audio, tokens or the address of the server.
 */

export type Direction = 'sent' | 'received' | 'note';

export interface LogRow {
  readonly id: number;
  readonly atMs: number;
  readonly direction: Direction;
  readonly label: string;
  detail: string;
}

interface AudioRun {
  readonly row: LogRow;
  frames: number;
  audioMs: number;
  lastMs: number;
}

/** Frames further apart belong to two runs. */
const RUN_GAP_MS = 500;

export class MessageLog {
  readonly #limit: number;
  readonly #rows: LogRow[] = [];
  readonly #runs = new Map<Direction, AudioRun>();
  #nextId = 1;

  constructor(limit = 200) {
    this.#limit = limit;
  }

  get rows(): readonly LogRow[] {
    return this.#rows;
  }

  /** `atMs` counts from the start of the call. */
  add(direction: Direction, atMs: number, row: { readonly label: string; readonly detail?: string }): LogRow {
    const added = { id: this.#nextId, atMs, direction, label: row.label, detail: row.detail ?? '' };
    this.#nextId += 1;
    this.#rows.push(added);
    if (this.#rows.length > this.#limit) this.#rows.shift();
    return added;
  }

  /** Counts one audio frame of `frameMs`. */
  audio(direction: 'sent' | 'received', atMs: number, frameMs: number): void {
    let run = this.#runs.get(direction);
    const evicted = run !== undefined && run.row.id < (this.#rows[0]?.id ?? 0);
    if (run === undefined || evicted || atMs - run.lastMs > RUN_GAP_MS) {
      run = { row: this.add(direction, atMs, { label: 'audio' }), frames: 0, audioMs: 0, lastMs: atMs };
      this.#runs.set(direction, run);
    }
    run.frames += 1;
    run.audioMs += frameMs;
    run.lastMs = atMs;
    run.row.detail = `${(run.audioMs / 1000).toFixed(1)} s in ${run.frames} ${run.frames === 1 ? 'frame' : 'frames'}`;
  }

  /** The run of audio ends here, whatever follows (a `clear`). */
  cutAudio(direction: 'sent' | 'received'): void {
    this.#runs.delete(direction);
  }
}
