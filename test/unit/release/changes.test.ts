/** What a change of a public type asks for before it can be released. */
import { describe, expect, it } from 'vitest';
import { bumpBetween, missingChanges, parseChange } from '../../../scripts/packages/changes.mjs';

const change = (packages: string, body: string): ReturnType<typeof parseChange> =>
  parseChange('.changeset/a.md', `---\n${packages}\n---\n\n${body}\n`);

describe('a file of .changeset', () => {
  it('names packages, says what has changed, and what users do', () => {
    const text =
      'Sessions end otherwise.\n\nMore words.\n\nUpgrade: write `end({})`.\n\nUpgrade: never twice.';
    const read = change(`'@a/b': major\nservice: patch\n"@a/c": minor`, text);
    expect(read).toEqual({
      file: '.changeset/a.md',
      packages: { '@a/b': 'major', service: 'patch', '@a/c': 'minor' },
      words: 'Sessions end otherwise.\n\nMore words.',
      upgrade: 'write `end({})`.\n\nUpgrade: never twice.',
    });
  });

  it('may come from an editor of another system', () => {
    const read = parseChange('a.md', "---\r\n'@a/b': patch\r\n---\r\n\r\nMended.\r\n");
    expect([read.packages, read.words]).toEqual([{ '@a/b': 'patch' }, 'Mended.']);
  });

  it.each([
    ['no head', 'a change', /between two lines/],
    ['another bump', '---\na: huge\n---\nWords.', /patch, minor or major/],
    ['no package', '---\n\n---\nWords.', /name a package/],
    ['no words', '---\na: minor\n---\n\nUpgrade: do it.', /say what has changed/],
    ['a major change without a way to upgrade', '---\na: major\n---\nWords.', /behind "Upgrade:"/],
    ['an empty way to upgrade', '---\na: major\n---\nWords.\n\nUpgrade:\n', /behind "Upgrade:"/],
  ])('is refused with %s', (_, text, rule) => {
    expect(() => parseChange('.changeset/a.md', text)).toThrow(rule);
  });
});

describe('the difference of two reports', () => {
  const before = 'interface A {\n    b: string;\n    c?: number;\n}';

  it.each([
    ['nothing', before, undefined],
    ['a member more', before.replace('}', '    d?: string;\n}'), 'minor'],
    ['a member less', before.replace('    c?: number;\n', ''), 'major'],
    ['another type', before.replace('string', 'number'), 'major'],
    ['a member that must be given now', before.replace('c?', 'c'), 'major'],
    ['one of two lines that read alike', 'a\na', 'major'],
    [
      'a member that another declaration has now',
      'interface A {\n    c?: number;\n}\ninterface B {\n    b: string;\n}',
      'major',
    ],
    ['a comment', before.replace('    b', '    // (undocumented)\n    b'), undefined],
    ['an entry that is gone', undefined, 'major'],
  ])('asks for what it takes: %s', (name, after, bump) => {
    expect(bumpBetween(name.startsWith('one of two') ? 'a\na\na' : before, after)).toBe(bump);
  });

  it('is minor for a new entry', () => expect(bumpBetween(undefined, before)).toBe('minor'));
});

describe('a release', () => {
  const released = { agent: 'a\nb', client: 'c' };
  const packageOf = (report: string): string => `@v/${report}`;
  const missing = (
    current: Readonly<Record<string, string>>,
    packages?: Readonly<Record<string, 'patch' | 'minor' | 'major'>>,
    words = 'The type `b` is `c`.',
  ): string[] =>
    missingChanges({
      released,
      current,
      packageOf,
      changes:
        packages === undefined ? [] : [{ file: '.changeset/a.md', packages, words, upgrade: 'Do it.' }],
    });

  it('wants no change where none is seen', () => expect(missing(released)).toEqual([]));

  it('wants a change for each package whose report differs, as large as the difference', () => {
    const broken = { agent: 'a\nc', client: 'c\nd' };
    expect(missing(broken)).toEqual([
      expect.stringMatching(/^api\/agent\.api\.md .*@v\/agent the bump major .*Upgrade/),
      expect.stringMatching(/^api\/client\.api\.md .*@v\/client the bump minor$/),
    ]);
    expect(missing(broken, { '@v/agent': 'minor', '@v/client': 'minor' })).toHaveLength(1);
    expect(missing(broken, { '@v/agent': 'major', '@v/client': 'patch' })).toHaveLength(1);
    expect(missing(broken, { '@v/agent': 'major', '@v/client': 'minor' })).toEqual([]);
  });

  it('wants every break to be named: a file that tells of another one does not do', () => {
    const before =
      'export class Call {\n    end(): void;\n    say(text: string): void;\n}\n// @public\ntype Mode = 1;';
    const told = (after: string, words: string): string[] =>
      missingChanges({
        released: { agent: before },
        current: { agent: after },
        packageOf,
        changes: [{ file: '.changeset/a.md', packages: { '@v/agent': 'major' }, words, upgrade: 'Do it.' }],
      });
    const ended = before.replace('end(): void', 'end(how: string): void');
    expect(told(ended, '`call.end` wants to know how.')).toEqual([]);
    for (const words of ['A `Call` ends otherwise.', 'An ending is told.', 'At the end of a call: `say`.'])
      expect(told(ended, words)).toEqual([
        expect.stringMatching(/^api\/agent\.api\.md: end of Call is gone .*@v\/agent the bump major/),
      ]);
    const both = ended.replace('type Mode = 1', 'type Mode = 2');
    expect(told(both, '`call.end` wants to know how.')).toEqual([
      expect.stringContaining('md: Mode is gone'),
    ]);
    expect(told(before.replace('@public', '@public (undocumented)'), 'Nothing.')).toEqual([]);
    expect(told(`${before}\ntype More = 1;`, 'Nothing.')).toEqual([]);
    const without = '// @public\ntype Mode = 1;';
    expect(told(without, '`Call` is no more.')).toEqual([]);
    expect(told(without, '`call.end` and `call.say` are no more.')).toEqual([
      expect.stringContaining('md: Call is gone'),
    ]);
  });

  it.each([
    ['a method that implementations lack', '    close(): void;', true],
    ['a field that must be given', '    readonly how: string;', true],
    ['a field that may be given', '    readonly how?: string;', false],
    ['a method that may be there', '    close?(): void;', false],
  ])('wants what people who make one of a type must give now to be named: %s', (_, line, isWanted) => {
    const before = 'export interface Voice {\n    say(text: string): void;\n}';
    const current = { agent: before.replace('}', `${line}\n}`) };
    const told = (words: string): string[] =>
      missingChanges({
        released: { agent: before },
        current,
        packageOf,
        changes: [{ file: '.changeset/a.md', packages: { '@v/agent': 'minor' }, words, upgrade: '' }],
      });
    expect(told('A voice tells more.')).toEqual(
      isWanted ? [expect.stringMatching(/(how|close) of Voice is new and must be given/)] : [],
    );
    expect(told('A voice has `how` and `close()`.')).toEqual([]);
  });

  it('knows the packages that there are', () => {
    expect(missing(released, { '@v/agnt': 'minor' })).toEqual([
      '.changeset/a.md: names a package that there is not; there are @v/agent, @v/client',
    ]);
  });

  it('wants one for an entry that is gone, and for a new one', () => {
    expect(missing({ agent: 'a\nb', more: 'x' })).toHaveLength(2);
  });

  it('wants nothing before there was a first one', () => {
    const given = { released: {}, current: { agent: 'a' }, packageOf, changes: [] };
    expect(missingChanges(given)).toEqual([]);
  });
});
