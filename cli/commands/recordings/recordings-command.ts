/**
 * The commands `recordings`: a new key, and recordings that are encrypted as the files that they were made of. They need the files and the key
 * alone; the service may run or not.
 */
import { createWriteStream, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import { foldersOfCall } from '../../../shared/installation/kept-recordings.ts';
import { reasonOfFile } from '../../../shared/installation/named-files.ts';
import { openSealedFile } from '../../../shared/installation/recording-file.ts';
import { keysOfEnvironment } from '../../../shared/installation/recording-keys.ts';
import { keyBytes, keyOf, type RecordingKeys } from '../../../shared/recording/keys.ts';
import { isSealed, Unreadable, withoutEnding } from '../../../shared/recording/sealed.ts';
import { recordingVariables } from '../../../shared/recording/variables.ts';
import { readArguments, usageError } from '../commands.ts';

export type RecordingsCommand = 'recordings decrypt' | 'recordings key';

export interface RecordingsCommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly randomBytes: (length: number) => Buffer;
  readonly write: (line: string) => void;
  readonly writeError: (line: string) => void;
}

/** Returns the exit status. */
export async function runRecordings(
  name: RecordingsCommand,
  args: readonly string[],
  options: RecordingsCommandOptions,
): Promise<0 | 1 | 2> {
  if (name === 'recordings key') {
    options.write(keyOf(options.randomBytes(keyBytes)).secret);
    return 0;
  }
  const parsed = readArguments(name, args);
  if (!parsed.ok) {
    options.writeError(usageError(name, parsed.error));
    return 2;
  }
  const { values, given } = parsed.value;
  const keys = keysOfEnvironment(options.env);
  const found = await filesOf(given[0] ?? '', options.env[recordingVariables.recordingDir.name]);
  if (!keys.ok || !found.ok) {
    options.writeError(keys.ok ? (found.ok ? '' : found.error) : keys.error);
    return 1;
  }
  const isWhole = await decryptAll(found.value, { ...options, keys: keys.value, to: values.to });
  return isWhole ? 0 : 1;
}

interface Found {
  /** The folder in which the tree of files begins. */
  readonly top: string;
  readonly paths: readonly string[];
}

/** The encrypted files of a path, or of the recording of a call. */
async function filesOf(given: string, dir: string | undefined): Promise<Result<Found, string>> {
  if (existsSync(given) && !statSync(given).isDirectory())
    return isSealed(given) ? ok({ top: dirname(given), paths: [given] }) : fail('the file is not encrypted');
  const folders = existsSync(given) ? [given] : dir === undefined ? [] : await foldersOfCall(dir, given);
  const [top] = folders;
  if (top === undefined)
    return fail(
      dir === undefined
        ? `there is no such file or folder; a call is found where ${recordingVariables.recordingDir.name} is set`
        : `there is no such file or folder, and no recording of such a call in ${recordingVariables.recordingDir.name}`,
    );
  const paths = sealedIn(top);
  return paths.length > 0 ? ok({ top, paths }) : fail('no file there is encrypted');
}

const sealedIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && isSealed(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();

interface DecryptOptions extends RecordingsCommandOptions {
  readonly keys: RecordingKeys | undefined;
  /** Absent: beside the encrypted files. */
  readonly to: string | undefined;
}

/** False where not everything could be read to its end. */
async function decryptAll({ top, paths }: Found, options: DecryptOptions): Promise<boolean> {
  let isWhole = true;
  for (const path of paths) {
    const folder = options.to === undefined ? dirname(path) : join(options.to, relative(top, dirname(path)));
    const target = resolve(folder, withoutEnding(basename(path)));
    const wrong = await decrypt(path, target, options.keys);
    if (wrong === undefined) options.write(target);
    else options.writeError(`${path}: ${wrong}`);
    isWhole &&= wrong === undefined;
  }
  return isWhole;
}

/** Why a file is not there now, or not to its end; undefined where it is. */
async function decrypt(
  path: string,
  target: string,
  keys: RecordingKeys | undefined,
): Promise<string | undefined> {
  if (existsSync(target)) return `${target} is there already`;
  try {
    const file = await openSealedFile(path, keys);
    try {
      mkdirSync(dirname(target), { recursive: true, mode: 0o750 });
      await pipeline(file.read(0, file.size), createWriteStream(target, { flags: 'wx', mode: 0o600 }));
    } finally {
      await file.close();
    }
    return file.isCut ? `it breaks off; what is there stands in ${target}` : undefined;
  } catch (error) {
    const why = error instanceof Unreadable ? error.message : reasonOfFile(error);
    // It may be all that is left.
    return existsSync(target) ? `${why}; what stands before that is in ${target}` : why;
  }
}
