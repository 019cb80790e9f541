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

/** The name that a line of a report declares; undefined where it declares none. */
const nameIn = (line) =>
  /^(?!import |constructor\()(?:(?:export|declare|default|abstract|static|readonly|get|set|type|interface|class|function|const|enum|namespace) )*([A-Za-z_$][\w$]*)/.exec(
    line,
  )?.[1];

/** Lines of a report, but for comments, each with the declaration that it stands in: two declarations may have lines that read alike. */
function linesOf(report) {
  let declaration;
  return report.split('\n').flatMap((whole) => {
    const line = whole.trim();
    if (line === '' || line.startsWith('//')) return [];
    const own = nameIn(line);
    if (/^\w/.test(whole)) declaration = own;
    const name = /\w/.test(line) ? (own ?? declaration) : undefined;
    return [{ line, name, declaration }];
  });
}

/** Lines of a report that another one lacks, or has otherwise. */
function missingIn(other, report) {
  const keyOf = ({ line, declaration }) => `${declaration}: ${line}`;
  const left = new Map();
  for (const each of linesOf(other)) left.set(keyOf(each), (left.get(keyOf(each)) ?? 0) + 1);
  return linesOf(report).filter((each) => {
    const count = left.get(keyOf(each)) ?? 0;
    left.set(keyOf(each), count - 1);
    return count <= 0;
  });
}

/** How much of a change the report of an entry shows: what is gone or reads otherwise may break those who used it. */
export function bumpBetween(before = '', after = '') {
  if (missingIn(after, before).length > 0) return 'major';
  return missingIn(before, after).length > 0 ? 'minor' : undefined;
}

/** Members that an interface has gained and that must be there: people who make one of it have to give them from now on. */
function wantedNow(before, after) {
  const idOf = ({ name, declaration }) => `${declaration}: ${name}`;
  const known = new Set(linesOf(before).map(idOf));
  const interfaces = new Set(
    linesOf(before).flatMap(({ line, declaration }) => (/\binterface /.test(line) ? [declaration] : [])),
  );
  return missingIn(before, after).filter(
    (each) =>
      interfaces.has(each.declaration) &&
      !known.has(idOf(each)) &&
      /^(?:readonly )?[\w$]+[:(<]/.test(each.line),
  );
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
    // An entry that is gone has no names left to be told.
    if (before === undefined || after === undefined) return [];
    return [
      ...unnamed(brokenIn(before, after), telling).map(
        (name) =>
          `api/${report}.api.md: ${name} is gone or reads otherwise, and no file of .changeset that gives ${owner} the bump major has it in \`backticks\``,
      ),
      ...unnamed(wantedNow(before, after), telling).map(
        (name) =>
          `api/${report}.api.md: ${name} is new and must be given by those who make one: say so in a file of .changeset, in \`backticks\`; where users make them, its bump is major`,
      ),
    ];
  });
}

/** Names the parts that break: of a declaration that is gone its own name alone. */
function brokenIn(before, after) {
  const there = new Set(linesOf(after).map(({ declaration }) => declaration));
  return missingIn(after, before).filter(
    ({ name, declaration }) => name !== undefined && (there.has(declaration) || name === declaration),
  );
}

/** Names that no change has as code. A file that tells of one break does not tell of the next, nor does a word that happens to be there. */
function unnamed(lines, telling) {
  const code = telling.flatMap(({ words, upgrade }) => `${words} ${upgrade}`.match(/`[^`]+`/g) ?? []);
  const told = new Set(code.flatMap((span) => span.match(/[\w$]+/g) ?? []));
  const left = lines.filter(({ name }) => !told.has(name));
  return [
    ...new Set(
      left.map(({ name, declaration }) => (name === declaration ? name : `${name} of ${declaration}`)),
    ),
  ];
}
