/**
 * Reads a scenario file: text in, scenarios and every problem out, with line and column as for agent files. Opens nothing.
 * Scenarios exist exactly when no problem is an error.
 */
import { writeJson } from '../../../shared/base/exact-json.ts';
import { ProblemList, type KeyPath, type Places, type Problem } from '../../../shared/config/problem.ts';
import { readLlm } from '../../../shared/config/stages/stage-tables.ts';
import type { LlmDefinition } from '../../../shared/config/stages/definition.ts';
import { leftOut } from '../../../shared/config/stages/features.ts';
import { isTable, readTable, reportUnknownKey } from '../../../shared/config/table.ts';
import { readToml } from '../../../shared/config/toml.ts';
import {
  answerKeys,
  cannedToolKeys,
  fileKeys,
  mostScenarios,
  mostSteps,
  personaKeys,
  scenarioKeys,
  scenarioTables,
  stepKeys,
  expectKeys,
  scenarioExpectKeys,
} from './scenario-keys.ts';
import type {
  CallerStep,
  CannedTool,
  Scenario,
  ScenarioCaller,
  ScenarioFile,
  ScriptedAnswer,
  Expectations,
  ScenarioExpectations,
} from './scenario.ts';
import { linearPattern, type LinearPattern } from '../../../shared/base/linear-pattern.ts';

type Table = Readonly<Record<string, unknown>>;
type Env = Readonly<Record<string, string | undefined>>;

export interface ScenarioReading {
  readonly file?: ScenarioFile;
  /** In the order of the file. */
  readonly problems: readonly Problem[];
}

/** Never throws on bad text. */
export function readScenarioFile(text: string, env: Env): ScenarioReading {
  const { tree, places, syntaxProblems } = readToml(text);
  const problems = new ProblemList(places, syntaxProblems.length > 0);
  const more: Problem[] = [];
  const file = tree === undefined ? undefined : readFile(tree, { problems, places, env, more });
  const all = [...syntaxProblems, ...problems.sorted(), ...more].toSorted(
    (a, b) => a.line - b.line || a.column - b.column,
  );
  const isRefused = all.some(({ severity }) => severity === 'error');
  return isRefused || file === undefined ? { problems: all } : { file, problems: all };
}

interface FileSite {
  readonly problems: ProblemList;
  readonly places: Places;
  readonly env: Env;
  /** Problems of tables that are read by the rules of agent files. */
  readonly more: Problem[];
}

const without = (table: Table, keys: readonly string[]): Table =>
  Object.fromEntries(Object.entries(table).filter(([key]) => !keys.includes(key)));

function readFile(tree: Table, site: FileSite): ScenarioFile | undefined {
  const { problems } = site;
  const tables = ['scenario', 'caller'];
  const { value } = readTable(fileKeys, without(tree, tables), {
    at: [],
    problems,
    rules: { alsoKnown: tables },
  });
  const callerLlm = readCallerLlm(tree['caller'], site);
  const raw = tree['scenario'];
  if (!Array.isArray(raw) || raw.length > mostScenarios) {
    if (raw === undefined)
      problems.missing(['scenario'], 'is required: a file has at least one [[scenario]]');
    else problems.error(['scenario'], `must be at most ${mostScenarios} tables written [[scenario]]`);
    return undefined;
  }
  const names = new Set<string>();
  const scenarios = raw.flatMap((entry: unknown, index): Scenario[] => {
    const at = ['scenario', index];
    const scenario = readScenario(entry, at, problems);
    if (scenario !== undefined && names.has(scenario.name))
      problems.error([...at, 'name'], 'is the name of another scenario');
    if (scenario !== undefined) names.add(scenario.name);
    return scenario === undefined ? [] : [scenario];
  });
  if (value === undefined) return undefined;
  return { scenarios, realTools: value.real_tools, ...(callerLlm && { callerLlm }) };
}

/** `[caller.llm]` has the keys of `[llm]` in an agent file. */
function readCallerLlm(raw: unknown, { places, problems, env, more }: FileSite): LlmDefinition | undefined {
  if (raw === undefined) return undefined;
  if (!isTable(raw)) {
    problems.error(['caller'], 'must be a table');
    return undefined;
  }
  for (const key of Object.keys(raw)) if (key !== 'llm') reportUnknownKey(['caller', key], ['llm'], problems);
  if (raw['llm'] === undefined) return undefined;
  const inner: Places = {
    find: (path, part) => places.find(['caller', ...path], part),
    findWithin: (path, piece) => places.findWithin(['caller', ...path], piece),
  };
  const list = new ProblemList(inner);
  const llm = readLlm({
    env,
    requireSecrets: true,
    problems: list,
    tree: raw,
    language: undefined,
    leftOut,
  });
  for (const { path, message, ...rest } of list.sorted())
    more.push({ ...rest, path: `caller.${path}`, message: `caller.${message}` });
  return llm;
}

function readScenario(raw: unknown, at: KeyPath, problems: ProblemList): Scenario | undefined {
  if (!isTable(raw)) {
    problems.error(at, 'must be a table');
    return undefined;
  }
  const { value } = readTable(scenarioKeys, without(raw, scenarioTables), {
    at,
    problems,
    rules: { alsoKnown: scenarioTables },
  });
  const caller = readCaller(raw['caller'], [...at, 'caller'], problems);
  const tools = readCannedTools(raw['tool'], [...at, 'tool'], problems);
  const expect = readScenarioExpectations(raw['expect'] ?? {}, [...at, 'expect'], problems);
  if (value === undefined || caller === undefined || expect === undefined) return undefined;
  return { name: value.name, timeoutMs: value.timeout_s * 1000, caller, tools, expect };
}

function readCaller(raw: unknown, at: KeyPath, problems: ProblemList): ScenarioCaller | undefined {
  if (raw === undefined) {
    problems.missing(at, 'is required: a list of what the caller does, or a table with a goal');
    return undefined;
  }
  if (isTable(raw)) {
    const { value } = readTable(personaKeys, raw, { at, problems });
    if (value === undefined) return undefined;
    const { persona, goal, max_turns: maxTurns } = value;
    return { kind: 'llm', persona, goal, maxTurns };
  }
  if (!Array.isArray(raw) || raw.length > mostSteps) {
    problems.error(at, `must be a list of at most ${mostSteps} steps, or a table with a goal`);
    return undefined;
  }
  if (raw.length === 0) {
    problems.error(at, 'has no step; who only hears the greeting and hangs up is [{ hang_up = true }]');
    return undefined;
  }
  const steps = raw.map((entry: unknown, index) => readStep(entry, [...at, index], problems));
  const known = steps.filter((step) => step !== undefined);
  const hangsUp = known.findIndex(({ does }) => does === 'hang-up');
  if (hangsUp !== -1 && hangsUp < raw.length - 1)
    problems.error([...at, hangsUp], 'must be the last step: nobody is there after it');
  return known.length === raw.length ? { kind: 'script', steps: known } : undefined;
}

function readStep(raw: unknown, at: KeyPath, problems: ProblemList): CallerStep | undefined {
  // A text alone is a line.
  const table = typeof raw === 'string' ? { say: raw } : raw;
  if (!isTable(table)) {
    problems.error(at, 'must be a text or a table such as { say = "Hello" }');
    return undefined;
  }
  const { value } = readTable(stepKeys, table, { at, problems });
  if (value === undefined) return undefined;
  const expect =
    value.expect === undefined ? undefined : readExpectations(value.expect, [...at, 'expect'], problems);
  const model = value.model === undefined ? undefined : readAnswers(value.model, [...at, 'model'], problems);
  const { say, keys, silence_s: silenceS, interrupt_after_words: afterWords } = value;
  const does = [
    ...(say === undefined ? [] : [{ does: 'say', text: say } as const]),
    ...(keys === undefined ? [] : [{ does: 'press', keys } as const]),
    ...(silenceS === undefined ? [] : [{ does: 'wait', ms: silenceS * 1000 } as const]),
    ...(value.hang_up === undefined ? [] : [{ does: 'hang-up' } as const]),
  ];
  const [only] = does;
  if (only === undefined || does.length > 1) {
    problems.error(at, 'must have exactly one of say, keys, silence_s and hang_up');
    return undefined;
  }
  if (afterWords !== undefined && only.does === 'wait') {
    problems.error([...at, 'interrupt_after_words'], 'is not for silence, which interrupts nobody');
    return undefined;
  }
  return {
    ...only,
    ...(afterWords !== undefined && { afterWords }),
    ...(expect !== undefined && { expect }),
    ...(model !== undefined && { model }),
  };
}

function readAnswers(
  raw: readonly unknown[],
  at: KeyPath,
  problems: ProblemList,
): readonly ScriptedAnswer[] | undefined {
  const answers = raw.flatMap((entry, index): ScriptedAnswer[] => {
    const place = [...at, index];
    // A text alone is said.
    const table = typeof entry === 'string' ? { say: entry } : entry;
    if (!isTable(table)) {
      problems.error(place, 'must be a text or a table such as { call = "end_call" }');
      return [];
    }
    const { value } = readTable(answerKeys, table, { at: place, problems });
    if (value === undefined) return [];
    const { say, call, arguments: given } = value;
    if (say === undefined && call === undefined) problems.error(place, 'must have say, call or both');
    if (given !== undefined && call === undefined)
      problems.error([...place, 'arguments'], 'is for a call and stands beside none');
    return [
      {
        ...(say !== undefined && { say }),
        ...(call !== undefined && { call: { name: call, arguments: given ?? {} } }),
      },
    ];
  });
  return answers.length === raw.length ? answers : undefined;
}

function readCannedTools(raw: unknown, at: KeyPath, problems: ProblemList): CannedTool[] {
  if (raw === undefined) return [];
  if (!Array.isArray(raw) || raw.length > mostSteps) {
    problems.error(at, `must be at most ${mostSteps} tables written [[scenario.tool]]`);
    return [];
  }
  return raw.flatMap((entry: unknown, index): CannedTool[] => {
    const place = [...at, index];
    const { value } = readTable(cannedToolKeys, entry, { at: place, problems });
    if (value === undefined) return [];
    const { name, result, error, description, parameters } = value;
    const declared = { name, description, parameters };
    if ((result === undefined) === (error === undefined)) {
      problems.error(place, 'must have exactly one of result and error');
      return [];
    }
    if (error !== undefined) return [{ ...declared, outcome: { kind: 'error', message: error } }];
    const text = typeof result === 'string' ? result : writeJson(result);
    return [{ ...declared, outcome: { kind: 'result', text } }];
  });
}

/** Reads what a scenario expects, of one turn or of the whole. Patterns are compiled here, so that a bad one is a problem. */
function readExpectations(raw: unknown, at: KeyPath, problems: ProblemList): Expectations | undefined {
  const { value } = readTable(expectKeys, raw, { at, problems });
  if (value === undefined) return undefined;
  const matches = readPatterns(value.matches, [...at, 'matches'], problems);
  const neverMatches = readPatterns(value.never_matches, [...at, 'never_matches'], problems);
  if (matches === undefined || neverMatches === undefined) return undefined;
  return {
    says: value.says,
    neverSays: value.never_says,
    matches,
    neverMatches,
    calls: value.calls.map(({ name, arguments: values, times }) => ({
      name,
      arguments: values,
      ...(times !== undefined && { times }),
    })),
    neverCalls: value.never_calls,
    reaches: value.reaches,
    ...(value.first_text_ms !== undefined && { firstTextMs: value.first_text_ms }),
  };
}

function readScenarioExpectations(
  raw: unknown,
  at: KeyPath,
  problems: ProblemList,
): ScenarioExpectations | undefined {
  const { value } = readTable(scenarioExpectKeys, raw, { at, problems });
  if (value === undefined) return undefined;
  const { ended_by: endedBy, judge, ...shared } = value;
  const expectations = readExpectations(shared, at, problems);
  return expectations && { ...expectations, judge, ...(endedBy !== undefined && { endedBy }) };
}

function readPatterns(
  sources: readonly string[],
  at: KeyPath,
  problems: ProblemList,
): LinearPattern[] | undefined {
  const patterns = sources.map((source, index) => {
    const pattern = linearPattern(source, { ignoreCase: true });
    if (pattern.ok) return pattern.value;
    problems.error([...at, index], pattern.error);
    return undefined;
  });
  const good = patterns.filter((pattern) => pattern !== undefined);
  return good.length === patterns.length ? good : undefined;
}
