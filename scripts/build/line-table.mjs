// Turns the source map of a built file into the table that shared/runtime/stack.ts reads: where each line of the built file comes
// from, and nothing else of the map. It is a twentieth of the map's cost to read, and is looked up in place.
//
// A file `main.js.lines` holds numbers of 32 bits, the low byte first: the count of entries, then two numbers an entry, sorted by
// place: the built line (20 bits, from 0) with the column (12 bits), and the number of the source (12 bits) with its line (20 bits,
// from 1). An entry holds up to the next; in between, each line further in the built file is one further in the source. After the
// entries stands a list of the sources' names as JSON.
import { readFileSync, writeFileSync } from 'node:fs';

const mostLines = 2 ** 20;
const mostColumns = 2 ** 12;
const digits = new Map(
  [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].map((c, i) => [c, i]),
);

/** The numbers of one segment of a source map: base64 digits of 5 bits, the lowest first; the lowest bit of a number is its sign. */
function numbersOf(segment) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const character of segment) {
    const digit = digits.get(character);
    value += (digit & 31) * 2 ** shift;
    shift += 5;
    if (digit >= 32) continue;
    numbers.push(value % 2 === 1 ? -((value - 1) / 2) : value / 2);
    value = 0;
    shift = 0;
  }
  return numbers;
}

/** `[line, column, source, sourceLine]` of the places of the built file at which a table must say something new. */
function entriesOf(mappings) {
  const entries = [];
  let source = 0;
  let sourceLine = 0;
  mappings.split(';').forEach((text, line) => {
    let column = 0;
    for (const segment of text === '' ? [] : text.split(',')) {
      const [columns, sources, lines] = numbersOf(segment);
      column += columns;
      if (sources === undefined) continue;
      source += sources;
      sourceLine += lines;
      const last = entries.at(-1);
      if (last === undefined || last[2] !== source || last[3] + line - last[0] !== sourceLine)
        entries.push([line, column, source, sourceLine]);
    }
  });
  return entries;
}

/** The table of a source map; its names are as the map has them, without the steps up to the project. */
export function lineTable({ mappings, sources }) {
  const entries = entriesOf(mappings);
  const numbers = new Uint32Array(1 + 2 * entries.length);
  numbers[0] = entries.length;
  entries.forEach(([line, column, source, sourceLine], index) => {
    if (line >= mostLines || sourceLine + 1 >= mostLines || source >= mostColumns)
      throw new Error('a built file has more lines or sources than a table of lines can name');
    numbers[1 + 2 * index] = line * mostColumns + Math.min(column, mostColumns - 1);
    numbers[2 + 2 * index] = source * mostLines + sourceLine + 1;
  });
  const names = sources.map((name) => name.replace(/^(\.\.\/)+/, ''));
  return Buffer.concat([Buffer.from(numbers.buffer), Buffer.from(JSON.stringify(names))]);
}

/** Writes the tables beside built files. */
export function writeLineTables(files) {
  for (const file of files)
    writeFileSync(`${file}.lines`, lineTable(JSON.parse(readFileSync(`${file}.map`, 'utf8'))));
}
