/** The pages of the documentation as an installation has them, cut into sections, and the search over these. Pure but for the reading of files. */
import MiniSearch from 'minisearch';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Section {
  /** Path of the page in the package, such as docs/tools.md. */
  readonly page: string;
  /** Title of the page. */
  readonly title: string;
  /** Empty for what stands above the first one. */
  readonly heading: string;
  readonly text: string;
}

export interface Documentation {
  readonly pages: ReadonlyMap<string, string>;
  readonly sections: readonly Section[];
  search(query: string, most: number): readonly Section[];
}

const filesIn = (home: string, folder: string, ending: string): string[] =>
  existsSync(join(home, folder))
    ? readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith(ending))
        .map((name) => `${folder}/${name}`)
        .toSorted()
    : [];

/** Whole agents are pages too: most questions are answered by one that already works. */
const pathsIn = (home: string): string[] => [
  ...['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'sdk/typescript/README.md', 'sdk/python/README.md'],
  ...filesIn(home, 'docs', '.md'),
  'docs/agent.example.toml',
  ...filesIn(home, 'examples/agents', '.toml'),
  ...filesIn(home, 'examples/templates', '.toml'),
];

/** Cuts a page at its headings, but not at lines of code that begin like one. */
export function sectionsOf(page: string, text: string): Section[] {
  const title = /^# (.*)$/m.exec(page.endsWith('.md') ? text : '')?.[1]?.replace(/[`*]/g, '') ?? page;
  if (!page.endsWith('.md')) return [{ page, title, heading: '', text }];
  const sections: { heading: string; lines: string[] }[] = [{ heading: '', lines: [] }];
  let isCode = false;
  for (const line of text.split('\n')) {
    if (/^\s*```/.test(line)) isCode = !isCode;
    const heading = isCode ? undefined : /^##+ (.*)$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ heading: heading.replace(/[`*]/g, ''), lines: [] });
    sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ heading, lines }) => ({ page, title, heading, text: lines.join('\n').trim() }));
}

/** Words, and names of settings and keys both whole and in their parts: `SVC_WS_ADDR`, `turn.silence_end_ms`. */
export const wordsOf = (text: string): string[] =>
  (text.match(/[\p{L}\p{N}_.-]+/gu) ?? []).flatMap((word) => {
    const whole = word.replace(/^[._-]+|[._-]+$/g, '').toLowerCase();
    const parts = whole.split(/[._-]+/);
    return parts.length > 1 ? [whole, ...parts] : [whole];
  });

/** The section says what this name is: its table has a row of it. */
const hasRowOf = ({ text }: Section, name: string): boolean => text.includes(`\n| \`${name.trim()}\` |`);

export function readDocumentation(home: string): Documentation {
  const paths = pathsIn(home).filter((path) => existsSync(join(home, path)));
  const pages = new Map(paths.map((path) => [path, readFileSync(join(home, path), 'utf8')]));
  const sections = [...pages].flatMap(([page, text]) => sectionsOf(page, text));
  const index = new MiniSearch<Section & { readonly id: number }>({
    fields: ['heading', 'title', 'text'],
    tokenize: wordsOf,
    searchOptions: {
      prefix: (term) => term.length > 3,
      fuzzy: (term) => (term.length > 5 ? 0.15 : 0),
      boost: { heading: 4, title: 2 },
    },
  });
  index.addAll(sections.map((section, id) => ({ ...section, id })));
  // Decisions and measurements come behind guides and references, which say how things are now.
  const isAside = ({ page }: Section): boolean => /^(CHANGELOG|docs\/(decisions|measurements))/.test(page);
  const weightOf = (section: Section, query: string): number =>
    (isAside(section) ? 0.25 : 1) * (hasRowOf(section, query) ? 8 : 1);
  return {
    pages,
    sections,
    search: (query, most) => {
      const found = index.search(query).flatMap(({ id, score }) => {
        const section = sections[Number(id)];
        return section === undefined ? [] : [{ section, score: score * weightOf(section, query) }];
      });
      return found
        .toSorted((a, b) => b.score - a.score)
        .slice(0, most)
        .map(({ section }) => section);
    },
  };
}
