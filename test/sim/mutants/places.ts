/**
 * Places in the syntax tree of a function, by what they are and which words they mention. A word is a name, a text, a number or an
 * operator. Of places within each other only the smallest is meant.
 */
import ts from 'typescript';

export interface Place {
  /** What is sought, for the reader of a failure. */
  readonly what: string;
  readonly within: (scope: ts.Node) => readonly ts.Node[];
}

const childrenOf = (node: ts.Node): ts.Node[] => {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  return children;
};

const nodesOf = (node: ts.Node): ts.Node[] => [node, ...childrenOf(node).flatMap(nodesOf)];

/** The names, texts, numbers and operators of a piece of code that are a certain word. */
export const wordsOf = (node: ts.Node, word: string): ts.Node[] =>
  nodesOf(node).filter(
    (leaf) =>
      childrenOf(leaf).length === 0 && (ts.isStringLiteralLike(leaf) ? leaf.text : leaf.getText()) === word,
  );

const mentions = (node: ts.Node, words: readonly string[]): boolean =>
  words.every((word) => wordsOf(node, word).length > 0);

const isWithin = (inner: ts.Node, outer: ts.Node): boolean =>
  inner !== outer && inner.pos >= outer.pos && inner.end <= outer.end;

/** The places of a kind: `pick` tells what of a node is one. */
function place(kind: string, words: readonly string[], pick: (node: ts.Node) => ts.Node | undefined): Place {
  return {
    what: [kind, ...words.map((word) => `"${word}"`)].join(' '),
    within: (scope) => {
      const found = nodesOf(scope)
        .map(pick)
        .filter((node) => node !== undefined)
        .filter((node) => mentions(node, words));
      return found.filter((node) => !found.some((other) => isWithin(other, node)));
    },
  };
}

/** A call of a function by its name, as in "push" or "lines.push". */
export const call = (name: string, ...words: string[]): Place =>
  place(`call of ${name}`, words, (node) =>
    ts.isCallExpression(node) && `.${node.expression.getText().replace('?.', '.')}`.endsWith(`.${name}`)
      ? node
      : undefined,
  );

export const argument = (of: Place, ...words: string[]): Place => ({
  what: `argument with ${words.join(', ')} of the ${of.what}`,
  within: (scope) =>
    of
      .within(scope)
      .flatMap((node) => (ts.isCallExpression(node) ? [...node.arguments] : []))
      .filter((node) => mentions(node, words)),
});

export const statement = (...words: string[]): Place =>
  place('statement', words, (node) =>
    ts.isStatement(node) && !ts.isBlock(node) && !ts.isFunctionDeclaration(node) ? node : undefined,
  );

/** What an `if`, a `while` or a `? :` asks. */
export const condition = (...words: string[]): Place =>
  place('condition', words, (node) =>
    ts.isIfStatement(node) || ts.isWhileStatement(node)
      ? node.expression
      : ts.isConditionalExpression(node)
        ? node.condition
        : undefined,
  );

/** The condition that a place depends on. */
export const guard = (of: Place): Place => ({
  what: `condition of the ${of.what}`,
  within: (scope) =>
    of.within(scope).flatMap((node) => {
      const around = ts.findAncestor(node.parent, ts.isIfStatement);
      return around === undefined ? [] : [around.expression];
    }),
});

/** An operand of certain operators; of a chain of one operator every link is one. */
const operandOf = (kind: string, operators: RegExp, words: readonly string[]): Place =>
  place(kind, words, (node) => {
    const { parent } = node;
    if (!ts.isBinaryExpression(parent) || node === parent.operatorToken) return undefined;
    const operator = parent.operatorToken.getText();
    const isChain = ts.isBinaryExpression(node) && node.operatorToken.getText() === operator;
    return operators.test(operator) && !isChain ? node : undefined;
  });

/** What stands beside `&&`, `||` or `??`. */
export const operand = (...words: string[]): Place => operandOf('operand', /^(&&|\|\||\?\?)$/, words);

/** What stands beside an operator of arithmetic. */
export const term = (...words: string[]): Place => operandOf('term', /^[-+*/%]$/, words);

/** What a variable, a field or a property is set to. */
export const value = (name: string): Place =>
  place(`value of ${name}`, [], (node) => {
    if (ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node))
      return node.name.getText() === name ? node.initializer : undefined;
    if (!ts.isBinaryExpression(node) || !/^(\?\?|\|\|)?=$/.test(node.operatorToken.getText()))
      return undefined;
    return `.${node.left.getText()}`.endsWith(`.${name}`) ? node.right : undefined;
  });

/** What a function returns; functions within it are not meant. */
export const returned = (...words: string[]): Place =>
  place('returned expression', words, (node) => {
    const { parent } = node;
    const isBody = ts.isArrowFunction(parent) && node === parent.body && !ts.isBlock(node);
    if (!isBody && !(ts.isReturnStatement(parent) && node === parent.expression)) return undefined;
    const around = ts.findAncestor(node, ts.isFunctionLike);
    return ts.findAncestor(around?.parent, ts.isFunctionLike) === undefined ? node : undefined;
  });

export const element = (...words: string[]): Place =>
  place('element', words, (node) => (ts.isArrayLiteralExpression(node.parent) ? node : undefined));

export const property = (name: string): Place =>
  place(`property ${name}`, [], (node) =>
    ts.isObjectLiteralElementLike(node) && node.name?.getText() === name ? node : undefined,
  );

export const inside = (outer: Place, inner: Place): Place => ({
  what: `${inner.what} inside the ${outer.what}`,
  within: (scope) => outer.within(scope).flatMap((node) => inner.within(node)),
});

export const first = (of: Place): Place => ({
  what: `first ${of.what}`,
  within: (scope) => of.within(scope).slice(0, 1),
});

export const last = (of: Place): Place => ({
  what: `last ${of.what}`,
  within: (scope) => of.within(scope).slice(-1),
});
