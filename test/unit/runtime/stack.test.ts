/** Stacks of built code name the sources: the table that the build makes, and what reads it in a process. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LineTable, rewriteStack } from '../../../shared/runtime/stack.ts';

type Map = ConstructorParameters<typeof SourceMap>[0];
interface TableMaker {
  readonly lineTable: (map: Map) => Buffer;
  readonly writeLineTables: (files: readonly string[]) => void;
}

const maker = new URL('../../../scripts/build/line-table.mjs', import.meta.url).href;
const { lineTable, writeLineTables } = (await import(maker)) as TableMaker;

const runtime = fileURLToPath(new URL('../../../shared/runtime/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'stacks-'));
const built = join(folder, 'dist/entry.js');

/** Types, comments and broken lines: what moves lines about between a source and its bundle. */
const other = `// A comment that the bundle has not.
export interface Given {
  readonly name: string;
}

/** Another. */
export function refuse({ name }: Given): never {
  // One more.
  throw new Error(
    name,
  );
}
`;
const entry = `import '${runtime}stack.ts';
import { errorFields } from '${runtime}log.ts';
import { refuse, type Given } from './other.ts';

const given: Given = { name: 'refused' };

const outer = (): void => [given]
  .map((one) => one)
  .forEach((one) => refuse(one));

try {
  outer();
} catch (error) {
  console.log(JSON.stringify(errorFields(error)));
}
const node = (): unknown => { try { return Buffer.alloc(-1); } catch (error) { return error; } };
console.log(JSON.stringify(errorFields(node())));
const odd = new Error('odd');
Object.defineProperty(odd, 'name', { get: () => { throw new Error('worse'); } });
console.log(typeof odd.stack);
process.emitWarning(new RangeError('a warning'));
await new Promise((resolve) => setImmediate(resolve));
if (process.argv[2] === 'escape') outer();
`;

const run = promisify(execFile);

async function output(...args: string[]): Promise<{ lines: string[]; errors: string }> {
  const flags = ['--trace-warnings', built, ...args];
  const { stdout, stderr } = await run(process.execPath, flags).catch((error: unknown) => {
    if (error instanceof Error && 'stdout' in error && 'stderr' in error)
      return { stdout: String(error.stdout), stderr: String(error.stderr) };
    throw error;
  });
  return { lines: stdout.trim().split('\n'), errors: stderr };
}

const stackIn = (line: string | undefined): string => (JSON.parse(line ?? '') as { stack: string }).stack;

beforeAll(async () => {
  writeFileSync(join(folder, 'entry.ts'), entry);
  writeFileSync(join(folder, 'other.ts'), other);
  await build({
    entryPoints: [join(folder, 'entry.ts')],
    outfile: built,
    bundle: true,
    banner: {
      js: "// Something in front.\nimport { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    platform: 'node',
    format: 'esm',
    sourcemap: true,
  });
  writeLineTables([built]);
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('a table of lines', () => {
  const map = (): Map => JSON.parse(readFileSync(`${built}.map`, 'utf8')) as Map;

  it('says the same as the source map for every place that the map names', () => {
    const full = new SourceMap(map());
    const table = new LineTable(lineTable(map()));
    let compared = 0;
    readFileSync(built, 'utf8')
      .split('\n')
      .forEach((text, line) => {
        for (let column = 0; column < text.length; column += 1) {
          const entry = full.findEntry(line, column);
          if (!('originalSource' in entry) || entry.generatedLine !== line) continue;
          const source = entry.originalSource.replace(/^(\.\.\/)+/, '');
          expect(table.find(line + 1, column + 1)).toEqual({ source, line: entry.originalLine + 1 });
          compared += 1;
        }
      });
    expect(compared).toBeGreaterThan(1_000);
  });

  it('knows nothing of what stands before the first source', () => {
    expect(new LineTable(lineTable(map())).find(1, 1)).toBeUndefined();
  });

  it('is refused when it is cut off', () => {
    const bytes = lineTable(map());
    expect(() => new LineTable(bytes.subarray(0, 40))).toThrow(RangeError);
  });

  it('leaves places alone that are of other files', () => {
    const table = new LineTable(lineTable(map()));
    const stack = 'Error\n    at a (file:///x/main.js.old:3:4)\n    at b (node:net:5:6)';
    expect(rewriteStack(stack, 'file:///x/main.js', table)).toBe(stack);
  });
});

describe('a built process', () => {
  it('logs stacks that name the sources and their lines', async () => {
    const { lines } = await output();
    const stack = stackIn(lines[0]);
    expect(stack).toMatch(/^Error: refused\n {4}at refuse \(\S*other\.ts:9\)\n/);
    expect(stack).toMatch(/entry\.ts:9\)?\n/);
    expect(stack).toMatch(/at outer \(\S*entry\.ts:7|at outer \(\S*entry\.ts:9/);
    expect(stack).toMatch(/entry\.ts:12\)?/);
    expect(stack).not.toContain('entry.js');
  });

  it('keeps the codes of Node in its stacks', async () => {
    const { lines } = await output();
    expect(stackIn(lines[1])).toMatch(/^RangeError \[ERR_OUT_OF_RANGE\]: The value/);
  });

  it('has a stack even for an error that throws when it is looked at', async () => {
    expect((await output()).lines[2]).toBe('string');
  });

  it('names the sources in what Node prints of warnings and of errors that nobody caught', async () => {
    const { errors } = await output('escape');
    expect(errors).toMatch(/RangeError: a warning\n {4}at \S*entry\.ts:21/);
    expect(errors).toMatch(/Error: refused\n {4}at refuse \(\S*other\.ts:9\)/);
  });
});
