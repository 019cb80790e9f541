/**
 * The agent of a single call: its file's definition with what the call has otherwise. Read by the same declarations as the file, so that every
 * rule and every message is the same; what is wrong is left out, told by its key and its rule, and the rest holds.
 */
import type { AgentDefinition } from '../config/agent-file.ts';
import { readCallSections, wholeSections, type CallSections, type LoadOptions } from '../config/load.ts';
import { nowhere, placeOf, problemsAt, withValue } from '../config/key-place.ts';
import { ProblemList, type KeyPath, type Problem } from '../config/problem.ts';
import { overridable } from './overridable.ts';
import { fullPath, isAllowed, mostOverrides, type Overrides, type OverridesDefinition } from './overrides.ts';

/** What the environment and the packages of the file are read with; no file is. */
export type VaryOptions = Pick<LoadOptions, 'env' | 'packages' | 'leftOut'>;

export interface Varied {
  /** The same one where nothing is otherwise. */
  readonly definition: AgentDefinition;
  /** What of it holds. */
  readonly applied: Overrides;
  /** Key and rule of everything else. */
  readonly problems: readonly string[];
}

interface Entry {
  readonly name: string;
  readonly value: unknown;
  /** Its place in the tables. */
  readonly at: KeyPath;
}

const shownName = (name: string): string =>
  /^[\w.*-]{1,100}$/.test(name) ? `overrides.${name}` : 'a name in overrides';

/** `also` names what this call may have beside what the file allows: what the file itself says of a node of its flow. */
export function varyAgent(
  base: AgentDefinition,
  given: Overrides,
  options: VaryOptions,
  also: readonly string[] = [],
): Varied {
  const rules = base.overrides && { ...base.overrides, allow: [...base.overrides.allow, ...also] };
  const names = Object.keys(given);
  if (names.length === 0) return { definition: base, applied: {}, problems: [] };
  if (rules === undefined)
    return { definition: base, applied: {}, problems: ['overrides are not allowed by the agent file'] };
  const problems: string[] = [];
  if (names.length > mostOverrides)
    problems.push(`overrides must have at most ${mostOverrides} entries; the rest was left out`);
  let entries = names.slice(0, mostOverrides).flatMap((name): Entry[] => {
    const rule = ruleBrokenBy(fullPath(name), rules);
    if (rule !== undefined) problems.push(`${shownName(name)} ${rule}`);
    return rule === undefined
      ? [{ name, value: given[name], at: placeOf(fullPath(name), rules.tables) }]
      : [];
  });
  // Each round leaves out one of them at least.
  while (entries.length > 0) {
    const read = readWith(entries, rules, options);
    if ('sections' in read)
      return { definition: changed(base, read.sections), applied: appliedOf(entries), problems };
    const wrong = wrongOnes(entries, read.problems);
    problems.push(...wrong.flatMap((one) => toldOf(one, read.problems)));
    entries = entries.filter((entry) => !wrong.includes(entry));
  }
  return { definition: base, applied: {}, problems };
}

function ruleBrokenBy(full: string, { allow }: OverridesDefinition): string | undefined {
  if (!overridable.has(full)) return 'is no key that a call may have otherwise';
  return isAllowed(full, allow) ? undefined : 'is not allowed by the agent file';
}

const appliedOf = (entries: readonly Entry[]): Overrides =>
  Object.fromEntries(entries.map(({ name, value }) => [name, value]));

type Read = { readonly sections: CallSections } | { readonly problems: readonly Problem[] };

function readWith(entries: readonly Entry[], rules: OverridesDefinition, options: VaryOptions): Read {
  const problems = new ProblemList(nowhere);
  const tree = entries.reduce((tables, { at, value }) => withValue(tables, at, value), rules.tables);
  const sections = readCallSections(tree, {
    problems,
    options: { ...options, readFile: () => undefined, readBytes: () => undefined, requireSecrets: true },
    provided: rules.provided,
  });
  const errors = problems.sorted().filter(({ severity }) => severity === 'error');
  const whole = errors.length > 0 ? undefined : wholeSections(sections);
  return whole === undefined ? { problems: errors } : { sections: whole };
}

const toldOf = (entry: Entry, problems: readonly Problem[]): readonly string[] => {
  const own = problemsAt(entry.at, problems);
  const name = shownName(entry.name);
  if (own.length > 0) return own.map(({ path, message }) => `${name}${message.slice(path.length)}`);
  const [first] = problems;
  return [`${name} does not fit the rest${first === undefined ? '' : `: ${first.message}`}`];
};

/** Those that are at fault: where a rule between keys is broken, those of its table, else all. */
function wrongOnes(entries: readonly Entry[], problems: readonly Problem[]): readonly Entry[] {
  const own = entries.filter((entry) => problemsAt(entry.at, problems).length > 0);
  if (own.length > 0) return own;
  const tables = problems.map(({ path }) => path.split('.')[0]);
  const near = entries.filter(({ at }) => tables.includes(String(at[0])));
  return near.length > 0 ? near : entries;
}

/** The recording of the last resort is not read again. */
function changed(base: AgentDefinition, sections: CallSections): AgentDefinition {
  const { announcement } = base.agent;
  const agent = announcement.recording === undefined ? sections.agent : { ...sections.agent, announcement };
  return { ...base, ...sections, agent };
}
