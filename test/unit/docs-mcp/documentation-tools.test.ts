/** What coding agents are answered about the service: what they look for is found, and wrong questions say what is right. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { documentationTools } from '../../../cli/commands/docs-mcp/documentation-tools.ts';
import { readDocumentation, sectionsOf, wordsOf } from '../../../cli/commands/docs-mcp/pages.ts';

const home = fileURLToPath(new URL('../../..', import.meta.url));
const demo = readFileSync(join(home, 'examples/demo/agent.toml'), 'utf8');
const sources = {
  documentation: readDocumentation(home),
  schema: readFileSync(join(home, 'docs/reference/agent-file.schema.json'), 'utf8'),
  env: {},
  readFile: (path: string) => (path.endsWith('there.toml') ? demo : undefined),
  readBytes: () => undefined,
};
const ask = (tool: string, given: Readonly<Record<string, unknown>>) =>
  documentationTools[tool]!.answer(given, sources);
const textOf = async (tool: string, given: Readonly<Record<string, unknown>>) =>
  (await ask(tool, given)).text;

describe('search_docs', () => {
  it.each([
    ['SVC_WS_ADDR', 'docs/reference/server-settings.md'],
    ['silence_end_ms', 'docs/reference/agent-file.md'],
    ['confirm a tool before it books', 'docs/tools.md'],
    ['rehearse without an LLM', 'docs/rehearsal.md'],
    ['address_full', 'docs/reference/errors.md'],
    ['warm transfer to a person', 'docs/telephony.md'],
    ['variables metadata token in prompt', 'docs/variables.md'],
    ['WHIP over TCP', 'docs/webrtc.md'],
    ['how do I run Ollama', 'examples/agents/ollama.toml'],
  ])('finds %s', async (query, page) => {
    expect(await textOf('search_docs', { query })).toContain(`page: ${page}`);
  });

  it('shows the rows of a long table that are meant', async () => {
    expect(await textOf('search_docs', { query: 'address_full', limit: 1 })).toContain(
      '| `address_full` | 429 |',
    );
    expect(await textOf('search_docs', { query: 'SVC_METRICS_TOKEN' })).toContain('| `SVC_METRICS_TOKEN` |');
  });

  it('gives as many sections as are asked for, and says when there is none', async () => {
    const pages = (await textOf('search_docs', { query: 'token', limit: 2 })).match(/^page: /gm);
    expect(pages).toHaveLength(2);
    expect(await textOf('search_docs', { query: 'xyzzyplugh' })).toBe('Nothing found.');
  });

  it.each([{}, { query: ' ' }, { query: 3 }, { query: 'a', limit: 0 }, { query: 'a', limit: 'many' }])(
    'says what is wrong with %j',
    async (given) => {
      const { isError, text } = await ask('search_docs', given);
      expect([isError, /^(query|limit): must be/.test(text)]).toEqual([true, true]);
    },
  );
});

describe('read_page', () => {
  it('reads a page, and one section of it', async () => {
    expect(await textOf('read_page', { page: 'docs/tools.md' })).toMatch(/^# /);
    const section = await textOf('read_page', { page: 'docs/rehearsal.md', heading: 'without an llm' });
    expect(section).toMatch(/^### Without an LLM\n/);
    expect(section).not.toContain('## In the terminal');
  });

  it('names the pages, or the headings, where there is none', async () => {
    const none = await ask('read_page', { page: '../package.json' });
    expect(none.isError).toBe(true);
    expect(none.text).toContain('docs/tools.md');
    const heading = await ask('read_page', { page: 'docs/rehearsal.md', heading: 'singing' });
    expect(heading.isError).toBe(true);
    expect(heading.text).toContain('In the terminal');
  });
});

describe('agent_file_schema', () => {
  it('lists tables, and has each of them', async () => {
    expect(await textOf('agent_file_schema', {})).toMatch(/agent, turn, .*tools, mcp/);
    expect(await textOf('agent_file_schema', { table: 'turn' })).toContain('silence_end_ms');
    expect(await ask('agent_file_schema', { table: 'constructor' })).toMatchObject({ isError: true });
  });
});

describe('check_agent_file', () => {
  it('tells what is wrong with a text, with its place', async () => {
    expect(await textOf('check_agent_file', { text: demo })).toBe('agent.toml: valid');
    const lines = await textOf('check_agent_file', { text: demo.replace('greeting', 'greting') });
    expect(lines).toMatch(
      /^agent\.toml:\d+:\d+: error: agent\.greting is not a known key; did you mean "greeting"\?/,
    );
  });

  it('reads a file by its path, as it is named', async () => {
    expect(await textOf('check_agent_file', { file: 'there.toml' })).toBe('there.toml: valid');
    expect(await textOf('check_agent_file', { file: 'gone.toml' })).toMatch(
      /^gone\.toml:1:1: error: the file cannot be read/,
    );
  });

  it.each([{}, { text: demo, file: 'there.toml' }])('wants one of both', async (given) => {
    expect(await ask('check_agent_file', given)).toMatchObject({ isError: true });
  });
});

describe('a page', () => {
  it('is cut at its headings and not in its code', () => {
    const page = '# A `page`\nintro\n## One\n```sh\n## no heading\n```\n### Two\nend';
    expect(sectionsOf('README.md', page).map(({ title, heading }) => [title, heading])).toEqual([
      ['A page', ''],
      ['A page', 'One'],
      ['A page', 'Two'],
    ]);
  });

  it('is found by names, whole and in parts', () => {
    expect(wordsOf('Set `SVC_WS_ADDR`, or turn.stop_ms.')).toEqual(
      expect.arrayContaining(['svc_ws_addr', 'ws', 'turn.stop_ms', 'turn', 'ms', 'set']),
    );
  });
});
