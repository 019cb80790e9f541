/**
 * The core, broken on purpose: each mutant is one exact piece of its source replaced by another. The simulation or a scripted
 * conversation must notice every one of them. A pattern that is gone from the source is an error: its mutant would test nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Core } from '../../support/core/core.ts';
import { announcementMutants } from './mutants-announcement.ts';
import { botMutants } from './mutants-bot.ts';
import { callerMutants } from './mutants-caller.ts';
import { commandMutants } from './mutants-commands.ts';
import { toolMutants } from './mutants-tools.ts';
import type { Mutant } from './mutant.ts';

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
const places = new Map(
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => [
    basename(path),
    join(folder, path),
  ]),
);

/** The source of a file of the core with the mutant in it. Throws when its pattern is not there exactly once. */
function mutated({ name, file, from, to }: Mutant): string {
  const source = readFileSync(places.get(file) ?? file, 'utf8');
  const times = source.split(from).length - 1;
  if (times !== 1) throw new Error(`the pattern of "${name}" occurs ${times} times in ${file}`);
  return source.replace(from, () => to);
}

/** The core with the mutant in it, or the core as it is. */
export async function coreWith(change: Mutant | undefined): Promise<Core> {
  const contents = change === undefined ? undefined : mutated(change);
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
