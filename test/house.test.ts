/** The walls of the house, as ARCHITECTURE.md draws them: each feature has one folder in each room, and vendors have their own names. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../', import.meta.url);
const rooms = ['shared', 'supervisor', 'worker'] as const;
const mostSupervisorLines = 20_500;

const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', ...rooms, 'records'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((path) => path.endsWith('.ts'));
const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');

/** Folders by the rows of the table: `agent-link` in `shared` and `worker`. */
const rows = [
  ...textOf('ARCHITECTURE.md').matchAll(
    /^\| [^|\n]+ \| (?:`([a-z-]+)`)? ?\| (?:`([a-z-]+)`)? ?\| (?:`([a-z-]+)`)? ?\| \[\d{4}\]/gm,
  ),
].map(([, ...names]) => names);

const folderOf = (path: string): string => path.split('/').slice(0, -1).join('/');
const folders = [...new Set(files.map(folderOf))];

describe('a feature', () => {
  it('is in the table', () => {
    expect(rows.length).toBeGreaterThan(8);
  });

  it.each(rows)('has the folders of its row, and no other one: %s %s %s', (...names) => {
    const name = names.find((one) => one !== undefined) ?? '';
    expect(new Set(names.filter((one) => one !== undefined))).toEqual(new Set([name]));
    // Inside its own folder a feature calls its parts what it likes.
    const others = rows.flat().filter((one) => one !== name);
    const found = folders.filter(
      (folder) => folder.split('/').includes(name) && !others.includes(folder.split('/').at(1) ?? ''),
    );
    const tops = [...new Set(found.map((folder) => folder.split('/').slice(0, 2).join('/')))];
    const wanted = rooms.flatMap((room, at) => (names[at] === undefined ? [] : [`${room}/${name}`]));
    expect(tops.toSorted()).toEqual(wanted);
    for (const folder of found) expect(folder.split('/').indexOf(name)).toBe(1);
  });
});

const readmes = [...textOf('ARCHITECTURE.md').matchAll(/^\| \[[^\]]+\]\(([^)]+\/README\.md)\)/gm)].map(
  ([, path = '']) => path,
);

describe('the README of a feature', () => {
  it('is there for each of them', () => {
    const names = readmes.map((path) => path.split('/').at(-2));
    expect(names).toEqual(rows.map((row) => row.find((one) => one !== undefined)));
  });

  it.each(readmes)(
    '%s is short, and says what it does, its way in, its invariants and its decisions',
    (path) => {
      const text = textOf(path);
      expect(text.split('\n').length - 1).toBeLessThanOrEqual(40);
      expect(text.match(/^#+ .*$/gm)?.slice(1)).toEqual(['## Way in', '## Invariants', '## Decisions']);
    },
  );

  it.each(readmes)('%s names files that are there', (path) => {
    const feature = path.split('/').at(-2) ?? '';
    const named = [...textOf(path).matchAll(/`([\w/-]+\.ts)`/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(2);
    const found = files.filter((file) => file.split('/')[1] === feature);
    const isThere = (name: string): boolean =>
      files.includes(name) ||
      files.includes(`supervisor/${name}`) ||
      found.some((file) => file.endsWith(`/${name}`));
    expect(named.filter((name) => !isThere(name))).toEqual([]);
  });
});

describe('a vendor', () => {
  it('has its own name wherever the configuration is not read', () => {
    expect(files.filter((path) => /carrier-[ab]|cloud-[abc]/.test(path))).toEqual([]);
    const named = files.filter(
      (path) => !path.startsWith('shared/config/') && /\b\w*(Carrier|Cloud)[A-C](?![a-z])/.test(textOf(path)),
    );
    expect(named).toEqual([]);
  });
});

describe('the supervisor', () => {
  it('is no more than it has to be', () => {
    const lines = files
      .filter((path) => path.startsWith('supervisor/'))
      .reduce((sum, path) => sum + textOf(path).split('\n').length - 1, 0);
    expect(lines).toBeLessThanOrEqual(mostSupervisorLines);
  });
});

const sources = execFileSync(
  'git',
  [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    'cli',
    'inference',
    'sdk/typescript/src',
    'web',
    'examples',
  ],
  { cwd: root, encoding: 'utf8' },
)
  .split('\n')
  .filter((path) => path.endsWith('.ts'))
  .concat(files);

/** Files of this project that a file imports, by their paths in it. */
function importsOf(path: string): string[] {
  const named = textOf(path).matchAll(
    /^\s*(?:import|export)\b[^'";]*?(?:\bfrom )?'(\.[^']+)'|\bimport\('(\.[^']+)'/gm,
  );
  return [...named].map(([, from, asked]) =>
    new URL(from ?? asked ?? '', new URL(path, 'file:///')).pathname.slice(1),
  );
}

const withBraces = (text: string): string[] => {
  const [whole = '', names = ''] = /\{([^}]*)\}/.exec(text) ?? [];
  return whole === '' ? [text] : names.split(',').flatMap((name) => withBraces(text.replace(whole, name)));
};

/** The paths of a cell: those in code, and the folders of the features in `shared`. */
const pathsIn = (cell: string): string[] => [
  ...[...cell.matchAll(/`([^`]+)`/g)].flatMap(([, path = '']) => withBraces(path)),
  ...(cell.includes("the features' folders")
    ? rows.flatMap(([name]) => (name === undefined ? [] : [`shared/${name}`]))
    : []),
];

/** `worker/tools` stands for all that is in it; `*` for a name; with a slash at its end for what lies in folders alone. */
const isIn = (path: string, pattern: string): boolean =>
  new RegExp(
    `^${pattern.replaceAll('.', '[.]').replaceAll('*', '[^/]+')}${pattern.endsWith('/') ? '' : '(/|$)'}`,
  ).test(path);

/** The rows that are about folders, one for each folder. In rows about the worker its folders have short names. */
const importRows = [
  ...(textOf('ARCHITECTURE.md').split('## Who may import whom')[1] ?? '').matchAll(
    /^\| (`[^|]*) \| ([^|]*) \| [^|]* \|$/gm,
  ),
].flatMap(([, from = '', may = '']) => {
  const named = pathsIn(may).filter((name) => !name.includes(':'));
  const own = from.startsWith('`worker') ? named.map((name) => `worker/${name}`) : [];
  const among = may.startsWith('one another') ? pathsIn(from) : [];
  return pathsIn(from).map((folder) => ({ folder, may: [...named, ...own, ...among] }));
});

describe('the table of imports', () => {
  it('is true of every import: the row of the folder that is nearest says that it may be there', () => {
    expect(importRows.length).toBeGreaterThan(40);
    const untrue = sources.flatMap((path) => {
      const [row] = importRows
        .filter(({ folder }) => isIn(path, folder))
        .toSorted((one, other) => other.folder.length - one.folder.length);
      if (row === undefined) return [`${path}: has no row`];
      const home =
        new RegExp(`^${row.folder.replaceAll('*', '[^/]+').replace(/\/?$/, '/')}`).exec(path)?.[0] ?? path;
      return importsOf(path)
        .filter((to) => !to.startsWith(home) && !row.may.some((pattern) => isIn(to, pattern)))
        .map((to) => `${path} -> ${to} (${row.folder})`);
    });
    expect(untrue).toEqual([]);
  });
});

describe('the table of folders', () => {
  it('has each folder of the service, or the room that it stands in', () => {
    const named = [...textOf('docs/architecture/folders.md').matchAll(/^\| ([^|]+) \|/gm)].flatMap(
      ([, cell = '']) => pathsIn(cell),
    );
    const features = rows.flat().filter((name) => name !== undefined);
    const unnamed = folders
      .map((folder) => folder.split('/').slice(0, 2).join('/'))
      .filter((folder) => !features.some((name) => folder.endsWith(`/${name}`)))
      .filter((folder) => !named.some((name) => isIn(name, folder) || isIn(folder, name)));
    expect([...new Set(unnamed)]).toEqual([]);
  });
});

describe('the pages about the code', () => {
  const pages = [
    'turn',
    'failure',
    'folders',
    'diagrams',
    'first-day',
    'adding-a-provider',
    'adding-a-transport',
  ];
  const all = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });

  it.each(['ARCHITECTURE.md', ...pages.map((name) => `docs/architecture/${name}.md`)])(
    '%s names files and folders that are there',
    (page) => {
      const named = [...textOf(page).matchAll(/`([\w@./{},*-]+)`/g)].flatMap(([, path = '']) =>
        withBraces(path),
      );
      const paths = named.filter(
        (path) => /^[^/]+\/[^/]|[.](ts|mjs)$/.test(path) && !/^(node|@|dist)\b/.test(path),
      );
      expect(paths.length).toBeGreaterThan(0);
      const isThere = (path: string): boolean =>
        new RegExp(
          `(^|/)${path.replace(/\/$/, '').replaceAll('.', '[.]').replaceAll('*', '[^/]+')}(/|$)`,
          'm',
        ).test(all);
      expect(paths.filter((path) => !isThere(path))).toEqual([]);
    },
  );
});
