/** What the thread of recordings and its worker say to one another. Audio and lines go through the rings. */

export type ToRecordingThread = { readonly type: 'flush' };

export type FromRecordingThread =
  /** Everything that was there when it was asked is on the disk. */
  | { readonly type: 'flushed' }
  /** Something of a running call could not be written. */
  | { readonly type: 'write.failed'; readonly code: string; readonly call: string }
  /** What became of a finished recording; `code` where something went wrong. */
  | {
      readonly type: 'kept';
      readonly what:
        'finished' | 'uploaded' | 'cut' | 'deleted' | 'deleted.unsent' | 'upload.failed' | 'failed';
      readonly call?: string;
      readonly code?: string;
      /** Recordings that wait for their upload. */
      readonly waiting?: number;
    };
