/** `[agent.team]` and transitions to other agents: what an agent file may say of them. */
import { describe, expect, it } from 'vitest';
import { goodFile, load } from './agent-text.ts';

const team = (lines: string): string => goodFile.replace('[stt]', `[agent.team]\n${lines}\n[stt]`);
const flow = (
  next: string,
): string => `${team('agents = { billing = "Invoices." }\ncontext = "summary"').replace(/prompt = .*\n/, '')}
[flow]
start = "a"
[flow.nodes.a]
prompt = "You welcome."
[[flow.nodes.a.next]]
when = "it is about money"
${next}
`;
const messages = (text: string): string[] => load(text).problems.map(({ message }) => message);

describe('[agent.team]', () => {
  it('names agents, and what the other one is told', () => {
    const { definition, problems } = load(team('agents = { billing = "Invoices." }'));
    expect(problems).toEqual([]);
    expect(definition?.agent.team).toEqual({
      agents: { billing: 'Invoices.' },
      context: 'full',
      farewell: '',
    });
  });

  it.each([
    ['agents = {}', 'agent.team.agents must name 1 to 32 agents'],
    ['agents = { "a/b" = "x" }', 'agent.team.agents'],
    ['agents = { billing = "" }', 'agent.team.agents.billing must not be empty'],
    ['context = "some"\nagents = { b = "x" }', 'agent.team.context must be one of "full", "summary", "none"'],
  ])('refuses %j', (lines, message) => {
    expect(messages(team(lines)).join('; ')).toContain(message);
  });
});

describe('a transition', () => {
  it('leads to an agent of the team, with a summary where the team has one', () => {
    const { definition, problems } = load(flow('to_agent = "billing"'));
    expect(problems).toEqual([]);
    const [next] = definition?.flow?.nodes['a']?.next ?? [];
    expect(next).toMatchObject({ to: 'billing', isAgent: true });
    expect(Object.keys(next?.collect ?? {})).toEqual(['summary']);
  });

  it.each([
    ['to_agent = "kitchen"', 'must be the name of an agent in agent.team.agents'],
    ['', 'must have exactly one of to and to_agent'],
    ['to = "a"\nto_agent = "billing"', 'must have exactly one of to and to_agent'],
  ])('refuses %j', (lines, message) => {
    expect(messages(flow(lines)).join('; ')).toContain(message);
  });
});
