/** The keys by which recordings are encrypted, as their file has them: one a line, the first encrypts, all of them read. Pure but for digests. */
import { createHash } from 'node:crypto';
import { fail, ok, type Result } from '../base/result.ts';

/** Names the file. */
export const keySetting = 'SVC_RECORDING_KEY_FILE';

export interface RecordingKey {
  /** Made of the key and stands in each file, so that a reader knows which key it needs. */
  readonly id: string;
  /** 32 bytes in base64: a message between processes holds no others. */
  readonly secret: string;
}

/** The first one encrypts. */
export type RecordingKeys = readonly [RecordingKey, ...RecordingKey[]];

export const keyBytes = 32;
const idBytes = 8;
const mostKeys = 32;

export const keyOf = (bytes: Uint8Array): RecordingKey => ({
  id: createHash('sha256')
    .update('recording key ')
    .update(bytes)
    .digest('hex')
    .slice(0, idBytes * 2),
  secret: Buffer.from(bytes).toString('base64'),
});

function bytesOf(line: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(line)) return Buffer.from(line, 'hex');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(line) ? Buffer.from(line, 'base64') : undefined;
}

/** An error names the line and the rule. */
export function readKeys(text: string): Result<RecordingKeys, string> {
  const keys: RecordingKey[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const bytes = bytesOf(line);
    if (bytes?.length !== keyBytes)
      return fail(`line ${index + 1} must be a key of ${keyBytes} bytes, in base64 or as hexadecimal digits`);
    keys.push(keyOf(bytes));
  }
  const [first, ...others] = keys;
  if (first === undefined) return fail('it must hold a key');
  return keys.length > mostKeys ? fail(`it must hold at most ${mostKeys} keys`) : ok([first, ...others]);
}
