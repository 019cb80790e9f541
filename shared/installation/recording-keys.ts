/** Reads the file of keys by which recordings are encrypted. */
import { fail, ok, type Result } from '../base/result.ts';
import { keySetting, readKeys, type RecordingKeys } from '../recording/keys.ts';
import { readText, whyUnreadable } from './named-files.ts';

/** An error names the setting and the rule, and nothing of the file. */
export function readKeyFile(path: string): Result<RecordingKeys, string> {
  const text = readText(path);
  if (text === undefined)
    return fail(`${keySetting} must name a file that can be read: ${whyUnreadable(path)}`);
  const keys = readKeys(text);
  return keys.ok ? keys : fail(`${keySetting}: its file is not valid: ${keys.error}`);
}

/** For a command that works without the service. */
export const keysOfEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
): Result<RecordingKeys | undefined, string> => {
  const path = env[keySetting];
  return path === undefined || path === '' ? ok(undefined) : readKeyFile(path);
};
