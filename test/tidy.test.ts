/** House rules that no linter of ours covers, over every file that is tracked or about to be. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import ts from 'typescript';
import { describe, it, expect } from 'vitest';
import { refusalRows } from '../supervisor/http/refusals.ts';
import { refusalWords } from '../shared/sip/message/statuses.ts';

const root = new URL('../', import.meta.url);
const longestFile = 600;
/** A table of cases is read in one place. */
const longestTestFile = 600;
const longestFunction = 70;
const fullestFolder = 30;

const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
const files = listed.split('\0').filter((path) => path !== '' && existsSync(new URL(path, root)));
const code = files.filter((path) => /\.(ts|mjs)$/.test(path));
const product = code.filter((path) =>
  /^(cli|supervisor|worker|inference|records|shared|web|examples)\//.test(path),
);
const texts = files.filter((path) =>
  /\.(ts|mjs|cjs|js|json|md|toml|ya?ml|html|css|svg|sh|txt|service)$/.test(path),
);

/** Written in pieces, because this file is looked at too. */
const machinePath = /(^|[^\w.-])\/(wor[k]|tm[p]|hom[e]|roo[t]|User[s])(\/|\b(?![\w-]))/;

/** References such as these led to a text that nobody has who has the repository. */
const outsideSpecification = /\bspec 0\d\b/i;

const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const lineCount = (text: string): number => text.replace(/\n$/, '').split('\n').length;

/** `path:line` of every match, the pattern tried line by line. */
function linesMatching(paths: readonly string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    textOf(path)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  );
}

const parse = (path: string, text: string): ts.SourceFile =>
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);

const trees = new Map<string, ts.SourceFile>();

function treeOf(path: string): ts.SourceFile {
  const known = trees.get(path) ?? parse(path, textOf(path));
  trees.set(path, known);
  return known;
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

/** The body of `describe` is a list of tests and no function in the sense of the rule. */
function isSuite(node: ts.Node): boolean {
  return ts.isCallExpression(node.parent) && /^describe\b/.test(node.parent.expression.getText());
}

/** A function that runs a suite for one of several subjects is as long as what stands around its `describe`. */
function linesOfSuites(file: ts.SourceFile, body: ts.Node): number {
  if (!ts.isBlock(body)) return 0;
  const suites = body.statements.filter(
    (statement) => ts.isExpressionStatement(statement) && /^describe\b/.test(statement.expression.getText()),
  );
  const line = (position: number): number => file.getLineAndCharacterOfPosition(position).line;
  return suites.reduce((sum, suite) => sum + line(suite.end) - line(suite.getStart()), 0);
}

function longFunctions(file: ts.SourceFile): string[] {
  const found: string[] = [];
  visit(file, (node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined || isSuite(node)) return;
    const first = file.getLineAndCharacterOfPosition(node.getStart()).line;
    const last = file.getLineAndCharacterOfPosition(node.end).line;
    const lines = last - first + 1 - linesOfSuites(file, node.body);
    if (lines > longestFunction) found.push(`${file.fileName}:${first + 1} has ${lines} lines`);
  });
  return found;
}

function emptyCatches(file: ts.SourceFile): string[] {
  const found: string[] = [];
  visit(file, (node) => {
    if (!ts.isCatchClause(node) || node.block.statements.length > 0) return;
    found.push(`${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
  });
  return found;
}

/** `...{ a, b }` in an object: its properties stand there as well. */
function spreadLiterals(file: ts.SourceFile): string[] {
  const found: string[] = [];
  visit(file, (node) => {
    if (!ts.isSpreadAssignment(node) || !ts.isObjectLiteralExpression(node.expression)) return;
    found.push(`${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
  });
  return found;
}

function defaultExports(file: ts.SourceFile): string[] {
  const isDefault = (statement: ts.Statement): boolean =>
    ts.isExportAssignment(statement) ||
    (ts.canHaveModifiers(statement) &&
      (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword));
  return file.statements.some(isDefault) ? [file.fileName] : [];
}

/** `export * from`, which names nothing. */
function namelessExports(file: ts.SourceFile): string[] {
  const isNameless = (statement: ts.Statement): boolean =>
    ts.isExportDeclaration(statement) &&
    statement.moduleSpecifier !== undefined &&
    (statement.exportClause === undefined || ts.isNamespaceExport(statement.exportClause));
  return file.statements.some(isNameless) ? [file.fileName] : [];
}

const tableOfRefusals = 'supervisor/http/refusals.ts';

const nameOf = ({ name }: ts.ObjectLiteralElementLike): string =>
  name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteral(name)) ? name.text : '';

/** A status of 400 to 599 that is written out, anywhere in what is given. */
function holdsRefusalStatus(given: ts.Node | undefined): boolean {
  let holds = false;
  const see = (node: ts.Node): void => {
    holds ||= ts.isNumericLiteral(node) && /^[45]\d\d$/.test(node.text);
  };
  if (given !== undefined) visit(given, see);
  return holds;
}

/** An answer with a code of its own. A line of the log has a code and a status too, of somebody else. */
function isAnswer(node: ts.Node): boolean {
  if (!ts.isObjectLiteralExpression(node)) return false;
  const status = node.properties.find((property) => nameOf(property) === 'status');
  const names = node.properties.map(nameOf);
  return names.includes('code') && (names.includes('message') || holdsRefusalStatus(status));
}

/** A head of an answer with a bare status. */
const isBareHead = (node: ts.Node): boolean =>
  ts.isCallExpression(node) &&
  ts.isPropertyAccessExpression(node.expression) &&
  node.expression.name.text === 'writeHead' &&
  node.arguments[0] !== undefined &&
  ts.isNumericLiteral(node.arguments[0]) &&
  holdsRefusalStatus(node.arguments[0]);

/** HTTP refusals that are written where they are given. */
function ownRefusals(file: ts.SourceFile): string[] {
  const found: string[] = [];
  visit(file, (node) => {
    if (!isAnswer(node) && !isBareHead(node)) return;
    found.push(`${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
  });
  return found;
}

describe('the project', () => {
  it('is seen by these rules at all', () => {
    expect(code.length).toBeGreaterThan(20);
    expect(code).toContain('test/tidy.test.ts');
  });

  it(`has no code file of more than ${longestFile} lines, and no test of more than ${longestTestFile}`, () => {
    const long = code
      .map((path) => ({ path, lines: lineCount(textOf(path)) }))
      .filter(({ path, lines }) => lines > (path.startsWith('test/') ? longestTestFile : longestFile));
    expect(long).toEqual([]);
  });

  it(`has no function of more than ${longestFunction} lines`, () => {
    expect(code.flatMap((path) => longFunctions(treeOf(path)))).toEqual([]);
  });

  it(`has no folder of more than ${fullestFolder} source files`, () => {
    const counts = new Map<string, number>();
    for (const path of code) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > fullestFolder)).toEqual([]);
  });

  it('names files and folders after what they hold', () => {
    const vague = /^(utils?|helpers?|common|managers?|misc|lib)$|-(utils?|helpers?|managers?)$/i;
    const parts = (path: string): string[] => [
      ...path.split('/').slice(0, -1),
      basename(path).replace(/\..*$/, ''),
    ];
    expect(files.filter((path) => parts(path).some((part) => vague.test(part)))).toEqual([]);
  });

  it('leaves no work for later in the code', () => {
    expect(linesMatching(code, /\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b/)).toEqual([]);
  });

  it('exports by name in the product', () => {
    expect(product.flatMap((path) => defaultExports(treeOf(path)))).toEqual([]);
    const named = code.filter((path) => !path.startsWith('test/'));
    expect(named.flatMap((path) => namelessExports(treeOf(path)))).toEqual([]);
  });

  it('writes the properties of objects as such', () => {
    expect(product.flatMap((path) => spreadLiterals(treeOf(path)))).toEqual([]);
  });

  it('has one style of private fields', () => {
    expect(linesMatching(product, /^\s+private (?!constructor\()/)).toEqual([]);
  });

  it('swallows no error without a word', () => {
    expect(code.flatMap((path) => emptyCatches(treeOf(path)))).toEqual([]);
  });

  it('refuses by HTTP only what stands in the table of refusals', () => {
    const others = code.filter((path) => path.startsWith('supervisor/') && path !== tableOfRefusals);
    expect(others.flatMap((path) => ownRefusals(treeOf(path)))).toEqual([]);
    expect(files).toContain(tableOfRefusals);
    const text = others.map(textOf).join('\n');
    const unused = Object.keys(refusalRows).filter(
      (row) => !new RegExp(`refusals\\.${row}\\b|'${row}'`).test(text),
    );
    expect(unused).toEqual([]);
  });

  it('refuses by SIP only with statuses of their table, and with each of them', () => {
    const given = /(?:status: (?:[^,}\n]* \? )?|refuseInvite\([^\n]*, |\? |: )([4-6]\d\d)\b(?! \|\|)/g;
    const sources = code.filter(
      (path) => /^(shared|supervisor)\/sip\//.test(path) && !path.endsWith('/statuses.ts'),
    );
    const used = sources.flatMap((path) =>
      [...textOf(path).matchAll(given)].map(([, status = '']) => status),
    );
    expect([...new Set(used)].toSorted()).toEqual(Object.keys(refusalWords));
  });

  it('mentions no path of a machine that it was written on', () => {
    expect(linesMatching(texts, machinePath)).toEqual([]);
  });

  it('refers to no specification outside the repository', () => {
    const judged = files.filter((path) => path !== 'CHANGELOG.md');
    expect(linesMatching(judged, outsideSpecification)).toEqual([]);
  });

  it('calls the one who speaks the agent, as the glossary does', () => {
    // Names of the wire (`bot.heard`, `disconnect-bot`) and identifiers in backticks stay.
    const comment = /^\s*(?:\/\/|\/?\*).*(?<![\w.`'-])bot(?:'s)?(?![\w.`'-])/i;
    expect(linesMatching(code, comment)).toEqual([]);
  });

  it('names only pages that are there', () => {
    // The site makes a page of its own.
    const sources = code.filter((path) => !path.startsWith('scripts/site/'));
    const named = sources.flatMap((path) =>
      [...textOf(path).matchAll(/(?<![\w/.])docs\/[\w/.-]+\.md/g)].map(([page]) => `${path}: ${page}`),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((one) => !existsSync(new URL(one.split(': ')[1] ?? '', root)))).toEqual([]);
  });

  it('is judged by rules that notice what they are for', () => {
    const long = `const f = () => {\n${'f();\n'.repeat(longestFunction)}};`;
    expect(longFunctions(parse('a.ts', long))).toEqual([`a.ts:1 has ${longestFunction + 2} lines`]);
    expect(longFunctions(parse('a.ts', `describe('x', ${long.slice(10, -1)});`))).toEqual([]);
    expect(emptyCatches(parse('a.ts', 'try { f(); } catch {\n // why\n}'))).toEqual(['a.ts:1']);
    expect(spreadLiterals(parse('a.ts', 'f({ a, ...{ b, c } });'))).toEqual(['a.ts:1']);
    expect(spreadLiterals(parse('a.ts', 'f({ a, ...(b && { c }), ...d });'))).toEqual([]);
    expect(defaultExports(parse('a.ts', 'export default 1;'))).toEqual(['a.ts']);
    expect(defaultExports(parse('a.ts', 'export default function f() {}'))).toEqual(['a.ts']);
    expect(defaultExports(parse('a.ts', 'export function f() {}'))).toEqual([]);
    expect(namelessExports(parse('a.ts', "export * from './b.ts';"))).toEqual(['a.ts']);
    expect(namelessExports(parse('a.ts', "export * as b from './b.ts';"))).toEqual(['a.ts']);
    expect(namelessExports(parse('a.ts', "export { b } from './b.ts';"))).toEqual([]);
    for (const own of [
      "const a = { status: 503, code: 'full', message: 'full' };",
      "f({ 'status': isOver ? 404 : 409, code, ...more });",
      "const a = (message: string) => ({ ...gone, code: 'full', message });",
      'response.writeHead(503).end();',
    ])
      expect(ownRefusals(parse('a.ts', own))).toEqual(['a.ts:1']);
    for (const other of [
      "refuse(refusal('full', { message: 'full' }));",
      "log.warn({ host, status, code }, 'refused');",
      'const { status, code, message } = answer;',
      'response.writeHead(200).end();',
    ])
      expect(ownRefusals(parse('a.ts', other))).toEqual([]);
    const machinePaths = ['tmp', 'work', 'home', 'root', 'Users'].flatMap((name) => [
      `/${name}/x`,
      `see (/${name})`,
    ]);
    expect(machinePaths.filter((text) => !machinePath.test(text))).toEqual([]);
    expect(['(spec 0', 'Spec 0'].every((text) => outsideSpecification.test(`${text}1, Limits)`))).toBe(true);
    expect(machinePath.test('worker/core, https://a.example/home and ./tmp-1')).toBe(false);
  });
});
