/**
 * The core, broken on purpose: each mutant changes one place in its syntax tree. The simulation or a scripted conversation must notice
 * every one of them. A place that is not there, or not alone, is an error: its mutant would test nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import ts from 'typescript';
import type { Core } from '../../support/core/core.ts';
import { announcementMutants } from './mutants-announcement.ts';
import { botMutants } from './mutants-bot.ts';
import { callerMutants } from './mutants-caller.ts';
import { commandMutants } from './mutants-commands.ts';
import { toolMutants } from './mutants-tools.ts';
import { mutated, type Mutant } from './mutant.ts';

export const mutants: readonly Mutant[] = [
  ...callerMutants,
  ...botMutants,
  ...announcementMutants,
  ...toolMutants,
  ...commandMutants,
];

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = `${root}worker/core/`;

/** Where each file of the core lies; its name is there once. */
const paths = new Map(
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => [
    basename(path),
    join(folder, path),
  ]),
);

const sources = new Map<string, ts.SourceFile>();

function sourceOf(file: string): ts.SourceFile {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(paths.get(file) ?? file, 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  sources.set(file, source);
  return source;
}

/** The source of a file of the core with the mutant in it. Throws where its place is not there, or not the only one. */
export const sourceWith = (change: Mutant): string => mutated(sourceOf(change.file), change);

/** The core with the mutant in it, or the core as it is. */
export async function coreWith(change: Mutant | undefined): Promise<Core> {
  const contents = change === undefined ? undefined : sourceWith(change);
  const result = await build({
    stdin: {
      contents: `export { step } from './call.ts'; export { nextDeadline } from './timers.ts'; export { newCall } from './state.ts';`,
      resolveDir: folder,
      loader: 'ts',
    },
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
    plugins: [
      {
        name: 'mutant',
        setup: (hooks) =>
          hooks.onLoad({ filter: /worker[\\/]core[\\/]/ }, ({ path }) =>
            contents !== undefined && basename(path) === change?.file
              ? { contents, loader: 'ts' }
              : undefined,
          ),
      },
    ],
  });
  const code = Buffer.from(result.outputFiles[0]!.contents).toString('base64');
  return (await import(/* @vite-ignore */ `data:text/javascript;base64,${code}`)) as Core;
}
