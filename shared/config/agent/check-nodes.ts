/** What nodes of a flow have of their own is read as the same keys of the file's sections are, by the same declarations. */
import type { Tables } from '../../agents/overrides.ts';
import { nowhere, placeOf, problemsAt, withValue } from '../key-place.ts';
import { ProblemList, type KeyPath, type Problem } from '../problem.ts';
import { isTable } from '../table.ts';
import { flowNodeKeys } from './flow.ts';
import { pathsOf, valuesOf, type NodeKey, type OwnOfNode } from './node-settings.ts';

export interface NodeCheck {
  /** The sections of the file, which have no problem of their own. */
  readonly tables: Tables;
  /** Reads them once more. */
  readonly read: (tables: Tables, problems: ProblemList) => void;
  readonly problems: ProblemList;
}

/** Checks what a node at `at` has of its own together with all that the agent has. */
function checkNodeSettings(own: OwnOfNode, at: KeyPath, { tables, read, problems }: NodeCheck): void {
  const places = valuesOf(own).flatMap(([key, value]) =>
    pathsOf(key, tables).map((path) => ({ key, value, at: placeOf(path, tables) })),
  );
  if (tables['realtime'] !== undefined) {
    for (const { key } of places) problems.keyError([...at, key], 'has no meaning beside [realtime]');
    return;
  }
  const found = new ProblemList(nowhere);
  read(
    places.reduce((tree, place) => withValue(tree, place.at, place.value), tables),
    found,
  );
  const wrong = found.sorted().filter(({ severity }) => severity === 'error');
  const told = new Set<Problem>();
  const tell = (key: NodeKey, { path, message }: Problem): void =>
    problems.error([...at, key], message.slice(path.length + 1));
  for (const place of places)
    for (const problem of problemsAt(place.at, wrong).filter((one) => !told.has(one))) {
      told.add(problem);
      tell(place.key, problem);
    }
  const [first] = places;
  const [rest] = wrong.filter((problem) => !told.has(problem));
  if (first !== undefined && rest !== undefined)
    problems.error([...at, first.key], `does not fit the rest: ${rest.message}`);
}

/** Checks what nodes have of their own; the rest of the file is right. */
export function checkNodes(raw: unknown, check: NodeCheck): void {
  if (!isTable(raw) || !isTable(raw['nodes'])) return;
  for (const [name, node] of Object.entries(raw['nodes'])) {
    const own = flowNodeKeys.safeParse(node).data;
    if (own !== undefined) checkNodeSettings(own, ['flow', 'nodes', name], check);
  }
}
