/** The commands `models list` and `models pull`: which models are there, and fetching one. */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { takeLock } from '../../../shared/runtime/file-lock.ts';
import { readArguments, usageError } from '../commands.ts';
import { downloadFile, sha256Of, sizeOf } from './model-download.ts';
import {
  models as pinnedModels,
  type ModelRow,
  type PinnedFile,
} from '../../../shared/installation/model-registry.ts';
import { makeFolder, reasonOfFile } from '../../../shared/installation/named-files.ts';
import { modelsFolder } from '../../../shared/installation/turn-model.ts';

export interface ModelsCommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly write: (line: string) => void;
  readonly writeError: (line: string) => void;
  /** Takes the place of the registry. */
  readonly models?: Readonly<Record<string, ModelRow>>;
  /** Shows a line in the place of the one before; absent where there is no terminal. */
  readonly redraw?: (line: string) => void;
}

const barWidth = 30;
const mebibytes = (bytes: number): string => (bytes / 1_048_576).toFixed(1);

/** Returns the exit status. */
export async function runModels(args: readonly string[], options: ModelsCommandOptions): Promise<0 | 1 | 2> {
  try {
    return await run(args, options);
  } catch (error) {
    // The system refuses it: a folder of another user, a full disk.
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    options.writeError(
      `SVC_MODELS_DIR: ${folderOf(options)} cannot be used: ${reasonOfFile(error)} (${String(Reflect.get(error, 'code'))})`,
    );
    return 1;
  }
}

async function run(args: readonly string[], options: ModelsCommandOptions): Promise<0 | 1 | 2> {
  const [command, ...rest] = args;
  if (command === 'list' && rest.length === 0) return await list(options);
  if (command !== 'pull') return misuse('models: must be followed by list or pull', options);
  const parsed = readArguments('models pull', rest);
  if (!parsed.ok) return misuse(parsed.error, options);
  const { values, given } = parsed.value;
  const [name = 'smart-turn'] = given;
  const models: Readonly<Record<string, ModelRow>> = options.models ?? pinnedModels;
  const model = Object.hasOwn(models, name) ? models[name] : undefined;
  if (model === undefined) return misuse(`NAME must be one of ${Object.keys(models).join(', ')}`, options);
  return await pull(name, model, {
    folder: folderOf(options),
    source: withoutSlash(values.from ?? model.source),
    options,
  });
}

function misuse(error: string, { writeError }: ModelsCommandOptions): 2 {
  writeError(usageError('models pull', error));
  return 2;
}

const withoutSlash = (source: string): string => source.replace(/\/+$/, '');
const folderOf = ({ env }: ModelsCommandOptions): string => modelsFolder(env['SVC_MODELS_DIR'], env);

type State = 'there' | 'not there' | 'damaged';

/** Names the archive that a folder was unpacked from, by its SHA-256. */
const marker = '.unpacked-from';

async function stateOfFile({ bytes, sha256 }: PinnedFile, path: string): Promise<State> {
  if (sizeOf(path) === 0) return 'not there';
  return sizeOf(path) === bytes && (await sha256Of(path)) === sha256 ? 'there' : 'damaged';
}

async function stateOf(model: ModelRow, folder: string): Promise<State> {
  if (model.unpacksTo !== undefined) {
    const path = join(folder, model.unpacksTo, marker);
    if (sizeOf(path) === 0) return 'not there';
    return readFileSync(path, 'utf8') === model.files[0]?.sha256 ? 'there' : 'damaged';
  }
  const states = await Promise.all(model.files.map((file) => stateOfFile(file, join(folder, file.file))));
  if (states.every((state) => state === 'there')) return 'there';
  return states.every((state) => state === 'not there') ? 'not there' : 'damaged';
}

const bytesOf = (model: ModelRow): number => model.files.reduce((sum, { bytes }) => sum + bytes, 0);
/** Where the model lies below the folder of models: its folder, or its one file. */
const placeOf = (model: ModelRow): string => {
  const file = model.files[0]?.file ?? '';
  return model.unpacksTo ?? (dirname(file) === '.' ? file : dirname(file));
};

async function list(options: ModelsCommandOptions): Promise<0> {
  const { write, models = pinnedModels } = options;
  const folder = folderOf(options);
  // Not every Node tells a file in the place of the folder from a model that is not there.
  if (existsSync(folder)) readdirSync(folder);
  write(`folder: ${folder}`);
  for (const [name, model] of Object.entries<ModelRow>(models)) {
    const state = await stateOf(model, folder);
    const { version, licence, use } = model;
    const size = `${mebibytes(bytesOf(model))} MiB`;
    write(`${name} ${version}  ${state}  ${size}  ${licence}  ${placeOf(model)}: ${use}`);
  }
  return 0;
}

async function pull(name: string, model: ModelRow, fetching: Fetching): Promise<0 | 1> {
  const { folder, options } = fetching;
  const path = join(folder, placeOf(model));
  makeFolder(folder, 0o777);
  const unlock = takeLock(`${path}.lock`);
  if (unlock === undefined) {
    options.writeError(`another process fetches this model: it has locked ${path}.lock`);
    return 1;
  }
  try {
    if ((await stateOf(model, folder)) === 'there') {
      options.write(`${name} ${model.version} is there: ${path}`);
      return 0;
    }
    options.write(`${name} ${model.version}, licence: ${model.licence}`);
    const result = await fetchAll(model, fetching);
    if (!result.ok) {
      options.writeError(`${name}: ${result.error}`);
      return 1;
    }
    options.write(`${name} ${model.version} is there: ${path}`);
    return 0;
  } finally {
    rmSync(`${path}.lock`, { force: true });
    unlock();
  }
}

interface Fetching {
  readonly folder: string;
  readonly source: string;
  readonly options: ModelsCommandOptions;
}

/** Fetches the files that are not there whole, and unpacks what is an archive. */
async function fetchAll(
  model: ModelRow,
  { folder, source, options }: Fetching,
): Promise<Result<void, string>> {
  const progress = newProgress(bytesOf(model), options);
  let before = 0;
  for (const file of model.files) {
    const path = join(folder, file.file);
    const done = before;
    if ((await stateOfFile(file, path)) !== 'there') {
      const result = await downloadFile(file, path, {
        clock: options.clock,
        source,
        progress: (have) => progress(done + have),
      });
      if (!result.ok) return result;
    }
    before += file.bytes;
  }
  const [archive] = model.files;
  return model.unpacksTo === undefined || archive === undefined
    ? ok(undefined)
    : unpackInto(archive, { folder, top: model.unpacksTo, options });
}

/** Puts the folder in its place in one step, so that a half one is never seen under its name. */
async function unpackInto(
  archive: PinnedFile,
  { folder, top, options }: { folder: string; top: string; options: ModelsCommandOptions },
): Promise<Result<void, string>> {
  const [packed, target] = [join(folder, archive.file), join(folder, top)];
  const part = `${target}.part`;
  options.write('unpacking');
  rmSync(part, { recursive: true, force: true });
  try {
    // A supervisor that starts does without the packages behind it.
    const { unpackArchive } = await import('./unpack.ts');
    unpackArchive(packed, part, { top });
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    if (error instanceof Error) return fail(error.message);
    throw error;
  }
  writeFileSync(join(part, marker), archive.sha256);
  rmSync(target, { recursive: true, force: true });
  renameSync(part, target);
  rmSync(packed);
  return ok(undefined);
}

/** A bar on a terminal; elsewhere a line for every tenth. */
function newProgress(bytes: number, { redraw, write }: ModelsCommandOptions): (have: number) => void {
  let shown = -1;
  return (have) => {
    const steps = redraw === undefined ? 10 : 100;
    const step = Math.floor((have / bytes) * steps);
    if (step === shown) return;
    shown = step;
    const percent = `${String(Math.floor((have / bytes) * 100)).padStart(3)} %`;
    const amount = `${mebibytes(have)} of ${mebibytes(bytes)} MiB`;
    const full = Math.floor((have / bytes) * barWidth);
    if (redraw === undefined) write(`${percent}  ${amount}`);
    else redraw(`[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${percent}  ${amount}`);
  };
}
