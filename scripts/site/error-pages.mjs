// A page for each error code, out of the tables of docs/reference/errors.md: where it is told, its sentence, and what to do.

const folder = 'docs/reference/errors';

/** The cells of a row of a table; a `|` within one is written `\|`. */
const cellsOf = (line) =>
  line
    .replace(/^\| ?|\s*\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());

/** The page's name of a row by its first cell: a code, or a status of SIP. */
const nameOf = (first) => /^`([\w-]+)`$/.exec(first)?.[1] ?? `sip-${first}`;

/** Addresses in the tables begin at docs/reference, those of the pages one folder deeper. */
const deeper = (text) => text.replace(/\]\((?![a-z]+:)/g, '](../');

/** Rows of all tables, each with the heading that it stands under and its cells by the heads of their columns. */
function rowsOf(text) {
  return text
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => {
      const [heading, ...lines] = section.split('\n');
      const [heads, , ...rows] = lines.filter((line) => line.startsWith('|')).map(cellsOf);
      return (rows ?? []).map((cells) => ({
        heading,
        first: cells[0],
        cells: heads.slice(1).map((head, at) => [head, cells[at + 1] ?? '']),
      }));
    });
}

const advised = 'What to do';

function placeOf({ heading, cells }) {
  const facts = cells.filter(([head, cell]) => head !== advised && cell !== '');
  const advice = cells.find(([head]) => head === advised)?.[1] ?? '';
  const list = facts.map(([head, cell]) => `- ${head}: ${deeper(cell)}`).join('\n');
  return `## ${heading}\n\n${list}\n\n**${advised}**: ${deeper(advice)}\n`;
}

/** The page of a code tells every place where it is used. */
function pageOf([name, rows]) {
  const [{ first, cells }] = rows;
  const title = name.startsWith('sip-') ? `SIP ${first} ${cells[0][1]}` : `Error ${first}`;
  const text = `# ${title}\n\nOne of the [error codes](../errors.md).\n\n${rows.map(placeOf).join('\n')}`;
  return { path: `${folder}/${name}.md`, isUnlisted: true, text };
}

/** `text`: that of docs/reference/errors.md. `ofRow` has the page of each first cell of its tables, from there. */
export function errorPages(text) {
  const rows = rowsOf(text);
  const named = new Map();
  for (const row of rows) named.set(nameOf(row.first), [...(named.get(nameOf(row.first)) ?? []), row]);
  const ofRow = new Map(rows.map(({ first }) => [first, `errors/${nameOf(first)}.md`]));
  return { pages: [...named].map(pageOf), ofRow };
}
