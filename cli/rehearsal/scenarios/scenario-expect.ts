/** Reads what a scenario expects, of one turn or of the whole. Patterns are compiled here, so that a bad one is a problem. */
import { linearPattern, type LinearPattern } from '../../../shared/base/linear-pattern.ts';
import type { KeyPath, ProblemList } from '../../../shared/config/problem.ts';
import { readTable } from '../../../shared/config/table.ts';
import { expectKeys, scenarioExpectKeys } from './scenario-keys.ts';
import type { Expectations, ScenarioExpectations } from './scenario.ts';

export function readExpectations(raw: unknown, at: KeyPath, problems: ProblemList): Expectations | undefined {
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

export function readScenarioExpectations(
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
