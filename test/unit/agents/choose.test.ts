/** Which agent a call gets, by what is known of it, in the order that docs/agents.md gives. */
import { describe, expect, it } from 'vitest';
import { noRouting, type RoutingDefinition } from '../../../shared/agents/routing.ts';
import { AgentTable, percentOf, type CallFacts, type RoutedAgent } from '../../../shared/agents/choose.ts';
import { readChosen, writeChosen } from '../../../shared/agents/chosen.ts';

function agent(id: string, routing: Partial<RoutingDefinition> = {}): RoutedAgent {
  const tenant = id.includes('/') ? id.split('/')[0] : undefined;
  return { id, hash: `hash of ${id}`, ...(tenant && { tenant }), routing: { ...noRouting, ...routing } };
}

const agents = [
  agent('own'),
  agent('clinic/desk', { numbers: ['+15550100001', '+1555010*'], hosts: ['clinic.example'] }),
  agent('clinic/night', { numbers: ['+15550100002', '+15550100*'] }),
  agent('diner/host', { numbers: ['1001'], trunks: ['192.0.2.0/24'], open: true }),
  agent('diner/bar', { trunks: ['192.0.2.7'] }),
];

const tableOf = (unknown: 'default' | 'refuse' = 'default', all = agents): AgentTable =>
  new AgentTable(all, { fallback: { id: 'own', hash: 'hash of own' }, unknown });

const chosen = (facts: CallFacts, table = tableOf()): string => {
  const choice = table.choose(facts);
  return choice.kind === 'refused' ? 'refused' : writeChosen(choice.agent);
};

describe('the agent of a call', () => {
  it.each<[CallFacts, string]>([
    [{}, 'default own'],
    [{ signed: 'clinic/desk', numbers: ['1001'], asked: 'diner/host' }, 'signed clinic/desk'],
    [{ numbers: ['+15550100001'], asked: 'diner/host' }, 'number clinic/desk'],
    [{ numbers: ['+15550100002'] }, 'number clinic/night'],
    [{ numbers: ['+15550100999'] }, 'number clinic/night'],
    [{ numbers: ['+15550109999'] }, 'number clinic/desk'],
    [{ numbers: ['+1555010'] }, 'number clinic/desk'],
    [{ numbers: ['+155501'] }, 'default own'],
    [{ numbers: ['unknown', '1001'] }, 'number diner/host'],
    [{ numbers: ['10015'] }, 'default own'],
    [{ numbers: ['2002'], hosts: ['CLINIC.example'] }, 'host clinic/desk'],
    [{ numbers: ['2002'], hosts: ['elsewhere.example'], peer: '192.0.2.9' }, 'trunk diner/host'],
    [{ peer: '192.0.2.7' }, 'trunk diner/bar'],
    [{ peer: '198.51.100.1' }, 'default own'],
    [{ asked: 'diner/host' }, 'asked diner/host'],
  ])('%j is %s', (facts, wanted) => expect(chosen(facts)).toBe(wanted));

  it.each<CallFacts>([
    { signed: 'desk' },
    { signed: 'clinic/DESK' },
    { signed: '' },
    { signed: '__proto__' },
    { signed: 'nobody', numbers: ['+15550100001'] },
    { asked: 'clinic/desk' },
    { asked: 'own' },
    { asked: 'constructor' },
  ])('%j names none: it gets the default, marked, or is refused', (facts) => {
    expect(chosen(facts)).toBe('default own unknown');
    expect(chosen(facts, tableOf('refuse'))).toBe('refused');
  });

  it('is the one for every number where one claims all', () => {
    const table = tableOf('refuse', [...agents, agent('rest', { numbers: ['*'] })]);
    expect(chosen({ numbers: ['anything'] }, table)).toBe('number rest');
    expect(chosen({ numbers: ['1001'] }, table)).toBe('number diner/host');
  });
});

describe('a split', () => {
  const split = (weight: number, other = 'b'): AgentTable =>
    tableOf('default', [
      agent('own'),
      agent('t/a', { numbers: ['1'], splits: [{ agent: other, weight }] }),
      agent('t/b'),
      agent('b'),
    ]);
  const count = (table: AgentTable): number => {
    let others = 0;
    for (let caller = 0; caller < 10_000; caller += 1)
      if (chosen({ numbers: ['1'], share: `+1555${caller}` }, table) === 'number t/b t/a') others += 1;
    return others / 100;
  };

  it.each([1, 10, 50, 99])(
    'gives away %i percent of the callers, to an agent of the same tenant',
    (weight) => {
      expect(Math.abs(count(split(weight)) - weight)).toBeLessThan(1.5);
    },
  );

  it('gives everything or nothing away at its ends, and stays where nobody is there to take it', () => {
    expect(count(split(100))).toBe(100);
    expect(count(split(50, 'nobody'))).toBe(0);
  });

  it('is stable for a caller, and leaves a call alone of which nothing is known', () => {
    const table = split(50);
    const first = chosen({ numbers: ['1'], share: 'x' }, table);
    expect(chosen({ numbers: ['1'], share: 'x' }, table)).toBe(first);
    expect(chosen({ numbers: ['1'] }, table)).toBe('number t/a');
  });

  it('is the same in every version of the service', () => {
    expect(['', 'a', 'clinic/desk\n+15550100001'].map(percentOf)).toEqual([23, 15, 51]);
  });
});

describe('a choice on its way', () => {
  it.each(['signed a', 'number t/a', 'default own unknown', 'asked t/b t/a', 'default x y unknown'])(
    '%s is read as it was written',
    (text) => {
      const read = readChosen(text);
      expect(read && writeChosen(read)).toBe(text);
    },
  );

  it.each([
    '',
    'a',
    'signed',
    'magic a',
    'signed a b c',
    'signed a/b/c',
    'signed ../a',
    'signed a\nb',
    'number a unknown b',
  ])('%j is none', (text) => expect(readChosen(text)).toBeUndefined());
});
