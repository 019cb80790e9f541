/** What a worker is told about recordings, and the folders in which they stand. */
import { createHash } from 'node:crypto';
import type { RecordingKeys } from './keys.ts';
import type { RecordingLayout } from './ring.ts';

/** A bucket for finished recordings, as a worker gets it. */
export interface UploadTarget {
  readonly url: string;
  readonly region: string;
  readonly keys: UploadKeys | { readonly file: string };
}

export interface UploadKeys {
  readonly keyId: string;
  readonly secret: string;
  /** Of keys that are good for some hours, as roles get them. */
  readonly sessionToken?: string;
}

export interface RecordingSetup {
  readonly dir: string;
  readonly mostBytes: number;
  readonly layout: RecordingLayout;
  readonly upload?: UploadTarget;
  /** Absent: files are not encrypted. */
  readonly keys?: RecordingKeys;
}

/** Below the folder of recordings: those of running calls, those that ended and are being put together, those to upload, and those that stay. */
export const recordingFolders = {
  open: 'open',
  ended: 'ended',
  work: 'work',
  outbox: 'outbox',
  kept: 'kept',
} as const;

/** Names in a finished recording, without the ending of those that are encrypted. */
export const recordingFiles = {
  wav: 'audio.wav',
  opus: 'audio.opus',
  waveform: 'audio.waveform',
  transcript: 'call.jsonl',
  facts: 'facts.jsonl.gz',
} as const;

/** Of a waveform: bytes of each side, the caller first. */
export const levelsOfSide = 2_000;

/** Below the folder of those that stay: a folder for each tenant, and in it what stands there of the operator's own agents. */
export const tenantsFolder = 'tenants';

/** The name of a call's folder: its id, or a text made of an id that is no name of a file. The tenant stands in front: two tenants may have the same id. */
export function recordingName(callId: string, tenant?: string): string {
  const name = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(callId)
    ? callId
    : createHash('sha256').update(callId).digest('hex').slice(0, 32);
  return tenant === undefined ? name : `${tenant}~${name}`;
}

/** Whose recording has this name, and of which call it is. */
export function readRecordingName(name: string): { readonly tenant?: string; readonly call: string } {
  const at = name.indexOf('~');
  return at < 0 ? { call: name } : { tenant: name.slice(0, at), call: name.slice(at + 1) };
}
