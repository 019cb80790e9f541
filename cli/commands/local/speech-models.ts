/**
 * Finds the models of the local speech server in a folder: it may hold the files itself, or folders that do, as the archives
 * unpack. Looks at names only; the engine reads what is in the files. A folder that is nearly a model is an error that
 * names what is missing, so that nobody wonders why another one was taken.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import type { RecognizerFiles, VoiceFiles } from './messages.ts';

export interface Found<Files> {
  /** Name of the folder. */
  readonly name: string;
  readonly files: Files;
}

type Judgement<Files> = Result<Files, string> | undefined;

/** One folder with its entries. */
class Folder {
  readonly path: string;
  readonly name: string;
  readonly #entries: readonly string[];

  constructor(path: string) {
    this.path = path;
    this.name = basename(path);
    this.#entries = readdirSync(path).sort();
  }

  /** The file that fits: of several the one in 8-bit weights, which is faster and nearly as good. */
  file(pattern: RegExp): string | undefined {
    const fitting = this.#entries.filter((entry) => pattern.test(entry));
    const found = fitting.find((entry) => entry.includes('int8')) ?? fitting[0];
    return found === undefined ? undefined : join(this.path, found);
  }

  all(pattern: RegExp): string[] {
    return this.#entries.filter((entry) => pattern.test(entry)).map((entry) => join(this.path, entry));
  }

  has(entry: string): boolean {
    return this.#entries.includes(entry);
  }
}

/** The parts, or the error that names the first that is missing. */
function complete<K extends string>(
  folder: Folder,
  parts: Readonly<Record<K, string | undefined>>,
): Result<Record<K, string>, string> {
  const named: Partial<Record<K, string>> = {};
  for (const name of Object.keys(parts) as K[]) {
    const path = parts[name];
    if (path === undefined) return fail(`there is no ${name} in the folder ${folder.name}`);
    named[name] = path;
  }
  return ok(named as Record<K, string>);
}

function recognizerIn(folder: Folder): Judgement<RecognizerFiles> {
  const tokens = folder.file(/^tokens\.txt$/);
  const encoder = folder.file(/^encoder.*\.onnx$/);
  const joiner = folder.file(/^joiner.*\.onnx$/);
  if (encoder !== undefined || joiner !== undefined) {
    const decoder = folder.file(/^decoder.*\.onnx$/);
    const whole = complete(folder, {
      'encoder*.onnx': encoder,
      'decoder*.onnx': decoder,
      'joiner*.onnx': joiner,
      'tokens.txt': tokens,
    });
    if (!whole.ok) return whole;
    const files = whole.value;
    return ok({
      kind: 'transducer',
      encoder: files['encoder*.onnx'],
      decoder: files['decoder*.onnx'],
      joiner: files['joiner*.onnx'],
      tokens: files['tokens.txt'],
    });
  }
  const model = folder.file(/\.onnx$/);
  if (model === undefined || isVoiceFolder(folder)) return undefined;
  const bytes = readFileSync(model);
  const kind = bytes.includes('cache_last_channel')
    ? 'nemo-ctc'
    : bytes.includes('zipformer2')
      ? 'zipformer2-ctc'
      : undefined;
  if (kind === undefined) return undefined;
  if (tokens === undefined) return fail(`there is no tokens.txt in the folder ${folder.name}`);
  return ok({ kind, model, tokens });
}

const isVoiceFolder = (folder: Folder): boolean =>
  folder.has('voices.bin') || folder.has('espeak-ng-data') || folder.file(/^lexicon.*\.txt$/) !== undefined;

function voiceIn(folder: Folder): Judgement<VoiceFiles> {
  if (!isVoiceFolder(folder)) return undefined;
  const dataDir = folder.has('espeak-ng-data') ? join(folder.path, 'espeak-ng-data') : undefined;
  const base = complete(folder, {
    'model (*.onnx)': folder.file(/\.onnx$/),
    'tokens.txt': folder.file(/^tokens\.txt$/),
  });
  if (!base.ok) return base;
  const common = { model: base.value['model (*.onnx)'], tokens: base.value['tokens.txt'] };
  if (folder.has('voices.bin')) {
    if (dataDir === undefined) return fail(`there is no espeak-ng-data in the folder ${folder.name}`);
    const voices = join(folder.path, 'voices.bin');
    return ok({ kind: 'kokoro', ...common, voices, dataDir, lexicons: folder.all(/^lexicon.*\.txt$/) });
  }
  const lexicon = folder.file(/^lexicon.*\.txt$/);
  return ok({
    kind: 'vits',
    ...common,
    ...(dataDir === undefined ? lexicon !== undefined && { lexicon } : { dataDir }),
  });
}

function foldersOf(path: string): Folder[] {
  const own = new Folder(path);
  const below = readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort()
    .map((name) => new Folder(join(path, name)));
  return [own, ...below];
}

interface Choice<Files> {
  readonly what: string;
  readonly option: string;
  readonly wanted: string | undefined;
  /** Folders that are taken first, in this order, when nothing is asked for. */
  readonly preferred: readonly string[];
  readonly judge: (folder: Folder) => Judgement<Files>;
}

function choose<Files>(
  folders: readonly Folder[],
  { what, option, wanted, preferred, judge }: Choice<Files>,
): Result<Found<Files>, string> {
  if (wanted !== undefined) {
    const folder = folders.find(({ name }) => name === wanted);
    const judged = folder && judge(folder);
    if (folder === undefined || judged === undefined)
      return fail(`${option}: must be the name of a folder with such a model: ${what}`);
    return judged.ok ? ok({ name: folder.name, files: judged.value }) : judged;
  }
  const judged = folders.flatMap((folder) => {
    const files = judge(folder);
    return files === undefined ? [] : [{ name: folder.name, files }];
  });
  const first = preferred.flatMap((name) => judged.filter((one) => one.name === name))[0] ?? judged[0];
  if (first === undefined) return fail(`holds no ${what}`);
  if (judged.length > 1 && !preferred.includes(first.name)) {
    const names = judged.map(({ name }) => name).join(', ');
    return fail(`holds several models of this kind (${names}): ${option} names one`);
  }
  return first.files.ok ? ok({ name: first.name, files: first.files.value }) : first.files;
}

/** The error for a folder that cannot be looked at. */
function problemOf(path: string): string | undefined {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
    ? undefined
    : 'must be a folder that exists';
}

interface Wish {
  readonly name: string | undefined;
  readonly preferred: readonly string[];
}

/** The recogniser in the folder `path`, or what is missing. */
export function findRecognizer(path: string, wish: Wish): Result<Found<RecognizerFiles>, string> {
  const problem = problemOf(path);
  if (problem !== undefined) return fail(problem);
  return choose(foldersOf(path), {
    what: 'streaming recogniser (encoder, decoder, joiner and tokens.txt, or a streaming CTC model)',
    option: '--stt-model',
    wanted: wish.name,
    preferred: wish.preferred,
    judge: recognizerIn,
  });
}

/** The voice in the folder `path`, or what is missing. */
export function findVoice(path: string, wish: Wish): Result<Found<VoiceFiles>, string> {
  const problem = problemOf(path);
  if (problem !== undefined) return fail(problem);
  return choose(foldersOf(path), {
    what: 'voice (Kokoro, or Piper and other VITS voices, with tokens.txt and espeak-ng-data)',
    option: '--tts-model',
    wanted: wish.name,
    preferred: wish.preferred,
    judge: voiceIn,
  });
}
