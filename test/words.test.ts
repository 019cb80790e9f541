/** One word per idea: docs/glossary.md has them, and names of the code are no pictures that a newcomer must learn first. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = new URL('../', import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');

/** Pictures, with the words that stand for their ideas. */
const pictures = new Map([
  ['companion', 'feature'],
  ['entrance', 'ingress'],
  ['errand', 'task'],
  ['heir', 'successor'],
  ['inlet', 'loopback socket'],
  ['keeper', 'archive, reaper'],
  ['manners', 'capabilities'],
  ['mourn', 'end'],
  ['neighbours', 'other supervisors'],
  ['reception', 'incoming calls'],
  ['seat', 'place, row'],
  ['vigil', 'poll'],
  ['visitor', 'admitted request'],
]);
/** Metadata of an example, and a name that goes between releases. */
const foreign = [
  'scripts/sdk/python-files.ts: seats',
  'shared/protocol/ipc.ts: seats',
  'supervisor/children/child-setup.ts: seats',
  'worker/webrtc/peer-calls.ts: seats',
];
/** Words that mean nothing else in a comment, either. */
const pictureInComment = /^\s*(?:\/\/|\/?\*).*\b(?:companions?|errands?|heirs?|seats?|vigils?)\b/i;

/** A sentence needs a subject: "a caller who presses", not "who presses", and "keys that were pressed", not "what was pressed". */
const bareSubject =
  /^\s*(?:(?:\/\/|\/?\*+)(?:.*[.:;])? (?:Whoever|Whatever|Whom|whoever [a-z]+s)|\/\/ (?:What|Who)|(?:\/\/|\/?\*+) .*\. (?:What|Who)) /;

const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => /^(cli|supervisor|worker|inference|records|shared|scripts|web)\/.*\.(ts|mjs)$/.test(path))
  .filter((path) => existsSync(new URL(path, root)));

/** Words of a name: `callSeats` and `call-seats` are `call` and `seats`. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);

const isPicture = (name: string): boolean =>
  wordsOf(name).some((word) => pictures.has(word) || pictures.has(word.replace(/s$/, '')));

function identifiersOf(text: string): Set<string> {
  const found = new Set<string>();
  const see = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) found.add(node.text.replace(/^#/, ''));
    ts.forEachChild(node, see);
  };
  see(ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest));
  return found;
}

const identifiers = new Map(files.map((path) => [path, identifiersOf(textOf(path))]));

const rows = [...textOf('docs/glossary.md').matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\|([^|]*)\|$/gm)]
  .map(([, word = '', meaning = '', code = '']) => ({ word, meaning, code: code.trim().replaceAll('`', '') }))
  .filter(({ word }) => word !== 'Word' && !word.startsWith('-'));

describe('the glossary', () => {
  it('has each word once, in order', () => {
    const words = rows.map(({ word }) => word.toLowerCase());
    expect(words.length).toBeGreaterThan(90);
    expect(words).toEqual([...new Set(words)].toSorted((a, b) => a.localeCompare(b)));
  });

  it('says of each word what it is, in a sentence', () => {
    expect(rows.filter(({ meaning }) => !/^[A-Z\d`].*\.$/.test(meaning))).toEqual([]);
  });

  it('names what is in the code', () => {
    const known = new Set([...identifiers.values()].flatMap((names) => [...names]));
    expect(rows.filter(({ code }) => code !== '' && !known.has(code))).toEqual([]);
  });

  it('has no picture', () => {
    expect(rows.filter(({ word, code }) => isPicture(word) || isPicture(code))).toEqual([]);
  });
});

describe('names', () => {
  it('of files and folders are no pictures', () => {
    expect(files.filter((path) => isPicture(path))).toEqual([]);
  });

  it('in the code are no pictures', () => {
    const found = [...identifiers].flatMap(([path, names]) =>
      [...names].filter(isPicture).map((name) => `${path}: ${name}`),
    );
    expect(found.toSorted()).toEqual(foreign);
  });

  it('call the one who speaks the agent, outside the core', () => {
    const isBot = (name: string): boolean => wordsOf(name).includes('bot');
    const judged = [...identifiers].filter(
      ([path]) => !/^(worker\/core|scripts\/measure\/eval-turns)\//.test(path),
    );
    expect(
      judged.flatMap(([path, names]) => [...names].filter(isBot).map((name) => `${path}: ${name}`)),
    ).toEqual([]);
  });

  it('in comments are none, either', () => {
    const lines = files.flatMap((path) => textOf(path).split('\n'));
    expect(lines.filter((line) => pictureInComment.test(line))).toEqual([]);
  });

  it('are judged by rules that notice what they are for', () => {
    expect(['callSeats', 'SipHeir', '#keepVigil', 'sip/manners.ts', 'an-entrance.ts'].every(isPicture)).toBe(
      true,
    );
    expect(['phraseAt', 'theirs', 'mannered', 'seatbelt'].some(isPicture)).toBe(false);
  });
});

describe('comments', () => {
  it('have sentences with a subject', () => {
    const found = files.flatMap((path) =>
      textOf(path)
        .split('\n')
        // The head of a script says what the script is.
        .slice(path.startsWith('scripts/') ? 1 : 0)
        .filter((line) => bareSubject.test(line))
        .map((line) => `${path}: ${line}`),
    );
    expect(found).toEqual([]);
    expect(bareSubject.test('  // Whoever presses is heard.')).toBe(true);
    expect(bareSubject.test('  // What was pressed goes first.')).toBe(true);
    expect(bareSubject.test('/** Lines of the log. Who asks gets all. */')).toBe(true);
    expect(bareSubject.test('/** Sent as it is. Whatever it holds stays. */')).toBe(true);
    expect(bareSubject.test('// A caller who presses is heard, whatever it does.')).toBe(false);
  });
});
