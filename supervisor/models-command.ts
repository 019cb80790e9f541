/** The commands `models list` and `models pull`: which models are there, and fetching one. */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../shared/runtime/clock.ts';
import { downloadModel, sha256Of, sizeOf } from './model-download.ts';
import { models, type ModelName, type ModelRow } from './model-registry.ts';
import { modelsFolder } from './turn-model.ts';

export const MODELS_USAGE = `usage: svc-supervisor models list                          which models are there
       svc-supervisor models pull [smart-turn] [--from URL]  fetch one; URL: a mirror of its source

They lie in SVC_MODELS_DIR. A running service takes a new model at its next start.`;

export interface ModelsCommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly write: (line: string) => void;
  readonly writeError: (line: string) => void;
  /** Shows a line in the place of the one before; absent where there is no terminal. */
  readonly redraw?: (line: string) => void;
}

const barWidth = 30;
const mebibytes = (bytes: number): string => (bytes / 1_048_576).toFixed(1);

/** Returns the exit status. */
export async function runModels(args: readonly string[], options: ModelsCommandOptions): Promise<0 | 1> {
  const [command, ...rest] = args;
  if (command === '--help') {
    options.write(MODELS_USAGE);
    return 0;
  }
  if (command === 'list' && rest.length === 0) return await list(options);
  const fromAt = rest.indexOf('--from');
  const source = fromAt < 0 ? undefined : rest[fromAt + 1];
  const names = fromAt < 0 ? rest : rest.toSpliced(fromAt, 2);
  const name = names[0] ?? 'smart-turn';
  const isComplete = names.length <= 1 && (fromAt < 0 || source !== undefined);
  if (command !== 'pull' || !isComplete || !isModelName(name)) {
    options.writeError(MODELS_USAGE);
    return 1;
  }
  return await pull(name, source?.replace(/\/+$/, ''), options);
}

const isModelName = (name: string): name is ModelName => Object.hasOwn(models, name);

async function stateOf(model: ModelRow, path: string): Promise<'there' | 'not there' | 'damaged'> {
  if (sizeOf(path) === 0) return 'not there';
  return sizeOf(path) === model.bytes && (await sha256Of(path)) === model.sha256 ? 'there' : 'damaged';
}

async function list({ env, write }: ModelsCommandOptions): Promise<0> {
  const folder = modelsFolder(env['SVC_MODELS_DIR'], env);
  write(`folder: ${folder}`);
  for (const [name, model] of Object.entries(models)) {
    const state = await stateOf(model, join(folder, model.file));
    const { version, bytes, licence, use, file } = model;
    write(`${name} ${version}  ${state}  ${mebibytes(bytes)} MiB  ${licence}  ${file}: ${use}`);
  }
  return 0;
}

async function pull(
  name: ModelName,
  source: string | undefined,
  options: ModelsCommandOptions,
): Promise<0 | 1> {
  const model = models[name];
  const folder = modelsFolder(options.env['SVC_MODELS_DIR'], options.env);
  const path = join(folder, model.file);
  mkdirSync(folder, { recursive: true });
  const unlock = lock(`${path}.lock`);
  if (unlock === undefined) {
    options.writeError(`another process fetches this model; if not, delete ${path}.lock`);
    return 1;
  }
  try {
    if ((await stateOf(model, path)) === 'there') {
      options.write(`${name} ${model.version} is there: ${path}`);
      return 0;
    }
    const result = await downloadModel(model, path, {
      clock: options.clock,
      progress: newProgress(model.bytes, options),
      ...(source !== undefined && { source }),
    });
    if (!result.ok) {
      options.writeError(`${name}: ${result.error}`);
      return 1;
    }
    options.write(`${name} ${model.version} (${model.licence}) is there: ${path}`);
    return 0;
  } finally {
    unlock();
  }
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

/** Takes the lock; undefined when a process that lives has it. The returned function gives it back. */
function lock(path: string): (() => void) | undefined {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      const file = openSync(path, 'wx');
      writeSync(file, String(process.pid));
      closeSync(file);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      if (isAlive(Number(readFileSync(path, 'utf8')))) return undefined;
      rmSync(path, { force: true });
    }
  }
  return undefined;
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
