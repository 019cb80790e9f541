/**
 * Providers that come from packages: `provider = "npm:@acme/our-stt"`. This file says what a package exports for a stage, how it is looked at before
 * anybody trusts its shape, and how its options are read. Pure: packages are found and loaded elsewhere (decision 0040).
 */
import { fail, ok, type Result } from '../../base/result.ts';
import { isTable } from '../table.ts';
import { readToml } from '../toml.ts';
import type { StageName, TableSite, VoiceRules } from './declaration.ts';

export type PackageProvider = `npm:${string}`;

/** The version of the contract that a package of this service's time is written for. */
const stageContract = 1;

/** The options table of every package: `[stt.options]`. */
export const packageTable = 'options';

/** Why options are refused: the key that is wrong, and the rule that it breaks, without its value. */
export interface OptionsIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type OptionsOutcome =
  { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly OptionsIssue[] };

/** What a package exports for a stage, as far as the reading of an agent file needs it. */
export interface PackageStage {
  /** Reads the options table; an absent table is `{}`. */
  readonly validate: (table: unknown) => unknown;
  readonly apiKey: 'required' | 'optional';
  /** What a voice of the package asks of `[tts]`; absent for other stages. */
  readonly voice?: VoiceRules;
  /** Opens the stage; its caller knows the type. */
  readonly open: unknown;
}

/** A loaded module, or the rule of `provider` that it breaks: `names a package that is not installed`. */
export type LoadedPackage = Result<object, string>;

/** The packages that an agent file names, by `npm:NAME`. */
export type Packages = ReadonlyMap<string, LoadedPackage>;

const namePattern = /^npm:(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

export const isPackage = (provider: string): provider is PackageProvider => provider.startsWith('npm:');

/** The packages that the stages of a file name and their secondaries; each once, and only names that can be one. */
export function packagesIn(agentText: string): PackageProvider[] {
  const { tree } = readToml(agentText);
  const stages = ['stt', 'llm', 'tts', 'realtime'].map((stage): unknown => tree?.[stage]);
  const tables = stages.flatMap((table) => (isTable(table) ? [table, table['secondary']] : []));
  const named = tables.flatMap((table) => (isTable(table) ? [table['provider']] : []));
  const names = named.filter((name): name is PackageProvider => typeof name === 'string' && isPackage(name));
  return [...new Set(names)].filter((name) => namePattern.test(name) && name.length <= 218);
}

const isOptional = (value: unknown, is: (value: unknown) => boolean): boolean =>
  value === undefined || is(value);

/** A function, or an object with the interface of Standard Schema. */
function validatorOf(options: unknown): PackageStage['validate'] | undefined {
  if (options === undefined) return noOptions;
  if (typeof options === 'function') return (table) => Reflect.apply(options, undefined, [table]) as unknown;
  const standard: unknown =
    options !== null && typeof options === 'object' ? Reflect.get(options, '~standard') : undefined;
  const validate: unknown = isTable(standard) ? standard['validate'] : undefined;
  if (typeof validate !== 'function') return undefined;
  return (table) => Reflect.apply(validate, standard, [table]) as unknown;
}

const noOptions = (table: unknown): OptionsOutcome => {
  const keys = isTable(table) ? Object.keys(table) : [];
  return keys.length === 0
    ? { value: {} }
    : {
        issues: keys.map((key) => ({
          message: 'is not a known key; this package has no options',
          path: [key],
        })),
      };
};

const isRate = (rate: unknown): boolean =>
  Number.isInteger(rate) && Number(rate) >= 8000 && Number(rate) <= 48_000;

/** Looks at what a package exports for a stage; the error is a rule of the key `provider`. */
export function readPackageStage(exported: object, stage: StageName): Result<PackageStage, string> {
  const given: unknown = Reflect.get(exported, stage);
  if (!isTable(given)) return fail(`names a package that exports no "${stage}"`);
  const { contract, open, options, apiKey, rates, needsVoice } = given;
  if (contract !== stageContract) {
    const theirs = typeof contract === 'number' ? `for version ${contract}` : 'without a version';
    return fail(
      `names a package ${theirs} of the contract of stages; this service has version ${stageContract}`,
    );
  }
  const broken = (what: string): Result<PackageStage, string> =>
    fail(`names a package whose "${stage}" ${what}`);
  if (typeof open !== 'function') return broken('has no function "open"');
  const validate = validatorOf(options);
  if (validate === undefined)
    return broken('has "options" that are neither a function nor a Standard Schema');
  if (!isOptional(apiKey, (value) => value === 'required' || value === 'optional')) {
    return broken('has an "apiKey" that is neither "required" nor "optional"');
  }
  const common = { validate, apiKey: apiKey === 'required' ? apiKey : 'optional', open } as const;
  if (stage !== 'tts') return ok(common);
  if (!Array.isArray(rates) || rates.length === 0 || !rates.every(isRate)) {
    return broken('has no "rates", a list of sample rates of 8000 to 48000 Hz');
  }
  return ok({ ...common, voice: { rates: rates.map(Number), needsVoice: needsVoice === true } });
}

const keyOf = (part: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof part === 'object' ? part.key : part);

const isIssue = (issue: unknown): issue is OptionsIssue =>
  isTable(issue) && typeof issue['message'] === 'string' && isOptional(issue['path'], Array.isArray);

/** A package's messages are foreign text: one line, of bounded length. */
const shownRule = (message: string): string => message.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 200);

/** Reads an options table with the package's own rules; reports what is wrong with it and then gives nothing. */
export function readPackageOptions(
  { validate }: PackageStage,
  table: object,
  { at, problems }: Pick<TableSite, 'at' | 'problems'>,
): object | undefined {
  let outcome: unknown;
  try {
    outcome = validate(table);
  } catch {
    problems.error(at, 'cannot be read: the package failed at it');
    return undefined;
  }
  const { issues, value } = isTable(outcome) ? outcome : { issues: undefined, value: undefined };
  if (Array.isArray(issues) && issues.length > 0) {
    for (const issue of issues.filter(isIssue)) {
      problems.error([...at, ...(issue.path ?? []).map(keyOf)], shownRule(issue.message));
    }
    if (!issues.every(isIssue)) problems.error(at, 'breaks a rule that the package does not name');
    return undefined;
  }
  if (isTable(value)) return value;
  problems.error(at, 'cannot be read: the package gave no options back');
  return undefined;
}
