/** The server variables that say where recordings of calls are kept, and where they go. Part of the list in `server.ts`. */
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { keySetting } from './keys.ts';
import { isLoopbackHost } from '../net/loopback.ts';
import type { Sensitive } from '../config/sensitive.ts';
import type { Reader } from '../config/server/environment.ts';
import {
  countVariable,
  optionalPathVariable,
  readVariable,
  secretVariable,
  textLike,
} from '../config/server/variables.ts';

/** A bucket that recordings are uploaded to. */
export interface UploadSettings {
  /** Bucket, and the beginning of names in it: `https://s3.example/bucket/calls`. */
  readonly url: string;
  readonly region: string;
  readonly keys:
    | { readonly keyId: Sensitive<string>; readonly secret: Sensitive<string> }
    /** Read anew for each recording. */
    | { readonly file: string };
}

export interface RecordingSettings {
  readonly recording: {
    /** Absent: agents that record cannot be served. */
    readonly dir?: string;
    readonly mostBytes: number;
    /** Of the keys by which they are encrypted; absent: they are not. */
    readonly keyFile?: string;
    /** Absent: recordings stay on this machine. */
    readonly upload?: UploadSettings;
  };
}

const megabyte = 1_000_000;
const regionForm = 'letters, digits and -, at most 64';
const urlForm = 'an https address with a bucket, such as https://s3.example/bucket/calls; http on loopback';

function readUploadUrl(value: string): Result<string, string> {
  if (value.length > 2048 || !URL.canParse(value)) return fail(`must be ${urlForm}`);
  const { protocol, hostname, pathname, username, password, search, hash } = new URL(value);
  if (username !== '' || password !== '') return fail('must hold neither a user nor a password');
  const isPrivate = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
  if (!isPrivate || pathname === '/' || search !== '' || hash !== '') return fail(`must be ${urlForm}`);
  return ok(value.replace(/\/+$/, ''));
}

export const recordingVariables = {
  recordingDir: optionalPathVariable(
    'SVC_RECORDING_DIR',
    'Folder for the recordings of calls; agents with [recording] need it.',
  ),
  recordingMaxMb: countVariable(
    'SVC_RECORDING_MAX_MB',
    'Most megabytes of recordings in that folder; beyond it the oldest are deleted.',
    { least: 10, most: 100_000_000, fallback: 10_000 },
  ),
  recordingKeyFile: optionalPathVariable(
    keySetting,
    'Keys by which recordings are encrypted: a line each, 32 bytes in base64 or hexadecimal. The first encrypts, the others read older recordings; unset: nothing is encrypted.',
  ),
  recordingUploadUrl: readVariable<string | undefined>(
    'SVC_RECORDING_UPLOAD_URL',
    'S3-compatible bucket that finished recordings are moved to.',
    { form: urlForm, defaultText: 'unset: they stay', read: readUploadUrl, fallback: undefined },
  ),
  recordingUploadRegion: readVariable<string>(
    'SVC_RECORDING_UPLOAD_REGION',
    'Region that uploads are signed for.',
    {
      form: regionForm,
      defaultText: 'us-east-1',
      read: textLike(regionForm, (value) => /^[A-Za-z0-9-]{1,64}$/.test(value)),
      fallback: 'us-east-1',
    },
  ),
  recordingUploadKeyId: secretVariable('SVC_RECORDING_UPLOAD_KEY_ID', 'Access key of the bucket.'),
  recordingUploadSecret: secretVariable('SVC_RECORDING_UPLOAD_SECRET', 'Secret of that key.'),
  recordingUploadKeysFile: optionalPathVariable(
    'SVC_RECORDING_UPLOAD_KEYS_FILE',
    'Keys that change, such as those of a role, instead of both: JSON as `aws configure export-credentials` prints it, read anew for each recording.',
  ),
} as const;

export function takeRecording(reader: Reader): RecordingSettings {
  const taken = reader.takeAll(recordingVariables);
  const { recordingUploadUrl: url, recordingUploadRegion: region } = taken;
  const { recordingUploadKeyId: keyId, recordingUploadSecret: secret, recordingUploadKeysFile: file } = taken;
  const base = {
    mostBytes: taken.recordingMaxMb * megabyte,
    ...present({ dir: taken.recordingDir, keyFile: taken.recordingKeyFile }),
  };
  if (url === undefined) return { recording: base };
  const variables = recordingVariables;
  const { recordingUploadKeyId: id, recordingUploadSecret: key, recordingUploadKeysFile: keys } = variables;
  if (file !== undefined) {
    if (keyId !== undefined || secret !== undefined)
      reader.refuse(keys, `must not be set beside ${id.name} and ${key.name}`);
    return { recording: { ...base, upload: { url, region, keys: { file } } } };
  }
  if (keyId === undefined || secret === undefined) {
    reader.refuse(
      variables.recordingUploadUrl,
      `needs ${id.name} and ${key.name} beside it, or ${keys.name}`,
    );
    return { recording: base };
  }
  return { recording: { ...base, upload: { url, region, keys: { keyId, secret } } } };
}
