/** Where a key stands in the tables of an agent file, and what is wrong there: for texts that are no file. */
import { showPath, type KeyPath, type Places, type Problem } from './problem.ts';
import { packageTable } from './stages/package.ts';
import { findProvider } from './stages/providers.ts';
import { llmKeys, sttKeys, ttsKeys } from './stages/stage-keys.ts';
import { isTable } from './table.ts';

/** Tables of the file as they were read. */
type Tables = Readonly<Record<string, unknown>>;

/** There is no text in which anything would stand. */
export const nowhere: Places = {
  find: () => ({ line: 1, column: 1 }),
  findWithin: () => ({ line: 1, column: 1 }),
};

const stageKeys = { stt: sttKeys, llm: llmKeys, tts: ttsKeys } as const;
type Stage = keyof typeof stageKeys;
const isStage = (name: string | undefined): name is Stage =>
  name !== undefined && Object.hasOwn(stageKeys, name);

/** Options of a provider stand in a table of its own, under the name that the file has for it. */
export function placeOf(full: string, tables: Tables): KeyPath {
  const path = full.split('.');
  const [stage, key] = path;
  if (!isStage(stage) || key === undefined || path.length > 2 || Object.hasOwn(stageKeys[stage].shape, key))
    return path;
  const table = tables[stage];
  const provider = isTable(table) ? String(table['provider']) : '';
  const own = isTable(table) ? Object.keys(table) : [];
  const isOptions = (name: string): boolean =>
    name === packageTable ||
    (findProvider(stage, name) !== undefined && isTable(Reflect.get(table ?? {}, name)));
  return [stage, own.find(isOptions) ?? findProvider(stage, provider)?.name ?? packageTable, key];
}

export function withValue(table: Tables, [key = '', ...rest]: KeyPath, value: unknown): Tables {
  const inner = table[key];
  return { ...table, [key]: rest.length === 0 ? value : withValue(isTable(inner) ? inner : {}, rest, value) };
}

/** Problems at the place itself, in it, or around it. */
export const problemsAt = (at: KeyPath, problems: readonly Problem[]): readonly Problem[] => {
  const shown = showPath(at);
  return problems.filter(
    ({ path }) => path === shown || path.startsWith(`${shown}.`) || path.startsWith(`${shown}[`),
  );
};
