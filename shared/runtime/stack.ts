/**
 * Stacks that name the sources. The service runs as bundles; the build leaves a table of lines beside each
 * (scripts/build/line-table.mjs), and this module, which every entry imports first, has the frames of every stack rewritten by it:
 * `main.js:8123:9` becomes `worker/main.ts:123`, in logs and in what Node itself prints. Run from the sources there is no table,
 * and stacks are as they were.
 *
 * The table is read at the start, from the same build as the code; it is searched in place, so that the first error costs no more
 * than the next. Nothing here may throw: it runs wherever a stack is looked at. Node's own way (--enable-source-maps)
 * decodes the whole map at the first stack: half a second in which all calls of a worker stand still, and 60 MB.
 */
import { readFileSync } from 'node:fs';

/** Where a place of a built file comes from. */
export interface SourcePlace {
  /** Relative to the project. */
  readonly source: string;
  /** From 1. */
  readonly line: number;
}

const bytesOfNumber = 4;
const columnBits = 12;
const mostColumns = 2 ** columnBits;
const lineBits = 20;

/** A table of lines, as scripts/build/line-table.mjs writes it. */
export class LineTable {
  readonly #bytes: Buffer;
  readonly #entries: number;
  #sources: readonly string[] | undefined;

  /** @throws RangeError when the bytes are no table. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#entries = bytes.readUInt32LE(0);
    if (bytes.length < this.#offset(this.#entries)) throw new RangeError('the table of lines is cut off');
  }

  /** Line and column of the built file, both from 1. Undefined where the place comes from no source. */
  find(line: number, column: number): SourcePlace | undefined {
    const wanted = (line - 1) * mostColumns + Math.min(column - 1, mostColumns - 1);
    let below = -1;
    let above = this.#entries;
    while (above - below > 1) {
      const middle = (below + above) >>> 1;
      if (this.#bytes.readUInt32LE(this.#offset(middle)) <= wanted) below = middle;
      else above = middle;
    }
    if (below < 0) return undefined;
    const place = this.#bytes.readUInt32LE(this.#offset(below));
    const origin = this.#bytes.readUInt32LE(this.#offset(below) + bytesOfNumber);
    const source = this.#names()[origin >>> lineBits];
    if (source === undefined) return undefined;
    return { source, line: (origin & (2 ** lineBits - 1)) + line - 1 - (place >>> columnBits) };
  }

  #offset(entry: number): number {
    return bytesOfNumber * (1 + 2 * entry);
  }

  #names(): readonly string[] {
    this.#sources ??= JSON.parse(this.#bytes.toString('utf8', this.#offset(this.#entries))) as string[];
    return this.#sources;
  }
}

/** The stack with each `url:line:column` in place of which the table knows a better one. */
export function rewriteStack(stack: string, url: string, table: LineTable): string {
  if (!stack.includes(url)) return stack;
  const [before = '', ...parts] = stack.split(`${url}:`);
  return parts.reduce((text, part) => {
    const [whole, line, column] = /^(\d+):(\d+)/.exec(part) ?? [];
    const place = whole === undefined ? undefined : table.find(Number(line), Number(column));
    if (whole === undefined || place === undefined) return `${text}${url}:${part}`;
    return `${text}${place.source}:${place.line}${part.slice(whole.length)}`;
  }, before);
}

type Prepare = (error: Error, frames: NodeJS.CallSite[]) => unknown;

const frameText: (frame: NodeJS.CallSite) => string = String;

/** As Node words it: errors of its own have their code beside their name. */
function plainStack(error: Error, frames: readonly NodeJS.CallSite[]): string {
  const lines = frames.map((frame) => `\n    at ${frameText(frame)}`).join('');
  const code: unknown = 'code' in error ? error.code : undefined;
  const isOfNode = typeof code === 'string' && code.startsWith('ERR_');
  const title = isOfNode ? `${error.name} [${code}]: ${error.message}` : Error.prototype.toString.call(error);
  return `${title}${lines}`;
}

/** Has every stack of this thread rewritten. Two bundles in one process (the service and its rehearsal) follow each other. */
function nameSources(url: string, table: LineTable): void {
  const before: Prepare | undefined = Error.prepareStackTrace?.bind(Error);
  Error.prepareStackTrace = (error: Error, frames: NodeJS.CallSite[]): unknown => {
    let stack: unknown;
    try {
      stack = before === undefined ? plainStack(error, frames) : before(error, frames);
      return typeof stack === 'string' ? rewriteStack(stack, url, table) : stack;
    } catch {
      // An error whose own properties throw: better a stack without its title than another error.
      return typeof stack === 'string' ? stack : 'Error';
    }
  };
}

/** The table beside a built file; undefined where there is none. */
function readTable(url: string): LineTable | undefined {
  try {
    return new LineTable(readFileSync(new URL(`${url}.lines`)));
  } catch {
    return undefined;
  }
}

const table = readTable(import.meta.url);
if (table !== undefined) nameSources(import.meta.url, table);
