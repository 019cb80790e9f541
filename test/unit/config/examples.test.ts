/** Every agent file that the project shows to a reader is one that the service takes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { describeAgentFile } from '../../../scripts/docs/describe.ts';
import { isTable } from '../../../shared/config/table.ts';
import { readToml } from '../../../shared/config/toml.ts';
import { runCheck } from '../../../cli/commands/check/check-command.ts';
import { readBytes } from '../../../shared/installation/named-files.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url));

function check(name: string, text: string, env: Readonly<Record<string, string>>): readonly string[] {
  const lines: string[] = [];
  runCheck(name, {
    requireSecrets: true,
    env,
    readFile: () => text,
    readBytes,
    write: (line) => lines.push(line),
  });
  return lines;
}

const files = readdirSync(join(project, 'examples'), { recursive: true, encoding: 'utf8' })
  // Scenarios of a rehearsal are no agent files, and what a tenant may have is none.
  .filter((name) => name.endsWith('.toml') && !/(rehearsal|tenant)[.]toml$/.test(name))
  .map((name) => `examples/${name}`);

describe.each(['README.md', 'docs/quick-start.md'])('%s', (name) => {
  it('has an agent that is valid once its keys are set', () => {
    const page = readFileSync(join(project, name), 'utf8');
    const text = /```toml\n(.*?)```/s.exec(page)?.[1] ?? '';
    const keys = { DEEPGRAM_API_KEY: 'a-key', GROQ_API_KEY: 'a-key' };
    expect(check('agent.toml', text, keys)).toEqual(['agent.toml: valid']);
  });
});

/** It has the form of any key, and of the secrets of webhooks. */
const aSecret = `whsec_${Buffer.alloc(24).toString('base64')}`;

describe('the example agent files', () => {
  it('are found', () => {
    expect(files.length).toBeGreaterThanOrEqual(5);
  });

  it.each(files)('%s is valid, without a warning, once its keys are set', (name) => {
    const text = readFileSync(join(project, name), 'utf8');
    const named = text.matchAll(/"([A-Z]+(?:_[A-Z]+)+)"/g);
    const env = Object.fromEntries([...named].map(([, variable]) => [variable!, aSecret]));
    const lines = check(name, text, env).filter((line) => !line.includes(': note: '));
    expect(lines.map((line) => line.replace(/, \d+ notes?$/, ''))).toEqual([`${name}: valid`]);
  });

  it.each(files)('%s names this file in the command that starts it', (name) => {
    const commands = [...readFileSync(join(project, name), 'utf8').matchAll(/SVC_AGENT_FILE=(examples\S+)/g)];
    expect(commands.every(([, file]) => file === name)).toBe(true);
  });
});

describe('the example with every key', () => {
  const text = readFileSync(join(project, 'examples/agents/restaurant.toml'), 'utf8');
  const { tree } = readToml(text);
  /** What a flow takes the place of, and a sound. */
  const elsewhere = [
    ...['agent.prompt', 'agent.prompt_file', 'agent.tools'],
    ...['audio.background.file', 'audio.thinking.file'],
  ];
  // Providers, agent processes, servers before calls and services of many agents have examples of their own.
  const own = describeAgentFile().filter(
    ({ name }) => !/^(stt|llm|tts|realtime|agent_link|before_call|routing)\b/.test(name),
  );

  /** Every table of this name, in a list, under any name of the user's, or alone. */
  const tablesAt = (value: unknown, path: readonly string[]): Readonly<Record<string, unknown>>[] => {
    if (Array.isArray(value)) return value.flatMap((entry) => tablesAt(entry, path));
    if (!isTable(value)) return [];
    const [name, ...rest] = path;
    if (name === undefined) return [value];
    const inner = name === 'NAME' ? Object.values(value) : [value[name]];
    return inner.flatMap((entry) => tablesAt(entry, rest));
  };

  it.each(own.flatMap(({ name, keys }) => keys.map((key) => ({ table: name, key: key.name }))))(
    'sets $table.$key',
    ({ table, key }) => {
      const set = tablesAt(tree, table.split('.')).some((found) => Object.hasOwn(found, key));
      expect(set).toBe(!elsewhere.includes(`${table}.${key}`));
    },
  );
});

describe.each(['docs/tools.md', 'docs/variables.md'])('the tables that %s shows', (name) => {
  const page = readFileSync(join(project, name), 'utf8');
  const snippets = [...page.matchAll(/```toml\n([\s\S]*?)```/g)].map(([, text]) => text!);
  const demo = readFileSync(join(project, 'examples/demo/agent.toml'), 'utf8');
  const stages = demo.slice(demo.indexOf('[stt]'));

  it('are there', () => {
    expect(snippets.length).toBeGreaterThanOrEqual(2);
  });

  it.each(snippets)('are valid in an agent file: %j', (snippet) => {
    const prompt = snippet.includes('[flow]') ? '' : 'prompt = "Be brief."';
    const agent = snippet.includes('[agent]') ? '' : `[agent]\nname = "desk"\n${prompt}\n`;
    const text = `${agent}${snippet}\n${stages}`;
    const env = { WEATHER_AUTH: 'a-key', CRM_TOKEN: 'a-key' };
    expect(check('agent.toml', text, env)).toEqual(['agent.toml: valid']);
  });
});

describe('the stages that the page of providers shows', () => {
  const snippets = [
    .../^## Switching a stage$([\s\S]*?)^## /m
      .exec(readFileSync(join(project, 'docs/providers.md'), 'utf8'))![1]!
      .matchAll(/```toml\n([\s\S]*?)```/g),
  ].map(([, text]) => text!);
  const demo = readFileSync(join(project, 'examples/demo/agent.toml'), 'utf8');

  it('are there', () => {
    expect(snippets.length).toBeGreaterThanOrEqual(4);
  });

  it.each(snippets)('replace the stage of the demo: %j', (snippet) => {
    const stage = /^\[(stt|llm|tts)\]/m.exec(snippet)![1]!;
    const others = demo.split(/^(?=\[)/m).filter((table) => !new RegExp(`^\\[${stage}[.\\]]`).test(table));
    const text = `${others.join('')}\n${snippet}`;
    expect(check('agent.toml', text, { LLM_API_KEY: 'a-key' })).toEqual(['agent.toml: valid']);
  });
});
