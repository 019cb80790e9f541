/** The changelog and the version of a release, and that the version is the same wherever it stands. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  nextVersion,
  notesOf,
  release,
  releasesIn,
  withLinks,
  withoutUpgrade,
} from '../../../scripts/release/notes.mjs';
import { repeating, setVersion, versionsIn } from '../../../scripts/release/versions.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const textOf = (path: string): string => readFileSync(`${root}/${path}`, 'utf8');
const { version } = JSON.parse(textOf('package.json')) as { version: string };

const home = 'https://forge.example/us/it';
const before = `# Changelog

Words.

## Unreleased

### Added

- One thing
  in two lines.

### Fixed

- A fault.

## [0.1.0] - 2026-01-02

First release.

[0.1.0]: https://elsewhere.example/releases/tag/v0.1.0
`;
const change = (packages: Readonly<Record<string, 'patch' | 'minor' | 'major'>>, upgrade = '') => ({
  file: '.changeset/a.md',
  packages,
  words: 'Words of a change.\n\nIn two parts.',
  upgrade,
});
const made = (text: string, changes: readonly ReturnType<typeof change>[] = []) =>
  release(text, { current: '0.1.0', changes, date: '2026-03-04', home });

describe('a release', () => {
  it('moves what waits under its version, with a date, and links all versions', () => {
    const next = made(before);
    expect(next.version).toBe('0.2.0');
    expect(next.changelog).toBe(`# Changelog

Words.

## Unreleased

## [0.2.0] - 2026-03-04

### Added

- One thing
  in two lines.

### Fixed

- A fault.

## [0.1.0] - 2026-01-02

First release.

[0.2.0]: ${home}/compare/v0.1.0...v0.2.0
[0.1.0]: ${home}/releases/tag/v0.1.0
`);
    expect(notesOf(next.changelog, '0.2.0')).toBe(
      '### Added\n\n- One thing\n  in two lines.\n\n### Fixed\n\n- A fault.',
    );
    expect(notesOf(next.changelog, '0.1.0')).toBe('First release.');
    expect(() => notesOf(next.changelog, '0.3.0')).toThrow(/nothing of 0\.3\.0/);
  });

  it('takes the files of .changeset in, each where it belongs', () => {
    const changes = [
      change({ a: 'major', b: 'minor' }, 'write\nthis.'),
      change({ a: 'minor' }),
      change({ b: 'patch' }),
    ];
    const { notes } = made(before, changes);
    expect(notes).toContain(
      '### Breaking\n\n- Words of a change.\n  In two parts.\n  Upgrade: write\n  this.\n\n### Added\n\n- One thing',
    );
    expect(notes).toContain(
      '  in two lines.\n- Words of a change.\n  In two parts.\n\n### Fixed\n\n- A fault.\n- Words',
    );
  });

  it('is refused where a breaking row does not say what users do', () => {
    const breaking = (row: string): string =>
      before.replace('### Added', `### Breaking\n\n${row}\n\n### Added`);
    expect(() => made(breaking('- It is gone.\n- Other. Upgrade: do it.'))).toThrow(/It is gone/);
    expect(made(breaking('- It is gone,\n  all of it.\n  Upgrade: do without.')).version).toBe('0.2.0');
  });

  it('is refused where nothing waits', () => {
    expect(() => made('# Changelog\n\n## Unreleased\n\n## [0.1.0] - 2026-01-02\n')).toThrow(/nothing waits/);
    expect(() => made('# Changelog\n')).toThrow(/has no ## Unreleased/);
  });

  it.each([
    ['0.1.0', { isBreaking: true, hasNew: false }, '0.2.0'],
    ['0.1.4', { isBreaking: false, hasNew: true }, '0.2.0'],
    ['0.1.4', { isBreaking: false, hasNew: false }, '0.1.5'],
    ['1.2.3', { isBreaking: true, hasNew: true }, '2.0.0'],
    ['1.2.3', { isBreaking: false, hasNew: true }, '1.3.0'],
  ])('follows %s', (current, what, next) => expect(nextVersion(current, what)).toBe(next));
});

describe('the changelog', () => {
  const changelog = textOf('CHANGELOG.md');

  it('says of each breaking row what users do', () => expect(withoutUpgrade(changelog)).toEqual([]));

  it('gives each release a date and a link', () => {
    const { homepage } = JSON.parse(textOf('package.json')) as { homepage: string };
    const releases = releasesIn(changelog);
    expect(releases.filter((heading) => !/^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/.test(heading))).toEqual([]);
    expect(releases.length).toBeGreaterThan(0);
    expect(withLinks(changelog, homepage.replace(/#.*$/, ''))).toBe(changelog);
  });
});

describe('the version', () => {
  it('stands in no file that a release would leave behind', () => {
    const tracked = execFileSync('git', ['grep', '-lE', 'voice-agent-service[-_:][0-9]+\\.[0-9]+\\.[0-9]+'], {
      ...{ cwd: root, encoding: 'utf8' },
    });
    const named = tracked.trim().split('\n');
    expect(named.filter((path) => !repeating.includes(path) && !path.startsWith('test/'))).toEqual([]);
  });

  it('stands in no sentence that a release would make untrue', () => {
    const { version } = JSON.parse(textOf('package.json')) as { version: string };
    const minor = version.replace(/\.\d+$/, '').replace('.', '\\.');
    const pages = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'docs/stability.md', 'docs/roadmap.md'];
    const said = new RegExp(`\\b(?:version|release) \\(?v?${minor}(?:\\.[\\dx]+)?\\b`, 'i');
    expect(pages.filter((path) => said.test(textOf(path)))).toEqual([]);
  });

  it('is set everywhere at once, and nothing else with it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'versions-'));
    const paths = ['package.json', ...repeating];
    for (const path of paths) cpSync(join(root, path), join(folder, path));
    setVersion(folder, '9.8.7');
    const changed = (path: string): string[] => {
      const before = textOf(path).split('\n');
      const after = readFileSync(join(folder, path), 'utf8').split('\n');
      return after.filter((line, at) => line !== before[at]);
    };
    expect(changed('package.json')).toEqual(['  "version": "9.8.7",']);
    for (const path of repeating) {
      expect([path, new Set(versionsIn(folder, path))]).toEqual([path, new Set(['9.8.7'])]);
      expect(changed(path).every((line) => line.includes('9.8.7'))).toBe(true);
    }
    rmSync(folder, { recursive: true });
  });

  it.each(repeating)('is that of package.json in %s', (path) => {
    const found = versionsIn(root, path);
    expect([...new Set(found)]).toEqual([version]);
  });
});
