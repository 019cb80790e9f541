/** What recordings of calls need of the supervisor: a folder that can be written to, and memory that outlives the workers. */
import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { assert } from '../../shared/base/assert.ts';
import { present } from '../../shared/base/present.ts';
import { readKeyFile } from '../../shared/installation/recording-keys.ts';
import type { RecordingKeys } from '../../shared/recording/keys.ts';
import { recordingVariables, type UploadSettings } from '../../shared/recording/variables.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { MailboxLayout } from '../../shared/protocol/mailbox.ts';
import type { RecordingSetup, UploadTarget } from '../../shared/recording/layout.ts';
import { recordingBytes, recordingLayout } from '../../shared/recording/ring.ts';
import { createSharedMemory } from '../../shared/runtime/shm.ts';
import { makeFolder, reasonOfFile } from '../../shared/installation/named-files.ts';

/** The keys in force; undefined where nothing is encrypted. */
export function recordingKeys({
  recording: { keyFile },
}: Pick<ServerSettings, 'recording'>): RecordingKeys | undefined {
  const read = keyFile === undefined ? undefined : readKeyFile(keyFile);
  assert(read?.ok !== false, 'the file of keys was read at the start');
  return read?.value;
}

/** Why the keys of recordings cannot be used; undefined when they can, or there are none. */
export function whyNoKeys({ recording: { keyFile } }: Pick<ServerSettings, 'recording'>): string | undefined {
  const read = keyFile === undefined ? undefined : readKeyFile(keyFile);
  return read?.ok === false ? read.error : undefined;
}

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
  settings: ServerSettings,
  { workers, slotsPerWorker }: MailboxLayout,
): RecordingMemory {
  const { dir = '', mostBytes, upload } = settings.recording;
  const layout = recordingLayout(workers * slotsPerWorker);
  return {
    fd: createSharedMemory('svc-recordings', recordingBytes(layout)),
    setup: {
      dir: resolve(dir),
      mostBytes,
      layout,
      ...present({
        keys: recordingKeys(settings),
        upload: upload && { url: upload.url, region: upload.region, keys: keysOf(upload) },
      }),
    },
  };
}

const keysOf = ({ keys }: UploadSettings): UploadTarget['keys'] =>
  'file' in keys
    ? { file: resolve(keys.file) }
    : { keyId: keys.keyId.reveal(), secret: keys.secret.reveal() };
