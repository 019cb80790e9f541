/**
 * Compares what happened with what was expected. Every expectation that does not hold becomes one sentence that says what
 * was expected and what there was instead. Pure.
 */
import { compareNumbers, isWritten } from '../../../shared/base/decimal.ts';
import { isExactNumber, parseJson, writeJson } from '../../../shared/base/exact-json.ts';
import type { EndedBy } from '../conversation.ts';
import { printable, shownMs } from '../../commands/printable.ts';
import type { Expectations, ExpectedCall, Scenario } from './scenario.ts';
import type { ToolUse, Transcript, TurnRecord } from '../transcript.ts';

/** Without what differs between keyboards and models: case, white space and the form of quotes. */
const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\u2018\u2019\u02bc]/g, "'")
    .replaceAll(/[\u201c\u201d]/g, '"')
    .replaceAll(/\s+/g, ' ')
    .trim();

const quoted = (text: string): string => JSON.stringify(printable(text));

/** Whether `found` has everything of `wanted`, at every level; lists must be equal in length. */
export function holds(wanted: unknown, found: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(found) &&
      wanted.length === found.length &&
      wanted.every((value, index) => holds(value, found[index]))
    );
  if (typeof wanted !== 'object' || wanted === null || isExactNumber(wanted)) return sameValue(wanted, found);
  if (wanted instanceof Date) return found === wanted.toISOString();
  if (typeof found !== 'object' || found === null || Array.isArray(found) || isExactNumber(found))
    return false;
  return Object.entries(wanted).every(
    ([key, value]) => Object.hasOwn(found, key) && holds(value, Reflect.get(found, key)),
  );
}

const sameValue = (wanted: unknown, found: unknown): boolean =>
  isWritten(wanted) && isWritten(found) ? compareNumbers(wanted, found) === 0 : wanted === found;

function argumentsOf({ arguments: text }: ToolUse): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

const shownUse = ({ name, arguments: text }: ToolUse): string => `${printable(name)} ${printable(text)}`;
const shownUses = (tools: readonly ToolUse[]): string =>
  tools.length === 0 ? 'no tool was run' : `run were ${tools.map(shownUse).join(', ')}`;

function checkCall(wanted: ExpectedCall, tools: readonly ToolUse[]): string[] {
  const fits = (use: ToolUse): boolean =>
    use.name === wanted.name &&
    (Object.keys(wanted.arguments).length === 0 || holds(wanted.arguments, argumentsOf(use)));
  const count = tools.filter(fits).length;
  if (wanted.times === undefined ? count > 0 : count === wanted.times) return [];
  const given = Object.keys(wanted.arguments).length === 0 ? '' : ` with ${writeJson(wanted.arguments)}`;
  const often = wanted.times === undefined ? '' : ` ${wanted.times} times, not ${count}`;
  return [`expected a call of ${wanted.name}${given}${often}; ${shownUses(tools)}`];
}

function checkTexts(expected: Expectations, said: string): string[] {
  const heard = said === '' ? 'it said nothing' : `it said ${quoted(said)}`;
  const text = plain(said);
  return [
    ...expected.says
      .filter((part) => !text.includes(plain(part)))
      .map((part) => `expected the agent to say ${quoted(part)}; ${heard}`),
    ...expected.neverSays
      .filter((part) => text.includes(plain(part)))
      .map((part) => `expected the agent not to say ${quoted(part)}; ${heard}`),
    ...expected.matches
      .filter((pattern) => !pattern.test(said))
      .map((pattern) => `expected the agent to say something like /${pattern.source}/; ${heard}`),
    ...expected.neverMatches
      .filter((pattern) => pattern.test(said))
      .map((pattern) => `expected the agent to say nothing like /${pattern.source}/; ${heard}`),
  ];
}

function checkLatency(expected: Expectations, turns: readonly TurnRecord[]): string[] {
  const most = expected.firstTextMs;
  if (most === undefined) return [];
  return turns.flatMap(({ caller = '', timings }) => {
    if (timings?.firstTextMs === undefined || timings.firstTextMs <= most) return [];
    const took = shownMs(timings.firstTextMs);
    return [`expected the first text within ${shownMs(most)}; after ${quoted(caller)} it took ${took}`];
  });
}

/** What does not hold in these turns together. */
export function checkTurns(expected: Expectations, turns: readonly TurnRecord[]): string[] {
  const said = turns
    .map((turn) => turn.said)
    .filter((text) => text !== '')
    .join('\n');
  const tools = turns.flatMap((turn) => turn.tools).filter(({ isRun }) => isRun);
  const nodes = turns.flatMap((turn) => turn.nodes);
  const been = nodes.length === 0 ? 'no node was entered' : `entered were ${nodes.join(', ')}`;
  return [
    ...checkTexts(expected, said),
    ...expected.calls.flatMap((call) => checkCall(call, tools)),
    ...expected.neverCalls
      .filter((name) => tools.some((use) => use.name === name))
      .map((name) => `expected no call of ${name}; ${shownUses(tools)}`),
    ...expected.reaches
      .filter((node) => !nodes.includes(node))
      .map((node) => `expected the node ${node}; ${been}`),
    ...checkLatency(expected, turns),
  ];
}

const endings: Readonly<Record<EndedBy, string>> = {
  agent: 'the agent',
  caller: 'the caller',
  fault: 'a fault of the engine',
};

/** What does not hold in a whole scenario, but for what a model judges. `stepTurns` says which turn each step began. */
export function checkScenario(
  { caller, expect }: Scenario,
  transcript: Transcript,
  stepTurns: readonly number[],
): string[] {
  const { turns, endedBy, faults } = transcript;
  const failures: string[] = [];
  // The caller heard the apology, which keeps every promise of what is never said.
  const lost = faults.filter((fault) => fault === 'llm: failed' || fault === 'llm: stalled').length;
  if (lost > 0) failures.push(`the LLM left ${lost === 1 ? 'an answer' : `${lost} answers`} unsaid`);
  if (caller.kind === 'script')
    caller.steps.forEach((step, index) => {
      const turn = turns[stepTurns[index] ?? -1];
      if (step.expect === undefined || turn === undefined) return;
      for (const failure of checkTurns(step.expect, [turn])) failures.push(`step ${index + 1}: ${failure}`);
    });
  failures.push(...checkTurns(expect, turns));
  if (endedBy === 'fault') failures.push('the call ended with a fault of the engine');
  else if (expect.endedBy !== undefined && endedBy !== expect.endedBy)
    failures.push(
      `expected the call to be ended by ${endings[expect.endedBy]}; it was ended by ${endings[endedBy ?? 'fault']}`,
    );
  return failures;
}
