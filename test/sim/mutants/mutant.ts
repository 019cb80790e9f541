/** What it means to break the core on purpose: one place in its syntax tree is changed. */
import ts from 'typescript';
import { wordsOf, type Place } from './places.ts';

/** A text in place of a part of the source. */
interface Change {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

interface Edit {
  readonly place: Place;
  readonly change: (node: ts.Node) => Change;
}

export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** The function or constant of the file that it changes. */
  readonly within: string;
  readonly edit: Edit;
}

/** Mutants by the function they change, as in "speaking.ts: cutResponse", and by what the broken core does. */
export const mutantsOf = (
  table: Readonly<Record<string, Readonly<Record<string, Edit>>>>,
): readonly Mutant[] =>
  Object.entries(table).flatMap(([where, edits]) => {
    const [file = '', within = ''] = where.split(': ');
    return Object.entries(edits).map(([name, edit]) => ({ name, file, within, edit }));
  });

const replacing = (node: ts.Node, text: string): Change => ({ from: node.getStart(), to: node.end, text });

/** In parentheses, an expression means the same whatever stands beside it. */
export const replace = (place: Place, text: string): Edit => ({
  place,
  change: (node) => replacing(node, ts.isExpression(node) ? `(${text})` : text),
});

export const always = (place: Place): Edit => replace(place, 'true');

export const never = (place: Place): Edit => replace(place, 'false');

const extend = (place: Place, rest: string): Edit => ({
  place,
  change: (node) => replacing(node, `((${node.getText()}) ${rest})`),
});

export const and = (place: Place, text: string): Edit => extend(place, `&& ${text}`);

export const or = (place: Place, text: string): Edit => extend(place, `|| ${text}`);

/** Puts a statement behind another one. */
export const insertAfter = (place: Place, text: string): Edit => ({
  place,
  change: (node) => replacing(node, `${node.getText()} ${text}`),
});

/** Puts another word in place of the only one of a place that is `from`. */
export const swap = (place: Place, from: string, to: string): Edit => ({
  place: {
    what: `"${from}" in the ${place.what}`,
    within: (scope) => place.within(scope).flatMap((node) => wordsOf(node, from)),
  },
  change: (node) => replacing(node, to),
});

/** Leaves out a statement, an operand, or one of a list. */
export const remove = (place: Place): Edit => ({
  place,
  change: (node) => {
    const { parent } = node;
    if (ts.isStatement(node)) return replacing(node, ';');
    if (ts.isExpressionStatement(parent)) return replacing(parent, ';');
    if (ts.isBinaryExpression(parent))
      return replacing(parent, (node === parent.left ? parent.right : parent.left).getText());
    const list = ts.isCallExpression(parent)
      ? parent.arguments
      : ts.isArrayLiteralExpression(parent)
        ? parent.elements
        : ts.isObjectLiteralExpression(parent)
          ? parent.properties
          : [];
    const at = list.findIndex((one) => one === node);
    const [before, after] = [list[at - 1], list[at + 1]];
    return {
      from: after === undefined && before !== undefined ? before.end : node.getStart(),
      to: after?.getStart() ?? node.end,
      text: '',
    };
  },
});

/** The function or constant of a name at the top of a file. */
const declared = (source: ts.SourceFile, name: string): ts.Node | undefined =>
  source.statements
    .flatMap((one): readonly ts.NamedDeclaration[] =>
      ts.isFunctionDeclaration(one)
        ? [one]
        : ts.isVariableStatement(one)
          ? one.declarationList.declarations
          : [],
    )
    .find((one) => one.name?.getText() === name);

/** The source of a file with the mutant in it. Throws where its place is not there, or not the only one. */
export function mutated(source: ts.SourceFile, { name, within, edit: { place, change } }: Mutant): string {
  const scope = declared(source, within);
  if (scope === undefined)
    throw new Error(`"${name}": ${source.fileName} has no function or constant ${within}`);
  const found = place.within(scope);
  const [node] = found;
  if (node === undefined || found.length > 1)
    throw new Error(`"${name}": ${within} has ${found.length} times the ${place.what}, not once`);
  const { from, to, text } = change(node);
  return source.text.slice(0, from) + text + source.text.slice(to);
}
