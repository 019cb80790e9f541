/**
 * Takes what the rings of one worker hold to the disk. It goes on where a writer before it was stopped: a ring knows whose entries it
 * holds. An entry that cannot be written is counted and left out; the calls notice nothing.
 *
 * The entries that a worker that died has left in a ring are written at once, and no more is done for that call: the worker that takes
 * it up writes on, and a call that nobody has is not shown as a running one.
 */
import type { RecordingKey } from '../../shared/recording/keys.ts';
import type { RecordingRing } from '../../shared/recording/ring.ts';
import { OpenRecording } from './open-recording.ts';

export interface WriterOptions {
  readonly dir: string;
  readonly rings: readonly RecordingRing[];
  /** Encrypts what is written; absent: nothing does. */
  readonly key?: RecordingKey | undefined;
  /** The calls of the rings are those of a worker that died. */
  readonly isAfterDeath: boolean;
  /** The recording of this call could not be written. */
  readonly failed: (error: unknown, call: string) => void;
}

const decoder = new TextDecoder();

/** The recording that an owner of a ring names: when its part begins, and its name. */
function openOf({ dir, key }: WriterOptions, owner: string): OpenRecording {
  const [since = '', name = ''] = owner.split(' ');
  return new OpenRecording(dir, name, { since: Number(since), key });
}

export class RecordingWriter {
  readonly #options: WriterOptions;
  /** By ring. */
  readonly #open: (OpenRecording | undefined)[];

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#open = options.rings.map((ring) => (ring.owner === '' ? undefined : openOf(options, ring.owner)));
    if (options.isAfterDeath) this.#settleLeftovers();
  }

  /** Writes everything that is there by now. */
  write(): void {
    this.#options.rings.forEach((ring, index) => {
      ring.take(({ kind, at, bytes }) => {
        if (kind === 'open') this.#begin(index, decoder.decode(bytes), at);
        else if (kind === 'end') this.#end(index);
        else this.#attempt(this.#open[index], (one) => one.take(kind, at, bytes));
      });
      this.#attempt(this.#open[index], (one) => one.flush());
    });
  }

  /** Shows of every running call that it is one. */
  touch(nowS: number): void {
    for (const recording of this.#open) this.#attempt(recording, (one) => one.touch(nowS));
  }

  #settleLeftovers(): void {
    const left = [...this.#open];
    this.write();
    left.forEach((recording, index) => {
      // A call that was begun in the meantime has taken its place.
      if (recording === undefined || this.#open[index] !== recording) return;
      this.#letGo(index);
      this.#attempt(recording, (one) => one.close());
    });
  }

  #begin(index: number, name: string, since: number): void {
    const { dir, rings, key } = this.#options;
    // One without an end is that of a worker that died.
    const before = this.#open[index];
    this.#attempt(before, (one) => one.flush());
    this.#attempt(before, (one) => one.close());
    const recording = new OpenRecording(dir, name, { since, key });
    this.#open[index] = recording;
    const ring = rings[index];
    if (ring !== undefined) ring.owner = `${since} ${name}`;
    this.#attempt(recording, (one) => one.begin());
  }

  #end(index: number): void {
    const recording = this.#open[index];
    this.#letGo(index);
    this.#attempt(recording, (one) => one.finish());
  }

  #letGo(index: number): void {
    this.#open[index] = undefined;
    const ring = this.#options.rings[index];
    if (ring !== undefined) ring.owner = '';
  }

  #attempt(recording: OpenRecording | undefined, part: (recording: OpenRecording) => void): void {
    if (recording === undefined) return;
    try {
      part(recording);
    } catch (error) {
      this.#options.failed(error, recording.name);
    }
  }
}
