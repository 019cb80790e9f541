/** What has to be known of a connection when its worker dies; written down while the connection is in use. */
import type { TailSink } from './frame-tail.ts';

export interface ConnectionJournal extends TailSink {
  /** True from before a write until the kernel has all of it. */
  isWriting: boolean;
}
