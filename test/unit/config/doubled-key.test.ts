/** A key that is there twice is named, with the line of the first one. */
import { describe, expect, it } from 'vitest';
import { readToml } from '../../../shared/config/toml.ts';

const told = (text: string): string[] =>
  readToml(text).syntaxProblems.map(({ line, column, message }) => `${line}:${column} ${message}`);

describe('a doubled key', () => {
  it.each([
    [
      '[agent]\nname = "a"\nprompt = "p"\nname = "b"\n',
      '4:1 not valid TOML: agent.name is already there in line 2',
    ],
    ['a.b = 1\na.b = 2\n', '2:3 not valid TOML: a.b is already there in line 1'],
    ['"a" = 1\na = 2\n', '2:1 not valid TOML: a is already there in line 1'],
    ["x = 1\n'x' = 2\n", '2:1 not valid TOML: x is already there in line 1'],
    ['a = { b = 1, b = 2 }\n', '1:14 not valid TOML: a.b is already there in line 1'],
    [
      '[a]\nb = [\n  { c = 1 },\n  { c = 1, c = 2 },\n]\n',
      '4:12 not valid TOML: a.b[1].c is already there in line 4',
    ],
    ['[agent]\na = 1\n\n[stt]\nb = 2\n[agent]\n', '6:2 not valid TOML: [agent] is already there in line 1'],
    ['[a]\nb.c = 1\n[a.b]\nd = 1\n', '3:4 not valid TOML: [a.b] is already there in line 2'],
    ['[[t]]\nx = 1\n[[t]]\nx = 1\nx = 2\n', '5:1 not valid TOML: t[1].x is already there in line 4'],
    ['[x.y]\na = 1\n[x]\ny = 2\n', '4:1 not valid TOML: x.y is already there in line 1'],
  ])('%j', (text, problem) => {
    expect(told(text)).toContain(problem);
  });

  it('is told for each, also where others are doubled, too', () => {
    const text = '[agent]\nname = "a"\nprompt = "p"\nname = "b"\nprompt = "q"\nname = "c"\n';
    expect(told(text)).toEqual([
      '4:1 not valid TOML: agent.name is already there in line 2',
      '5:1 not valid TOML: agent.prompt is already there in line 3',
      '6:1 not valid TOML: agent.name is already there in line 2',
    ]);
  });

  it('is told where other keys and tables are doubled before and behind it', () => {
    const doubledTable = '[a]\nx = 1\nx = 2\n[b]\n[b.c]\ny = 1\n[b.c]\ny = 1\n';
    expect(told(doubledTable)).toContain('7:4 not valid TOML: [b.c] is already there in line 5');
    expect(told('a = 1\na = 2\n[b]\n[b]\n')).toContain('4:2 not valid TOML: [b] is already there in line 3');
    expect(told('[b]\n[b]\n[c]\nd = 1\nd = 2\n').join()).toContain('is already there in line');
    expect(told('[b]\n[b]\n[b]\n[c]\n[c]\n').join()).toContain('is already there in line');
  });

  it('says nothing of a value', () => {
    expect(told('[a]\nkey = "secret-1"\nkey = "secret-2"\n').join('')).not.toContain('secret');
  });
});
