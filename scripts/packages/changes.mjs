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

/** Of a report the lines of code, each as often as it is there. */
const linesOf = (report) => report.split('\n').map((line) => line.trim());

/** How much of a change the report of an entry shows: what is gone or reads otherwise may break those who used it. */
export function bumpBetween(before, after) {
  if (before === after) return undefined;
  if (before === undefined) return 'minor';
  if (after === undefined) return 'major';
  const left = new Map();
  for (const line of linesOf(after)) left.set(line, (left.get(line) ?? 0) + 1);
  for (const line of linesOf(before)) {
    const count = left.get(line) ?? 0;
    if (count === 0) return 'major';
    left.set(line, count - 1);
  }
  return 'minor';
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
    const wanted = bumpBetween(released[report], current[report]);
    const owner = packageOf(report);
    if (wanted === undefined || changes.some(({ packages }) => isEnough(packages[owner], wanted))) return [];
    const upgrade = wanted === 'major' ? ' with what users do behind "Upgrade:"' : '';
    return [
      `api/${report}.api.md differs from the last release: add a file to .changeset that gives ${owner} the bump ${wanted}${upgrade}`,
    ];
  });
}
