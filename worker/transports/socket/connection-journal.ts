/** What has to be known of a connection when its worker dies; written down while the connection is in use. */
import type { TailSink } from './frame-tail.ts';

export interface ConnectionJournal extends TailSink {
  /** True while the kernel has not taken all that it was given. */
  isWriting: boolean;
}
