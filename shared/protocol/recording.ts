/** What a worker is told about recordings, and the folders in which they stand. */
import type { RecordingLayout } from './recording-ring.ts';

/** A bucket for finished recordings, as a worker gets it. */
export interface UploadTarget {
  readonly url: string;
  readonly region: string;
  readonly keyId: string;
  readonly secret: string;
}

export interface RecordingSetup {
  readonly dir: string;
  readonly mostBytes: number;
  readonly layout: RecordingLayout;
  readonly upload?: UploadTarget;
}

/** Below the folder of recordings: those of running calls, those that ended and are being put together, those to upload, and those that stay. */
export const recordingFolders = {
  open: 'open',
  ended: 'ended',
  work: 'work',
  outbox: 'outbox',
  kept: 'kept',
} as const;
