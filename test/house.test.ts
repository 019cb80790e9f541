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
