/**
 * Takes what the rings of one worker hold to the disk. It goes on where a writer before it was stopped: a ring knows whose entries it
 * holds. What cannot be written is counted and left out; the calls notice nothing.
 */
import type { RecordingRing } from '../../shared/protocol/recording-ring.ts';
import { OpenRecording } from './open-recording.ts';

export interface WriterOptions {
  readonly dir: string;
  readonly rings: readonly RecordingRing[];
  /** A recording could not be written. */
  readonly failed: (error: unknown) => void;
}

const decoder = new TextDecoder();

/** The recording that an owner of a ring names: when its part begins, and its name. */
function openOf(dir: string, owner: string): OpenRecording {
  const [since = '', name = ''] = owner.split(' ');
  return new OpenRecording(dir, name, Number(since));
}

export class RecordingWriter {
  readonly #options: WriterOptions;
  /** By ring. */
  readonly #open: (OpenRecording | undefined)[];

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#open = options.rings.map((ring) =>
      ring.owner === '' ? undefined : openOf(options.dir, ring.owner),
    );
  }

  /** Writes everything that is there by now. */
  write(): void {
    this.#options.rings.forEach((ring, index) => {
      ring.take(({ kind, at, bytes }) => {
        if (kind === 'open') this.#begin(index, decoder.decode(bytes), at);
        else if (kind === 'end') this.#end(index);
        else this.#attempt(() => this.#open[index]?.take(kind, at, bytes));
      });
      this.#attempt(() => this.#open[index]?.flush());
    });
  }

  /** Shows of every running call that it is one. */
  touch(nowS: number): void {
    for (const recording of this.#open) this.#attempt(() => recording?.touch(nowS));
  }

  #begin(index: number, name: string, since: number): void {
    const { dir, rings } = this.#options;
    this.#attempt(() => this.#open[index]?.close());
    const recording = new OpenRecording(dir, name, since);
    this.#open[index] = recording;
    const ring = rings[index];
    if (ring !== undefined) ring.owner = `${since} ${name}`;
    this.#attempt(() => recording.begin());
  }

  #end(index: number): void {
    const recording = this.#open[index];
    this.#open[index] = undefined;
    const ring = this.#options.rings[index];
    if (ring !== undefined) ring.owner = '';
    this.#attempt(() => recording?.finish());
  }

  #attempt(part: () => void): void {
    try {
      part();
    } catch (error) {
      this.#options.failed(error);
    }
  }
}
