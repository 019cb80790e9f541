/** The runbook explains every line that the service can log at level warn and above, collected from the sources. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = new URL('../../../', import.meta.url);
const runbook = readFileSync(new URL('docs/operate/runbook.md', root), 'utf8');

/** Levels that somebody should look at, and receivers that are loggers by their names. */
const serious = new Set(['warn', 'error', 'fatal']);
/** What passes a sentence on to the log of the process that it runs in. */
const passesOn = (text: string): boolean => /(^|[.])failed$/.test(text);
const isLogger = (text: string): boolean => /(^|[.#])log(ger)?$/i.test(text);

/** Sentences that are made elsewhere, by the expression that logs them; the runbook has a part on each. */
const madeElsewhere = new Map([
  ['warning', 'warnings at start'],
  ['sentence', 'a connection could not be served'],
  ['problem', 'the turn model does not load'],
]);

/** Texts in an expression: itself, both sides of a choice, what a constant or a table of this file says. */
function sentencesIn(expression: ts.Expression, file: ts.SourceFile): readonly string[] {
  const known = madeElsewhere.get(expression.getText(file));
  if (known !== undefined) return [known];
  if (ts.isStringLiteralLike(expression)) return [expression.text];
  if (ts.isConditionalExpression(expression))
    return [...sentencesIn(expression.whenTrue, file), ...sentencesIn(expression.whenFalse, file)];
  if (ts.isElementAccessExpression(expression)) return sentencesIn(expression.expression, file);
  if (ts.isObjectLiteralExpression(expression))
    return expression.properties.flatMap((one) =>
      ts.isPropertyAssignment(one) ? sentencesIn(one.initializer, file) : [],
    );
  if (ts.isIdentifier(expression)) {
    const declared = declarationOf(expression.text, file);
    if (declared !== undefined) return sentencesIn(declared, file);
  }
  return [`not a fixed sentence: ${expression.getText(file)} in ${file.fileName}`];
}

function declarationOf(name: string, file: ts.SourceFile): ts.Expression | undefined {
  let found: ts.Expression | undefined;
  visit(file, (node) => {
    if (ts.isVariableDeclaration(node) && node.name.getText(file) === name) found ??= node.initializer;
  });
  return found;
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

function seriousLines(path: string, text = readFileSync(new URL(path, root), 'utf8')): readonly string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  visit(file, (node) => {
    if (!ts.isCallExpression(node)) return;
    const passed = node.arguments[1];
    if (passesOn(node.expression.getText(file)) && passed !== undefined && ts.isStringLiteral(passed))
      found.push(passed.text);
    if (!ts.isPropertyAccessExpression(node.expression)) return;
    const { name, expression } = node.expression;
    if (!serious.has(name.text) || !isLogger(expression.getText(file))) return;
    const sentence = node.arguments.at(-1);
    if (sentence !== undefined) found.push(...sentencesIn(sentence, file));
  });
  return found;
}

const sources = execFileSync(
  'git',
  ['ls-files', 'cli', 'supervisor', 'worker', 'inference', 'records', 'shared'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  // Commands print for their user; they are no part of the service.
  .filter(
    (path) => path.endsWith('.ts') && !/^cli\/(rehearsal|commands\/local|commands\/agent-dev)\//.test(path),
  );
const sentences = [...new Set(sources.flatMap((path) => seriousLines(path)))].toSorted();

describe('the runbook', () => {
  it('is compared with lines that are found in sources', () => {
    expect(sentences.length).toBeGreaterThan(30);
    expect(
      seriousLines(
        'a.ts',
        "const a = { b: 'B', c: 'C' }; this.#log.warn({}, a[x]); log.info('no'); problems.error('no');",
      ),
    ).toEqual(['B', 'C']);
  });

  it.each(sentences)('explains "%s"', (sentence) => {
    expect(runbook).toContain(`**${sentence}**`);
  });

  it('explains no line that nobody logs', () => {
    const rows = [...runbook.matchAll(/^\| \*\*(.+?)\*\* \|/gm)].map(([, sentence = '']) => sentence);
    expect(rows.filter((sentence) => !sentences.includes(sentence))).toEqual([]);
  });
});
