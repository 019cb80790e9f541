/** What the documentation server offers to coding agents: each tool with its schema, and what it answers. */
import { resolve } from 'node:path';
import type { ReadBytes } from '../../../shared/config/agent/sound-file.ts';
import { packagesOf, runCheck } from '../check/check-command.ts';
import { wordsOf, type Documentation, type Section } from './pages.ts';

export interface DocumentationSources {
  readonly documentation: Documentation;
  /** Text of the JSON Schema of agent files. */
  readonly schema: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text of a file, or `undefined` when it cannot be read. */
  readonly readFile: (path: string) => string | undefined;
  readonly readBytes: ReadBytes;
}

export interface ToolAnswer {
  readonly text: string;
  readonly isError?: true;
}

type Given = Readonly<Record<string, unknown>>;

interface DocumentationTool {
  readonly description: string;
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly required: readonly string[];
  readonly answer: (given: Given, sources: DocumentationSources) => ToolAnswer | Promise<ToolAnswer>;
}

/** Characters of one answer: more than any page that a reader of one question needs. */
const longestAnswer = 40_000;
const longestExcerpt = 1_500;
const mostHits = 20;

const text = (description: string) => ({ type: 'string', description }) as const;
const wrong = (message: string): ToolAnswer => ({ text: message, isError: true });

function bounded(whole: string, most: number, hint: string): string {
  return whole.length <= most ? whole : `${whole.slice(0, most)}\n[cut here; ${hint}]`;
}

const textIn = (given: Given, name: string): string => {
  const value = given[name];
  return typeof value === 'string' ? value : '';
};

/** Of a long section the lines that hold most of what is looked for, in their order: rows of tables, above all. */
function excerptOf(whole: string, query: string): string {
  if (whole.length <= longestExcerpt) return whole;
  const wanted = new Set(wordsOf(query));
  const lines = whole.split('\n').map((line, at) => {
    const words = new Set(wordsOf(line));
    return { line, at, score: [...wanted].filter((word) => words.has(word)).length };
  });
  let left = longestExcerpt;
  const best = lines
    .toSorted((a, b) => b.score - a.score || a.at - b.at)
    .filter(({ line }) => (left -= line.length + 1) > 0);
  return best
    .toSorted((a, b) => a.at - b.at)
    .map(({ line }) => line)
    .join('\n');
}

function shown({ page, title, heading, text: whole }: Section, query: string): string {
  const place = heading === '' ? title : `${title}, ${heading}`;
  const rest = whole.length > longestExcerpt ? ` (lines of it; read_page has all)` : '';
  return `## ${place}\npage: ${page}${rest}\n\n${excerptOf(whole, query)}`;
}

function search(given: Given, { documentation }: DocumentationSources): ToolAnswer {
  const query = textIn(given, 'query');
  if (query.trim() === '') return wrong('query: must be a text with words');
  const limit = given['limit'] ?? 5;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > mostHits)
    return wrong(`limit: must be a whole number from 1 to ${mostHits}`);
  const found = documentation.search(query, limit);
  return {
    text:
      found.length === 0
        ? 'Nothing found.'
        : found.map((section) => shown(section, query)).join('\n\n---\n\n'),
  };
}

function readPage(given: Given, { documentation }: DocumentationSources): ToolAnswer {
  const page = textIn(given, 'page').replace(/^\.?\//, '');
  const whole = documentation.pages.get(page);
  if (whole === undefined) {
    const pages = [...documentation.pages.keys()].filter(
      (path) => !/^docs\/(decisions|measurements)/.test(path),
    );
    return wrong(`page: must be one of these, or one that search_docs names:\n${pages.join('\n')}`);
  }
  const wanted = textIn(given, 'heading').trim().toLowerCase();
  if (wanted === '') return { text: bounded(whole, longestAnswer, 'name a heading to read on') };
  const sections = documentation.sections.filter((section) => section.page === page);
  const found = sections.filter(({ heading }) => heading.toLowerCase().includes(wanted));
  if (found.length === 0)
    return wrong(
      `heading: the page has these: ${sections.flatMap(({ heading }) => heading || []).join('; ')}`,
    );
  return {
    text: bounded(
      found.map((section) => section.text).join('\n\n'),
      longestAnswer,
      'name a narrower heading',
    ),
  };
}

interface SchemaTable {
  readonly properties: Given;
}

function schemaOf(given: Given, { schema }: DocumentationSources): ToolAnswer {
  const { properties } = JSON.parse(schema) as SchemaTable;
  const table = textIn(given, 'table');
  if (table === '')
    return { text: `An agent file has these tables; ask for one: ${Object.keys(properties).join(', ')}` };
  if (!Object.hasOwn(properties, table))
    return wrong(`table: must be one of ${Object.keys(properties).join(', ')}`);
  return {
    text: bounded(
      JSON.stringify(properties[table], undefined, 1),
      longestAnswer,
      'docs/reference/agent-file.md has every key',
    ),
  };
}

async function check(given: Given, sources: DocumentationSources): Promise<ToolAnswer> {
  const [content, file] = [given['text'], textIn(given, 'file')];
  if ((typeof content === 'string') === (file !== ''))
    return wrong('exactly one of text and file must be given');
  const path = resolve(file === '' ? 'agent.toml' : file);
  const readFile = (name: string): string | undefined =>
    typeof content === 'string' && name === path ? content : sources.readFile(name);
  const lines: string[] = [];
  const packages = await packagesOf(path, { readFile });
  const { env, readBytes } = sources;
  runCheck(path, {
    requireSecrets: false,
    env,
    readFile,
    readBytes,
    packages,
    write: (line) => lines.push(line),
  });
  return { text: lines.join('\n').replaceAll(path, file === '' ? 'agent.toml' : file) };
}

export const documentationTools: Readonly<Record<string, DocumentationTool>> = {
  search_docs: {
    description:
      'Searches the documentation of the voice agent service: guides, references, settings by their names, whole example agents. Start here.',
    properties: {
      query: text('words, or the name of a setting, key or error code'),
      limit: { type: 'integer', minimum: 1, maximum: mostHits, description: 'most sections; default 5' },
    },
    required: ['query'],
    answer: search,
  },
  read_page: {
    description: 'Reads a page of the documentation, or a section of it, as Markdown.',
    properties: {
      page: text('its path, such as docs/tools.md'),
      heading: text('part of a heading, for that section alone'),
    },
    required: ['page'],
    answer: readPage,
  },
  agent_file_schema: {
    description:
      'The JSON Schema of a table of the agent file (TOML). Without a table: the names of all tables.',
    properties: { table: text('such as agent, turn, tools, flow') },
    required: [],
    answer: schemaOf,
  },
  check_agent_file: {
    description:
      'Checks an agent file as the service reads it and tells every problem with line and column. Opens no connection.',
    properties: {
      text: text('the file itself'),
      file: text('or its path; files that it names are read beside it'),
    },
    required: [],
    answer: check,
  },
};
