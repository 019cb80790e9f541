// What a change of a public type asks for: a file in `.changeset` that names the package, says how much of a change it is, and, where users have
// to do something, what. Pure.

export const bumps = ['patch', 'minor', 'major'];

/**
 * A change in the form of Changesets: packages with their bumps between lines of dashes, then the words for the changelog. The text behind
 * `Upgrade:` tells users what to do.
 */
export function parseChange(file, text) {
  const [, head, body] = /^---\n(.*?)^---\n(.*)$/ms.exec(text.replaceAll('\r\n', '\n')) ?? [];
  if (head === undefined) throw new Error(`${file}: begin with the packages between two lines of ---`);
  const packages = Object.fromEntries(
    head.split('\n').flatMap((line) => {
      if (line.trim() === '') return [];
      const [, , name, bump] = /^(["']?)([^"':\s]+)\1:\s*(\w+)\s*$/.exec(line) ?? [];
      if (!bumps.includes(bump)) throw new Error(`${file}: a package has the bump patch, minor or major`);
      return [[name, bump]];
    }),
  );
  const [words, ...upgrade] = body.trim().split(/^Upgrade:/m);
  const change = { file, packages, words: words.trim(), upgrade: upgrade.join('Upgrade:').trim() };
  if (Object.keys(packages).length === 0) throw new Error(`${file}: name a package`);
  if (change.words === '') throw new Error(`${file}: say what has changed`);
  if (isBreaking(change) && change.upgrade === '')
    throw new Error(`${file}: a major change says what users do, behind "Upgrade:"`);
  return change;
}

export const isBreaking = ({ packages }) => Object.values(packages).includes('major');

/** The name that a line of a report declares; undefined for comments, imports and brackets. */
const nameIn = (line) =>
  /^(?!import |\/\/)(?:(?:export|declare|default|abstract|static|readonly|get|set|type|interface|class|function|const|enum|namespace) )*([A-Za-z_$][\w$]*)/.exec(
    line,
  )?.[1];

/** Lines of a report that are gone or read otherwise, each with the names by which people know it: its own and that of what it is in. */
function goneFrom(before, after) {
  const left = new Map();
  for (const line of after.split('\n')) left.set(line.trim(), (left.get(line.trim()) ?? 0) + 1);
  let declaration;
  return before.split('\n').flatMap((whole) => {
    const line = whole.trim();
    if (/^\w/.test(whole)) declaration = nameIn(whole);
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    const name = nameIn(line);
    return count > 0 ? [] : [name === undefined ? [] : [name, declaration]];
  });
}

/** How much of a change the report of an entry shows: what is gone or reads otherwise may break those who used it. */
export function bumpBetween(before, after) {
  if (before === after) return undefined;
  if (before === undefined) return 'minor';
  return after === undefined || goneFrom(before, after).length > 0 ? 'major' : 'minor';
}

const isEnough = (given, wanted) => bumps.indexOf(given ?? '') >= bumps.indexOf(wanted);

/**
 * What is missing among the changes, in words. `released` and `current`: the texts of reports by name, those of the last release and
 * those of now; `packageOf`: whose report it is. Before the first release nothing is.
 */
export function missingChanges({ released, current, packageOf, changes }) {
  const owners = new Set([...Object.keys(released), ...Object.keys(current)].map(packageOf));
  const unknown = changes.flatMap(({ file, packages }) =>
    Object.keys(packages)
      .filter((name) => !owners.has(name))
      .map(() => `${file}: names a package that there is not; there are ${[...owners].sort().join(', ')}`),
  );
  return [...unknown, ...untold({ released, current, packageOf, changes })];
}

/** Differences from the last release that no change tells. */
function untold({ released, current, packageOf, changes }) {
  if (Object.keys(released).length === 0) return [];
  const names = [...new Set([...Object.keys(released), ...Object.keys(current)])].sort();
  return names.flatMap((report) => {
    const [before, after, owner] = [released[report], current[report], packageOf(report)];
    const wanted = bumpBetween(before, after);
    if (wanted === undefined) return [];
    const telling = changes.filter(({ packages }) => isEnough(packages[owner], wanted));
    const upgrade = wanted === 'major' ? ' with what users do behind "Upgrade:"' : '';
    if (telling.length === 0)
      return [
        `api/${report}.api.md differs from the last release: add a file to .changeset that gives ${owner} the bump ${wanted}${upgrade}`,
      ];
    return unnamed(goneFrom(before ?? '', after ?? before ?? ''), telling).map(
      (name) =>
        `api/${report}.api.md: ${name} is gone or reads otherwise, and no file of .changeset that gives ${owner} the bump major names it`,
    );
  });
}

/** A file that tells of one break does not tell of the next. */
function unnamed(gone, telling) {
  const words = new Set(
    telling.flatMap((change) => `${change.words} ${change.upgrade}`.match(/[\w$]+/g) ?? []),
  );
  const left = gone.filter((names) => names.length > 0 && !names.some((name) => words.has(name)));
  return [
    ...new Set(
      left.map(([name, declaration]) => (name === declaration ? name : `${name} of ${declaration}`)),
    ),
  ];
}
