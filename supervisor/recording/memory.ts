/** What recordings of calls need of the supervisor: a folder that can be written to, and memory that outlives the workers. */
import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { recordingVariables, type UploadSettings } from '../../shared/recording/variables.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { MailboxLayout } from '../../shared/protocol/mailbox.ts';
import type { RecordingSetup, UploadTarget } from '../../shared/recording/layout.ts';
import { recordingBytes, recordingLayout } from '../../shared/recording/ring.ts';
import { createSharedMemory } from '../../shared/runtime/shm.ts';
import { makeFolder, reasonOfFile } from '../../shared/installation/named-files.ts';

/** Why calls cannot be recorded here; undefined when they can. The folder is made when it is not there. */
export function whyNotRecording({ recording: { dir } }: ServerSettings): string | undefined {
  const { name } = recordingVariables.recordingDir;
  if (dir === undefined) return `${name} must be set: the agent file has [recording]`;
  try {
    makeFolder(dir, 0o750);
    accessSync(dir, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `${name} must name a folder that can be written to: ${reasonOfFile(error)}`;
  }
}

export interface RecordingMemory {
  /** Descriptor that workers inherit. */
  readonly fd: number;
  readonly setup: RecordingSetup;
}

export function newRecordingMemory(
  { recording: { dir = '', mostBytes, upload } }: ServerSettings,
  { workers, slotsPerWorker }: MailboxLayout,
): RecordingMemory {
  const layout = recordingLayout(workers * slotsPerWorker);
  return {
    fd: createSharedMemory('svc-recordings', recordingBytes(layout)),
    setup: {
      dir: resolve(dir),
      mostBytes,
      layout,
      ...(upload !== undefined && {
        upload: { url: upload.url, region: upload.region, keys: keysOf(upload) },
      }),
    },
  };
}

const keysOf = ({ keys }: UploadSettings): UploadTarget['keys'] =>
  'file' in keys
    ? { file: resolve(keys.file) }
    : { keyId: keys.keyId.reveal(), secret: keys.secret.reveal() };
