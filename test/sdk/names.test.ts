/** One name for each idea in all SDKs: what the TypeScript SDK offers is what `sdk/conformance/names.json` says. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const names = JSON.parse(textOf('sdk/conformance/names.json')) as Readonly<
  Record<string, Readonly<Partial<Record<'all' | 'typescript' | 'python', readonly string[]>>>>
>;
const reports = { agent: textOf('api/agent.api.md'), testing: textOf('api/agent-testing.api.md') };

/** The members of a class or an interface, as its report lists them at the first level. */
function membersIn(report: string, name: string): string[] {
  const [, body = ''] =
    new RegExp(`^(?:export )?(?:class|interface) ${name}(?:[ <][^{]*)? \\{\\n(.*?)^\\}`, 'ms').exec(report) ??
    [];
  return [...body.matchAll(/^ {4}(?:readonly |get |static |set )*(\w+)\??[(:<; =]/gm)]
    .map(([, member = '']) => member)
    .filter((member) => member !== 'constructor');
}

/** What is exported and is no type alone: classes, functions, and the interfaces that Python has as classes. */
const exported = [...reports.agent.matchAll(/^export (?:class|function|interface|type) (\w+)/gm)].map(
  ([, name = '']) => name,
);

const surface: Readonly<Record<string, () => readonly string[]>> = {
  exports: () => exported,
  Agent: () => membersIn(reports.agent, 'Agent'),
  AgentOptions: () => [...membersIn(reports.agent, 'AgentOptions'), 'systemPrompt', 'greeting', 'context'],
  AgentServer: () => membersIn(reports.agent, 'AgentServer'),
  ListenOptions: () => membersIn(reports.agent, 'ListenOptions'),
  Session: () => membersIn(reports.agent, 'Session'),
  TransferOptions: () => membersIn(reports.agent, 'TransferOptions'),
  Caller: () => membersIn(reports.agent, 'Caller'),
  SignedSession: () => ['sid', 'agent', 'meta'].filter((name) => reports.agent.includes(` ${name}`)),
  ToolCall: () => membersIn(reports.agent, 'ToolCall'),
  ToolOptions: () => membersIn(reports.agent, 'ToolOptions'),
  SessionTokenOptions: () => membersIn(reports.agent, 'SessionTokenOptions'),
  ScriptedCall: () => membersIn(reports.testing, 'ScriptedCall'),
  ScriptedCallOptions: () => membersIn(reports.testing, 'ScriptedCallOptions'),
};

describe('the TypeScript SDK', () => {
  it.each(Object.keys(surface))('has the names that all SDKs have: %s', (part) => {
    const { all = [], typescript = [] } = names[part] ?? {};
    expect([...new Set(surface[part]?.())].toSorted()).toEqual([...all, ...typescript].toSorted());
  });

  it('has no part that is left out', () => {
    expect(Object.keys(names)).toEqual(Object.keys(surface));
  });
});
